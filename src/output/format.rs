//! The output formats: their names, extensions and what can be written as each.

/// A format that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputFormat {
    /// Austin's text: collapsed stacks, one sample per line.
    Austin,
    /// Folded stacks: one line per stack, with its sum.
    Folded,
    /// A flame graph as SVG. Only with the feature `flamegraph`.
    Svg,
    /// The JSON of speedscope.app.
    Speedscope,
    /// The protobuf of `go tool pprof`, gzipped.
    Pprof,
    /// The JSON of profiler.firefox.com.
    Firefox,
    /// JSON lines.
    Jsonl,
    /// Comma-separated values.
    Csv,
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
    extensions: &'static [&'static str],
    of_heaps: bool,
    of_profiles: bool,
}

const fn spec(
    name: &'static str,
    title: &'static str,
    extensions: &'static [&'static str],
    of_heaps: bool,
    of_profiles: bool,
) -> OutputSpec {
    OutputSpec { name, title, extensions, of_heaps, of_profiles }
}

impl OutputFormat {
    /// All output formats, in the order in which they are listed.
    pub const ALL: [Self; 11] = [
        Self::Austin,
        Self::Folded,
        Self::Svg,
        Self::Speedscope,
        Self::Pprof,
        Self::Firefox,
        Self::Jsonl,
        Self::Csv,
        Self::Mojo,
        Self::Hprof,
        Self::Heapsnapshot,
    ];

    fn spec(self) -> OutputSpec {
        match self {
            Self::Austin => spec("austin", "Austin's text (collapsed stacks)", &["austin"], false, true),
            Self::Folded => spec("folded", "folded stacks", &["folded", "collapsed"], true, true),
            Self::Svg => spec("svg", "flame graph", &["svg"], true, true),
            Self::Speedscope => spec("speedscope", "speedscope", &["speedscope.json", "speedscope"], true, true),
            Self::Pprof => spec("pprof", "pprof", &["pb", "pprof"], true, true),
            Self::Firefox => spec("firefox", "Firefox Profiler", &["firefox.json", "firefox"], true, true),
            Self::Jsonl => spec("jsonl", "JSON lines", &["jsonl"], true, true),
            Self::Csv => spec("csv", "comma-separated values", &["csv"], true, true),
            Self::Mojo => spec("mojo", "Austin MOJO 3", &["mojo"], false, true),
            Self::Hprof => spec("hprof", "Java hprof 1.0.2", &["hprof"], true, true),
            Self::Heapsnapshot => spec("heapsnapshot", "V8 heap snapshot", &["heapsnapshot"], true, false),
        }
    }

    /// The name on the command line and in JSON, such as `pprof`.
    pub fn name(self) -> &'static str {
        self.spec().name
    }

    /// The name for people, such as `V8 heap snapshot`.
    pub fn title(self) -> &'static str {
        self.spec().title
    }

    /// The file name extensions, without a leading dot. The first one is the usual one.
    pub fn extensions(self) -> &'static [&'static str] {
        self.spec().extensions
    }

    /// Returns `true` if heaps can be written in this format.
    pub fn takes_heaps(self) -> bool {
        self.spec().of_heaps
    }

    /// Returns `true` if profiles can be written in this format.
    pub fn takes_profiles(self) -> bool {
        self.spec().of_profiles
    }

    /// Returns the format with this name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }
}
