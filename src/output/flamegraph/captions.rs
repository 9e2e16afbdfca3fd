//! The text and the colour of a function or a type in a picture.

use crate::model::names::NameId;
use crate::model::profile::{FrameKind, ProfileFrame};
use crate::model::stacks::WeightedStacks;
use crate::output::written::line_label;
use rustc_hash::FxHashMap;
use std::borrow::Cow;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Caption {
    pub(super) text: String,
    /// The hue in degrees; the same for all functions of a package, or types of a namespace. `None`
    /// is grey.
    pub(super) hue: Option<u16>,
}

impl Caption {
    /// The caption of boxes too narrow to draw one by one: less than this share of the base.
    pub(super) fn narrow(share: f64) -> Self {
        // One digit is enough, however small the share is.
        let percent = share * 100.0;
        let decimals = (-percent.log10().floor()).clamp(1.0, 9.0) as usize;
        Self { text: format!("… below {percent:.decimals$} %"), hue: None }
    }
}

/// The captions of frames. Frames with the same text share a caption.
#[derive(Default)]
pub(super) struct Captions {
    pub(super) all: Vec<Caption>,
    numbers: FxHashMap<String, u32>,
    /// The number of the caption of each frame.
    pub(super) of_frame: Vec<u32>,
}

impl Captions {
    /// Names the frames. With `lines`, each line of a function is a frame of its own.
    pub(super) fn of(stacks: &WeightedStacks, lines: bool) -> Self {
        let mut captions = Self::default();
        let mut known = FxHashMap::<(NameId, NameId, FrameKind, u32), u32>::default();
        for &frame in &stacks.frames {
            let line = if lines { frame.line } else { 0 };
            let key = (frame.function, frame.file, frame.kind, line);
            let number = *known.entry(key).or_insert_with(|| captions.name(stacks, frame, line));
            captions.of_frame.push(number);
        }
        captions
    }

    fn name(&mut self, stacks: &WeightedStacks, frame: ProfileFrame, line: u32) -> u32 {
        let text = line_label(stacks, frame, line);
        let hue = hue(frame.kind, stacks.text(frame.function), stacks.text(frame.file));
        self.add(Caption { text, hue: Some(hue) })
    }

    /// The number of a caption, which is added if there is none with its text.
    pub(super) fn add(&mut self, caption: Caption) -> u32 {
        match self.numbers.get(&caption.text) {
            Some(&number) => number,
            None => {
                let number = self.all.len() as u32;
                self.numbers.insert(caption.text.clone(), number);
                self.all.push(caption);
                number
            }
        }
    }
}

/// Code of the program is yellow to red. Other code has colors outside this range.
fn hue(kind: FrameKind, function: &str, file: &str) -> u16 {
    match kind {
        FrameKind::Kernel => 190,
        FrameKind::Native => 130,
        FrameKind::Gc => 280,
        FrameKind::Invalid => 230,
        FrameKind::Code => {
            // FNV-1a: the same package has the same colour in every picture, on every machine.
            let hash = package(function, file).bytes().fold(0x811c_9dc5_u32, |hash, byte| {
                (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
            });
            (hash >> 7) as u16 % 60
        }
    }
}

/// The package of a function, or the namespace of a type: the installed package or the folder of
/// its file, or else its name without the last part. `packageOf` in the script of the report is the
/// same.
pub(crate) fn package<'a>(function: &'a str, file: &'a str) -> Cow<'a, str> {
    for installed in ["site-packages/", "dist-packages/", "node_modules/"] {
        if let Some((_, inside)) = file.rsplit_once(installed) {
            return inside.split('/').next().unwrap_or(inside).into();
        }
    }
    match file.rsplit_once('/') {
        Some((folder, _)) => folder.into(),
        None if !file.is_empty() => file.into(),
        None => scope(function).map_or(function.into(), Cow::from),
    }
}

/// A name without its last part, and without types and parameters: `std::vector` for
/// `void std::vector<int>::push_back(int const&)`. `None` if it has one part only.
fn scope(function: &str) -> Option<String> {
    let (mut plain, mut depth) = (String::new(), 0_usize);
    for c in function.chars() {
        match c {
            '(' | '<' | '[' => depth += 1,
            ')' | '>' | ']' => depth = depth.saturating_sub(1),
            c if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    let name = plain.split(' ').find(|word| word.contains("::")).unwrap_or(&plain);
    let scope = name.rsplit_once(['.', ':'])?.0.trim_end_matches(['.', ':']);
    (!scope.is_empty()).then(|| scope.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Caption, package};

    #[test]
    fn small_shares_have_one_digit() {
        let shares = [0.5, 0.001, 0.0001, 0.000_002_3, 0.0];
        let expected = ["50.0", "0.1", "0.01", "0.0002", "0.000000000"];
        for (share, expected) in shares.into_iter().zip(expected) {
            assert_eq!(Caption::narrow(share).text, format!("… below {expected} %"));
        }
    }

    #[test]
    fn packages_are_folders_namespaces_or_beginnings_of_names() {
        let cases = [
            ("loads", "/usr/lib/python3.11/json/decoder.py", "/usr/lib/python3.11/json"),
            ("get", "/env/lib/python3.11/site-packages/requests/api.py", "requests"),
            ("_List", "dart:core", "dart:core"),
            ("java.util.HashMap.put", "", "java.util.HashMap"),
            ("java.lang.Throwable.<init>", "", "java.lang.Throwable"),
            ("std::vector<std::pair<int, a::B> >::push_back(a::B const&)", "", "std::vector"),
            ("void shop::Box<double>::work(int) const", "", "shop::Box"),
            ("shop::operator<<(shop::A)", "", "shop"),
            ("shop::A::operator->()", "", "shop::A"),
            ("operator new(unsigned long)", "", "operator new(unsigned long)"),
            ("leaf<T, U>::run(int)", "", "leaf"),
            ("alloc::vec::Vec<T,A>::push", "", "alloc::vec::Vec"),
            ("<T as core::fmt::Display>::fmt", "", "<T as core::fmt::Display>::fmt"),
            ("main.(*Cache).Get", "", "main"),
            ("main.F[...]", "", "main"),
            ("[libc.so.6]", "", "[libc.so.6]"),
            ("::main", "", "::main"),
            ("main", "", "main"),
        ];
        for (function, file, expected) in cases {
            assert_eq!(package(function, file), expected, "{function} in {file}");
        }
    }
}
