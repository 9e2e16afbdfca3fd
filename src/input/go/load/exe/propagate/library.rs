//! Types that the runtime and the standard library hide behind unsafe pointers.

use super::super::layout::{Holds, Layout, Slot as Part};
use super::super::types::{Kind, TypeRef};
use super::{Judge, Propagation};

impl<'a> Propagation<'_, '_, '_, 'a> {
    /// Prepares the types that the library hides behind unsafe pointers.
    pub(in super::super) fn add_library(&mut self) {
        if self.program.at_least(23)
            && let Some(timer) = self.named("runtime.timeTimer")
        {
            for name in ["time.Timer", "time.Ticker"] {
                let ty = self.named(name);
                self.allocated_as.extend(ty.map(|ty| (ty, timer)));
            }
        }
        // The hash tries of `sync.Map` and of `unique`.
        for package in ["internal/sync", "internal/concurrent", "unique"] {
            self.add_nodes(package);
        }
        self.any_channel = self.named("runtime.hchan");
        // Field values of channels name the goroutines that wait.
        if let Some(goroutine) = self.named("runtime.g") {
            self.types.set_name("runtime.g".to_owned(), goroutine);
        }
        let Judge { nodes, allocated_as, any_channel, special, .. } = &mut self.judge;
        let types = nodes.keys().chain(allocated_as.keys()).chain(&*any_channel);
        types.for_each(|ty| special.insert(*ty));
        if let (Some(pool), Some(local)) = (self.named("sync.Pool"), self.named("sync.poolLocal"))
            && let Some(Kind::Struct { fields }) = self.types.get(pool).map(|ty| ty.kind.clone())
        {
            let layout = self.types.layout(pool);
            let hidden = fields.iter().filter(|field| matches!(&*field.name, "local" | "victim"));
            let hidden =
                hidden.map(|field| Part { offset: field.offset, holds: Holds::Counted(local) });
            let slots = layout.slots.iter().copied().chain(hidden).collect();
            self.types.layouts.set(pool, Layout { slots, ..(*layout).clone() });
        }
        self.add_waiting();
    }

    /// Prepares the nodes of a package's hash tries: entries and tables.
    fn add_nodes(&mut self, package: &str) {
        let prefix = format!("{package}.node[");
        let names: Vec<String> = match &self.debug {
            Some(debug) => debug.struct_names(&prefix),
            None => self
                .types
                .iter()
                .map(|(_, ty)| &ty.name)
                .filter(|name| name.starts_with(&prefix))
                .cloned()
                .collect(),
        };
        for name in names {
            let other = |kind: &str| name.replacen(&prefix, &format!("{package}.{kind}["), 1);
            if let (Some(node), Some(entry), Some(indirect)) =
                (self.named(&name), self.named(&other("entry")), self.named(&other("indirect")))
            {
                self.nodes.insert(node, (entry, indirect));
            }
        }
    }

    /// Lets a `runtime.sudog` lead to the value that its goroutine waits to send or receive, often
    /// one on a stack. Its type is that of the channel's elements.
    fn add_waiting(&mut self) {
        let Some(sudog) = self.named("runtime.sudog") else { return };
        let fields = self.types.fields(sudog);
        let offset = |name| fields.iter().find(|field| &*field.name == name).map(|ty| ty.offset);
        let (Some(element), Some(channel)) = (offset("elem"), offset("c")) else { return };
        let Some(channel) = channel.checked_sub(element) else { return };
        let layout = self.types.layout(sudog);
        let others = layout.slots.iter().copied().filter(|slot| slot.offset != element);
        let waiting = Part { offset: element, holds: Holds::Waiting { channel } };
        let slots = others.chain([waiting]).collect();
        self.types.layouts.set(sudog, Layout { slots, ..(*layout).clone() });
    }

    /// A type of the runtime or the library by its name.
    pub(super) fn named(&mut self, name: &str) -> Option<TypeRef> {
        self.types.named(name).or_else(|| self.debug.as_mut()?.named(name, &mut self.judge.types))
    }
}
