//! The build of the program that was dumped.

use super::{Rec, Records};
use crate::input::origin::Provenance;

/// Reads the parameters and the types, which Go writes before the objects. Damaged parts count as
/// unknown.
pub fn origin(bytes: &[u8]) -> Provenance {
    let mut origin = Provenance::of("Go");
    let Ok(records) = Records::new(bytes) else { return origin };
    for (_, record) in records.map_while(Result::ok) {
        match record {
            Rec::Params(params) => {
                let parts = [params.go_version(), params.goarch()];
                let version = parts.into_iter().flatten().collect::<Vec<_>>().join(" ");
                origin = origin.version(version);
            }
            Rec::Type(of) => origin.add_type(of.name, of.addr),
            Rec::Object(_) => break,
            _ => {}
        }
    }
    origin
}
