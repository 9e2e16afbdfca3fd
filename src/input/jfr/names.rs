//! Names of what events refer to: threads, classes, methods and frames.

use super::values::{Tables, Value};
use crate::java::class_name;
use crate::names::MappedFrame;
use std::borrow::Cow;

impl<'a> Tables<'a> {
    /// The name of a class as in Java's source: `java.lang.String[]`.
    pub(super) fn class_name(&self, class: Value<'a>) -> Option<String> {
        let name = self.short_class_name(class)?;
        let original = self.mapping.and_then(|mapping| mapping.class(&name)).map(Cow::into_owned);
        original.or(Some(name))
    }

    /// The name that a class has in the recording.
    fn short_class_name(&self, class: Value<'a>) -> Option<String> {
        let name = self.text(self.field(class, "name")?)?;
        Some(class_name(name.as_bytes(), false).into_owned())
    }

    /// The frames that a method at a line stands for, innermost first. Empty without a mapping, and
    /// if the mapping does not have the class.
    pub(super) fn original_frames(&self, method: Value<'a>, line: u32) -> Vec<MappedFrame> {
        let frames = || {
            let class = self.short_class_name(self.field(method, "type")?)?;
            let name = self.text(self.field(method, "name")?)?;
            Some(self.mapping?.frames(&class, &name, line))
        };
        self.mapping.and_then(|_| frames()).unwrap_or_default()
    }

    /// The name of a thread: Java's, or that of the operating system.
    pub(super) fn thread_name(&self, thread: Value<'a>) -> Option<String> {
        let named = |field| self.text(self.field(thread, field)?).filter(|name| !name.is_empty());
        named("javaName").or_else(|| named("osName")).map(Cow::into_owned)
    }

    /// The name of a method with its class: `java.util.HashMap.put`. Native functions have no
    /// class.
    pub(super) fn method_name(&self, method: Value<'a>) -> Option<String> {
        if let Some(original) = self.original_frames(method, 0).first() {
            return Some(format!("{}.{}", original.class, original.method));
        }
        let name = self.text(self.field(method, "name")?)?;
        let class = self.field(method, "type").and_then(|class| self.field(class, "name"));
        Some(match class.and_then(|class| self.text(class)).filter(|class| !class.is_empty()) {
            Some(class) => format!("{}.{name}", class_name(class.as_bytes(), false)),
            None => name.into_owned(),
        })
    }

    /// The text of an enumeration's value, such as a frame's type or a thread's state: its only
    /// field.
    pub(super) fn word(&self, value: Value<'a>) -> Option<String> {
        ["name", "description", "string"]
            .into_iter()
            .find_map(|field| self.text(self.field(value, field)?))
            .or_else(|| self.text(value))
            .map(Cow::into_owned)
    }
}
