//! What an output format cannot say.

use serde::Serialize;

/// Something that the format cannot say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Loss {
    /// What, in the plural.
    pub what: &'static str,
    /// How often.
    pub count: u64,
    /// How many bytes it concerns, where it concerns bytes.
    pub bytes: Option<u64>,
}

impl Loss {
    /// None of what is not there: the count is 0.
    pub fn of(what: &'static str, count: u64, bytes: Option<u64>) -> Option<Self> {
        (count > 0).then_some(Self { what, count, bytes })
    }
}
