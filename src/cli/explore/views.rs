//! Maps each view to the function that shows its document.

use super::place::{Place, View};
use super::sheet::Sheet;
use super::{calls, change, heap, object, query};
use serde_json::Value;

/// Builds the sheet that a place shows for its document.
pub(super) fn sheet(document: &Value, place: &Place) -> Sheet {
    let show = match place.view {
        View::Verdict => heap::verdict,
        View::Diff => change::diff,
        View::Functions => calls::functions,
        View::Types => heap::types,
        View::Tree => heap::tree,
        View::Calls | View::Callers => calls::calls,
        View::Flame => calls::flame,
        View::Threads => heap::threads,
        View::Waste => heap::waste,
        View::Roots => heap::roots,
        View::Growth => change::growth,
        View::Snapshots => change::snapshots,
        View::ByThread => calls::by_thread,
        View::Timeline => calls::timeline,
        View::Query => query::rows,
        View::Objects => object::objects,
        View::Object => object::object,
        View::Path => object::path,
        View::Thread => heap::thread,
        View::Sandwich => calls::sandwich,
    };
    show(document, place)
}
