//! `path`.

use super::args::{Common, PathArgs};
use super::kind::only_heaps;
use super::open::Input;
use super::status::{Status, UsageError};
use super::terminal::Terminal;

pub(super) fn run(args: &PathArgs, common: &Common, _terminal: &Terminal) -> anyhow::Result<Status> {
    let input = Input::open(&args.file, common)?;
    only_heaps("path", &input)?;
    Err(UsageError::new("path is not there yet").into())
}
