//! Comma-separated values that a spreadsheet shows and does not run.

use std::io::{self, Write};

/// Puts `'` before each field that begins like a formula and is not a number: with `=`, `+`, `-`,
/// `@`, a tab or CR.
pub(crate) struct CsvSafe<W> {
    out: W,
    /// The bytes so far of the field that has not ended.
    field: Vec<u8>,
    in_quotes: bool,
}

impl<W: Write> CsvSafe<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, field: Vec::new(), in_quotes: false }
    }

    fn end_field(&mut self) -> io::Result<()> {
        let text = self.field.strip_prefix(b"\"").unwrap_or(&self.field);
        let is_number =
            || std::str::from_utf8(&self.field).is_ok_and(|text| text.parse::<f64>().is_ok());
        if matches!(text.first(), Some(b'=' | b'+' | b'-' | b'@' | b'\t' | b'\r')) && !is_number() {
            let quote = self.field.len() - text.len();
            self.out.write_all(&self.field[..quote])?;
            self.out.write_all(b"'")?;
            self.out.write_all(text)?;
        } else {
            self.out.write_all(&self.field)?;
        }
        self.field.clear();
        Ok(())
    }
}

impl<W: Write> Write for CsvSafe<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for &byte in bytes {
            if matches!(byte, b',' | b'\n') && !self.in_quotes {
                self.end_field()?;
                self.out.write_all(&[byte])?;
            } else {
                // Two consecutive quotes are one quote in the text and change nothing here.
                self.in_quotes ^= byte == b'"';
                self.field.push(byte);
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
