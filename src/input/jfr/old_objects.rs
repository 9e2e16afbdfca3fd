//! Objects that were sampled when they were allocated and that were alive at the end, with what
//! held them: `jdk.OldObjectSample`.

use super::chunk::chunks;
use super::values::{KnownTypes, Tables, Value};
use crate::error::Result;
use crate::input::read::ReadOptions;
use crate::model::calendar::rfc3339_of_nanoseconds;
use rustc_hash::FxHashMap;

/// Java's modifier of static fields.
const STATIC: u64 = 8;

/// Objects of a path. Those of the JDK have at most 200, and circles must end.
const LONGEST_PATH: usize = 1024;

/// Approximate memory in bytes of a sample, and of an object of a path.
const BYTES_PER_ROW: u64 = 250;

/// The samples of a recording, and the objects on their paths to roots.
#[derive(Debug, Default)]
pub struct OldObjects {
    /// The samples, in the order of the file. Only the last if several chunks have an object.
    pub samples: Vec<OldObjectSample>,
    pub objects: Vec<OldObject>,
    /// The stacks, innermost frame first: `Shop.allocate:15`.
    pub stacks: Vec<Vec<String>>,
}

/// An object that was sampled.
#[derive(Clone, Debug)]
pub struct OldObjectSample {
    /// The position in [`OldObjects::objects`].
    pub object: usize,
    /// The position in [`OldObjects::stacks`] of the stack that allocated it.
    pub stack: Option<usize>,
    /// The thread that allocated it.
    pub thread: String,
    /// The time of the allocation in UTC (RFC 3339).
    pub allocated: String,
    /// Nanoseconds since the allocation.
    pub age_ns: i64,
    /// Bytes of the object. `None` in recordings of JDK 17 and older.
    pub bytes: Option<u64>,
    /// Elements, if it is an array.
    pub elements: Option<u64>,
    /// Bytes of the heap that were in use after the last collection before the allocation.
    pub heap_bytes: u64,
    /// The root that the path begins at. `None` if no path was recorded.
    pub root: Option<OldObjectRoot>,
    /// The time of the allocation, and the chunk, to join samples of several chunks.
    key: (i128, u64),
}

/// The root that holds an old object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OldObjectRoot {
    /// The part of the JVM that has it, such as `Threads`, and the kind of root: `Threads, Stack
    /// Variable`.
    pub kind: String,
    /// More about the root, such as the thread's name; may be empty.
    pub label: String,
}

/// An object on a path.
#[derive(Clone, Debug)]
pub struct OldObject {
    /// The address at the time of the sample.
    pub address: u64,
    /// The name of the class.
    pub type_name: String,
    /// More about the object, such as the size of a collection; may be empty.
    pub description: String,
    /// The object that refers to this one. `None` if a root does.
    pub holder: Option<Holder>,
}

/// An object that refers to another one.
#[derive(Clone, Debug)]
pub struct Holder {
    /// The position in [`OldObjects::objects`].
    pub object: usize,
    /// The field or element: `static CACHE`, `[17]`.
    pub label: String,
    /// Objects between the two that were not recorded.
    pub skipped: u64,
}

/// The objects that were sampled and are alive, with their paths from roots. Fails if they take
/// more memory than they may. Damage ends the reading early.
pub fn old_objects(bytes: &[u8], options: ReadOptions<'_>) -> Result<OldObjects> {
    let mut old = OldObjects::default();
    let mut known_types = KnownTypes::new(options.mapping);
    for chunk in chunks(bytes).map_while(Result::ok) {
        let Ok((tables, _)) = Tables::read(chunk, &mut known_types) else { continue };
        options.memory.check_bytes(chunk.offset, tables.bytes())?;
        let Some(wanted) = tables.types.number_of("jdk.OldObjectSample") else { continue };
        let mut known = Known::default();
        let events = chunk.events();
        for event in events.filter(|event| event.type_id == wanted) {
            let Some(sample) = tables.event(event) else { continue };
            old.add(&tables, sample, &mut known);
            let rows = old.samples.len().saturating_add(old.objects.len()) as u64;
            options.memory.check_bytes(event.offset, rows.saturating_mul(BYTES_PER_ROW))?;
        }
    }
    // Every chunk has the samples that are alive at its end.
    let mut last = FxHashMap::<(i128, &str), u64>::default();
    for sample in &old.samples {
        let (time, chunk) = sample.key;
        last.insert((time, old.type_name(sample.object)), chunk);
    }
    let keep: Vec<bool> = old
        .samples
        .iter()
        .map(|sample| {
            let (time, chunk) = sample.key;
            last.get(&(time, old.type_name(sample.object))) == Some(&chunk)
        })
        .collect();
    let mut keep = keep.into_iter();
    old.samples.retain(|_| keep.next().unwrap_or(true));
    Ok(old)
}

/// Positions of objects and stacks of a chunk by their numbers in it.
#[derive(Default)]
struct Known {
    objects: FxHashMap<u64, usize>,
    stacks: FxHashMap<u64, usize>,
}

impl OldObjects {
    /// The objects of a path, from the sampled object to the one that a root refers to.
    pub fn path(&self, object: usize) -> impl Iterator<Item = &OldObject> {
        let mut left = self.objects.len().min(LONGEST_PATH);
        let mut next = self.objects.get(object);
        std::iter::from_fn(move || {
            let at = next.filter(|_| left > 0)?;
            left = left.wrapping_sub(1);
            next = at.holder.as_ref().and_then(|holder| self.objects.get(holder.object));
            Some(at)
        })
    }

    fn type_name(&self, object: usize) -> &str {
        self.objects.get(object).map_or("", |object| &object.type_name)
    }

    fn add<'a>(&mut self, tables: &Tables<'a>, sample: Value<'a>, known: &mut Known) {
        let number = |field| tables.field(sample, field).map(|value| value.number());
        let Some(object) = tables.field(sample, "object") else { return };
        let Some(object) = self.object(tables, object, known) else { return };
        let header = &tables.chunk.header;
        let allocated = header.time(number("allocationTime").unwrap_or(0));
        let elements = number("arrayElements").map(|elements| elements as i32);
        let thread = tables.field(sample, "eventThread");
        let stack = tables.field(sample, "stackTrace");
        let stack = stack.and_then(|stack| self.stack(tables, stack, known));
        self.samples.push(OldObjectSample {
            object,
            stack,
            thread: thread.and_then(|thread| tables.thread_name(thread)).unwrap_or_default(),
            allocated: rfc3339_of_nanoseconds(allocated),
            age_ns: header.nanoseconds(number("objectAge").unwrap_or(0)),
            bytes: number("objectSize").filter(|bytes| *bytes > 0),
            elements: elements.and_then(|elements| u64::try_from(elements).ok()),
            heap_bytes: number("lastKnownHeapUsage").unwrap_or(0),
            root: tables.field(sample, "root").and_then(|root| tables.root(root)),
            key: (allocated, tables.chunk.offset),
        });
    }

    /// Returns the position of an object. A new object is read, along with all that hold it.
    fn object<'a>(
        &mut self,
        tables: &Tables<'a>,
        object: Value<'a>,
        known: &mut Known,
    ) -> Option<usize> {
        let Value::Pooled(_, id) = object else { return None };
        if let Some(known) = known.objects.get(&id) {
            return Some(*known);
        }
        let first = self.objects.len();
        let mut next = (id, object);
        loop {
            let (id, object) = next;
            tables.resolve(object)?;
            known.objects.insert(id, self.objects.len());
            let address = tables.number(object, "address");
            let class = tables.field(object, "type");
            let description = tables.field(object, "description");
            let reference = tables.field(object, "referrer");
            self.objects.push(OldObject {
                address,
                type_name: class.and_then(|class| tables.class_name(class)).unwrap_or_default(),
                description: description
                    .and_then(|it| tables.text(it))
                    .unwrap_or_default()
                    .into_owned(),
                holder: None,
            });
            let holder = reference.and_then(|reference| {
                let holder = tables.field(reference, "object")?;
                tables.resolve(holder)?;
                Some((reference, holder))
            });
            let Some((reference, holder @ Value::Pooled(_, id))) = holder else { break };
            let position = known.objects.get(&id).copied();
            let skipped = tables.number(reference, "skip");
            let label = tables.label(reference);
            let held_by = Holder { object: position.unwrap_or(self.objects.len()), label, skipped };
            self.objects
                .last_mut()
                .into_iter()
                .for_each(|last| last.holder = Some(held_by.clone()));
            if position.is_some() {
                break;
            }
            next = (id, holder);
        }
        Some(first)
    }

    fn stack<'a>(
        &mut self,
        tables: &Tables<'a>,
        stack: Value<'a>,
        known: &mut Known,
    ) -> Option<usize> {
        let Value::Pooled(_, id) = stack else { return None };
        if let Some(known) = known.stacks.get(&id) {
            return Some(*known);
        }
        let frames = tables.frames(stack)?;
        known.stacks.insert(id, self.stacks.len());
        self.stacks.push(frames);
        self.stacks.len().checked_sub(1)
    }
}

impl<'a> Tables<'a> {
    /// The field or element by which an object refers to another one.
    fn label(&self, reference: Value<'a>) -> String {
        if let Some(field) = self.field(reference, "field") {
            let name = self.field(field, "name").and_then(|name| self.text(name));
            if let Some(name) = name.filter(|name| !name.is_empty()) {
                let is_static = self.number(field, "modifiers") & STATIC != 0;
                return if is_static { format!("static {name}") } else { name.into_owned() };
            }
        }
        let array = self.field(reference, "array");
        let index = array.and_then(|array| self.field(array, "index"));
        index.map_or_else(String::new, |index| format!("[{}]", index.number() as i32))
    }

    fn root(&self, root: Value<'a>) -> Option<OldObjectRoot> {
        self.resolve(root)?;
        let word = |field| self.field(root, field).and_then(|value| self.word(value));
        let kinds: Vec<String> = ["system", "type"]
            .into_iter()
            .filter_map(word)
            .filter(|word| word != "<unknown>")
            .collect();
        let label = self.field(root, "description").and_then(|it| self.text(it));
        Some(OldObjectRoot {
            kind: kinds.join(", "),
            label: label.unwrap_or_default().into_owned(),
        })
    }

    /// The frames of a stack, innermost first: `Shop.allocate:15`.
    fn frames(&self, stack: Value<'a>) -> Option<Vec<String>> {
        let (class, _) = self.resolve(stack)?;
        let class = self.types.class(class)?;
        let field = class.fields.get(class.position("frames")?)?;
        let Value::Array(count, mut cursor) = self.field(stack, "frames")? else { return None };
        let mut frames = Vec::new();
        for _ in 0..count {
            let frame = self.element(field, &mut cursor).ok()?;
            let method = self.field(frame, "method").and_then(|method| self.method_name(method));
            let line = self.number(frame, "lineNumber") as i32;
            let line = if line > 0 { format!(":{line}") } else { String::new() };
            frames.push(method.unwrap_or_default() + &line);
        }
        Some(frames)
    }
}
