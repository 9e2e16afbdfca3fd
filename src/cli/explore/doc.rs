//! Access to the documents of commands.

use serde_json::Value;

/// Reads values of documents. Keys that are absent give empty values, zeros or `None`.
pub(super) trait Doc {
    fn text(&self, key: &str) -> &str;
    fn number(&self, key: &str) -> u64;
    fn signed(&self, key: &str) -> i64;
    fn maybe(&self, key: &str) -> Option<u64>;
    /// Bytes in and outside of the managed heap.
    fn own_bytes(&self) -> u64;
    fn rows(&self, key: &str) -> &[Value];
    /// The id of the object that this document describes.
    fn id(&self) -> Option<String>;
}

impl Doc for Value {
    fn text(&self, key: &str) -> &str {
        self[key].as_str().unwrap_or_default()
    }

    fn number(&self, key: &str) -> u64 {
        self.maybe(key).unwrap_or_default()
    }

    fn signed(&self, key: &str) -> i64 {
        self[key].as_i64().unwrap_or_default()
    }

    fn maybe(&self, key: &str) -> Option<u64> {
        self[key].as_u64()
    }

    fn own_bytes(&self) -> u64 {
        self.number("shallow_bytes").saturating_add(self.number("external_bytes"))
    }

    fn rows(&self, key: &str) -> &[Value] {
        self[key].as_array().map(Vec::as_slice).unwrap_or_default()
    }

    fn id(&self) -> Option<String> {
        self["id"].as_str().map(str::to_owned)
    }
}
