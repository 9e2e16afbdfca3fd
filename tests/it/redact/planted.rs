//! Dumps with secrets in every place where a format keeps what a program stored.

use crate::support::dart::{Snapshot as Dart, string};
use crate::support::go::{Dump, HEAP, Part::*};
use crate::support::heapsnapshot::world;
use crate::support::hprof::File;
use crate::support::pmat::Pmat;
use crate::support::pyheap::APP;
use crate::support::ruby::SHOP;

/// All of them. Eight letters are also eight bytes of a number.
pub(crate) const SECRETS: &[&str] = &[
    "alice@bank.example",
    "hunter2-élan",
    "пароль-слон",
    "char-array-secret",
    "INTARRAY",
    "FIELDSEC",
    "STATICSE",
    "static-text-secret",
    "customer 4711 worker",
    "sekrit.password",
    "js-string-secret",
    "bob@bank.example",
    "key-in-weak-map",
    "regexp-secret",
    "dom-id-secret",
    "dom-text-secret",
    "one-byte-secret",
    "two-byte-тайна",
    "MINTSECR",
    "FLOATSEC",
    "devtools-secret",
    "isolate 4711",
    "go-bytes-secret",
    "GOSTRUCT",
    "GOBYTES1",
    "ruby-string-secret",
    "ruby-symbol-secret",
    "perl-text-secret",
    "perl-key-secret",
    "PERLNUMB",
    "python-text-secret",
    "python-key-secret",
    "python_attribute_secret",
];

pub(crate) const HPROF: &[&str] = &[
    "alice@bank.example",
    "hunter2-élan",
    "пароль-слон",
    "char-array-secret",
    "INTARRAY",
    "FIELDSEC",
    "STATICSE",
    "static-text-secret",
    "customer 4711 worker",
    "sekrit.password",
];

const OBJECT: u64 = 8;
const STRING: u64 = 16;
const THREAD: u64 = 24;
const CONFIG: u64 = 32;
const OBJECTS: u64 = 40;

/// Strings of all generations of the JDK, arrays, primitive fields, static fields, a system
/// property, the name of a thread.
pub(crate) fn hprof() -> Vec<u8> {
    let mut file = File::new("1.0.2", 8);
    file.loads(&[
        (OBJECT, "java/lang/Object"),
        (STRING, "java/lang/String"),
        (THREAD, "java/lang/Thread"),
        (CONFIG, "app/Config"),
        (OBJECTS, "[Ljava/lang/Object;"),
    ]);
    let [value, coder, name, pin, salt, token] =
        ["value", "coder", "name", "pin", "SALT", "TOKEN"].map(|name| file.string(name));
    let thread_name = file.string("customer 4711 worker");
    // START_THREAD: serial, object, trace, name, and those of its groups.
    let id = |id: u64| id.to_be_bytes();
    let start = [&[0, 0, 0, 1][..], &id(400), &[0; 4], &id(thread_name), &id(0), &id(0)].concat();
    file.record(0x0a, &[&start]);
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
    let latin1 = |text: &str| text.chars().map(|c| c as u8).collect::<Vec<u8>>();
    let mut records = vec![
        file.class(OBJECT, 0, 0, &[], &[]),
        file.class(STRING, OBJECT, 24, &[], &[(value, 2), (coder, 8)]),
        file.class(THREAD, OBJECT, 24, &[], &[(name, 2)]),
        file.class(
            CONFIG,
            OBJECT,
            24,
            &[(salt, 11, b"STATICSE".to_vec()), (token, 2, file.id(320))],
            &[(pin, 11)],
        ),
        file.class(OBJECTS, OBJECT, 0, &[], &[]),
        file.instance(360, CONFIG, &[b"FIELDSEC"]),
        file.instance(400, THREAD, &[&file.id(340)]),
        file.array(368, 5, 17, &wide("char-array-secret")),
        file.array(376, 10, 2, b"INTARRAY"),
        file.objects(384, OBJECTS, &[100, 140, 180, 320, 360, 368, 376, 260]),
        file.root(0x08, 400, &[0, 0, 0, 1, 0, 0, 0, 0]),
        file.root(0x04, 384, &[0, 0, 0, 1]),
        file.root(0x05, CONFIG, &[]),
    ];
    for (id, text) in [
        (100, "alice@bank.example"),
        (140, "hunter2-élan"),
        (260, "sekrit.password"),
        (320, "static-text-secret"),
        (340, "customer 4711 worker"),
    ] {
        let contents = latin1(text);
        records.push(file.array(id + 8, 8, contents.len() as u32, &contents));
        records.push(file.instance(id, STRING, &[&file.id(id + 8), &[0]]));
    }
    let contents = wide("пароль-слон");
    records.push(file.array(188, 5, contents.len() as u32 / 2, &contents));
    records.push(file.instance(180, STRING, &[&file.id(188), &[1]]));
    file.segment(&records).end()
}

pub(crate) const HEAPSNAPSHOT: &[&str] = &[
    "js-string-secret",
    "bob@bank.example",
    "key-in-weak-map",
    "eve@bank.example",
    "url-secret",
    "dom-text-secret",
];

/// Secrets that look like names in source code.
pub(crate) const LIKE_CODE: &[&str] = &["mallory_secret", "symbol_secret"];

/// A string, keys that are properties, also in the name of a type, an entry of a WeakMap, and names
/// of nodes. One element is called detached twice, by its name and by its state.
pub(crate) fn heapsnapshot() -> Vec<u8> {
    let mut world = world();
    let text = world.node("string", "js-string-secret", 32);
    let regexp = world.node("regexp", "regexp-secret", 32);
    let element = world.node("native", "<div id=\"dom-id-secret\">", 32);
    let holder = world.object("Accounts", 32);
    let window = world.node("native", "Window / https://bank.example/?url-secret", 32);
    let quoted = world.node("native", "Detached dom-text-secret of a page", 32);
    let plain = world.node("native", "Node / std::map<int, node::Handle>", 32);
    world
        .edge(holder, "property", "mallory_secret", text)
        .edge(holder, "property", "<symbol symbol_secret>", text)
        .edge(holder, "internal", "window", window)
        .edge(holder, "internal", "text", quoted)
        .edge(holder, "internal", "handles", plain)
        .edge(holder, "property", "bob@bank.example", text)
        .edge(holder, "property", "pattern", regexp)
        .edge(holder, "internal", "element", element)
        .edge(2, "property", "accounts", holder);
    let pair = format!(
        "2 / part of key (Accounts @{}) -> value (key-in-weak-map @{}) pair in WeakMap (table @99)",
        2 * holder + 1,
        2 * text + 1
    );
    world.edge(holder, "internal", &pair, text);
    for name in ["mallory_secret", "symbol_secret"] {
        let plain = world.object("Object", 32);
        world.edge(plain, "property", name, text).edge(holder, "property", "third", plain);
    }
    for name in ["first", "second"] {
        let plain = world.object("Object", 32);
        world
            .edge(plain, "property", "eve@bank.example", text)
            .edge(holder, "property", name, plain);
    }
    world.bytes()
}

pub(crate) const DART: &[&str] =
    &["one-byte-secret", "two-byte-тайна", "MINTSECR", "FLOATSEC", "devtools-secret"];

/// Strings of both widths and as DevTools writes them, integers and doubles.
pub(crate) fn dart() -> Vec<u8> {
    let narrow = |text: &str| {
        [vec![5, text.len() as u8, text.len() as u8], text.as_bytes().to_vec()].concat()
    };
    let wide = |text: &str| {
        let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let count = (units.len() / 2) as u8;
        [vec![6, count, count], units].concat()
    };
    let mint = [vec![3], sleb(i64::from_be_bytes(*b"MINTSECR"))].concat();
    let double = [vec![4], b"FLOATSEC".iter().rev().copied().collect()].concat();
    Dart::empty()
        .class("Root", "", &[])
        .class("Read-Only Pages", "", &[])
        .class("Isolate", "", &[(0, "cache")])
        .class("", "", &[])
        .class("_List", "dart:core", &[])
        .class("_OneByteString", "dart:core", &[])
        .class("_TwoByteString", "dart:core", &[])
        .class("_Mint", "dart:core", &[])
        .class("_Double", "dart:core", &[])
        .object(1, 0, [0], &[2, 3])
        .object(2, 0, [0], &[])
        .object(3, 0, [vec![8], string("4711")].concat(), &[4])
        .object(5, 64, [7, 5], &[5, 6, 7, 8, 9])
        .object(6, 32, narrow("one-byte-secret"), &[])
        .object(7, 48, wide("two-byte-тайна"), &[])
        .object(8, 16, mint, &[])
        .object(9, 16, double, &[])
        .object(6, 32, [vec![8], string("devtools-secret")].concat(), &[])
        .hashes(&[0; 9])
        .bytes()
}

fn sleb(mut value: i64) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let byte = (value & 0x7f) as u8;
        value >>= 7;
        if value == 0 && byte & 0x40 == 0 || value == -1 && byte & 0x40 != 0 {
            bytes.push(byte);
            return bytes;
        }
        bytes.push(byte | 0x80);
    }
}

pub(crate) const GO: &[&str] = &["go-bytes-secret", "GOSTRUCT", "GOBYTES1"];

/// Memory without pointers, and the words beside a pointer.
pub(crate) fn go() -> Vec<u8> {
    let mut structure = HEAP.to_le_bytes().to_vec();
    structure.extend(b"GOSTRUCT");
    structure.resize(32, 0);
    let mut page = b"go-bytes-secret".to_vec();
    page.resize(4096, 0);
    Dump::new("go1.21")
        .record(1, &[U(HEAP), B(b"GOBYTES1\0\0\0\0\0\0\0\0"), F(&[])])
        .record(1, &[U(HEAP + 4096), B(&page), F(&[])])
        .record(1, &[U(HEAP + 64), B(&structure), F(&[(1, 0)])])
        .goroutine(HEAP + 0x10_0000, 0x7000_0000, 4, "chan receive")
        .record(2, &[S("global"), U(HEAP + 64)])
        .record(2, &[S("global"), U(HEAP + 4096)])
        .finish(3, 4144)
}

pub(crate) const RUBY: &[&str] = &["ruby-string-secret", "ruby-symbol-secret"];

/// A string and a symbol.
pub(crate) fn ruby() -> Vec<u8> {
    let line = |address: &str, of: &str, value: &str| {
        format!(
            "{{\"address\":\"{address}\", \"type\":\"{of}\", \"class\":\"0x110\", \"bytesize\":{}, \"value\":\"{value}\", \"memsize\":40}}\n",
            value.len()
        )
    };
    let root =
        "{\"type\":\"ROOT\", \"root\":\"global_tbl\", \"references\":[\"0x300\", \"0x310\"]}\n";
    let lines = [
        SHOP.lines().next().unwrap(),
        "\n",
        root,
        &SHOP[SHOP.find('\n').unwrap() + 1..],
        &line("0x300", "STRING", "ruby-string-secret"),
        &line("0x310", "SYMBOL", "ruby-symbol-secret"),
    ];
    lines.concat().into_bytes()
}

pub(crate) const PMAT: &[&str] = &["perl-text-secret", "perl-key-secret", "PERLNUMB"];

/// A text, a number, and the key of a hash.
pub(crate) fn pmat() -> Vec<u8> {
    let mut file = Pmat::new(true, &[("defstash", 0x100)], &[0x1e0]);
    file.stash(0x100, "main", &[]);
    file.hash(0x1e0, 0, &[("perl-key-secret", 0x200), ("name", 0x240)]);
    file.text(0x200, "perl-text-secret");
    file.sv(2, 0x240, 24, 0).bytes(&[1]).words(&[u64::from_be_bytes(*b"PERLNUMB")]);
    file.bytes(&[0; 8]).words(&[0, 0]).words(&[u64::MAX]);
    file.bytes(&[0, 0]).words(&[0, 0]);
    file.bytes.clone()
}

pub(crate) const PYHEAP: &[&str] =
    &["python-text-secret", "python-key-secret", "python_attribute_secret"];

/// A text, the key of a dict, and an attribute that no code names, as `setattr` makes it.
pub(crate) fn pyheap() -> Vec<u8> {
    let text = APP
        .replace(r#""l":151,"v":"b""#, r#""v":"python-text-secret""#)
        .replace("\"k1\"", "\"python-key-secret\"")
        .replace("[\"user\"]", "[\"python_attribute_secret\"]");
    text.into_bytes()
}
