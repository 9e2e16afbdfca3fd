//! Texts, written as `java.lang.String` with an array of characters.

use super::Writer;
use super::records::put_id;
use crate::java::FieldType;
use std::io::{self, Write};

/// The maximum length of a text in characters. Readers show only the beginning of a text.
const LONGEST: usize = 1 << 28;

impl<W: Write> Writer<'_, '_, W> {
    /// Writes a text under an id. Returns the bytes that it takes, and whether it was cut.
    ///
    /// Latin-1 is written as a byte array with coder 0, as since Java 9. Other text is written as a
    /// char array, as before Java 9, because the byte order of UTF-16 in a byte array depends on
    /// the machine.
    pub(super) fn string(&mut self, text: &str, id: u64) -> io::Result<(u64, bool)> {
        let array = self.ids.fresh();
        let ascii = text.is_ascii();
        let latin1 = ascii || text.chars().all(|c| u32::from(c) < 256);
        let count = match (ascii, latin1) {
            (true, _) => text.len(),
            (_, true) => text.chars().count(),
            _ => text.encode_utf16().count(),
        };
        let length = count.min(LONGEST);
        let kind = if latin1 { FieldType::Byte } else { FieldType::Char };
        let (layout, out) = (self.layout, &mut self.out);
        let fields = layout.reference() + 5;
        let size = layout.instance_size(fields);
        let fields =
            out.instance(id, self.ids.class(self.classes.required.string), fields as usize)?;
        // The coder and the hash are 0.
        put_id(fields, 0, array, layout.wide);
        self.report.add(size, 1);
        let bytes = out.number_array(array, kind, length as u64)?;
        match (latin1, ascii) {
            (_, true) => out.stream(&text.as_bytes()[..length])?,
            (true, _) => {
                for c in text.chars().take(length) {
                    out.u1(c as u8);
                    out.relieve()?;
                }
            }
            (false, _) => {
                for unit in text.encode_utf16().take(length) {
                    out.u2(unit);
                    out.relieve()?;
                }
            }
        }
        let array = layout.array_size(bytes);
        self.report.add(array, 0);
        Ok((size + array, length < count))
    }
}
