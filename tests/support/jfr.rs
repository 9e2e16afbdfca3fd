//! Builds recordings of Java's Flight Recorder.

/// The numbers of the classes that every chunk has. Classes of a test begin at [`class::FREE`].
pub mod class {
    pub const LONG: u64 = 1;
    pub const INT: u64 = 2;
    pub const BOOLEAN: u64 = 3;
    pub const STRING: u64 = 4;
    pub const THREAD: u64 = 5;
    pub const CLASS: u64 = 6;
    pub const METHOD: u64 = 7;
    pub const STACK: u64 = 8;
    pub const FRAME: u64 = 9;
    pub const FREE: u64 = 20;
}

/// A field: its name, its class, and whether it is the number of a pooled value.
pub type Field = (&'static str, u64, bool);

/// A value of a pool: its number and its bytes.
type Entry = (u64, Vec<u8>);

/// A chunk of a recording, whose clock ticks in nanoseconds.
pub struct Chunk {
    classes: Vec<(u64, String, Vec<Field>, bool)>,
    events: Vec<u8>,
    pools: Vec<(u64, Vec<Entry>)>,
}

/// Appends a number as LEB128.
pub fn number(bytes: &mut Vec<u8>, mut value: u64) {
    for _ in 0..8 {
        if value < 0x80 {
            return bytes.push(value as u8);
        }
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Numbers one after the other.
pub fn numbers(values: &[u64]) -> Vec<u8> {
    let mut bytes = Vec::new();
    values.iter().for_each(|value| number(&mut bytes, *value));
    bytes
}

/// A string in UTF-8.
pub fn text(text: &str) -> Vec<u8> {
    [vec![3], numbers(&[text.len() as u64]), text.as_bytes().to_vec()].concat()
}

/// An event or another sized thing: its size, its type and its fields.
fn sized(type_id: u64, fields: &[u8]) -> Vec<u8> {
    let rest = [numbers(&[type_id]), fields.to_vec()].concat();
    // The size counts itself.
    let own = (1..9).find(|own| numbers(&[(rest.len() + own) as u64]).len() == *own).unwrap();
    [numbers(&[(rest.len() + own) as u64]), rest].concat()
}

impl Chunk {
    /// A chunk without events.
    pub fn new() -> Self {
        use class::*;
        let chunk = Self { classes: Vec::new(), events: Vec::new(), pools: Vec::new() };
        chunk
            .class(LONG, "long", &[])
            .class(INT, "int", &[])
            .class(BOOLEAN, "boolean", &[])
            .class(STRING, "java.lang.String", &[])
            .class(THREAD, "java.lang.Thread", &[("javaName", STRING, false)])
            .class(CLASS, "java.lang.Class", &[("name", STRING, false)])
            .class(METHOD, "jdk.types.Method", &[("type", CLASS, true), ("name", STRING, false)])
            .stack_class()
            .class(
                FRAME,
                "jdk.types.StackFrame",
                &[("method", METHOD, true), ("lineNumber", INT, false)],
            )
    }

    fn stack_class(mut self) -> Self {
        let fields = vec![("truncated", class::BOOLEAN, false), ("frames", class::FRAME, false)];
        self.classes.push((class::STACK, "jdk.types.StackTrace".into(), fields, true));
        self
    }

    /// Adds a class, or the type of events.
    pub fn class(mut self, id: u64, name: &str, fields: &[Field]) -> Self {
        self.classes.push((id, name.into(), fields.to_vec(), false));
        self
    }

    /// Adds an event.
    pub fn event(mut self, type_id: u64, fields: &[u8]) -> Self {
        self.events.extend(sized(type_id, fields));
        self
    }

    /// Adds pooled values of a class.
    pub fn pool(mut self, class: u64, values: Vec<(u64, Vec<u8>)>) -> Self {
        self.pools.push((class, values));
        self
    }

    fn metadata(&self) -> Vec<u8> {
        let mut strings: Vec<String> = Vec::new();
        let mut string = |text: &str| {
            let known = strings.iter().position(|known| known == text);
            known.unwrap_or_else(|| {
                strings.push(text.into());
                strings.len() - 1
            }) as u64
        };
        let mut tree = Vec::new();
        let mut element = |name: &str, attributes: &[(&str, String)], children: usize| {
            number(&mut tree, string(name));
            number(&mut tree, attributes.len() as u64);
            for (key, value) in attributes {
                let pair = [string(key), string(value)];
                tree.extend(numbers(&pair));
            }
            number(&mut tree, children as u64);
        };
        element("root", &[], 1);
        element("metadata", &[], self.classes.len());
        for (id, name, fields, is_stack) in &self.classes {
            element("class", &[("id", id.to_string()), ("name", name.clone())], fields.len());
            for (name, class, is_pooled) in fields {
                let mut attributes = vec![("name", (*name).into()), ("class", class.to_string())];
                attributes.extend(is_pooled.then(|| ("constantPool", "true".into())));
                let is_array = *is_stack && *name == "frames";
                attributes.extend(is_array.then(|| ("dimension", "1".into())));
                element("field", &attributes, 0);
            }
        }
        let mut fields = numbers(&[0, 0, 1, strings.len() as u64]);
        strings.iter().for_each(|string| fields.extend(text(string)));
        sized(0, &[fields, tree].concat())
    }

    /// The bytes of the chunk.
    pub fn bytes(&self) -> Vec<u8> {
        let mut pools = numbers(&[0, 0, 0]);
        pools.push(1);
        number(&mut pools, self.pools.len() as u64);
        for (class, values) in &self.pools {
            pools.extend(numbers(&[*class, values.len() as u64]));
            for (id, value) in values {
                number(&mut pools, *id);
                pools.extend(value);
            }
        }
        let (pools, metadata) = (sized(1, &pools), self.metadata());
        let checkpoint = 68 + self.events.len();
        let place = checkpoint + pools.len();
        let size = place + metadata.len();
        let mut bytes = b"FLR\0\0\x02\0\x01".to_vec();
        for value in [size, checkpoint, place, 1_000_000_000, 5_000_000_000, 0, 1_000_000_000] {
            bytes.extend((value as u64).to_be_bytes());
        }
        bytes.extend(3u32.to_be_bytes());
        [bytes, self.events.clone(), pools, metadata].concat()
    }
}

/// A chunk with sampled objects, of which the first is held by the second and so on; the last one
/// by the object with the number `last`.
pub fn old_objects(objects: u64, last: u64, samples: u64) -> Chunk {
    const OLD: u64 = class::FREE + 1;
    const REFERENCE: u64 = class::FREE + 2;
    const FIELD: u64 = class::FREE + 3;
    let sample = [("allocationTime", class::LONG, false), ("object", OLD, true)];
    let old = [
        ("address", class::LONG, false),
        ("type", class::CLASS, true),
        ("referrer", REFERENCE, true),
    ];
    let reference = [("field", FIELD, true), ("object", OLD, true), ("skip", class::INT, false)];
    let chain = |id: u64| (id, numbers(&[0x1000 + id, 1, id]));
    let holder = |id: u64| if id == objects { last } else { id + 1 };
    let chunk = Chunk::new()
        .class(class::FREE, "jdk.OldObjectSample", &sample)
        .class(OLD, "jdk.types.OldObject", &old)
        .class(REFERENCE, "jdk.types.Reference", &reference)
        .class(FIELD, "jdk.types.OldObjectField", &[("name", class::STRING, false)])
        .pool(class::CLASS, vec![(1, text("shop/Node"))])
        .pool(FIELD, vec![(1, text("next"))])
        .pool(OLD, (1..=objects).map(chain).collect())
        .pool(REFERENCE, (1..=objects).map(|id| (id, numbers(&[1, holder(id), 0]))).collect());
    (1..=samples).fold(chunk, |chunk, id| chunk.event(class::FREE, &numbers(&[1_000 + id, id])))
}

/// A chunk with the types of events of async-profiler, whose fields are in its order.
pub fn async_profiler() -> Chunk {
    let sample = [
        ("startTime", class::LONG, false),
        ("eventThread", class::THREAD, true),
        ("stackTrace", class::STACK, true),
    ];
    let with = |more: &[Field]| [&sample[..], more].concat();
    let about = ("objectClass", class::CLASS, true);
    let number = |name| (name, class::LONG, false);
    let cpu =
        [("startTime", class::LONG, false), ("sampledThread", class::THREAD, true), sample[2]];
    let lock =
        [sample[0], number("duration"), sample[1], sample[2], ("monitorClass", class::CLASS, true)];
    let tlab = with(&[about, number("allocationSize"), number("tlabSize")]);
    let id = class::FREE;
    Chunk::new()
        .class(id, "jdk.ExecutionSample", &cpu)
        .class(id + 1, "profiler.WallClockSample", &with(&[number("samples"), number("timeSpan")]))
        .class(id + 2, "jdk.ObjectAllocationInNewTLAB", &tlab)
        .class(id + 3, "jdk.ObjectAllocationOutsideTLAB", &tlab[..5])
        .class(id + 4, "jdk.JavaMonitorEnter", &lock)
        .class(id + 5, "profiler.LiveObject", &with(&[about, number("allocationSize")]))
        .class(id + 6, "profiler.NativeLock", &[lock[0], lock[1], lock[2], lock[3]])
        .pool(class::CLASS, vec![(1, text("[B")), (2, text(""))])
        .pool(class::THREAD, vec![(7, text("main"))])
        .pool(class::METHOD, vec![(1, [numbers(&[2]), text("malloc")].concat())])
        .pool(class::STACK, vec![(1, numbers(&[0, 1, 1, 0]))])
        .event(id, &numbers(&[10, 7, 1]))
        .event(id + 1, &numbers(&[20, 7, 1, 5, 100]))
        .event(id + 2, &numbers(&[30, 7, 1, 1, 16, 4096]))
        .event(id + 3, &numbers(&[40, 7, 1, 1, 8000]))
        .event(id + 4, &numbers(&[50, 900, 7, 1, 1]))
        .event(id + 5, &numbers(&[60, 7, 1, 1, 24]))
        .event(id + 6, &numbers(&[70, 300, 7, 1]))
}
