//! The thread and the labels of an event.

use super::super::values::{Tables, Value};
use super::plan::Plan;
use super::{Known, Loader};
use crate::model::names::{NameId, Names};
use crate::model::profile::{LabelValue, ProfileThread, SampleLabel, ThreadId};
use rustc_hash::FxHashMap;

impl Loader<'_> {
    /// The thread of an event together with its labels.
    pub(super) fn row<'a>(
        &mut self,
        tables: &Tables<'a>,
        plan: &Plan,
        [thread, about, state]: [Option<Value<'a>>; 3],
        known: &mut Known,
    ) -> ThreadId {
        let builder = &mut self.builder;
        let mut named = |value: Option<Value<'a>>,
                         known: &mut FxHashMap<u64, NameId>,
                         name: &dyn Fn(Value<'a>) -> Option<String>| {
            let Some(value @ Value::Pooled(_, id)) = value else { return Names::EMPTY };
            *known.entry(id).or_insert_with(|| {
                name(value).map_or(Names::EMPTY, |name| builder.name(name.as_bytes()))
            })
        };
        let class = named(about, &mut known.classes, &|class| tables.class_name(class));
        let state = named(state, &mut known.states, &|state| tables.word(state));
        let thread_id = match thread {
            Some(Value::Pooled(_, id)) => id,
            _ => 0,
        };
        let (name, is_virtual) = *known.threads.entry(thread_id).or_insert_with(|| {
            let Some(thread) = thread else { return (Names::EMPTY, false) };
            // Virtual threads have no name unless the program gives them one.
            let unnamed = || tables.resolve(thread).map_or("", |_| "<unnamed>").to_owned();
            let name = tables.thread_name(thread).unwrap_or_else(unnamed);
            let is_virtual = tables.field(thread, "virtual").is_some_and(|it| it.number() != 0);
            (builder.name(name.as_bytes()), is_virtual)
        });
        let keys = self.keys;
        *known.rows.entry((plan.name, thread_id, class, state)).or_insert_with(|| {
            let text = |key, name| SampleLabel { key, value: LabelValue::Text(name) };
            let mut labels = vec![text(keys.event, plan.name)];
            labels.extend((class != Names::EMPTY).then(|| text(keys.class, class)));
            labels.extend((state != Names::EMPTY).then(|| text(keys.state, state)));
            if is_virtual {
                let yes = builder.name(b"true");
                labels.push(text(keys.is_virtual, yes));
            }
            labels.sort_unstable();
            let labels = builder.labels(&labels);
            builder.labelled_thread(ProfileThread { labels, ..ProfileThread::named(name) })
        })
    }
}
