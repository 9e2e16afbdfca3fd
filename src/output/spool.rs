//! Texts that grow alternately and are written one after the other: what of them does not fit in a
//! little memory waits in a file.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::PathBuf;

/// Several texts, by number.
pub struct Spool {
    folder: PathBuf,
    /// None as long as memory is enough. It has no name, so that nothing of it stays however the
    /// program ends.
    file: Option<File>,
    /// Bytes in the file.
    size: u64,
    texts: Vec<Text>,
    /// Bytes in memory.
    held: usize,
}

#[derive(Default)]
struct Text {
    /// The part that is in the file.
    ranges: Vec<Range<u64>>,
    /// The part after that.
    end: Vec<u8>,
    /// Of both.
    length: u64,
}

/// Bytes of all texts that stay in memory, unless that is less than [`LEAST`] for each.
const HELD: usize = 1 << 20;

/// The fewest bytes of a text to write at a time: they must be worth the note of their place.
const LEAST: usize = 1 << 10;

impl Spool {
    /// Creates a spool without texts. If it needs a file, it creates the file in this folder.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, file: None, size: 0, texts: Vec::new(), held: 0 }
    }

    /// Appends to a text. Those with smaller numbers are there from then on, too.
    ///
    /// # Errors
    /// When the file cannot be made or written.
    #[inline]
    pub fn append(&mut self, text: usize, bytes: &[u8]) -> io::Result<()> {
        if text >= self.texts.len() {
            self.texts.resize_with(text + 1, Text::default);
        }
        let text = &mut self.texts[text];
        text.end.extend_from_slice(bytes);
        text.length += bytes.len() as u64;
        self.held += bytes.len();
        if self.held > HELD.max(self.texts.len() * LEAST) { self.store() } else { Ok(()) }
    }

    /// The length of a text in bytes.
    pub fn len(&self, text: usize) -> u64 {
        self.texts.get(text).map_or(0, |text| text.length)
    }

    /// Writes a text up to this length. It is empty if nothing was appended to it.
    ///
    /// # Errors
    /// When the file cannot be read, or `out` not be written.
    pub fn copy(&mut self, text: usize, length: u64, out: &mut impl Write) -> io::Result<()> {
        let Some(text) = self.texts.get(text) else { return Ok(()) };
        let mut left = length;
        if let Some(file) = &mut self.file {
            for range in &text.ranges {
                file.seek(SeekFrom::Start(range.start))?;
                let length = left.min(range.end - range.start);
                if io::copy(&mut (&*file).take(length), out)? < length {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                left -= length;
            }
        }
        let end = text.end.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        out.write_all(&text.end[..end])
    }

    /// Moves what is in memory to the end of the file.
    #[cold]
    fn store(&mut self) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile_in(&self.folder)?),
        };
        let texts = self.texts.len();
        for text in self.texts.iter_mut().filter(|text| !text.end.is_empty()) {
            file.write_all(&text.end)?;
            let start = self.size;
            self.size += text.end.len() as u64;
            text.end.clear();
            if texts > FEW {
                // The memory may be another text's next time.
                text.end = Vec::new();
            }
            match text.ranges.last_mut().filter(|last| last.end == start) {
                Some(last) => last.end = self.size,
                None => text.ranges.push(start..self.size),
            }
        }
        self.held = 0;
        Ok(())
    }
}

/// As many texts may keep their memory.
const FEW: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn copied(spool: &mut Spool, text: usize) -> Vec<u8> {
        let mut out = Vec::new();
        spool.copy(text, u64::MAX, &mut out).unwrap();
        out
    }

    #[test]
    fn texts_come_back_whole() {
        let folder = tempfile::tempdir().unwrap();
        let mut spool = Spool::new(folder.path().to_owned());
        let mut expected = vec![Vec::new(); 3];
        for turn in 0..60u32 {
            let (text, bytes) = (turn as usize % 5 % 3, vec![turn as u8; 1000 + HELD / 8]);
            spool.append(text, &bytes).unwrap();
            expected[text].extend(bytes);
        }
        assert!(
            spool.size > 4 * HELD as u64 && spool.held > 0,
            "there is something in the file and in memory"
        );
        for (text, expected) in expected.iter().enumerate() {
            assert!(copied(&mut spool, text) == *expected, "text {text}");
            let (mut begin, length) = (Vec::new(), expected.len() * 2 / 3);
            spool.copy(text, length as u64, &mut begin).unwrap();
            assert!(
                begin == expected[..length] && spool.len(text) == expected.len() as u64,
                "text {text}"
            );
        }
        assert!(copied(&mut spool, 7).is_empty());
        let left = std::fs::read_dir(folder.path()).unwrap().count();
        assert!(left == 0 || cfg!(windows), "the file has no name");
    }

    #[test]
    fn a_little_text_needs_no_file() {
        let mut spool = Spool::new("/there/is/no/such/folder".into());
        spool.append(1, b"text").unwrap();
        assert_eq!(copied(&mut spool, 1), b"text");
        assert!(spool.append(0, &vec![0; HELD]).is_err());
    }
}
