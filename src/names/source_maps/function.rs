//! The original name of a function or class.
//!
//! V8 reports the start of a function: its opening parenthesis, the only parameter of an arrow
//! function, or the word `class` of a class without a constructor. The name is elsewhere:
//!
//! 1. the name of the segment at the function's own short name, which ends there: `b(`;
//! 2. in the text of the source, around the function's original place ([`text`](super::text));
//! 3. the name of the segment where the short name would be in `b=(`, `b=function(`, `b=class{` and
//!    the like.

use super::map::SourceMap;
use super::text::name_in_source;
use super::vlq::{Place, Segment};

/// The lengths of texts that may precede a function after its short name:
/// `=async`, `=function`, `=function*`, `=async function`, `=async function*`, `=async `, and
/// the beginnings of constructors: `{constructor` and `=class{constructor`.
const BETWEEN: [u32; 8] = [6, 7, 9, 10, 15, 16, 12, 18];
/// The distance from the beginning of a class without a constructor to its name.
const CLASS: u32 = "class ".len() as u32;

/// The maximum length of the code between the place of a function and its segment, without its
/// name: `async function* `, `static async *`, `constructor`.
const NEAR: u32 = 18;

/// The segment of a function, and the function's name in the source.
pub(super) struct Function<'m> {
    pub(super) segment: &'m Segment,
    /// The name in the source. `None` if the source has none either.
    pub(super) name: Option<String>,
}

/// Finds a function by its start, and its generated name.
pub(super) fn find<'m>(map: &'m SourceMap, place: Place, generated: &str) -> Option<Function<'m>> {
    let segment = map.at(place);
    // V8's own names, such as `<instance_members_initializer>`.
    if generated.starts_with('<') {
        return Some(Function { segment: segment?, name: None });
    }
    let accessor = ["get ", "set "].into_iter().find(|word| generated.starts_with(word));
    let full = generated.trim_start_matches(accessor.unwrap_or_default());
    let bare = full.rsplit('.').next().unwrap_or_default();
    let length = bare.encode_utf16().count() as u32;
    let before = |distance: u32| {
        let column = place.column.checked_sub(distance)?;
        map.exactly(Place { column, ..place })
    };
    let with_accessor = |name: &str| match accessor {
        Some(word) if !name.starts_with(word) => format!("{word}{name}"),
        _ => name.to_owned(),
    };
    let own = before(length).filter(|_| length > 0);
    if let Some(own) = own
        && let Some(name) = map.name(own)
    {
        return Some(Function { segment: own, name: Some(with_accessor(name)) });
    }
    let near = length.saturating_add(NEAR);
    let is_near = |segment: &&Segment| place.column.saturating_sub(segment.at.column) <= near;
    let in_source = segment.filter(is_near).and_then(|segment| {
        let (text, at) = map.text(segment)?;
        name_in_source(text, at, generated)
    });
    // The source may name a function that has no name here, such as one that was inlined.
    if let (Some(segment), Some(name)) = (segment, in_source) {
        return Some(Function { segment, name: Some(with_accessor(&name)) });
    }
    let here = map.exactly(place);
    let named = match (accessor, bare.starts_with('#')) {
        (None, false) if own.is_some() => None,
        (None, false) => assigned(map, place, full),
        // These are not assigned to anything: their own name may be at their parentheses.
        _ => here,
    };
    let name = named.and_then(|segment| map.name(segment)).map(|name| {
        if bare.starts_with('#') && !name.starts_with('#') {
            format!("#{name}")
        } else {
            with_accessor(name)
        }
    });
    let segment = segment.or(named)?;
    Some(Function { segment, name })
}

/// The segment of the short name that a function or class is assigned to, or that follows `class`.
fn assigned<'m>(map: &'m SourceMap, place: Place, generated: &str) -> Option<&'m Segment> {
    let bare = generated.rsplit('.').next().filter(|bare| !bare.is_empty())?;
    let length = bare.encode_utf16().count() as u32;
    let at = |between: &u32| {
        let column = place.column.checked_sub(length.saturating_add(*between))?;
        map.exactly(Place { column, ..place })
    };
    let is_named = |segment: &&Segment| map.name(segment).is_some();
    if let Some(assigned) = at(&1).filter(is_named) {
        return Some(assigned);
    }
    // A class whose `class` is reported here has no constructor.
    let column = place.column.saturating_add(CLASS);
    let inside = map.at(Place { column: column.saturating_sub(1), ..place })?;
    // Before parameters or the body of an arrow function, there would be segments.
    let is_class = inside.at <= place && !generated.contains('.');
    let class = map.exactly(Place { column, ..place }).filter(|_| is_class);
    class.or_else(|| BETWEEN.iter().filter_map(at).find(is_named))
}
