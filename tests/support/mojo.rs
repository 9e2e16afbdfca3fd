//! Writes MOJO files in a few readable lines.

/// A MOJO file under construction.
pub struct Mojo(pub Vec<u8>);

impl Mojo {
    /// The header.
    pub fn new(version: u64) -> Self {
        let mut file = Self(b"MOJ".to_vec());
        file.varint(version as i128);
        file
    }

    pub fn varint(&mut self, value: i128) -> &mut Self {
        let magnitude = value.unsigned_abs();
        let mut byte = (magnitude & 0x3f) as u8 | if value < 0 { 0x40 } else { 0 };
        let mut rest = magnitude >> 6;
        while rest > 0 {
            self.0.push(byte | 0x80);
            byte = (rest & 0x7f) as u8;
            rest >>= 7;
        }
        self.0.push(byte);
        self
    }

    pub fn id(&mut self, id: u8) -> &mut Self {
        self.0.push(id);
        self
    }

    pub fn text(&mut self, text: impl AsRef<[u8]>) -> &mut Self {
        self.0.extend_from_slice(text.as_ref());
        self.0.push(0);
        self
    }

    pub fn metadata(&mut self, key: &str, value: &str) -> &mut Self {
        self.id(1).text(key).text(value)
    }

    /// A STACK of versions 3 and 4.
    pub fn stack(&mut self, pid: i128, interpreter: i128, thread: &str) -> &mut Self {
        self.id(2).varint(pid).varint(interpreter).text(thread)
    }

    pub fn string(&mut self, key: i128, value: impl AsRef<[u8]>) -> &mut Self {
        self.id(11).varint(key).text(value)
    }

    /// A FRAME of versions 2 and later, without a range.
    pub fn frame(&mut self, key: i128, file: i128, scope: i128, line: i128) -> &mut Self {
        self.id(3).varint(key).varint(file).varint(scope).varint(line).varint(0).varint(0).varint(0)
    }

    pub fn frame_ref(&mut self, key: i128) -> &mut Self {
        self.id(5).varint(key)
    }

    pub fn time(&mut self, microseconds: i128) -> &mut Self {
        self.id(9).varint(microseconds)
    }

    pub fn memory(&mut self, bytes: i128) -> &mut Self {
        self.id(10).varint(bytes)
    }
}
