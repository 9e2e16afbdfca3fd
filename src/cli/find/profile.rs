//! `find` of profiles.

use super::super::args::{Common, FindArgs};
use super::super::open::Input;
use super::super::status::{Status, UsageError};
use super::super::terminal::Terminal;

pub(super) fn run(_args: &FindArgs, _input: &Input, _common: &Common, _terminal: &Terminal) -> anyhow::Result<Status> {
    Err(UsageError::new("find is not there yet").into())
}
