//! `show`.

use super::args::{Common, ShowArgs};
use super::kind::only_heaps;
use super::open::Input;
use super::status::{Status, UsageError};
use super::terminal::Terminal;

pub(super) fn run(args: &ShowArgs, common: &Common, _terminal: &Terminal) -> anyhow::Result<Status> {
    let input = Input::open(&args.file, common)?;
    only_heaps("show", &input)?;
    Err(UsageError::new("show is not there yet").into())
}
