//! The output formats: their names, extensions and supported inputs.

use crate::model::named::named;
use std::fmt;

named! {
    /// A format that is written.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum OutputFormat {
        /// Austin's text: collapsed stacks, one sample per line.
        Austin = "austin",
        /// Folded stacks: one line per stack, with its sum.
        Folded = "folded",
        /// A flame graph as SVG.
        Svg = "svg",
        /// The JSON of speedscope.app.
        Speedscope = "speedscope",
        /// The protobuf of `go tool pprof`, gzipped.
        Pprof = "pprof",
        /// The JSON of profiler.firefox.com.
        Firefox = "firefox",
        /// The call graph of KCachegrind.
        Callgrind = "callgrind",
        /// JSON lines.
        Jsonl = "jsonl",
        /// Comma-separated values.
        Csv = "csv",
        /// Tables in Apache Parquet. Writing it takes the feature `parquet`.
        Parquet = "parquet",
        /// Austin MOJO 3.
        Mojo = "mojo",
        /// Java's hprof 1.0.2.
        Hprof = "hprof",
        /// The heap snapshot of V8.
        Heapsnapshot = "heapsnapshot",
    }
    /// The name on the command line and in JSON, such as `pprof`.
    pub fn name
}

/// The format's [name](OutputFormat::name).
impl fmt::Display for OutputFormat {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

impl AsRef<str> for OutputFormat {
    fn as_ref(&self) -> &str {
        self.name()
    }
}

impl OutputFormat {
    /// The format and the tools that open it, such as `V8 heap snapshot, for Chrome DevTools,
    /// memlab`.
    pub fn title(self) -> &'static str {
        match self {
            Self::Austin => "Austin's text (collapsed stacks), dialects full and peer",
            Self::Folded => "folded stacks, for flamegraph.pl, inferno, speedscope, grep",
            Self::Svg => "flame graph, for browsers",
            Self::Speedscope => "speedscope JSON, for speedscope.app",
            Self::Pprof => "pprof, for go tool pprof, Grafana, Parca",
            Self::Firefox => "Firefox profile version 55, for profiler.firefox.com",
            Self::Callgrind => {
                "callgrind call graph, for KCachegrind, QCachegrind, callgrind_annotate"
            }
            Self::Jsonl => {
                "JSON lines: samples, sums, or a table of a heap (--table), for jq, DuckDB"
            }
            Self::Csv => {
                "CSV: samples, sums, or a table of a heap (--table), for DuckDB, spreadsheets"
            }
            Self::Parquet => "Apache Parquet: tables (--table), for DuckDB, Polars, pandas, Spark",
            Self::Mojo => "Austin MOJO 3",
            Self::Hprof => {
                "hprof 1.0.2, for VisualVM, Eclipse MAT, hprof-slurp; profiles in the style of the JDK's hprof agent"
            }
            Self::Heapsnapshot => "V8 heap snapshot, for Chrome DevTools, memlab",
        }
    }

    /// The format in one short line, as the help of `--to` lists it.
    pub fn summary(self) -> &'static str {
        match self {
            Self::Austin => "Austin's text: collapsed stacks, one sample per line",
            Self::Folded => {
                "Folded stacks with one sum per stack, for flamegraph.pl, inferno, grep"
            }
            Self::Svg => "Flame graph for the browser",
            Self::Speedscope => "speedscope JSON, for speedscope.app",
            Self::Pprof => "pprof, for go tool pprof, Grafana, Parca",
            Self::Firefox => "Firefox profile, for profiler.firefox.com",
            Self::Callgrind => "Call graph of callgrind, for KCachegrind, QCachegrind",
            Self::Jsonl => "One JSON object per line, for scripts",
            Self::Csv => "Comma-separated values, for scripts",
            Self::Parquet => "Tables in Apache Parquet, for DuckDB, Polars, pandas, Spark",
            Self::Mojo => "MOJO version 3, Austin's binary format",
            Self::Hprof => "hprof, for VisualVM, Eclipse MAT, hprof-slurp",
            Self::Heapsnapshot => {
                "V8 heap snapshot, for the Memory panel of Chrome DevTools, memlab"
            }
        }
    }

    /// The file name extensions, without a leading dot. The first one is the usual one.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Austin => &["austin"],
            Self::Folded => &["folded", "collapsed"],
            Self::Svg => &["svg"],
            Self::Speedscope => &["speedscope.json", "speedscope"],
            Self::Pprof => &["pb", "pprof"],
            Self::Firefox => &["firefox.json", "firefox"],
            Self::Callgrind => &["callgrind"],
            Self::Jsonl => &["jsonl"],
            Self::Csv => &["csv"],
            Self::Parquet => &["parquet"],
            Self::Mojo => &["mojo"],
            Self::Hprof => &["hprof"],
            Self::Heapsnapshot => &["heapsnapshot"],
        }
    }

    /// Returns `true` if heaps can be written in this format. A dominator tree is a profile, and
    /// everything can be a table.
    pub fn takes_heaps(self) -> bool {
        !matches!(self, Self::Austin | Self::Mojo)
    }

    /// Returns `true` if profiles can be written in this format.
    pub fn takes_profiles(self) -> bool {
        self != Self::Heapsnapshot
    }

    /// Returns the format with this name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Returns the format that the extension of a file name picks, such as `pprof` for `out.pb.gz`.
    ///
    /// The extension of a compression (`.gz`, `.zst`) is skipped.
    pub fn from_file_name(name: &str) -> Option<Self> {
        let plain = [".gz", ".zst"]
            .iter()
            .find_map(|compression| name.strip_suffix(compression))
            .unwrap_or(name);
        let ends_with = |extension: &&str| {
            plain.strip_suffix(*extension).is_some_and(|stem| stem.ends_with('.'))
        };
        Self::ALL.into_iter().find(|format| format.extensions().iter().any(ends_with))
    }
}
