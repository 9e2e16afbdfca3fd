//! The options of each target. Options that would have no effect are refused, because the user
//! relies on them.

use crate::cli::args::{ConvertArgs, Target};
use crate::cli::open::Input;
use crate::cli::profile::selection;
use crate::cli::status::UsageError;
use crate::convert::ConvertOptions;
use crate::input::Kind;
use crate::output::flamegraph::FlamegraphOptions;
use crate::output::heapsnapshot::HeapSnapshotOptions;
use crate::output::hprof::HprofOptions;
use Target::{
    Austin, Callgrind, Csv, Firefox, Folded, Heapsnapshot, Hprof, Jsonl, Mojo, Parquet, Pprof,
    Speedscope, Svg,
};

/// The options of the library for these arguments.
pub(super) fn of(args: &ConvertArgs) -> ConvertOptions {
    let usual = ConvertOptions::default();
    ConvertOptions {
        hprof: HprofOptions {
            ids: args.ids.unwrap_or_default(),
            root_unreachable: args.root_unreachable,
        },
        heapsnapshot: HeapSnapshotOptions { objects: args.objects.unwrap_or_default() },
        min_share: args.min_share.unwrap_or(usual.min_share),
        selection: selection(&args.profile),
        metric: args.profile.metric.clone(),
        aggregate: args.aggregate,
        dialect: args.dialect.unwrap_or_default(),
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

/// Refuses options that this input or this target does not know. Fails with one line that has the
/// first such option and the targets that have it.
pub(super) fn refuse_foreign(
    args: &ConvertArgs,
    target: Target,
    input: &Input,
) -> Result<(), UsageError> {
    let (of_heaps, of_profiles) = (of_heaps(args), of_profiles(args));
    let names =
        |options: &[Given]| Vec::from_iter(options.iter().map(|option| (option.0, option.1)));
    let (other, foreign, own) = match input.kind {
        Kind::Heap => {
            (Kind::Profile, [names(&of_profiles), args.profile.given()].concat(), &of_heaps[..])
        }
        Kind::Profile => {
            (Kind::Heap, [names(&of_heaps), args.heap.given().to_vec()].concat(), &of_profiles[..])
        }
    };
    input.refuse(other, &foreign)?;
    let of_both = of_both(args);
    let mut options = own.iter().chain(&of_both);
    match options.find(|(_, given, targets)| *given && !targets.contains(&target)) {
        Some((name, _, targets)) => {
            let targets: Vec<_> = targets.iter().map(|target| target.name()).collect();
            let (targets, target) = (targets.join(", "), target.name());
            Err(UsageError::new(format!("{name} applies to {targets}, not to {target}")))
        }
        None => Ok(()),
    }
}

/// An option, whether it is given, and the targets that it applies to.
type Given = (&'static str, bool, &'static [Target]);

/// Targets that a dominator tree can be written to.
const STACKS: &[Target] = &[Folded, Svg, Speedscope, Pprof, Firefox, Callgrind];
/// Targets that can have the sums of one metric.
const SUMS: &[Target] =
    &[Speedscope, Firefox, Callgrind, Jsonl, Csv, Parquet, Folded, Svg, Pprof, Hprof];
const TABLES: &[Target] = &[Parquet, Csv, Jsonl];

fn of_heaps(args: &ConvertArgs) -> [Given; 6] {
    [
        ("--ids", args.ids.is_some(), &[Hprof]),
        ("--root-unreachable", args.root_unreachable, &[Hprof]),
        ("--objects", args.objects.is_some(), &[Heapsnapshot]),
        ("--redact", args.redact.is_some(), &Target::ALL),
        ("--text", args.text.is_some(), TABLES),
        ("--min-share", args.min_share.is_some(), STACKS),
    ]
}

fn of_profiles(args: &ConvertArgs) -> [Given; 6] {
    [
        ("--dialect", args.dialect.is_some(), &[Austin]),
        ("--merge", args.merge, &[Mojo]),
        ("--no-threads", args.no_threads, &[Folded]),
        ("--no-files", args.no_files, &[Folded]),
        // Accepted for targets that only contain sums, too, where the option changes nothing.
        ("--aggregate", args.aggregate, SUMS),
        ("--metric", args.profile.metric.is_some(), SUMS),
    ]
}

/// The options for pictures and tables, which apply to heaps and profiles.
fn of_both(args: &ConvertArgs) -> [Given; 6] {
    [
        ("--base", args.base.is_some(), &[Svg]),
        ("--title", args.title.is_some(), &[Svg]),
        ("--inverted", args.inverted, &[Svg]),
        ("--lines", args.lines, &[Svg]),
        ("--table", !args.table.is_empty(), TABLES),
        ("--partition", !args.partition.is_empty(), TABLES),
    ]
}
