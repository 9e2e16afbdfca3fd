//! Shared by the formats of Java: the types of fields and elements, and the names of classes.

use std::borrow::Cow;

/// The type of a field or an element. Its value is its tag in hprof (`BasicType` of HotSpot's
/// `heapDumper.cpp`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs, reason = "named as in Java")]
pub enum FieldType {
    Object = 2,
    Boolean = 4,
    Char = 5,
    Float = 6,
    Double = 7,
    Byte = 8,
    Short = 9,
    Int = 10,
    Long = 11,
}

/// The name of the reference from an object to its class, where one is shown. Files have no such
/// field.
pub const CLASS: &str = "<class>";

/// Returns the package of a class, which its name begins with: `java.util` for
/// `java.util.HashMap$Node[]`. Empty if it has none.
pub fn package_of(class: &str) -> &str {
    let end = class.find(['$', '/', '[', '<', '+', '(', ' ']).unwrap_or(class.len());
    class.get(..end).and_then(|name| name.rsplit_once('.')).map_or("", |(package, _)| package)
}

/// The types that arrays of primitive values have.
pub const PRIMITIVES: [FieldType; 8] = [
    FieldType::Boolean,
    FieldType::Char,
    FieldType::Float,
    FieldType::Double,
    FieldType::Byte,
    FieldType::Short,
    FieldType::Int,
    FieldType::Long,
];

impl FieldType {
    /// The type with a tag.
    #[inline]
    pub fn of_tag(tag: u8) -> Option<Self> {
        match tag {
            2 => Some(Self::Object),
            _ => PRIMITIVES.get(usize::from(tag).wrapping_sub(Self::Boolean as usize)).copied(),
        }
    }

    /// The name in Java's source, such as `int`.
    pub fn name(self) -> &'static str {
        let names = ["boolean", "char", "float", "double", "byte", "short", "int", "long"];
        names.get(self.index()).copied().unwrap_or("object")
    }

    /// Bytes of a value; `None` for references, which are as wide as ids.
    #[inline]
    pub fn width(self) -> Option<usize> {
        match self {
            Self::Object => None,
            Self::Boolean | Self::Byte => Some(1),
            Self::Char | Self::Short => Some(2),
            Self::Float | Self::Int => Some(4),
            Self::Double | Self::Long => Some(8),
        }
    }

    /// The letter in names of classes: `[I` is an array of ints.
    pub fn descriptor(self) -> u8 {
        b"ZCFDBSIJ".get(self.index()).copied().unwrap_or(b'L')
    }

    /// Returns the index among the [`PRIMITIVES`]; for references, an index beyond them.
    #[inline]
    pub fn index(self) -> usize {
        // In the order of their tags, without a gap.
        (self as usize).wrapping_sub(Self::Boolean as usize)
    }
}

/// The name of a class as in Java's source: `java.lang.String[]` for `[Ljava/lang/String;`,
/// `int[][]` for `[[I`.
///
/// Files that dumptool wrote have names of other languages, whose slashes stay: there
/// `keep_slashes` is set. The few classes that every reader of the format expects are in `java/`
/// even there.
pub fn class_name(name: &[u8], keep_slashes: bool) -> Cow<'_, str> {
    let dimensions = name.iter().take_while(|&&byte| byte == b'[').count();
    let element = name.get(dimensions..).unwrap_or_default();
    let dotted = |name| {
        let text = String::from_utf8_lossy(name);
        if text.contains('/') && (!keep_slashes || text.starts_with("java/")) {
            Cow::Owned(text.replace('/', "."))
        } else {
            text
        }
    };
    let element = match element {
        _ if dimensions == 0 => return dotted(name),
        [b'L', inner @ .., b';'] => dotted(inner),
        [letter] => match PRIMITIVES.into_iter().find(|kind| kind.descriptor() == *letter) {
            Some(kind) => kind.name().into(),
            None => return dotted(name),
        },
        _ => return dotted(name),
    };
    Cow::Owned(format!("{element}{}", "[]".repeat(dimensions)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_source() {
        for (name, shown) in [
            ("java/lang/String", "java.lang.String"),
            ("java.lang.String", "java.lang.String"),
            ("[Ljava/lang/String;", "java.lang.String[]"),
            ("[[I", "int[][]"),
            ("byte[]", "byte[]"),
            ("[Q", "[Q"),
            ("[", "["),
            ("", ""),
        ] {
            assert_eq!(class_name(name.as_bytes(), false), shown);
        }
        assert_eq!(class_name(b"*encoding/json.Decoder", true), "*encoding/json.Decoder");
        assert_eq!(class_name(b"[Lnet/http.conn;", true), "net/http.conn[]");
    }

    #[test]
    fn indexes_are_those_of_primitives() {
        assert!(PRIMITIVES.iter().enumerate().all(|(index, kind)| kind.index() == index));
        assert!(PRIMITIVES.get(FieldType::Object.index()).is_none());
    }
}
