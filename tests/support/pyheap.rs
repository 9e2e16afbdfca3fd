//! A small heap dump of a Python program.

/// A module `app` with a dict `cache` of two sessions, a list that only C holds, and a cycle.
pub const APP: &str = r#"{"pyheap":1,"python":"3.13.0","implementation":"cpython","platform":"linux","pointer":8,"pid":7,"collections":3,"contents":true}
{"type":0,"address":1000,"module":"builtins","name":"module","kind":"module","base":0,"exact":true,"heap":false,"dict":true}
{"type":1,"address":1010,"module":"builtins","name":"dict","kind":"dict","base":0,"exact":true,"heap":false,"dict":false}
{"type":2,"address":1020,"module":"builtins","name":"str","kind":"str","base":0,"exact":true,"heap":false,"dict":false}
{"type":3,"address":1030,"module":"app","name":"Session","kind":"object","base":0,"exact":false,"heap":true,"dict":true}
{"type":4,"address":1040,"module":"builtins","name":"list","kind":"list","base":0,"exact":true,"heap":false,"dict":false}
{"type":5,"address":1050,"module":"builtins","name":"int","kind":"int","base":0,"exact":true,"heap":false,"dict":false}
{"type":6,"address":1060,"module":"builtins","name":"type","kind":"class","base":0,"exact":true,"heap":false,"dict":false}
{"type":7,"address":1070,"module":"builtins","name":"frame","kind":"frame","base":0,"exact":true,"heap":false,"dict":false}
{"names":0,"of":["__dict__"]}
{"names":1,"of":["user"]}
{"names":2,"of":["rows"]}
{"o":100,"t":0,"s":72,"c":1,"v":"app","n":0,"r":[200]}
{"o":200,"t":1,"s":232,"c":1,"k":[300,210,310,1030]}
{"o":210,"t":1,"s":232,"c":1,"k":[320,400,330,410]}
{"o":300,"t":2,"s":54,"c":1,"v":"cache"}
{"o":310,"t":2,"s":56,"c":1,"v":"Session"}
{"o":320,"t":2,"s":51,"c":1,"v":"k1"}
{"o":330,"t":5,"s":28,"c":1,"v":17}
{"o":400,"t":3,"s":48,"c":1,"n":1,"r":[500]}
{"o":410,"t":3,"s":48,"c":1,"n":1,"r":[510]}
{"o":500,"t":2,"s":60,"c":2,"v":"ann\u00e9"}
{"o":510,"t":2,"s":200,"c":1,"l":151,"v":"b"}
{"o":600,"t":4,"s":64,"c":1,"i":[500]}
{"o":700,"t":4,"s":64,"c":1,"i":[710]}
{"o":710,"t":4,"s":64,"c":1,"i":[700]}
{"o":800,"t":7,"s":300,"c":1,"v":"work (app.py:9)","n":2,"r":[810]}
{"o":810,"t":4,"s":1000,"c":1,"x":77}
{"o":1030,"t":6,"s":900,"c":3,"v":"app.Session"}
{"thread":9,"name":"worker","daemon":true,"o":0,"frames":[{"o":800,"function":"work","file":"/srv/app.py","line":9}]}
{"root":"module","name":"app","o":[100]}
{"end":true,"objects":18}
"#;

/// `app.last_error` whose traceback holds a frame with 2 000 texts, and 1 000 cycles that were not
/// collected.
pub fn leaks() -> String {
    let mut text = String::from("{\"pyheap\":1,\"python\":\"3.13.0\",\"pointer\":8}\n");
    let types = ["module", "dict", "str", "ValueError", "traceback", "frame", "list", "Node"];
    let kinds = ["module", "dict", "str", "exception", "traceback", "frame", "list", "object"];
    for (number, (name, kind)) in types.iter().zip(kinds).enumerate() {
        text += &format!("{{\"type\":{number},\"address\":{number},\"module\":\"builtins\",");
        text += &format!("\"name\":\"{name}\",\"kind\":\"{kind}\"}}\n");
    }
    let names = ["__dict__", "__traceback__", "tb_frame", "rows", "me"];
    for (number, name) in names.iter().enumerate() {
        text += &format!("{{\"names\":{number},\"of\":[\"{name}\"]}}\n");
    }
    text += r#"{"o":100,"t":0,"s":72,"c":1,"v":"app","n":0,"r":[110]}
{"o":110,"t":1,"s":232,"c":1,"k":[120,130]}
{"o":120,"t":2,"s":60,"c":1,"v":"last_error"}
{"o":130,"t":3,"s":80,"c":1,"n":1,"r":[140]}
{"o":140,"t":4,"s":64,"c":1,"n":2,"r":[150]}
{"o":150,"t":5,"s":300,"c":1,"v":"load (/srv/views.py:5)","n":3,"r":[160]}
"#;
    let (rows, nodes) = (1000..3000, 4000..5000);
    let items: Vec<String> = rows.clone().map(|row| row.to_string()).collect();
    text += &format!("{{\"o\":160,\"t\":6,\"s\":16056,\"c\":1,\"i\":[{}]}}\n", items.join(","));
    for row in rows {
        text += &format!("{{\"o\":{row},\"t\":2,\"s\":100,\"c\":1,\"v\":\"row {row}\"}}\n");
    }
    for node in nodes {
        text += &format!("{{\"o\":{node},\"t\":7,\"s\":100,\"c\":1,\"n\":4,\"r\":[{node}]}}\n");
    }
    text + "{\"root\":\"module\",\"name\":\"app\",\"o\":[100]}\n{\"end\":true,\"objects\":3007}\n"
}

/// A program whose module `app` has variables.
#[derive(Default)]
pub struct App {
    objects: u64,
    lines: String,
    variables: Vec<(&'static str, u64)>,
}

/// The types of an [`App`]: their names, which are their kinds, too, except for `Session`.
const TYPES: [&str; 5] = ["module", "dict", "str", "list", "Session"];

impl App {
    fn add(&mut self, of: &str, size: usize, rest: &str) -> u64 {
        let number = TYPES.iter().position(|name| *name == of).unwrap();
        self.objects += 1;
        let object = self.objects;
        self.lines += &format!("{{\"o\":{object},\"t\":{number},\"s\":{size},\"c\":1{rest}}}\n");
        object
    }

    pub fn text(&mut self, text: &str, size: usize) -> u64 {
        self.add("str", size, &format!(",\"v\":\"{text}\""))
    }

    pub fn session(&mut self) -> u64 {
        self.add("Session", 1000, "")
    }

    /// A session whose `__dict__` is an object.
    pub fn session_with(&mut self, attributes: &[(&str, u64)]) -> u64 {
        let attributes = self.dict(attributes);
        self.add("Session", 48, &format!(",\"n\":0,\"r\":[{attributes}]"))
    }

    pub fn list(&mut self, items: &[u64]) -> u64 {
        self.add("list", 56 + 8 * items.len(), &format!(",\"i\":{items:?}"))
    }

    pub fn dict(&mut self, entries: &[(&str, u64)]) -> u64 {
        let key = |(key, value): &(&str, u64)| [self.text(key, 50), *value];
        let entries: Vec<u64> = entries.iter().flat_map(key).collect();
        self.add("dict", 64 + 50 * entries.len(), &format!(",\"k\":{entries:?}"))
    }

    pub fn variable(&mut self, name: &'static str, value: u64) -> &mut Self {
        self.variables.push((name, value));
        self
    }

    /// The text of the dump.
    pub fn dump(&mut self) -> String {
        let variables = std::mem::take(&mut self.variables);
        let dictionary = self.dict(&variables);
        let names = format!(",\"v\":\"app\",\"n\":0,\"r\":[{dictionary}]");
        let module = self.add("module", 72, &names);
        let mut text = String::from("{\"pyheap\":1,\"python\":\"3.13.0\",\"pointer\":8}\n");
        for (number, name) in TYPES.iter().enumerate() {
            let (module, kind) =
                if *name == "Session" { ("app", "object") } else { ("builtins", *name) };
            text += &format!(
                "{{\"type\":{number},\"address\":{},\"module\":\"{module}\",",
                number + 1_000_000
            );
            text += &format!("\"name\":\"{name}\",\"kind\":\"{kind}\"}}\n");
        }
        text += "{\"names\":0,\"of\":[\"__dict__\"]}\n";
        text += &self.lines;
        text += &format!("{{\"root\":\"module\",\"name\":\"app\",\"o\":[{module}]}}\n");
        text + &format!("{{\"end\":true,\"objects\":{}}}\n", self.objects)
    }
}
