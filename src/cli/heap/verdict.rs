//! The verdict in words: the owners of the memory, each finding with a path to it.

mod on_page;

use super::held::Answers;
use super::objects::describe_briefly;
use super::{Analysed, path, type_name};
use crate::analysis::paths::shortest::Shortest;
use crate::analysis::paths::{Path, ReachedBy};
use crate::analysis::threads::program_functions;
use crate::analysis::verdict::{AND_OTHERS, Holder, Suspect, SuspectKind, What};
use crate::cli::known::{Facts, Rule, Rules};
use crate::cli::print::{Columns, Value as Json};
use crate::cli::session::Session;
use crate::cli::size::{count, percent, plural};
use crate::cli::terminal::{self, shown};
use crate::input::Format;
use crate::model::heap::{Heap, LabelKind, ObjectId, ThreadKind};
use std::cell::OnceCell;
use std::sync::Arc;

/// Describes findings.
pub(crate) struct Words<'r, 'h, 'a> {
    analysed: &'r Analysed<'h, 'a>,
    loaded: &'h Answers<'a>,
    /// The objects to which paths can be shown.
    examples: Vec<ObjectId>,
    shortest: OnceCell<Shortest<'h, 'a>>,
    session: &'r Session,
    /// The rules for findings, and the format of the file.
    known: Option<(&'r Rules, Format)>,
}

impl<'r, 'h, 'a> Words<'r, 'h, 'a> {
    /// Creates the descriptions of `findings`. Paths exist for these findings only.
    pub(crate) fn new<'f>(
        loaded: &'h Answers<'a>,
        analysed: &'r Analysed<'h, 'a>,
        findings: impl Iterator<Item = &'f Suspect>,
        session: &'r Session,
    ) -> Self {
        let examples = findings.map(|finding| finding.example).collect();
        Self { analysed, loaded, examples, shortest: OnceCell::new(), session, known: None }
    }

    /// Computes the paths to the examples now instead of on first use.
    pub(crate) fn with_ways(self) -> Self {
        self.shortest();
        self
    }

    /// Enables recognition of known leaks, by rules for the format of the file.
    pub(crate) fn knowing(self, rules: &'r Rules, format: Format) -> Self {
        Self { known: Some((rules, format)), ..self }
    }

    /// The known leak that a finding matches.
    pub(crate) fn rule(&self, finding: &Suspect) -> Option<&'r Rule> {
        self.shared_rule(finding).map(Arc::as_ref)
    }

    /// The known leak that a finding matches, shared so that it can outlive the heap.
    pub(super) fn shared_rule(&self, finding: &Suspect) -> Option<&'r Arc<Rule>> {
        let (rules, format) = self.known?;
        rules.find(&Facts {
            heap: self.heap(),
            format,
            suspect: finding,
            share: self.share(finding),
            path: &|| self.way(finding),
            steps: OnceCell::new(),
        })
    }

    fn heap(&self) -> &'h Heap<'a> {
        self.analysed.heap
    }

    pub(crate) fn columns<'c>(&'c self) -> Columns<'c, Suspect> {
        let holder = |finding: &Suspect| {
            let object = finding.holders.first().and_then(|holder| holder.object);
            Json::from([
                ("label", Some(self.held_by(finding)).filter(|label| !label.is_empty()).into()),
                ("object", object.map(|object| self.analysed.json(object)).into()),
            ])
        };
        let each = |Suspect { each, .. }: &Suspect| {
            let (min, median, max) = (each.min.into(), each.median.into(), each.max.into());
            Json::from([("min", min), ("median", median), ("max", max)])
        };
        let consists_of = |finding: &Suspect| -> Json<'_> {
            let parts = finding.consists_of.iter().map(|part| {
                Json::from([
                    ("name", type_name(self.heap(), part.of).into()),
                    ("count", part.count.into()),
                    ("bytes", part.bytes.into()),
                ])
            });
            parts.collect::<Vec<_>>().into()
        };
        let object = |finding: &Suspect| self.object(finding);
        Columns::new(self.session)
            .value("kind", |finding: &'c Suspect| finding.kind.name())
            .bytes("bytes", "BYTES", |finding| finding.bytes)
            .number("share", "SHARE", |finding| self.share(finding))
            .shown_as(|finding| percent(self.share(finding)))
            .value("count", |finding| finding.count)
            .text("type", "TYPE", |finding| self.of(finding))
            .json("holder", holder)
            .flat("holder", "HOLDER", |finding| self.held_by(finding))
            .json("each", each)
            .json("consists_of", consists_of)
            .json("object", move |finding| self.analysed.json(object(finding)))
            .flat("object", "OBJECT", move |finding| self.heap().id(object(finding)))
            .text("message", "SUSPECT", |finding| self.message(finding))
            .json("rule", |finding| self.rule(finding).map(rule_json))
            .flat("rule", "RULE", |finding| self.rule(finding).map_or("", Rule::id))
            .json("path", |finding| self.way(finding).map(|path| path::json(self.analysed, &path)))
            .flat("path", "HELD BY", |finding| self.path(finding).unwrap_or_default())
            .json("example", |finding| self.analysed.json(finding.example))
            .flat("example", "EXAMPLE", |finding| self.heap().id(finding.example))
            .table(&["bytes", "share", "message", "example", "path"])
    }

    /// The object to look at first: the holder, or the largest example.
    fn object(&self, finding: &Suspect) -> ObjectId {
        finding.holders.first().and_then(|holder| holder.object).unwrap_or(finding.example)
    }

    /// The finding's share of the live heap, or of live and leaked bytes if its objects leaked.
    fn share(&self, finding: &Suspect) -> f64 {
        let live = self.analysed.tree().live_bytes();
        let whole = match finding.kind {
            kind if kind.is_unreached() => live.saturating_add(self.loaded.verdict().leaked_bytes),
            _ => live,
        };
        let share = finding.bytes as f64 / whole.max(1) as f64;
        (share * 1e4).round() / 1e4
    }

    /// The first line: `8 000 Ticket (1.5 MiB) in the map app.TICKETS (HashMap, 8 000 entries)`.
    pub(crate) fn message(&self, finding: &Suspect) -> String {
        let size = self.session.size(finding.bytes);
        format!("{} ({size}){}", self.what(finding), self.around(finding))
    }

    /// Describes the holder of the objects: ` in the map app.TICKETS (HashMap, 8 000 entries)`.
    pub(super) fn around(&self, finding: &Suspect) -> String {
        let held = self.held(finding);
        let held = if held.is_empty() { held } else { format!(" {held}") };
        let with = finding
            .with
            .map(|type_id| format!(", each with {}", shown(type_name(self.heap(), type_id))));
        let via = finding.via.as_ref().filter(|_| finding.kind != SuspectKind::Closures);
        let via = via.map(|via| format!(", in {}", shown(via)));
        held + &via.or(with).unwrap_or_default()
    }

    /// The first line with the share, to paste into a ticket.
    pub(crate) fn headline(&self, finding: &Suspect) -> String {
        format!("{}  {}", percent(self.share(finding)), self.message(finding))
    }

    /// The type of the objects or threads that the finding counts.
    pub(super) fn of(&self, finding: &Suspect) -> String {
        match &finding.what {
            What::Threads(_, Some(type_id)) => shown(type_name(self.heap(), *type_id)),
            What::Threads(kind, None) => kind.name().to_owned(),
            What::Objects(_, Some(declared)) => shown(declared),
            What::Objects(type_id, None) => shown(type_name(self.heap(), *type_id)),
        }
    }

    fn what(&self, finding: &Suspect) -> String {
        let noun = self.noun(finding);
        match finding.kind {
            SuspectKind::Large | SuspectKind::Single => format!("one {noun}"),
            kind if kind.is_unreached() && finding.count == 1 => format!("one {noun}"),
            SuspectKind::Chain => format!("a chain of {} {noun}", count(finding.count)),
            SuspectKind::Tree => format!("a tree of {} {noun}", count(finding.count)),
            _ => format!("{} {noun}", count(finding.count)),
        }
    }

    /// Names the objects that are counted: `timers Timeout`, `goroutines in main.slowReport`.
    pub(super) fn noun(&self, finding: &Suspect) -> String {
        let type_name = self.of(finding);
        match (finding.kind, &finding.what) {
            (_, What::Threads(ThreadKind::Goroutine, _)) => {
                format!("goroutines{}", self.stack(finding))
            }
            // Virtual threads are objects of a class of their own.
            (_, What::Threads(..))
                if type_name.rsplit('.').next().is_some_and(|type_name| type_name != "Thread") =>
            {
                format!("threads {type_name}{}", self.stack(finding))
            }
            (_, What::Threads(..)) => format!("threads{}", self.stack(finding)),
            (SuspectKind::Loaders, _) => format!("class loaders {type_name}"),
            (SuspectKind::Timers, _) => format!("timers {type_name}"),
            (SuspectKind::Tasks, _) => format!("tasks {type_name}"),
            (SuspectKind::Closures, _) => {
                format!("closures {}", finding.via.as_deref().map_or(type_name, shown))
            }
            _ => type_name,
        }
    }

    /// Where the threads of a finding are: ` in main.slowReport (main.go:22), chan send`.
    fn stack(&self, finding: &Suspect) -> String {
        let heap = self.heap();
        let Some(thread) = finding.threads.first().and_then(|row| heap.threads.get(*row as usize))
        else {
            return String::new();
        };
        let functions = program_functions(heap, thread);
        let Some((function, _)) = functions.first() else { return String::new() };
        let frames = &heap.frames[thread.frames.start as usize..thread.frames.end as usize];
        let frame = frames.iter().find(|frame| heap.names.text(frame.function) == *function);
        let file = frame.map_or("", |frame| heap.names.text(frame.file));
        let file = file.rsplit('/').next().unwrap_or_default();
        let line = frame.filter(|frame| frame.line > 0 && !file.is_empty());
        let line = line.map(|frame| format!("{file}:{}", frame.line));
        let state =
            Some(heap.names.text(thread.state).to_owned()).filter(|state| !state.is_empty());
        let details: Vec<String> = line.into_iter().chain(state).map(|part| shown(&part)).collect();
        let creator = thread.created_by.map(|creation| heap.names.text(creation.call.function));
        let creator = creator.map(|creator| format!(", created by {}", shown(creator)));
        let details = details.join(", ");
        let details = if details.is_empty() { details } else { format!(" ({details})") };
        format!(" in {}{details}{}", shown(function), creator.unwrap_or_default())
    }

    /// The names of the holders, without words around them.
    pub(super) fn held_by(&self, finding: &Suspect) -> String {
        let labels = finding.holders.iter().map(|holder| shown(&holder.label));
        let labels: Vec<String> = labels.filter(|label| !label.is_empty()).collect();
        if labels.is_empty() { self.thread_names(finding) } else { labels.join(", ") }
    }

    /// Describes what holds the objects. Empty if nothing can be said.
    fn held(&self, finding: &Suspect) -> String {
        if matches!(finding.what, What::Threads(..)) {
            return String::new();
        }
        let holders: Vec<String> = finding
            .holders
            .iter()
            .map(|holder| {
                // The label names the object itself, and its type is already the first word.
                let is_named = holder.object == Some(finding.example)
                    && !holder.label.is_empty()
                    && !holder.label.starts_with("held by ");
                if is_named { shown(&holder.label) } else { self.holder(holder) }
            })
            .filter(|text| !text.is_empty())
            .collect();
        let names = self.thread_names(finding);
        let is_local = finding.holders.iter().any(|holder| holder.noun == "thread-local");
        let held = match (finding.kind, &holders[..]) {
            (SuspectKind::Cycles, _) => "in cycles that were not yet collected".to_owned(),
            (SuspectKind::Leaked, holders) => {
                let with = holders.first().map(|holder| format!(" with {holder}"));
                let them = if finding.count == 1 { "it" } else { "them" };
                format!("leaked{}: no root reaches {them}", with.unwrap_or_default())
            }
            (SuspectKind::Timers, _) if let Some(delay) = self.delay(finding) => delay,
            (_, []) => String::new(),
            (SuspectKind::Threads, [one]) if is_local => {
                format!("in the thread-local variable {one}")
            }
            (SuspectKind::Finalizers, all) => {
                format!("waiting for their finalizers, held by {}", joined(all))
            }
            (SuspectKind::Collisions, all) => {
                format!("with equal hash codes in {}", joined(all))
            }
            (SuspectKind::Collection, [one]) if !finding.holders[0].noun.is_empty() => {
                format!("in {one}")
            }
            // `held by C`
            (_, [one]) if one.starts_with("held by ") => one.clone(),
            (_, all) => format!("held by {}", joined(all)),
        };
        let finalizers = finding.kind == SuspectKind::Finalizers && holders.is_empty();
        let held = if finalizers { "waiting for their finalizers".to_owned() } else { held };
        match (held.is_empty(), names.is_empty()) {
            (_, true) => held,
            (true, _) => format!("in {names}"),
            (false, _) => format!("{held}, in {names}"),
        }
    }

    /// The time that timers wait: `of 100 000 s`. Node.js keeps a list of timers for each delay, at
    /// the index that is the delay in milliseconds. Pages keep theirs in a hash table, whose indexes say nothing.
    fn delay(&self, finding: &Suspect) -> Option<String> {
        let list = finding.holders.first().and_then(|holder| holder.object)?;
        if self.heap().type_name(list) != "TimersList" {
            return None;
        }
        let path = self.way(finding)?;
        let step = path.steps.iter().find(|step| step.object == list)?;
        let ReachedBy::Reference(row) = step.by else { return None };
        let LabelKind::Index(delay) = self.heap().label(row).kind() else { return None };
        Some(match delay % 1000 {
            0 => format!("of {} s", count(u64::from(delay / 1000))),
            _ => format!("of {} ms", count(u64::from(delay))),
        })
    }

    /// `the map app.TICKETS (HashMap, 8 000 entries)`.
    fn holder(&self, holder: &Holder) -> String {
        let label = shown(&holder.label);
        let Some(object) = holder.object.filter(|_| holder.noun != "thread-local") else {
            return label;
        };
        let type_name = describe_briefly(self.heap(), object);
        let stated = holder.entries.map(|entries| plural(entries, "entry", "entries"));
        let entries = stated.map_or_else(String::new, |entries| format!(", {entries}"));
        // `a variable of main` and `listeners of 'data' of server` are not names. The listeners of an object
        // of Blink are an object themselves, whose type says no more.
        let is_name = !label.contains(' ') || label.contains(": ");
        match (holder.noun, label.is_empty()) {
            ("", true) => format!("one {type_name}"),
            (_, false) if label.starts_with("held by ") => format!("one {type_name} {label}"),
            (noun, false) if noun == type_name && is_name && entries.is_empty() => {
                format!("the {noun} {label}")
            }
            ("", false) if self.heap().class_object(object).is_some() => label,
            ("", false) if label.starts_with("listeners of ") => label,
            (noun, true) => format!("one {noun} ({type_name}{entries})"),
            (noun, false) if !noun.is_empty() && is_name => {
                format!("the {noun} {label} ({type_name}{entries})")
            }
            (_, false) => format!("{label} ({type_name}{entries})"),
        }
    }

    /// `thread pool-1-thread-1 … pool-1-thread-20`.
    fn thread_names(&self, finding: &Suspect) -> String {
        let heap = self.heap();
        if matches!(finding.what, What::Threads(..)) {
            return String::new();
        }
        let name = |row: &u32| shown(heap.names.text(heap.threads[*row as usize].name));
        match &finding.threads[..] {
            [] => String::new(),
            [one] => format!("thread {}", name(one)),
            all @ [first, .., last] => {
                let threads = count(all.len() as u64);
                format!("{threads} threads, {} … {}", name(first), name(last))
            }
        }
    }

    /// The lines below the first: sizes, contents, a path, and a command that shows more.
    pub(crate) fn details(&self, finding: &Suspect) -> Vec<String> {
        let contents = Some(self.contents(finding)).filter(|text| !text.is_empty());
        let lines = [contents, self.path(finding), Some(self.command(finding))];
        lines.into_iter().flatten().collect()
    }

    /// `each 592 B to 2.6 MiB, median 14.1 KiB; mostly 558 byte[] 16.4 MiB`.
    fn contents(&self, finding: &Suspect) -> String {
        let size = |bytes| self.session.size(bytes);
        let each = finding.each;
        let each = (finding.count > 1).then(|| {
            if each.min == each.max {
                format!("each {}", size(each.max))
            } else {
                let [min, max, median] = [each.min, each.max, each.median].map(size);
                format!("each {min} to {max}, median {median}")
            }
        });
        let parts = finding.consists_of.iter().map(|part| {
            let type_name = shown(type_name(self.heap(), part.of));
            format!("{} {type_name} {}", count(part.count), size(part.bytes))
        });
        let parts = parts.collect::<Vec<_>>().join(", ");
        let contents = [each, Some(format!("mostly {parts}")).filter(|_| !parts.is_empty())];
        contents.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    fn command(&self, finding: &Suspect) -> String {
        match (&finding.what, finding.count) {
            (What::Threads(..), _) => "see `dumptool threads`".to_owned(),
            // Unreachable objects are not in the dominator tree, so `find` shows them.
            _ if finding.kind.is_unreached() => {
                format!("see `dumptool path FILE {}`", self.heap().id(finding.example))
            }
            (_, 1) | (What::Objects(_, Some(_)), _) => {
                format!("see `dumptool tree FILE {}`", self.heap().id(self.object(finding)))
            }
            (What::Objects(type_id, None), _) => {
                format!("see `dumptool path --type '{}'`", shown(type_name(self.heap(), *type_id)))
            }
        }
    }

    /// The shortest path to the example. Leaked objects are held by a cycle or by nothing.
    fn way(&self, finding: &Suspect) -> Option<Path> {
        match finding.kind {
            kind if kind.is_unreached() => self.loaded.paths(finding.example, 1).into_iter().next(),
            _ => self.shortest().path(finding.example),
        }
    }

    /// The shortest paths to all examples, computed on first use by following all references.
    fn shortest(&self) -> &Shortest<'h, 'a> {
        let stays = self.session.resident.is_some();
        self.shortest.get_or_init(|| self.loaded.shortest_to(self.examples.iter().copied(), stays))
    }

    fn path(&self, finding: &Suspect) -> Option<String> {
        Some(path::one_line(self.analysed, &self.way(finding)?))
    }

    pub(crate) fn lines(&self, finding: &Suspect) -> String {
        let bytes = self.session.size(finding.bytes);
        let numbers = format!(
            "{}  {:>7}  ",
            self.session.terminal.bold(&format!("{bytes:>11}")),
            percent(self.share(finding))
        );
        let mut text = terminal::hanging(&numbers, &self.message(finding), terminal::columns());
        text.push('\n');
        for line in self.rule(finding).into_iter().flat_map(advice) {
            text.push_str(&terminal::hanging(&" ".repeat(22), &line, terminal::columns()));
            text.push('\n');
        }
        for line in self.details(finding) {
            text.push_str(&format!("{:22}{}\n", "", self.session.terminal.dim(&line)));
        }
        text
    }

    /// The sentence for a heap in which no owner stands out.
    pub(crate) fn nothing(&self, usual: Option<&Suspect>) -> String {
        let live = self.session.size(self.analysed.tree().live_bytes());
        match usual {
            None => format!("nothing stands out in the {live} live heap"),
            Some(usual) => format!(
                "nothing stands out in the {live} live heap: the largest owner is {}{}",
                self.headline(usual),
                if_runtime(usual, usual.count)
            ),
        }
    }
}

/// The end of a sentence if the objects belong to the runtime, otherwise empty.
pub(super) fn if_runtime(finding: &Suspect, count: u64) -> &'static str {
    match (finding.is_runtime, count) {
        (false, _) => "",
        (true, 1) => ", which belongs to the runtime",
        (true, _) => ", which belong to the runtime",
    }
}

/// A known leak in two lines: its title, and its meaning with the advice.
pub(crate) fn advice(rule: &Rule) -> [String; 2] {
    let versions = rule.versions.as_ref().map(|versions| format!(" ({})", versions.0));
    [
        format!("known: {}{}", rule.title.0, versions.unwrap_or_default()),
        format!("{} {}", rule.meaning.0, rule.advice.0),
    ]
}

/// A known leak in JSON.
pub(crate) fn rule_json(rule: &Rule) -> Json<'static> {
    Json::from([
        ("id", rule.id().to_owned().into()),
        ("title", rule.title.0.clone().into()),
        ("meaning", rule.meaning.0.clone().into()),
        ("advice", rule.advice.0.clone().into()),
        ("fault", rule.fault.name().into()),
        ("versions", rule.versions.as_ref().map(|versions| versions.0.clone()).into()),
        ("source", rule.source.as_ref().map(|source| source.0.clone()).into()),
    ])
}

/// Joins names: `a, b and c`. If any name ends with [`AND_OTHERS`], the result ends with it once.
fn joined(all: &[String]) -> String {
    let mut names: Vec<&str> =
        all.iter().map(|one| one.strip_suffix(AND_OTHERS).unwrap_or(one)).collect();
    names.dedup();
    let others = if all.iter().any(|one| one.ends_with(AND_OTHERS)) { AND_OTHERS } else { "" };
    match &names[..] {
        [] => String::new(),
        [one] => format!("{one}{others}"),
        names if !others.is_empty() => format!("{}{others}", names.join(", ")),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}
