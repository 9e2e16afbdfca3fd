//! `diff` of profiles.

use super::super::args::{Common, DiffArgs};
use super::super::open::Input;
use super::super::status::{Status, UsageError};
use super::super::terminal::Terminal;

pub(super) fn run(_args: &DiffArgs, _old: &Input, _new: &Input, _common: &Common, _terminal: &Terminal) -> anyhow::Result<Status> {
    Err(UsageError::new("diff is not there yet").into())
}
