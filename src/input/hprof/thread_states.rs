//! The states and numbers of Java threads, from the fields of their objects.

use super::primitives::Value;
use super::scan::Scan;
use super::values::Contents;
use crate::java::FieldType;
use crate::model::addresses::Addresses;
use crate::model::heap::ObjectId;

/// A field: its offset from the end of an instance of its class or a subclass, and its type.
type Field = Option<(usize, FieldType)>;

/// The fields of `java.lang.Thread` that `Thread.getState` and `Thread.threadId` read.
pub(super) struct States {
    /// Until JDK 18.
    status: Field,
    /// Since JDK 19: the object that holds the status. Virtual threads have no such object.
    holder: Field,
    status_in_holder: Field,
    id: Field,
}

impl States {
    pub(super) fn of(scan: &Scan<'_>) -> Self {
        Self {
            status: scan.inherited_field("java.lang.Thread", b"threadStatus"),
            holder: scan.inherited_field("java.lang.Thread", b"holder"),
            status_in_holder: scan.inherited_field("java.lang.Thread$FieldHolder", b"threadStatus"),
            id: scan.inherited_field("java.lang.Thread", b"tid"),
        }
    }

    /// The state as `jstack` prints it, and the number of the thread.
    pub(super) fn of_thread(
        &self,
        thread: ObjectId,
        scan: &Scan<'_>,
        addresses: &Addresses,
        contents: &Contents<'_>,
    ) -> (Option<&'static str>, Option<u64>) {
        let Some(instance) = contents.instance(thread) else { return (None, None) };
        if !scan
            .classes
            .index(instance.class)
            .is_some_and(|class| scan.inherits(class, "java.lang.Thread"))
        {
            return (None, None);
        }
        let from_holder = || {
            let (from_end, _) = self.holder.filter(|(_, kind)| *kind == FieldType::Object)?;
            let id = scan.ids.at(instance.values, instance.values.len().checked_sub(from_end)?);
            number(
                contents.instance(addresses.at(id)?)?.values,
                self.status_in_holder,
                FieldType::Int,
            )
        };
        let status = number(instance.values, self.status, FieldType::Int).or_else(from_holder);
        let id = number(instance.values, self.id, FieldType::Long).filter(|id| *id > 0);
        (status.map(state), id)
    }
}

fn number(values: &[u8], field: Field, wanted: FieldType) -> Option<u64> {
    let (from_end, kind) = field?;
    let rest = values.get(values.len().checked_sub(from_end)?..)?;
    match kind.value(rest)? {
        Value::Integer(number) if kind == wanted => u64::try_from(number).ok(),
        _ => None,
    }
}

/// The state for bits of JVMTI's `GetThreadState`, as by `jdk.internal.misc.VM.toThreadState`.
fn state(bits: u64) -> &'static str {
    const SLEEPING: u64 = 0x40;
    const IN_OBJECT_WAIT: u64 = 0x100;
    const PARKED: u64 = 0x200;
    let has = |bit: u64| bits & bit != 0;
    match () {
        () if has(0x4) => "RUNNABLE",
        () if has(0x400) => "BLOCKED (on object monitor)",
        () if has(0x10) && has(PARKED) => "WAITING (parking)",
        () if has(0x10) && has(IN_OBJECT_WAIT) => "WAITING (on object monitor)",
        () if has(0x10) => "WAITING",
        () if has(0x20) && has(SLEEPING) => "TIMED_WAITING (sleeping)",
        () if has(0x20) && has(PARKED) => "TIMED_WAITING (parking)",
        () if has(0x20) && has(IN_OBJECT_WAIT) => "TIMED_WAITING (on object monitor)",
        () if has(0x20) => "TIMED_WAITING",
        () if has(0x2) => "TERMINATED",
        () if !has(0x1) => "NEW",
        () => "RUNNABLE",
    }
}
