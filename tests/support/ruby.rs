//! A small Ruby heap dump.

/// Two sessions, a class without a name and one of a single object, shapes, texts, a hash and an
/// array; a number that nothing holds.
pub const SHOP: &str = r#"{"type":"ROOT", "root":"vm", "references":["0x100", "0x240", "0x240", "0x290", "0x2a0", "0x280"]}
{"type":"ROOT", "root":"machine_context", "references":["0x240", "0x260", "0x270"]}
{"address":"0x10", "type":"SHAPE", "id":0, "depth":1, "shape_type":"ROOT", "edges":1, "memsize":104}
{"address":"0x20", "type":"SHAPE", "id":1, "parent_id":0, "depth":2, "shape_type":"IVAR", "edge_name":"@name", "edges":1, "memsize":32}
{"address":"0x30", "type":"SHAPE", "id":2, "parent_id":1, "depth":3, "shape_type":"IVAR", "edge_name":"@cart", "edges":0, "memsize":32}
{"address":"0x240", "type":"ARRAY", "slot_size":40, "class":"0x120", "length":2, "references":["0x200", "0x210"], "memsize":40, "flags":{"wb_protected":true}}
{"address":"0x200", "type":"OBJECT", "shape_id":2, "slot_size":40, "class":"0x100", "ivars":2, "references":["0x220", "0x230"], "file":"shop.rb", "line":9, "method":"new", "generation":15, "memsize":48, "flags":{"wb_protected":true, "old":true}}
{"address":"0x210", "type":"OBJECT", "shape_id":2, "slot_size":40, "class":"0x100", "ivars":2, "references":["0x220"], "memsize":48, "flags":{"wb_protected":true}}
{"address":"0x220", "type":"STRING", "class":"0x110", "embedded":true, "bytesize":11, "value":"größe \"L\"", "encoding":"UTF-8", "memsize":40, "flags":{"wb_protected":true}}
{"address":"0x230", "type":"HASH", "class":"0x120", "size":1, "references":["0x220", "0x250"], "memsize":168, "flags":{"wb_protected":true}}
{"address":"0x250", "type":"STRING", "class":"0x110", "shared":true, "bytesize":1000, "memsize":1040, "flags":{"wb_protected":true}}
{"address":"0x260", "type":"STRING", "class":"0x130", "bytesize":2, "value":"de", "memsize":40, "flags":{"wb_protected":true}}
{"address":"0x270", "type":"OBJECT", "class":"0x140", "ivars":0, "memsize":40, "flags":{"wb_protected":true}}
{"address":"0x280", "type":"IMEMO", "class":"0x7", "imemo_type":"ment", "references":["0x130"], "memsize":48, "flags":{"wb_protected":true}}
{"address":"0x290", "type":"ARRAY", "length":0, "memsize":40, "flags":{"wb_protected":true}}
{"address":"0x2a0", "type":"DATA", "struct":"VM/thread", "references":["0x140"], "memsize":400, "flags":{"wb_protected":true}}
{"address":"0x2b0", "type":"FLOAT", "class":"0x120", "value":"2.5", "memsize":40, "flags":{"wb_protected":true}}
{"address":"0x100", "type":"CLASS", "name":"Session", "superclass":"0x120", "references":["0x120"], "memsize":600, "flags":{"wb_protected":true}}
{"address":"0x110", "type":"CLASS", "name":"String", "superclass":"0x120", "references":["0x120"], "memsize":700, "flags":{"wb_protected":true}}
{"address":"0x120", "type":"CLASS", "name":"Cart", "memsize":500, "flags":{"wb_protected":true}}
{"address":"0x130", "type":"CLASS", "singleton":true, "superclass":"0x110", "references":["0x110"], "memsize":400, "flags":{"wb_protected":true}}
{"address":"0x140", "type":"CLASS", "superclass":"0x100", "references":["0x100"], "memsize":400, "flags":{"wb_protected":true}}
"#;

/// The bytes of [`SHOP`].
pub fn shop() -> Vec<u8> {
    SHOP.as_bytes().to_vec()
}
