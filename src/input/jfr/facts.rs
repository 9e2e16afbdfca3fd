//! Facts about the JVM and the recording that single events state.

use super::chunk::{Chunk, Event};
use super::values::{Tables, Value};
use crate::input::info::{JfrDetails, JvmSetting};
use std::borrow::Cow;

/// The types of events that are read here, by subject.
#[derive(Clone, Copy)]
pub(super) enum Fact {
    Jvm,
    Lost,
    Flag,
    Property,
}

pub(super) fn fact_of(name: &str) -> Option<Fact> {
    Some(match name {
        "jdk.JVMInformation" => Fact::Jvm,
        "jdk.CPUTimeSamplesLost" => Fact::Lost,
        "jdk.InitialSystemProperty" => Fact::Property,
        "jdk.BooleanFlag"
        | "jdk.IntFlag"
        | "jdk.UnsignedIntFlag"
        | "jdk.LongFlag"
        | "jdk.UnsignedLongFlag"
        | "jdk.DoubleFlag"
        | "jdk.StringFlag" => Fact::Flag,
        _ => return None,
    })
}

impl Fact {
    /// Whether the fact counts in a chunk. Settings count in the first one; others repeat them.
    pub(super) fn counts_in(self, chunk: &Chunk<'_>) -> bool {
        matches!(self, Self::Lost) || chunk.offset == 0
    }
}

impl JfrDetails {
    pub(super) fn add<'a>(&mut self, fact: Fact, tables: &Tables<'a>, event: Event<'a>) {
        let Some(event) = tables.event(event) else { return };
        let text = |field| tables.text(tables.field(event, field)?).map(Cow::into_owned);
        match fact {
            Fact::Jvm => {
                // The text after ` for ` is about the build of the JVM.
                let version = text("jvmVersion").unwrap_or_default();
                self.jvm = version.split(" for ").next().map(str::to_owned);
                for (name, field) in [("jvm", "jvmArguments"), ("java", "javaArguments")] {
                    let value = text(field).filter(|value| !value.is_empty());
                    self.settings.extend(value.map(|value| JvmSetting {
                        kind: "arguments",
                        name: name.to_owned(),
                        value,
                        origin: None,
                    }));
                }
            }
            Fact::Lost => {
                let lost = tables.number(event, "lostSamples");
                self.lost_samples = self.lost_samples.saturating_add(lost);
            }
            Fact::Flag => {
                let origin = tables.field(event, "origin").and_then(|origin| tables.word(origin));
                let value = match tables.field(event, "value") {
                    Some(Value::Float(number)) => number.to_string(),
                    Some(text @ Value::Text(_)) => {
                        tables.text(text).unwrap_or_default().into_owned()
                    }
                    Some(number) => tables.plain_number(event, "value", number.number()),
                    None => return,
                };
                if origin.as_deref() == Some("Default") {
                    return;
                }
                let name = text("name").unwrap_or_default();
                self.settings.push(JvmSetting { kind: "flag", name, value, origin });
            }
            Fact::Property => self.settings.push(JvmSetting {
                kind: "property",
                name: text("key").unwrap_or_default(),
                value: text("value").unwrap_or_default(),
                origin: None,
            }),
        }
    }
}

impl<'a> Tables<'a> {
    /// Formats the number of a field by the field's class: signed, or a boolean.
    fn plain_number(&self, value: Value<'a>, field: &str, number: u64) -> String {
        let class = self.resolve(value).and_then(|(class, _)| {
            let class = self.types.class(class)?;
            let field = class.fields.get(class.position(field)?)?;
            self.types.class(field.class)
        });
        match class.map_or("", |class| class.name.as_str()) {
            "boolean" => (number != 0).to_string(),
            "int" => (number as i32).to_string(),
            _ => (number as i64).to_string(),
        }
    }
}
