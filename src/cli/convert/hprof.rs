//! A heap as hprof.

use super::{Conversion, Converted, Report};
use crate::cli::args::IdsArg;
use crate::cli::heap::report_loaded;
use crate::cli::size::plural;
use crate::cli::status::Status;
use crate::output::hprof::{self, HprofOptions, IdKind};

pub(super) fn run(conversion: &Conversion<'_>) -> anyhow::Result<Status> {
    let Conversion { args, input, session, .. } = *conversion;
    let loaded = conversion.load_heap()?;
    let options = HprofOptions {
        ids: match args.ids.unwrap_or(IdsArg::Compact) {
            IdsArg::Compact => IdKind::Compact,
            IdsArg::Address => IdKind::Address,
        },
        root_unreachable: args.root_unreachable,
    };
    let (written, bytes) = conversion.write(|out| hprof::write(&loaded.heap, &options, out))?;
    conversion.report(&Report {
        converted: Converted::Objects(loaded.heap.object_count()),
        bytes,
        summary: format!("{} of hprof", plural(written.instances, "instance", "instances")),
        lost: written.lost.clone(),
        written: &written,
    })?;
    Ok(report_loaded(session, input, &loaded))
}
