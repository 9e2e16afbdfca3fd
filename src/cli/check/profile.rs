//! `check` of profiles.

use super::super::args::{CheckArgs, Common};
use super::super::open::Input;
use super::super::status::{Status, UsageError};
use super::super::terminal::Terminal;

pub(super) fn run(_args: &CheckArgs, _input: &Input, _common: &Common, _terminal: &Terminal) -> anyhow::Result<Status> {
    Err(UsageError::new("check is not there yet").into())
}
