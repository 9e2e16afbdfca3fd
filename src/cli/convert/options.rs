//! The options of each target. Options that would have no effect are refused, because the user
//! relies on them.

use crate::cli::args::{ConvertArgs, Target};
use crate::cli::open::Input;
use crate::cli::status::UsageError;
use crate::input::Kind;

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
        Austin, Csv, Firefox, Folded, Heapsnapshot, Hprof, Jsonl, Mojo, Parquet, Pprof, Speedscope,
        Svg,
    };
    let of_heaps = [
        ("--ids", args.ids.is_some(), &[Hprof][..]),
        ("--root-unreachable", args.root_unreachable, &[Hprof]),
        ("--objects", args.objects.is_some(), &[Heapsnapshot]),
        ("--redact", args.redact.is_some(), &Target::ALL),
        ("--text", args.text.is_some(), &[Parquet, Csv, Jsonl]),
        ("--min-share", args.min_share.is_some(), &[Folded, Svg, Speedscope, Pprof, Firefox]),
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
        // Some targets have nothing but sums anyway.
        (
            "--aggregate",
            args.aggregate,
            &[Speedscope, Firefox, Jsonl, Csv, Parquet, Folded, Svg, Pprof, Hprof],
        ),
        (
            "--metric",
            args.profile.metric.is_some(),
            &[Speedscope, Firefox, Jsonl, Csv, Parquet, Folded, Svg, Pprof, Hprof],
        ),
    ];
    let names = |options: &[(&'static str, bool, &[Target])]| {
        options.iter().map(|&(name, given, _)| (name, given)).collect::<Vec<_>>()
    };
    let (other, foreign, own) = match input.kind {
        Kind::Heap => (
            Kind::Profile,
            [names(&of_profiles), args.profile.given().to_vec()].concat(),
            &of_heaps[..],
        ),
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
