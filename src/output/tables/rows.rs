//! The rows of each table. The columns of CSV are the keys of JSON, in the same order; a test keeps
//! it so.

use serde::Serialize;

pub(super) const OBJECT_COLUMNS: &[&str] = &[
    "object",
    "id",
    "type",
    "namespace",
    "kind",
    "shallow_bytes",
    "external_bytes",
    "retained_bytes",
    "dominator",
    "reachable",
];

#[derive(Serialize)]
pub(super) struct ObjectRow<'r> {
    pub(super) object: u32,
    pub(super) id: &'r str,
    #[serde(rename = "type")]
    pub(super) type_name: &'r str,
    pub(super) namespace: Option<&'r str>,
    pub(super) kind: &'r str,
    pub(super) shallow_bytes: u64,
    pub(super) external_bytes: u64,
    /// 0 for unreachable objects.
    pub(super) retained_bytes: u64,
    /// None for unreachable objects and for those that only the set of roots dominates.
    pub(super) dominator: Option<u32>,
    pub(super) reachable: bool,
}

pub(super) const REFERENCE_COLUMNS: &[&str] = &["src", "dst", "label", "weak"];

#[derive(Serialize)]
pub(super) struct ReferenceRow<'r> {
    pub(super) src: u32,
    pub(super) dst: u32,
    pub(super) label: &'r str,
    pub(super) weak: bool,
}

pub(super) const ROOT_COLUMNS: &[&str] = &["object", "id", "kind", "name", "function"];

#[derive(Serialize)]
pub(super) struct RootRow<'r> {
    pub(super) object: u32,
    pub(super) id: &'r str,
    pub(super) kind: &'r str,
    pub(super) name: &'r str,
    /// Of its call frame.
    pub(super) function: Option<&'r str>,
}

pub(super) const TYPE_COLUMNS: &[&str] = &[
    "number",
    "type",
    "namespace",
    "kind",
    "count",
    "shallow_bytes",
    "external_bytes",
    "live_count",
    "live_shallow_bytes",
    "live_external_bytes",
];

#[derive(Serialize)]
pub(super) struct TypeRow<'r> {
    pub(super) number: u32,
    #[serde(rename = "type")]
    pub(super) type_name: &'r str,
    pub(super) namespace: Option<&'r str>,
    pub(super) kind: &'r str,
    pub(super) count: u64,
    pub(super) shallow_bytes: u64,
    pub(super) external_bytes: u64,
    pub(super) live_count: u64,
    pub(super) live_shallow_bytes: u64,
    pub(super) live_external_bytes: u64,
}

impl TypeRow<'_> {
    pub(super) fn add(&mut self, shallow: u64, live: bool) {
        self.count += 1;
        self.shallow_bytes = self.shallow_bytes.saturating_add(shallow);
        if live {
            self.live_count += 1;
            self.live_shallow_bytes = self.live_shallow_bytes.saturating_add(shallow);
        }
    }

    pub(super) fn add_external(&mut self, bytes: u64, live: bool) {
        self.external_bytes = self.external_bytes.saturating_add(bytes);
        if live {
            self.live_external_bytes = self.live_external_bytes.saturating_add(bytes);
        }
    }
}
