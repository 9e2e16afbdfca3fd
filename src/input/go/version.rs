//! The layouts of a dump.

use super::records::Records;
use crate::bytes::Cursor;
use crate::error::Result;

/// Length of the magic.
pub const MAGIC_LENGTH: usize = 16;

/// A layout. Later ones compare greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// The draft of March 2014, which was never released. It has the magic of 1.3.
    Draft13,
    /// Go 1.3.
    Go13,
    /// Go 1.4.
    Go14,
    /// Go 1.5.
    Go15,
    /// Go 1.6.
    Go16,
    /// Go 1.7 and all later ones: the magic was not changed any more.
    #[default]
    Go17,
}

impl Version {
    /// The version as the format counts it: `1.3-draft`, `1.3` to `1.7`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Draft13 => "1.3-draft",
            Self::Go13 => "1.3",
            Self::Go14 => "1.4",
            Self::Go15 => "1.5",
            Self::Go16 => "1.6",
            Self::Go17 => "1.7",
        }
    }

    /// The layout of a file, by its magic and, for the magic of 1.3, by what follows.
    ///
    /// A released dump always begins with its params: tag 6, a byte order of 0 or 1, a pointer size
    /// of 4 or 8. In the draft 6 is the tag of a root with an arbitrary pointer. A draft that
    /// begins with a root to address 0 or 1 followed by a stack root or thread looks the same; such
    /// a file is a draft if it can be read as one up to an eof at its very end, and not as released
    /// 1.3.
    ///
    /// # Errors
    /// When the magic is another one.
    pub fn detect(bytes: &[u8]) -> Result<Self> {
        let magic = Cursor::new(bytes, 0).take(MAGIC_LENGTH as u64, "the magic")?;
        match magic {
            b"go1.3 heap dump\n" => Ok(draft_or_released(bytes)),
            b"go1.4 heap dump\n" => Ok(Self::Go14),
            b"go1.5 heap dump\n" => Ok(Self::Go15),
            b"go1.6 heap dump\n" => Ok(Self::Go16),
            b"go1.7 heap dump\n" => Ok(Self::Go17),
            _ => Err(super::SPEC.wrong_magic()),
        }
    }
}

fn draft_or_released(bytes: &[u8]) -> Version {
    match bytes.get(MAGIC_LENGTH..).unwrap_or_default() {
        [6, 0 | 1, 4 | 8, ..]
            if reaches_its_end(bytes, Version::Draft13)
                && !reaches_its_end(bytes, Version::Go13) =>
        {
            Version::Draft13
        }
        [6, 0 | 1, 4 | 8, ..] | [6, 0 | 1] | [6] | [] => Version::Go13,
        [1 | 3..=10, ..] => Version::Draft13,
        _ => Version::Go13,
    }
}

fn reaches_its_end(bytes: &[u8], version: Version) -> bool {
    let mut records = Records::with_version(bytes, version);
    records.by_ref().all(|record| record.is_ok()) && records.trailing() == Some(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect(rest: &[u8]) -> Version {
        Version::detect(&[b"go1.3 heap dump\n", rest].concat()).unwrap()
    }

    #[test]
    fn a_root_of_the_draft_that_looks_like_params_is_settled_by_reading_on() {
        // Root to address 1, stack root to 0x2000 in the frame at 0x3000, eof.
        assert_eq!(detect(&[6, 1, 4, 0x80, 0x40, 0x80, 0x60, 3]), Version::Draft13);
        // A truncated prefix of the same bytes is not a complete draft, and released dumps are far
        // more likely.
        assert_eq!(detect(&[6, 1, 4, 0x80, 0x40, 0x80, 0x60]), Version::Go13);
    }

    #[test]
    fn other_first_records_are_of_the_draft() {
        assert_eq!(detect(&[10, 0, 8, 3]), Version::Draft13);
        assert_eq!(detect(&[6, 0x80, 0x80, 0x40, 3]), Version::Draft13);
        assert_eq!(detect(&[]), Version::Go13);
    }

    #[test]
    fn a_cut_magic_is_an_error() {
        assert_eq!(Version::detect(b"go1.7 heap").unwrap_err().offset(), Some(10));
        assert!(Version::detect(b"go1.8 heap dump\n").is_err());
    }
}
