//! The threads of a profile and their names.

use crate::model::names::{NameId, Names};

/// A thread of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId(pub u32);

impl ThreadId {
    /// Returns the id as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A thread of a process. Interpreters of one process that share a thread count as several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProfileThread {
    /// Process id, or [`ProfileThread::NO_PROCESS`].
    pub pid: i128,
    /// Interpreter id inside the process, in formats that have it.
    pub interpreter: Option<i128>,
    /// Thread id or name as stated in the file. Austin's ids are hexadecimal.
    pub name: NameId,
    /// The labels of the thread's samples. Samples of one thread with different labels count as
    /// several threads here.
    pub labels: LabelsId,
}

/// The number of a set of labels in [`Profile::labels`](super::Profile::labels); 0 is the empty
/// set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LabelsId(pub u32);

/// A label of samples, such as `request=17` (pprof).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SampleLabel {
    /// The key.
    pub key: NameId,
    /// The value.
    pub value: LabelValue,
}

/// The value of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LabelValue {
    /// A text.
    Text(NameId),
    /// A number and its unit, which may be empty.
    Number(i64, NameId),
}

impl LabelValue {
    /// The value as people see it: `worker 1`, `100 bytes`.
    pub fn show(&self, names: &Names) -> String {
        match *self {
            Self::Text(text) => names.text(text).to_owned(),
            Self::Number(number, Names::EMPTY) => number.to_string(),
            Self::Number(number, unit) => format!("{number} {}", names.text(unit)),
        }
    }

    /// Whether `wanted` means this value. The unit of a number may be omitted.
    pub fn is_called(&self, wanted: &str, names: &Names) -> bool {
        match *self {
            Self::Number(number, _) if wanted == number.to_string() => true,
            _ => wanted == self.show(names),
        }
    }
}

impl ProfileThread {
    /// The process of threads in formats without processes.
    pub const NO_PROCESS: i128 = i128::MIN;

    /// Creates a thread of which only the name is known, which may be empty.
    pub fn named(name: NameId) -> Self {
        Self { pid: Self::NO_PROCESS, interpreter: None, name, labels: LabelsId::default() }
    }

    /// The process id, if there is one.
    pub fn process(&self) -> Option<i128> {
        (self.pid != Self::NO_PROCESS).then_some(self.pid)
    }

    /// Whether neither process nor name of the thread is known.
    pub fn is_unknown(&self) -> bool {
        self.pid == Self::NO_PROCESS && self.name == Names::EMPTY
    }

    /// The thread's name, or its id in decimal.
    pub fn id(&self, names: &Names) -> String {
        let raw = names.text(self.name);
        if self.pid == Self::NO_PROCESS {
            return raw.to_owned();
        }
        parse_thread_id(raw.as_bytes()).map_or_else(|| raw.to_owned(), |id| id.to_string())
    }

    /// The label of the thread in Austin's text: `P19488;T0:19488`.
    pub fn label(&self, names: &Names) -> String {
        match self.process() {
            Some(pid) => format!("P{pid};{}", self.short_label(names)),
            None => self.short_label(names),
        }
    }

    /// `T0:19488`: interpreter and thread.
    pub fn short_label(&self, names: &Names) -> String {
        match self.interpreter {
            None if self.pid == Self::NO_PROCESS => self.id(names),
            Some(interpreter) => format!("T{interpreter}:{}", self.id(names)),
            None => format!("T{}", self.id(names)),
        }
    }

    /// Whether `wanted` names this thread: by its name, by its id in decimal or as in the file, or
    /// by its label.
    pub fn is_called(&self, wanted: &str, names: &Names) -> bool {
        wanted == names.text(self.name)
            || wanted == self.id(names)
            || wanted == self.label(names)
            || wanted == self.short_label(names)
    }
}

/// Parses a thread id by the rules of Python's `int(text, 16)`, because Austin writes hexadecimal
/// and its text shows decimal. Returns `None` for names and for more than 124 bits.
pub(crate) fn parse_thread_id(text: &[u8]) -> Option<i128> {
    let text = std::str::from_utf8(text)
        .ok()?
        .trim_matches(|c: char| c.is_whitespace() || ('\x1c'..='\x1f').contains(&c));
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    // After the prefix Python takes an underscore; elsewhere it takes one between digits only.
    let digits = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => digits.strip_prefix('_').unwrap_or(digits),
        None => digits,
    };
    if digits.ends_with('_')
        || digits.starts_with('_')
        || digits.contains("__")
        || digits.is_empty()
        || digits.len() > 31
    {
        return None;
    }
    let mut value = 0i128;
    for digit in digits.chars().filter(|&digit| digit != '_') {
        value = value << 4 | i128::from(digit.to_digit(16)?);
    }
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_ids_are_read_as_python_reads_them() {
        for (text, id) in [
            ("1f", Some(31)),
            ("dead", Some(57005)),
            ("0x1F", Some(31)),
            ("1_0", Some(16)),
            ("-5", Some(-5)),
            (" 7 ", Some(7)),
            ("0x_1", Some(1)),
            ("", None),
            ("g", None),
            ("_1", None),
            ("1__0", None),
            ("-", None),
            ("0x", None),
            ("MainThread", None),
            ("7f0123456789", Some(0x7f01_2345_6789)),
        ] {
            assert_eq!(parse_thread_id(text.as_bytes()), id, "{text:?}");
        }
    }
}
