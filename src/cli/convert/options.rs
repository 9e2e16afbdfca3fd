//! The options of each target. Options that would have no effect are refused, because the user
//! relies on them.

use crate::cli::args::{ConvertArgs, DialectArg, IdsArg, Target, WhichArg};
use crate::cli::open::Input;
use crate::cli::profile::selection;
use crate::cli::status::UsageError;
use crate::convert::ConvertOptions;
use crate::input::Kind;
use crate::output::austin::Dialect;
use crate::output::flamegraph::FlamegraphOptions;
use crate::output::heapsnapshot::{HeapSnapshotObjects, HeapSnapshotOptions};
use crate::output::hprof::{HprofOptions, IdKind};

/// The options of the library for these arguments.
pub(super) fn of(args: &ConvertArgs) -> ConvertOptions {
    let usual = ConvertOptions::default();
    ConvertOptions {
        hprof: HprofOptions {
            ids: match args.ids {
                None | Some(IdsArg::Compact) => IdKind::Compact,
                Some(IdsArg::Address) => IdKind::Address,
            },
            root_unreachable: args.root_unreachable,
        },
        heapsnapshot: HeapSnapshotOptions {
            objects: match args.objects {
                None | Some(WhichArg::Live) => HeapSnapshotObjects::Live,
                Some(WhichArg::All) => HeapSnapshotObjects::All,
            },
        },
        min_share: args.min_share.unwrap_or(usual.min_share),
        selection: selection(&args.profile),
        metric: args.profile.metric.clone(),
        aggregate: args.aggregate,
        dialect: match args.dialect {
            None | Some(DialectArg::Full) => Dialect::Full,
            Some(DialectArg::Peer) => Dialect::Peer,
        },
        merge: args.merge,
        picture: FlamegraphOptions {
            title: args.title.clone(),
            inverted: args.inverted,
            lines: args.lines,
            merge_threads: args.base.is_some(),
        },
        table: args.table.first().copied(),
        texts: args.text.unwrap_or_default(),
        memory: usual.memory,
    }
}

/// Refuses options that this input or this target does not know.
///
/// # Errors
/// One line with the first such option and the targets that have it.
pub(super) fn refuse_foreign(
    args: &ConvertArgs,
    target: Target,
    input: &Input,
) -> Result<(), UsageError> {
    use Target::{
        Austin, Callgrind, Csv, Firefox, Folded, Heapsnapshot, Hprof, Jsonl, Mojo, Parquet, Pprof,
        Speedscope, Svg,
    };
    let of_heaps = [
        ("--ids", args.ids.is_some(), &[Hprof][..]),
        ("--root-unreachable", args.root_unreachable, &[Hprof]),
        ("--objects", args.objects.is_some(), &[Heapsnapshot]),
        ("--redact", args.redact.is_some(), &Target::ALL),
        ("--text", args.text.is_some(), &[Parquet, Csv, Jsonl]),
        (
            "--min-share",
            args.min_share.is_some(),
            &[Folded, Svg, Speedscope, Pprof, Firefox, Callgrind],
        ),
    ];
    let of_tables =
        [("--table", !args.table.is_empty()), ("--partition", !args.partition.is_empty())];
    let of_pictures = [
        ("--base", args.base.is_some()),
        ("--title", args.title.is_some()),
        ("--inverted", args.inverted),
        ("--lines", args.lines),
    ];
    let of_profiles = [
        ("--dialect", args.dialect.is_some(), &[Austin][..]),
        ("--merge", args.merge, &[Mojo]),
        ("--no-threads", args.no_threads, &[Folded]),
        ("--no-files", args.no_files, &[Folded]),
        // Some targets have nothing but sums anyway.
        (
            "--aggregate",
            args.aggregate,
            &[Speedscope, Firefox, Callgrind, Jsonl, Csv, Parquet, Folded, Svg, Pprof, Hprof],
        ),
        (
            "--metric",
            args.profile.metric.is_some(),
            &[Speedscope, Firefox, Callgrind, Jsonl, Csv, Parquet, Folded, Svg, Pprof, Hprof],
        ),
    ];
    let names = |options: &[(&'static str, bool, &[Target])]| {
        options.iter().map(|&(name, given, _)| (name, given)).collect::<Vec<_>>()
    };
    let (other, foreign, own) = match input.kind {
        Kind::Heap => {
            (Kind::Profile, [names(&of_profiles), args.profile.given()].concat(), &of_heaps[..])
        }
        Kind::Profile => {
            (Kind::Heap, [names(&of_heaps), args.heap.given().to_vec()].concat(), &of_profiles[..])
        }
    };
    input.refuse(other, &foreign)?;
    let of_pictures = of_pictures.map(|(name, given)| (name, given, &[Svg][..]));
    let of_tables = of_tables.map(|(name, given)| (name, given, &[Parquet, Csv, Jsonl][..]));
    match own
        .iter()
        .chain(&of_pictures)
        .chain(&of_tables)
        .find(|(_, given, targets)| *given && !targets.contains(&target))
    {
        Some((name, _, targets)) => {
            let targets: Vec<_> = targets.iter().map(|target| target.name()).collect();
            Err(UsageError::new(format!(
                "{name} applies to {}, not to {}",
                targets.join(", "),
                target.name()
            )))
        }
        None => Ok(()),
    }
}
