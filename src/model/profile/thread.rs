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
    /// The thread's name, or its id in decimal.
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
    pub fn id<'n>(&self, names: &'n Names) -> &'n str {
        names.text(self.name)
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
            None if self.pid == Self::NO_PROCESS => self.id(names).to_owned(),
            Some(interpreter) => format!("T{interpreter}:{}", self.id(names)),
            None => format!("T{}", self.id(names)),
        }
    }

    /// Whether `wanted` names this thread: by its name, by its id in decimal, or by its label.
    pub fn is_called(&self, wanted: &str, names: &Names) -> bool {
        wanted == self.id(names) || wanted == self.label(names) || wanted == self.short_label(names)
    }
}
