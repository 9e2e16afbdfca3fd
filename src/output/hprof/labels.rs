//! Names of classes and fields, as readers accept them.

use crate::model::heap::{Label, LabelKind, Type};
use crate::model::names::Names;
use std::borrow::Cow;

/// The name of a type's class: `dart:core._List`, or the type's name alone if it contains its
/// namespace. Readers parse names, so some are changed:
/// * nothing may begin with `[` but arrays, so that Go's `[]byte` becomes `type []byte`;
/// * nothing may end with `[]` but arrays, so that `T[]` becomes `T[ ]`;
/// * MAT gives `<method>` and the like a meaning of its own;
/// * VisualVM finds `java.lang.Object` by its name and takes the size of a header from it, so that
///   the type of a Java heap's own plain objects becomes `type java.lang.Object`.
pub(super) fn class_name(names: &Names, type_: &Type) -> String {
    let (namespace, name) = (names.text(type_.namespace), names.text(type_.name));
    let mut text = match (namespace.is_empty() || name.contains(namespace), name.is_empty()) {
        (_, true) => "<unnamed>".to_owned(),
        (true, _) => name.to_owned(),
        (false, _) => format!("{}.{name}", part(namespace)),
    };
    if text.contains('\0') {
        text = text.replace('\0', "\u{fffd}");
    }
    if text.starts_with('[')
        || ["<method>", "<stack frame>", "<native memory>", "java.lang.Object"].contains(&&*text)
        || text.starts_with("unknown-class-")
    {
        text.insert_str(0, "type ");
    }
    if text.ends_with("[]") {
        text.truncate(text.len() - 1);
        text.push_str(" ]");
    }
    text
}

/// The part of a text that is used in composed names. It is cut, because many names may contain it.
pub(super) fn part(text: &str) -> &str {
    const LONGEST: usize = 1024;
    &text[..text.floor_char_boundary(LONGEST)]
}

/// The name of a type's array class, as the JVM writes it: `[Ldart:core._List;`, which readers show
/// as `dart:core._List[]`.
pub(super) fn array_class_name(class: &str) -> String {
    format!("[L{};", class.strip_suffix("[ ]").unwrap_or(class))
}

/// The name of a field for a reference: `next`, `[3]`, `0x10`.
pub(super) fn field_name(label: Label, names: &Names) -> Cow<'_, str> {
    match label.kind() {
        LabelKind::None => "<unnamed>".into(),
        LabelKind::Offset(offset) => format!("{offset:#x}").into(),
        LabelKind::Field(name) if names.text(name).is_empty() => "<unnamed>".into(),
        LabelKind::Field(name) if names.text(name).contains('\0') => {
            names.text(name).replace('\0', "\u{fffd}").into()
        }
        LabelKind::Field(_) | LabelKind::Index(_) => label.text(names),
    }
}
