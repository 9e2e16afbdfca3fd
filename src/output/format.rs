//! The output formats: their names, extensions and supported inputs.

use std::fmt;

/// A format that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputFormat {
    /// Austin's text: collapsed stacks, one sample per line.
    Austin,
    /// Folded stacks: one line per stack, with its sum.
    Folded,
    /// A flame graph as SVG.
    Svg,
    /// The JSON of speedscope.app.
    Speedscope,
    /// The protobuf of `go tool pprof`, gzipped.
    Pprof,
    /// The JSON of profiler.firefox.com.
    Firefox,
    /// The call graph of KCachegrind.
    Callgrind,
    /// JSON lines.
    Jsonl,
    /// Comma-separated values.
    Csv,
    /// Tables in Apache Parquet. Writing it takes the feature `parquet`.
    Parquet,
    /// Austin MOJO 3.
    Mojo,
    /// Java's hprof 1.0.2.
    Hprof,
    /// The heap snapshot of V8.
    Heapsnapshot,
}

struct OutputSpec {
    name: &'static str,
    title: &'static str,
    summary: &'static str,
    extensions: &'static [&'static str],
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
    /// All output formats, in the order in which they are listed.
    pub const ALL: [Self; 13] = [
        Self::Austin,
        Self::Folded,
        Self::Svg,
        Self::Speedscope,
        Self::Pprof,
        Self::Firefox,
        Self::Callgrind,
        Self::Jsonl,
        Self::Csv,
        Self::Parquet,
        Self::Mojo,
        Self::Hprof,
        Self::Heapsnapshot,
    ];

    fn spec(self) -> OutputSpec {
        match self {
            Self::Austin => OutputSpec {
                name: "austin",
                title: "Austin's text (collapsed stacks), dialects full and peer",
                summary: "Austin's text: collapsed stacks, one sample per line",
                extensions: &["austin"],
            },
            Self::Folded => OutputSpec {
                name: "folded",
                title: "folded stacks, for flamegraph.pl, inferno, speedscope, grep",
                summary: "Folded stacks with one sum per stack, for flamegraph.pl, inferno, grep",
                extensions: &["folded", "collapsed"],
            },
            Self::Svg => OutputSpec {
                name: "svg",
                title: "flame graph, for browsers",
                summary: "Flame graph for the browser",
                extensions: &["svg"],
            },
            Self::Speedscope => OutputSpec {
                name: "speedscope",
                title: "speedscope JSON, for speedscope.app",
                summary: "speedscope JSON, for speedscope.app",
                extensions: &["speedscope.json", "speedscope"],
            },
            Self::Pprof => OutputSpec {
                name: "pprof",
                title: "pprof, for go tool pprof, Grafana, Parca",
                summary: "pprof, for go tool pprof, Grafana, Parca",
                extensions: &["pb", "pprof"],
            },
            Self::Firefox => OutputSpec {
                name: "firefox",
                title: "Firefox profile version 55, for profiler.firefox.com",
                summary: "Firefox profile, for profiler.firefox.com",
                extensions: &["firefox.json", "firefox"],
            },
            Self::Callgrind => OutputSpec {
                name: "callgrind",
                title: "callgrind call graph, for KCachegrind, QCachegrind, callgrind_annotate",
                summary: "Call graph of callgrind, for KCachegrind, QCachegrind",
                extensions: &["callgrind"],
            },
            Self::Jsonl => OutputSpec {
                name: "jsonl",
                title: "JSON lines: samples, sums, or a table of a heap (--table), for jq, DuckDB",
                summary: "One JSON object per line, for scripts",
                extensions: &["jsonl"],
            },
            Self::Csv => OutputSpec {
                name: "csv",
                title: "CSV: samples, sums, or a table of a heap (--table), for DuckDB, spreadsheets",
                summary: "Comma-separated values, for scripts",
                extensions: &["csv"],
            },
            Self::Parquet => OutputSpec {
                name: "parquet",
                title: "Apache Parquet: tables (--table), for DuckDB, Polars, pandas, Spark",
                summary: "Tables in Apache Parquet, for DuckDB, Polars, pandas, Spark",
                extensions: &["parquet"],
            },
            Self::Mojo => OutputSpec {
                name: "mojo",
                title: "Austin MOJO 3",
                summary: "MOJO version 3, Austin's binary format",
                extensions: &["mojo"],
            },
            Self::Hprof => OutputSpec {
                name: "hprof",
                title: "hprof 1.0.2, for VisualVM, Eclipse MAT, hprof-slurp; profiles in the style of the JDK's hprof agent",
                summary: "hprof, for VisualVM, Eclipse MAT, hprof-slurp",
                extensions: &["hprof"],
            },
            Self::Heapsnapshot => OutputSpec {
                name: "heapsnapshot",
                title: "V8 heap snapshot, for Chrome DevTools, memlab",
                summary: "V8 heap snapshot, for the Memory panel of Chrome DevTools, memlab",
                extensions: &["heapsnapshot"],
            },
        }
    }

    /// The name on the command line and in JSON, such as `pprof`.
    pub fn name(self) -> &'static str {
        self.spec().name
    }

    /// The format and the tools that open it, such as `V8 heap snapshot, for Chrome DevTools,
    /// memlab`.
    pub fn title(self) -> &'static str {
        self.spec().title
    }

    /// The format in one short line, as the help of `--to` lists it.
    pub fn summary(self) -> &'static str {
        self.spec().summary
    }

    /// The file name extensions, without a leading dot. The first one is the usual one.
    pub fn extensions(self) -> &'static [&'static str] {
        self.spec().extensions
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
