//! A record as a list of named fields.
//!
//! A reader's record passes its fields to a [`FieldSink`], which writes them as text, as JSON or in
//! another form. Both sides are generic, so values are not boxed.

/// A record of a file, with a name and fields.
pub trait Record {
    /// The name by which `--record` selects the record, and by which records are counted.
    fn name(&self) -> &'static str;

    /// The name of the record's type, in formats whose files describe their own types (JFR).
    fn type_name(&self) -> Option<&str> {
        None
    }

    /// Passes each field to the sink, in the order of the file.
    fn fields<S: FieldSink>(&self, sink: &mut S);
}

/// Receives the fields of one record. Field names are in `snake_case`.
pub trait FieldSink {
    /// A count, a size, an index.
    fn unsigned(&mut self, name: &str, value: u64);
    /// A number that may be negative (i128, because some formats give a 64-bit magnitude and a
    /// sign).
    fn signed(&mut self, name: &str, value: i128);
    /// An address in the process that was dumped, or a key made of one: shown in hexadecimal.
    fn address(&mut self, name: &str, value: u64);
    /// A floating-point number.
    fn float(&mut self, name: &str, value: f64);
    /// A boolean.
    fn boolean(&mut self, name: &str, value: bool);
    /// Text that ought to be UTF-8 but may not be.
    fn text(&mut self, name: &str, value: &[u8]);
    /// Memory contents: shown by their length, and in hexadecimal only on request.
    fn contents(&mut self, name: &str, value: &[u8]);
    /// A list whose items have fields of their own.
    fn list<T>(&mut self, name: &str, items: impl Iterator<Item = T>, each: impl Fn(T, &mut Self))
    where
        Self: Sized;
    /// Returns `true` if contents and long lists are to be passed in full. Records leave them out
    /// otherwise.
    fn wants_contents(&self) -> bool;
}
