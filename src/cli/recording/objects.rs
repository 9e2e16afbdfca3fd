//! `top --suspects` and `path` of recordings: objects that were sampled when they were allocated
//! and stayed alive, with what holds them.

use super::groups::{Group, groups};
use super::read_old_objects;
use crate::analysis::glob::Glob;
use crate::cli::args::{PathArgs, TopArgs};
use crate::cli::open::Input;
use crate::cli::print::{Columns, Document, Shown, Value, print};
use crate::cli::session::Session;
use crate::cli::size::{count, duration, percent, plural};
use crate::cli::status::{Status, UsageError};
use crate::cli::terminal::{show_path, shown};
use crate::input::jfr::{OldObject, OldObjectSample, OldObjects};

/// The default number of groups that `top --suspects` shows and of samples that `path` shows.
const SHOWN: usize = 6;
/// Maximum number of objects of a path that are shown; longer paths are cut in the middle.
const MOST_LINES: usize = 30;
/// Maximum number of frames of the stack that allocated an object.
const FRAMES: usize = 6;

/// Prints groups of objects that stayed alive. Fails with a [`UsageError`] if the recording has
/// none.
pub(crate) fn suspects(args: &TopArgs, input: &Input, session: &Session) -> anyhow::Result<Status> {
    let old = read_old_objects(input, session)?;
    require(&old, input)?;
    let all = groups(&old);
    let most = session.rows(args.limit, SHOWN).min(all.len());
    let view = View { old: &old, session };
    let text = || {
        let left = plural((all.len() - most) as u64, "group", "groups");
        view.listed(all[..most].iter().map(|group| view.group(group)), most < all.len(), &left)
    };
    let document = || {
        Document::new("dumptool/top/1", &input.path)
            .with("by", "suspects")
            .with("samples", old.samples.len())
            .with("rows", ())
            .rows("suspects")
            .with("omitted", Value::from([("rows", (all.len() - most).into())]))
    };
    print(session, document, &all[..most], &view.group_columns(), &Shown::Text(&text))?;
    Ok(input.report_if_damaged(None, &session.terminal))
}

/// Prints the paths from roots to objects that stayed alive. Fails with a [`UsageError`] if the
/// recording has no such object.
pub(crate) fn paths(args: &PathArgs, input: &Input, session: &Session) -> anyhow::Result<Status> {
    let old = read_old_objects(input, session)?;
    require(&old, input)?;
    let address = args.object.as_deref().map(address).transpose()?;
    let types = args.type_glob.as_deref().map(Glob::new);
    let wanted = |sample: &&OldObjectSample| {
        let is_called = |glob: &Glob| glob.matches(&old.objects[sample.object].type_name);
        let has = |address| old.path(sample.object).any(|object| object.address == address);
        types.as_ref().is_none_or(is_called) && address.is_none_or(has)
    };
    let found: Vec<&OldObjectSample> = old.samples.iter().filter(wanted).collect();
    if found.is_empty() {
        let what = args.object.as_ref().or(args.type_glob.as_ref());
        let what = what.map_or("", String::as_str);
        let message = format!("no sampled object of {} is {}", show_path(&input.path), shown(what));
        let hint = "`dumptool top --suspects` lists the objects that the recording knows";
        return Err(UsageError::new(message).hint(hint).into());
    }
    let view = View { old: &old, session };
    let most = session.rows(args.limit, SHOWN).min(found.len());
    let text = || {
        let left = plural((found.len() - most) as u64, "sample", "samples");
        let shown = found[..most].iter().map(|sample| view.sample(sample));
        view.listed(shown, most < found.len(), &left)
    };
    let document = || {
        Document::new("dumptool/path/1", &input.path)
            .with("samples", old.samples.len())
            .rows("paths")
            .with("omitted", Value::from([("rows", (found.len() - most).into())]))
    };
    print(session, document, &found[..most], &view.path_columns(), &Shown::Text(&text))?;
    Ok(input.report_if_damaged(None, &session.terminal))
}

fn require(old: &OldObjects, input: &Input) -> Result<(), UsageError> {
    if !old.samples.is_empty() {
        return Ok(());
    }
    let path = show_path(&input.path);
    Err(UsageError::new(format!("{path} has no samples of old objects (jdk.OldObjectSample)"))
        .hint("record with -XX:StartFlightRecording=settings=profile,path-to-gc-roots=true"))
}

fn address(text: &str) -> Result<u64, UsageError> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let number = digits.map_or_else(|| text.parse(), |digits| u64::from_str_radix(digits, 16));
    number.map_err(|_| {
        let message = format!("{} is not an address", shown(text));
        UsageError::new(message).hint("objects of recordings have addresses, such as 0xfd5e23a0")
    })
}

struct View<'o> {
    old: &'o OldObjects,
    session: &'o Session,
}

impl<'o> View<'o> {
    fn headline(&self) -> String {
        let samples = plural(self.old.samples.len() as u64, "object", "objects");
        format!(
            "{samples} that were sampled when they were allocated and were still alive. A sample stands for many\nallocations; sizes are those of the sampled objects, not of what they hold.\n"
        )
    }

    /// The headline, the paragraphs below it, and the number of those that are not shown.
    fn listed(&self, shown: impl Iterator<Item = String>, is_cut: bool, left: &str) -> String {
        let mut text = self.headline();
        shown.for_each(|paragraph| text.push_str(&format!("\n{paragraph}")));
        if is_cut {
            text.push_str(&format!("\n{left} more (-n 0 shows all)\n"));
        }
        text
    }

    fn object(&self, sample: &OldObjectSample) -> &'o OldObject {
        &self.old.objects[sample.object]
    }

    /// The objects on the path from a root to the sample.
    fn chain(&self, sample: &OldObjectSample) -> Vec<&'o OldObject> {
        let mut chain: Vec<_> = self.old.path(sample.object).collect();
        chain.reverse();
        chain
    }

    fn group(&self, group: &Group<'_>) -> String {
        let [first, ..] = group.samples[..] else { return String::new() };
        let ages = group.samples.iter().map(|sample| sample.age_ns.max(0) as u64 / 1000);
        let (least, most) = ages.fold((u64::MAX, 0), |(a, b), age| (a.min(age), b.max(age)));
        let ages = if duration(least) == duration(most) {
            duration(most)
        } else {
            format!("{} to {}", duration(least), duration(most))
        };
        let bytes = sum_of_bytes(group).map(|bytes| format!(", {}", self.session.size(bytes)));
        let number = group.samples.len() as u64;
        format!(
            "{}  {}  {}, {ages} old{}\n{}",
            self.session.terminal.bold(&count(number)),
            percent(self.share(group)),
            self.session.terminal.bold(&shown(&self.object(first).type_name)),
            bytes.unwrap_or_default(),
            self.held_by(first)
        )
    }

    fn sample(&self, sample: &OldObjectSample) -> String {
        let object = self.object(sample);
        let elements = sample.elements.map(|n| format!(" of {} elements", count(n)));
        let bytes = sample.bytes.map(|bytes| format!(", {}", self.session.size(bytes)));
        format!(
            "{}{} at {:#x}{}, {} old\n{}",
            self.session.terminal.bold(&shown(&object.type_name)),
            elements.unwrap_or_default(),
            object.address,
            bytes.unwrap_or_default(),
            duration(sample.age_ns.max(0) as u64 / 1000),
            self.held_by(sample)
        )
    }

    /// The path from the root, and the place that allocated the object.
    fn held_by(&self, sample: &OldObjectSample) -> String {
        let mut text = match &sample.root {
            Some(root) if root.label.is_empty() => format!("  {}\n", shown(&root.kind)),
            Some(root) => format!("  {}  {}\n", shown(&root.kind), shown(&root.label)),
            None if self.old.samples.iter().any(|sample| sample.root.is_some()) => {
                "  no path from a root was recorded\n".to_owned()
            }
            None => "  no path from a root (record with path-to-gc-roots=true)\n".to_owned(),
        };
        let chain = self.chain(sample);
        let cut = if chain.len() > MOST_LINES {
            MOST_LINES / 2..chain.len() - MOST_LINES / 2
        } else {
            0..0
        };
        for (depth, object) in chain.iter().enumerate() {
            let indent = "  ".repeat(depth.min(MOST_LINES / 2));
            if cut.contains(&depth) {
                if depth == cut.start {
                    text.push_str(&format!("   {indent}… {} objects omitted\n", cut.len()));
                }
                continue;
            }
            let label = match (&object.holder, depth) {
                (Some(holder), 1..) => holder,
                _ => {
                    text.push_str(&format!("   {indent}└ {}\n", described(object)));
                    continue;
                }
            };
            let skipped = match label.skipped {
                0 => String::new(),
                skipped => format!(" (… {} between)", plural(skipped, "object", "objects")),
            };
            let name = shown(&label.label);
            text.push_str(&format!("   {indent}└ {name} {}{skipped}\n", described(object)));
        }
        text.push_str(&format!("  allocated by thread {}", shown(&sample.thread)));
        let stack = sample.stack.and_then(|stack| self.old.stacks.get(stack));
        let stack = stack.map_or(&[][..], Vec::as_slice);
        for frame in stack.iter().take(FRAMES) {
            text.push_str(&format!("\n    {}", shown(frame)));
        }
        if let more @ 1.. = stack.len().saturating_sub(FRAMES) {
            text.push_str(&format!("\n    … {}", plural(more as u64, "caller", "callers")));
        }
        text + "\n"
    }

    fn share(&self, group: &Group<'_>) -> f64 {
        let share = group.samples.len() as f64 / self.old.samples.len().max(1) as f64;
        (share * 1e4).round() / 1e4
    }

    fn group_columns<'c>(&'c self) -> Columns<'c, Group<'o>> {
        let first = |group: &Group<'o>| group.samples[0];
        Columns::new(self.session)
            .value("kind", |_: &Group<'_>| "old_object")
            .value("bytes", sum_of_bytes)
            .number("share", "SHARE", |group| self.share(group))
            .shown_as(|group| percent(self.share(group)))
            .number("count", "SAMPLES", |group| group.samples.len())
            .text("type", "TYPE", move |group| &*self.object(first(group)).type_name)
            .json("holder", move |group| self.holder(first(group)))
            .json("path", move |group| self.path_json(first(group)))
            .flat("path", "HELD BY", move |group| self.one_line(first(group)))
            .json("stack", move |group| self.stack_json(first(group)))
            .json("example", move |group| {
                object_json(self.object(first(group)), first(group).bytes)
            })
            .flat("example", "EXAMPLE", move |group| {
                format!("{:#x}", self.object(first(group)).address)
            })
            .value("age_ns", |group| group.samples.iter().map(|sample| sample.age_ns).max())
    }

    fn path_columns<'c>(&'c self) -> Columns<'c, &'o OldObjectSample> {
        Columns::new(self.session)
            .text("type", "TYPE", |sample: &&OldObjectSample| &*self.object(sample).type_name)
            .text("id", "OBJECT", |sample| format!("{:#x}", self.object(sample).address))
            .bytes("bytes", "BYTES", |sample| sample.bytes)
            .value("elements", |sample| sample.elements)
            .number("age_ns", "AGE", |sample| sample.age_ns)
            .value("allocated", |sample| &*sample.allocated)
            .value("heap_bytes", |sample| sample.heap_bytes)
            .value("thread", |sample| &*sample.thread)
            .json("root", |sample| self.root_json(sample))
            .json("steps", |sample| self.steps_json(sample))
            .flat("path", "HELD BY", |sample| self.one_line(sample))
            .json("stack", |sample| self.stack_json(sample))
    }

    /// `static CACHE java.util.HashMap → table java.util.HashMap$Node[] → …`.
    fn one_line(&self, sample: &OldObjectSample) -> String {
        let root = sample.root.iter().map(|root| format!("{} {}", root.kind, root.label));
        let steps = self.chain(sample).into_iter().map(|object| {
            let label = object.holder.as_ref().map_or("", |holder| &holder.label);
            format!("{label} {}", object.type_name)
        });
        let parts: Vec<_> = root.chain(steps).map(|part| shown(part.trim())).collect();
        parts.join(" → ")
    }

    fn holder<'c>(&'c self, sample: &OldObjectSample) -> Value<'c> {
        let holder = self.object(sample).holder.as_ref();
        let object = holder.and_then(|holder| self.old.objects.get(holder.object));
        Value::from([
            ("label", holder.map(|holder| &*holder.label).into()),
            ("object", object.map(|object| object_json(object, None)).into()),
        ])
    }

    fn root_json<'c>(&'c self, sample: &'c OldObjectSample) -> Option<Value<'c>> {
        let root = sample.root.as_ref()?;
        Some(Value::from([("kind", (&*root.kind).into()), ("label", (&*root.label).into())]))
    }

    fn path_json<'c>(&'c self, sample: &'c OldObjectSample) -> Value<'c> {
        Value::from([("root", self.root_json(sample).into()), ("steps", self.steps_json(sample))])
    }

    fn steps_json<'c>(&'c self, sample: &OldObjectSample) -> Value<'c> {
        let step = |object: &'c OldObject| {
            let holder = object.holder.as_ref();
            Value::from([
                ("label", holder.map(|holder| &*holder.label).into()),
                ("skipped", holder.map_or(0, |holder| holder.skipped).into()),
                ("object", object_json(object, None)),
            ])
        };
        self.chain(sample).into_iter().map(step).collect::<Vec<_>>().into()
    }

    fn stack_json<'c>(&'c self, sample: &OldObjectSample) -> Value<'c> {
        let stack = sample.stack.and_then(|stack| self.old.stacks.get(stack));
        let frames = stack.into_iter().flatten().map(|frame| frame.as_str().into());
        frames.collect::<Vec<Value<'_>>>().into()
    }
}

fn sum_of_bytes(group: &Group<'_>) -> Option<u64> {
    group
        .samples
        .iter()
        .map(|sample| sample.bytes)
        .try_fold(0, |sum: u64, bytes| Some(sum.saturating_add(bytes?)))
}

/// `java.util.HashMap (Size: 17)`.
fn described(object: &OldObject) -> String {
    match object.description.as_str() {
        "" => shown(&object.type_name),
        description => shown(&format!("{} ({description})", object.type_name)),
    }
}

fn object_json(object: &OldObject, bytes: Option<u64>) -> Value<'_> {
    Value::from([
        ("id", format!("{:#x}", object.address).into()),
        ("type", (&*object.type_name).into()),
        ("namespace", Value::Null),
        ("shallow_bytes", bytes.into()),
        ("retained_bytes", Value::Null),
    ])
}
