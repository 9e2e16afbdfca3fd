//! Conversion by name: any dump to any output format that can hold it, with the usual options of
//! the command line.

use super::Dump;
use crate::analysis::dominator_stacks::{self, Counted};
use crate::analysis::dominator_tree::DominatorTree;
use crate::analysis::dominators::Dominators;
use crate::analysis::graph::Graph;
use crate::analysis::live::live;
use crate::error::{Error, Result};
use crate::input::load::ProfileOptions;
use crate::input::{Format, Kind};
use crate::model::heap::Heap;
use crate::model::profile::Profile;
use crate::model::stacks::{Selection, WeightedStacks, of_profile};
use crate::output::austin::Dialect;
use crate::output::flamegraph::FlamegraphOptions;
use crate::output::heapsnapshot::HeapSnapshotOptions;
use crate::output::hprof::HprofOptions;
use crate::output::loss::Loss;
use crate::output::tables::{self, Table, TableRows, TableSelection, TextLimit};
use crate::output::{self, OutputFormat, Syntax};
use std::io::{self, BufWriter, Write};

/// Subtrees of the dominator tree with a smaller share of the live bytes are merged.
const MIN_SHARE: f64 = 0.00001;

impl Dump {
    /// Converts the dump to the format with this name, such as `"hprof"` or `"pprof"`
    /// ([`OutputFormat`] lists them).
    ///
    /// A heap becomes objects (`hprof`, `heapsnapshot`), a table of its objects (`csv`, `jsonl`,
    /// `parquet`),
    /// or the dominator tree as stacks of types (everything else that takes heaps). A profile keeps
    /// its samples where the format can hold them. Writers with options are in [`output`].
    ///
    /// Returns the losses: data that the format cannot store. If an error occurs, the output is
    /// incomplete.
    ///
    /// # Errors
    /// If there is no such format, if it cannot hold this dump, as [`Dump::heap`] and
    /// [`Dump::profile`], or if the output cannot be written.
    pub fn convert(&self, to: &str, out: impl Write) -> Result<Vec<Loss>> {
        let kind = self.kind();
        let possible = output_formats(self.format(), kind);
        let Some(format) = possible.clone().find(|format| format.name() == to) else {
            let names: Vec<_> = possible.map(OutputFormat::name).collect();
            return Err(Error::other_kind(format!(
                "{} cannot be converted to {to}",
                self.format().title()
            ))
            .hint(format!("it can be converted to {}", names.join(", "))));
        };
        let mut out = BufWriter::with_capacity(1 << 16, out);
        let written = match kind {
            Kind::Heap => heap(&self.heap()?, format, &mut out),
            Kind::Profile => profile(self.profile_for(format)?, format, &mut out),
        };
        let lost = written.and_then(|lost| out.flush().map(|()| lost));
        lost.map_err(|error| Error::io(error, format!("cannot write {}", format.name())))
    }

    fn profile_for(&self, format: OutputFormat) -> Result<Profile> {
        use OutputFormat::{Austin, Csv, Firefox, Jsonl, Mojo, Parquet, Speedscope};
        let keep_samples =
            matches!(format, Austin | Csv | Firefox | Jsonl | Mojo | Parquet | Speedscope);
        self.whole_profile(ProfileOptions::default().keep_samples(keep_samples))
    }
}

/// The formats that a heap or profile of an input format can be written in.
pub(crate) fn output_formats(
    from: Format,
    kind: Kind,
) -> impl Iterator<Item = OutputFormat> + Clone {
    OutputFormat::ALL.into_iter().filter(move |format| match kind {
        Kind::Heap => format.takes_heaps(),
        // Some profiles have sums, but no samples that could be written one by one.
        Kind::Profile => {
            format.takes_profiles()
                && (from.has_order()
                    || !matches!(format, OutputFormat::Austin | OutputFormat::Mojo))
        }
    })
}

fn heap(heap: &Heap<'_>, format: OutputFormat, out: &mut impl Write) -> io::Result<Vec<Loss>> {
    match format {
        OutputFormat::Hprof => Ok(output::hprof::write(heap, &HprofOptions::default(), out)?.lost),
        OutputFormat::Heapsnapshot => {
            let graph = Graph::of(heap);
            Ok(output::heapsnapshot::write(
                heap,
                &graph,
                &live(&graph),
                &HeapSnapshotOptions::default(),
                out,
            )?
            .lost)
        }
        OutputFormat::Parquet => {
            let tree = DominatorTree::new(heap);
            parquet(tables::of_heap(heap, &tree, Table::Objects, TextLimit::default()), out)
        }
        OutputFormat::Csv | OutputFormat::Jsonl => {
            let syntax = if format == OutputFormat::Csv { Syntax::Csv } else { Syntax::Jsonl };
            let tree = DominatorTree::new(heap);
            let rows = tables::of_heap(heap, &tree, Table::Objects, TextLimit::default());
            rows.map(|mut rows| tables::write(&mut *rows, syntax, out)).transpose()?;
            Ok(Vec::new())
        }
        _ => {
            let counted = match format {
                OutputFormat::Folded | OutputFormat::Firefox | OutputFormat::Svg => Counted::Bytes,
                _ => Counted::ObjectsAndBytes,
            };
            let tree = dominator_stacks::of(
                heap,
                &Dominators::of(&Graph::of(heap)),
                "heap",
                MIN_SHARE,
                counted,
            );
            stacks(&tree.stacks, format, out)
        }
    }
}

fn profile(profile: Profile, format: OutputFormat, out: &mut impl Write) -> io::Result<Vec<Loss>> {
    let written = match format {
        OutputFormat::Parquet => {
            let selected = TableSelection::default();
            return parquet(tables::of_profile(&profile, &selected, Table::Samples), out);
        }
        OutputFormat::Mojo => output::mojo::write(&profile, &|_| true, false, out)?,
        OutputFormat::Austin => {
            output::austin::write_profile(&profile, &|_| true, Dialect::Full, out)?
        }
        OutputFormat::Hprof => output::hprof::write_profile(&profile, &|_| true, None, out)?,
        _ => {
            let metrics = match format {
                OutputFormat::Folded | OutputFormat::Svg => vec![profile.default_metric()],
                OutputFormat::Pprof => profile.metrics_in_order(),
                _ => profile.metrics(),
            };
            let selection = Selection {
                metrics,
                in_order: profile.samples.is_some(),
                keep_labels: format == OutputFormat::Pprof,
                ..Selection::default()
            };
            return stacks(&of_profile(profile, "profile", &selection), format, out);
        }
    };
    Ok(written.lost)
}

#[cfg(feature = "parquet")]
fn parquet(rows: Option<Box<dyn TableRows + '_>>, out: &mut impl Write) -> io::Result<Vec<Loss>> {
    rows.map(|mut rows| tables::write_parquet(&mut *rows, &[], out)).transpose()?;
    Ok(Vec::new())
}

#[cfg(not(feature = "parquet"))]
fn parquet(_: Option<Box<dyn TableRows + '_>>, _: &mut impl Write) -> io::Result<Vec<Loss>> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "the crate was built without `parquet`"))
}

fn stacks(
    stacks: &WeightedStacks,
    format: OutputFormat,
    out: &mut impl Write,
) -> io::Result<Vec<Loss>> {
    let written = match format {
        OutputFormat::Folded => output::folded::write(stacks, 0, out),
        OutputFormat::Svg => {
            output::flamegraph::write(stacks, 0, &FlamegraphOptions::default(), out)
        }
        OutputFormat::Speedscope => output::speedscope::write(stacks, out),
        OutputFormat::Firefox => output::firefox::write(stacks, out),
        OutputFormat::Jsonl => output::stack_rows::write(stacks, Syntax::Jsonl, out),
        OutputFormat::Csv => output::stack_rows::write(stacks, Syntax::Csv, out),
        OutputFormat::Pprof => {
            let mut gzip = flate2::write::GzEncoder::new(out, flate2::Compression::fast());
            let written = output::pprof::write(stacks, &mut gzip)?;
            gzip.finish()?;
            Ok(written)
        }
        other => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            format!("{} holds no stacks", other.name()),
        )),
    };
    Ok(written?.lost)
}
