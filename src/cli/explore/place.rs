//! Places: each is a command line, and the view that shows its document.

use crate::analysis::largest::LargestByType;
use crate::output::syntax::shell_word;

/// The views, in the order of their tabs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum View {
    Verdict,
    Diff,
    Functions,
    Types,
    Tree,
    Calls,
    Callers,
    Flame,
    Threads,
    Waste,
    Roots,
    Growth,
    Snapshots,
    ByThread,
    Timeline,
    Query,
    Objects,
    Object,
    Path,
    Thread,
    Sandwich,
}

/// The command line of a view, and the choices that it offers.
pub(super) struct Spec {
    pub(super) name: &'static str,
    /// The command, and the options that the view always adds.
    words: &'static [&'static str],
    /// The option that limits the rows (empty if there is none), and the rows of the first page.
    limit: (&'static str, u64),
    /// The orders of the rows, each with its name and options.
    pub(super) sorts: &'static [(&'static str, &'static [&'static str])],
    /// Whether `--type` selects rows.
    pub(super) filters: bool,
    /// Whether the command compares the two files.
    both: bool,
}

const PLAIN: Spec =
    Spec { name: "", words: &[], limit: ("-n", 1000), sorts: &[], filters: false, both: false };
const BY_SIZE: &[(&str, &[&str])] =
    &[("retained", &[]), ("shallow", &["--sort", "shallow"]), ("count", &["--sort", "count"])];
const BY_ID: &[(&str, &[&str])] =
    &[("retained", &[]), ("shallow", &["--sort", "shallow"]), ("id", &["--sort", "id"])];
const BY_COST: &[(&str, &[&str])] = &[("self", &[]), ("total", &["--cum"])];
/// Number of largest objects of a type that are known without a search through all objects.
const READY: u64 = LargestByType::MOST as u64;
/// SQL for the samples of each thread, in slots of equal length. SQLite sorts to group, which takes
/// ten times as long as the rest for millions of samples. Of more than 300,000, the statement uses
/// an evenly spread selection that does not depend on the order of the threads.
const TIMELINE: &str = "with s as (select min(start_us) a, max(start_us) + 1 b, \
    count(*) / 300000 + 1 every from samples), \
    t as (select process, thread, (start_us - a) * 40 / (b - a) slot, sum(samples) * every n, every \
    from samples, s where start_us is not null and not is_idle \
    and sample * 2654435761 % 4294967296 < 4294967296 / every group by 1, 2, 3) \
    select process, thread, sum(n) samples, group_concat(slot || ':' || n, ' ') slots, \
    max(every) every from t group by 1, 2 order by 3 desc";

impl View {
    /// Whether the view shows the result of SQL.
    pub(super) fn is_query(self) -> bool {
        matches!(self, Self::Query | Self::Timeline)
    }

    pub(super) fn spec(self) -> Spec {
        let of = |name, words| Spec { name, words, ..PLAIN };
        match self {
            Self::Verdict => Spec { limit: ("", 0), ..of("Verdict", &["top", "--suspects"]) },
            Self::Diff => Spec { filters: true, both: true, ..of("Diff", &["diff"]) },
            Self::Functions => Spec { sorts: BY_COST, ..of("Functions", &["top"]) },
            Self::Types => Spec { sorts: BY_SIZE, filters: true, ..of("Types", &["top"]) },
            Self::Tree => Spec { filters: true, ..of("Tree", &["tree", "--min-share", "0"]) },
            Self::Calls => of("Calls", &["tree", "--min-share", "0"]),
            Self::Callers => of("Callers", &["tree", "--invert", "--min-share", "0"]),
            Self::Flame => {
                Spec { limit: ("-n", 3000), ..of("Flame", &["tree", "--min-share", "0"]) }
            }
            Self::Threads => of("Threads", &["threads"]),
            Self::Waste => Spec { limit: ("-n", 50), ..of("Waste", &["waste"]) },
            Self::Roots => Spec { sorts: BY_SIZE, ..of("Roots", &["top", "--by", "root"]) },
            Self::Growth => of("Growth", &["top", "--snapshot", "all"]),
            Self::Snapshots => Spec { limit: ("", 0), ..of("Snapshots", &["info"]) },
            Self::ByThread => of("Threads", &["top", "--by", "thread"]),
            Self::Timeline => of("Timeline", &["query"]),
            Self::Query => of("SQL", &["query"]),
            Self::Objects => Spec {
                sorts: BY_ID,
                filters: true,
                limit: ("-n", READY),
                ..of("Objects", &["find"])
            },
            Self::Object => Spec { limit: ("-n", 100), ..of("Object", &["show"]) },
            Self::Path => Spec { limit: ("-k", 5), ..of("Path", &["path"]) },
            Self::Thread => of("Thread", &["threads"]),
            Self::Sandwich => Spec {
                limit: ("-n", 500),
                ..of("Callers and callees", &["tree", "--min-share", "0"])
            },
        }
    }
}

/// A place: a request, and the position in its document.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Place {
    pub(super) view: View,
    /// The text for this place in the breadcrumb.
    pub(super) title: String,
    /// Options that the place adds to those of the view.
    pub(super) options: Vec<String>,
    /// The id of an object, or the SQL. `None` for views of a whole file.
    pub(super) argument: Option<String>,
    pub(super) type_glob: Option<String>,
    pub(super) sort: usize,
    pub(super) limit: u64,
    /// Keys of the tree lines that were opened, outermost first.
    pub(super) inside: Vec<String>,
}

impl Place {
    pub(super) fn new(view: View) -> Self {
        let spec = view.spec();
        Self {
            view,
            title: spec.name.to_owned(),
            options: Vec::new(),
            argument: (view == View::Timeline).then(|| TIMELINE.to_owned()),
            type_glob: None,
            sort: 0,
            limit: spec.limit.1,
            inside: Vec::new(),
        }
    }

    pub(super) fn of(view: View, object: &str, title: &str) -> Self {
        Self { argument: Some(object.to_owned()), title: title.to_owned(), ..Self::new(view) }
    }

    pub(super) fn objects_of(name: &str) -> Self {
        Self {
            type_glob: Some(name.to_owned()),
            title: name.to_owned(),
            ..Self::new(View::Objects)
        }
    }

    /// The callers and callees of a function.
    pub(super) fn function(name: &str, namespace: Option<&str>) -> Self {
        let focus = namespace.map_or_else(|| name.to_owned(), |file| format!("{file}:{name}"));
        let options = vec!["--focus".to_owned(), focus];
        Self { title: name.to_owned(), options, ..Self::new(View::Sandwich) }
    }

    /// The same place with the next page of rows.
    pub(super) fn longer(&self) -> Self {
        Self { limit: self.limit.saturating_mul(4), ..self.clone() }
    }

    /// The command and its options.
    fn words(&self) -> Vec<String> {
        let spec = self.view.spec();
        let mut words: Vec<String> = spec.words.iter().map(|word| (*word).to_owned()).collect();
        words.extend(self.options.iter().cloned());
        if let Some((_, sort)) = spec.sorts.get(self.sort) {
            words.extend(sort.iter().map(|word| (*word).to_owned()));
        }
        if let Some(glob) = &self.type_glob {
            words.push(format!("--type={glob}"));
        }
        match (self.view, spec.limit.0) {
            (_, "") => {}
            // The limit of references applies to entries, too.
            (View::Object, limit) => {
                words.extend([limit.to_owned(), self.limit.to_string()]);
                words.extend(["--entries".to_owned(), self.limit.to_string()]);
            }
            (_, limit) => words.extend([limit.to_owned(), self.limit.to_string()]),
        }
        words
    }

    /// The words that request the document of this place in a format.
    pub(super) fn asked(&self, files: &Files, format: &str) -> Vec<String> {
        let mut words = self.words();
        words.push(format!("--format={format}"));
        words.extend(files.options(self));
        words.push("--".into());
        words.extend(files.of(self));
        words.extend(self.argument.iter().cloned());
        words
    }

    /// The words that draw the tree as SVG. `None` if the place does not show a tree, or only the
    /// tree below an object.
    pub(super) fn picture(&self, files: &Files) -> Option<Vec<String>> {
        let has_tree = matches!(
            self.view,
            View::Tree | View::Calls | View::Callers | View::Flame | View::Sandwich
        );
        if !has_tree || self.argument.is_some() {
            return None;
        }
        let mut words = vec!["convert".to_owned(), "--to=svg".to_owned()];
        words.extend((self.view == View::Callers).then(|| "--inverted".to_owned()));
        words.extend(self.options.iter().cloned().chain(files.options(self)));
        words.extend(["--".to_owned(), files.newest().clone(), "-".to_owned()]);
        Some(words)
    }

    /// The command line that prints the document of this place.
    pub(super) fn command(&self, files: &Files) -> String {
        let mut words = self.words();
        let command = words.remove(0);
        let command =
            [command].into_iter().chain(files.of(self)).chain(self.argument.iter().cloned());
        let all = command.chain(words).chain(files.options(self)).map(|word| shell_word(&word));
        format!("dumptool {}{}", all.collect::<Vec<_>>().join(" "), files.loading)
    }
}

/// The files, and the options that apply to all places.
#[derive(Clone, Debug, Default)]
pub(super) struct Files {
    pub(super) file: String,
    pub(super) new: Option<String>,
    /// Options for loading, as words for a shell, each preceded by a space.
    pub(super) loading: String,
    /// The snapshot that the user chose in the interface.
    pub(super) snapshot: Option<u64>,
    /// Options of profiles.
    pub(super) profile: Vec<String>,
}

impl Files {
    /// The file to explore: the newer one if there are two.
    pub(super) fn newest(&self) -> &String {
        self.new.as_ref().unwrap_or(&self.file)
    }

    fn of(&self, place: &Place) -> Vec<String> {
        match &self.new {
            Some(new) if place.view.spec().both => vec![self.file.clone(), new.clone()],
            _ => vec![self.newest().clone()],
        }
    }

    pub(super) fn options(&self, place: &Place) -> Vec<String> {
        let spec = place.view.spec();
        let is_all = matches!(place.view, View::Growth | View::Snapshots | View::Diff);
        match self.snapshot {
            Some(snapshot) if !is_all => vec![format!("--snapshot={snapshot}")],
            _ if matches!(spec.words, ["top" | "tree" | "diff", ..]) => self.profile.clone(),
            _ => Vec::new(),
        }
    }
}
