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
        let Node::Object(pairs) = serde_json::from_slice(json).ok()? else { return None };
        let mut meta = Self::default();
        for (key, node) in pairs {
            meta.flatten(key, node);
        }
        Some(meta)
    }

    pub(super) fn unsigned(&self, key: &str) -> Option<u64> {
        self.0.iter().find(|(known, _)| known == key).and_then(|(_, value)| value.as_u64())
    }

    /// A list of strings.
    pub(super) fn texts(&self, key: &str) -> Option<Vec<String>> {
        let items = self
            .0
            .iter()
            .find(|(known, _)| known == key)
            .and_then(|(_, value)| value.as_array())?;
        Some(items.iter().map(value_text).collect())
    }

    /// Two levels are all that a writer ever used; anything deeper stays JSON text.
    fn flatten(&mut self, key: String, node: Node) {
        match node {
            Node::Other(value) => self.0.push((key, value)),
            Node::Object(pairs) => {
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

enum Node {
    Object(Vec<(String, Node)>),
    Other(Value),
}

impl Node {
    fn into_value(self) -> Value {
        match self {
            Self::Other(value) => value,
            Self::Object(pairs) => Value::Object(
                pairs.into_iter().map(|(key, node)| (key, node.into_value())).collect(),
            ),
        }
    }
}

// serde_json itself refuses JSON that is nested more than 128 levels deep, so no recursion here
// goes deeper.
impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Node::Object(pairs))
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = items.next_element()? {
            values.push(value);
        }
        Ok(Node::Other(Value::Array(values)))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Other(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Other(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Other(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Other(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Other(value.into()))
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Other(Value::Null))
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
