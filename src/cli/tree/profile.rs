//! `tree` of profiles.

use super::super::args::{Common, TreeArgs};
use super::super::open::Input;
use super::super::status::{Status, UsageError};
use super::super::terminal::Terminal;

pub(super) fn run(_args: &TreeArgs, _input: &Input, _common: &Common, _terminal: &Terminal) -> anyhow::Result<Status> {
    Err(UsageError::new("tree is not there yet").into())
}
