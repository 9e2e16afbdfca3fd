//! The JSON of `filemeta` and `snapmeta`, with the order of its keys kept.

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;
use std::fmt;

/// A JSON object as key and value pairs in their order. Keys of nested objects are joined with a
/// dot.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Meta(pub(super) Vec<(String, Value)>);

impl Meta {
    /// Parses the payload of a metadata block: JSON up to the terminating NUL. `None` if it is not
    /// a JSON object.
    pub(super) fn parse(payload: &[u8]) -> Option<Self> {
        let json = payload.split(|byte| *byte == 0).next().unwrap_or_default();
        let Pairs(pairs) = serde_json::from_slice(json).ok()?;
        let mut meta = Self::default();
        for (key, node) in pairs {
            meta.flatten(key, node);
        }
        Some(meta)
    }

    pub(super) fn unsigned(&self, key: &str) -> Option<u64> {
        self.0.iter().find(|(known, _)| known == key).and_then(|(_, value)| value.as_u64())
    }

    pub(super) fn texts(&self, key: &str) -> Option<Vec<String>> {
        let items = self
            .0
            .iter()
            .find(|(known, _)| known == key)
            .and_then(|(_, value)| value.as_array())?;
        Some(items.iter().map(value_text).collect())
    }

    /// Adds a member and its nested members. Deeper objects, which no writer uses, stay JSON text.
    fn flatten(&mut self, key: String, node: Node) {
        match node {
            Node::Other(value) => self.0.push((key, value)),
            Node::Object(Pairs(pairs)) => {
                for (inner, node) in pairs {
                    self.0.push((format!("{key}.{inner}"), node.into_value()));
                }
            }
        }
    }
}

/// A value as text: strings without quotes, everything else as JSON.
pub(super) fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(value_text).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Node {
    Object(Pairs),
    Other(Value),
}

/// The members of an object in the order of the file.
struct Pairs(Vec<(String, Node)>);

impl Node {
    fn into_value(self) -> Value {
        match self {
            Self::Other(value) => value,
            Self::Object(Pairs(pairs)) => Value::Object(
                pairs.into_iter().map(|(key, node)| (key, node.into_value())).collect(),
            ),
        }
    }
}

// serde_json itself refuses JSON that is nested more than 128 levels deep, so no recursion here
// goes deeper.
impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PairsVisitor)
    }
}

struct PairsVisitor;

impl<'de> Visitor<'de> for PairsVisitor {
    type Value = Pairs;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Pairs(pairs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_order_and_nested_ones_are_joined() {
        let meta =
            Meta::parse(b"{ \"subversion\": 1, \"pid\": 7, \"b\": {\"z\": 40, \"a\": [\"x\", \"y\"]}, \"n\": -1}\0").unwrap();
        let shown: Vec<_> =
            meta.0.iter().map(|(key, value)| format!("{key}={}", value_text(value))).collect();
        assert_eq!(shown, ["subversion=1", "pid=7", "b.z=40", "b.a=x, y", "n=-1"]);
        assert_eq!(meta.unsigned("pid"), Some(7));
        assert_eq!(meta.unsigned("n"), None);
    }

    #[test]
    fn what_is_no_json_object_is_none() {
        for bytes in [&b""[..], b"\0", b"{", b"[1]\0", b"{\"a\": \xff}\0"] {
            assert_eq!(Meta::parse(bytes), None);
        }
        let deep = ["{\"a\":".repeat(5000), "1".into(), "}".repeat(5000)].concat();
        assert_eq!(Meta::parse(deep.as_bytes()), None);
    }
}
