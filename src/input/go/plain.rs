//! Fast reading of runs of objects in the usual form, which nearly all objects have.
//!
//! A dump consists mostly of objects, so the time per object determines the time of a pass. Here
//! everything stays in registers: the rest of the input is one slice, no error is constructed, and
//! no record is copied. An unusual record ends the run and is left to [`Object::read`].

use super::fields::FieldList;
use super::object::Object;
use super::version::Version;
use crate::bytes::Cursor;

/// Passes at most `most` objects at the cursor to `take`, with their offsets, up to the first
/// record that is not an object or is an unusual one. The cursor then points at that record.
#[inline]
pub(super) fn take_objects<'a>(
    cursor: &mut Cursor<'a>,
    version: Version,
    most: u64,
    mut take: impl FnMut(u64, &Object<'a>),
) {
    if version <= Version::Go13 {
        return;
    }
    let (start, mut rest) = (cursor.offset(), cursor.rest());
    let length = rest.len();
    for _ in 0..most {
        let Some((object, after)) = split_object(rest, version) else { break };
        take(start.wrapping_add(length.wrapping_sub(rest.len()) as u64), &object);
        rest = after;
    }
    cursor.skip_to_remaining(rest.len());
}

/// An object with its tag, and the bytes after it.
#[inline(always)]
fn split_object(bytes: &[u8], version: Version) -> Option<(Object<'_>, &[u8])> {
    let [1, rest @ ..] = bytes else { return None };
    let (addr, rest) = split_address(rest)?;
    let (contents, rest) = split_contents(rest)?;
    let (fields, rest) = FieldList::split_short(rest, version).or_else(|| {
        let mut cursor = Cursor::new(rest, 0);
        let fields = FieldList::read(&mut cursor, version).ok()?;
        Some((fields, cursor.rest()))
    })?;
    Some((Object { addr, typed: None, contents, fields }, rest))
}

#[inline(always)]
fn split_address(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut cursor = Cursor::new(bytes, 0);
    let address = cursor.uleb128_in_word()?;
    Some((address, cursor.rest()))
}

#[inline(always)]
fn split_contents(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    match *bytes {
        [a, ref rest @ ..] if a < 0x80 => rest.split_at_checked(usize::from(a)),
        [a, b, ref rest @ ..] if b < 0x80 => {
            rest.split_at_checked(usize::from(a & 0x7f) | usize::from(b) << 7)
        }
        [a, b, c, ref rest @ ..] if c < 0x80 => rest.split_at_checked(
            usize::from(a & 0x7f) | usize::from(b & 0x7f) << 7 | usize::from(c) << 14,
        ),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::bytes::tests::uleb;
    use crate::input::go::records::{Rec, Records};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn runs_of_objects_are_those_that_the_iterator_gives(
            objects in prop::collection::vec((any::<u64>(), 0u32..64, 0usize..300, 0u64..9, 0u64..40), 0..20),
            typed: bool,
            cut in 0usize..60,
            flipped in prop::option::of((any::<prop::sample::Index>(), any::<u8>())),
        ) {
            let mut bytes = if typed { b"go1.3 heap dump\n\x06\x00\x08".to_vec() } else { b"go1.7 heap dump\n".to_vec() };
            // The other fields of the params are five numbers and an empty string.
            bytes.extend(if typed { &[0; 6][..] } else { &[] });
            let start = bytes.len();
            for (addr, shift, size, fields, step) in objects {
                bytes.push(1);
                bytes.extend(uleb(addr >> shift));
                if typed {
                    bytes.extend([0, 0]);
                }
                bytes.extend(uleb(size as u64));
                bytes.resize(bytes.len() + size, 7);
                for field in (0..fields).filter(|_| !typed) {
                    bytes.extend(uleb(1));
                    bytes.extend(uleb(field * step));
                }
                bytes.extend(if typed { &[] } else { &[0][..] });
            }
            bytes.push(0);
            bytes.truncate(bytes.len().saturating_sub(cut).max(start));
            if let Some((index, value)) = flipped && bytes.len() > start {
                let at = start + index.index(bytes.len() - start);
                bytes[at] ^= value;
            }
            let (mut running, mut run, mut all) = (Records::new(&bytes).unwrap(), Vec::new(), Vec::new());
            let damage = loop {
                match running.take_objects(|offset, object| run.push((offset, Rec::Object(*object)))) {
                    Err(error) => break Some(error),
                    Ok(()) => match running.next() {
                        Some(Ok(record)) => run.push(record),
                        Some(Err(error)) => break Some(error),
                        None => break None,
                    },
                }
            };
            let expected = Records::new(&bytes).unwrap().map(|record| record.map(|record| all.push(record))).find_map(Result::err);
            prop_assert_eq!(run, all);
            prop_assert_eq!(damage.map(|error| error.to_string()), expected.map(|error| error.to_string()));
        }
    }
}
