//! The names that classes, fields and methods had before the program was minified.

use super::scan::Scan;
use super::symbols::Frame;
use crate::java::class_name;
use crate::names::{JavaMapping, MappedFrame};
use rustc_hash::FxHashMap;

impl Scan<'_> {
    /// Applies the names of a mapping to classes, their fields and the frames of stacks. Returns
    /// the number of classes in the mapping.
    pub(super) fn rename(&mut self, mapping: &JavaMapping) -> u64 {
        let frames = self.frames.iter().filter_map(|(id, frame)| {
            let frames = self.original_frames(frame, mapping);
            (!frames.is_empty()).then_some((*id, frames))
        });
        self.original_frames = frames.collect();
        let mut known = 0_u64;
        for class in self.classes.iter_mut() {
            let short = class_name(self.strings.text(class.name), false).into_owned();
            let Some(original) = mapping.class(&short) else { continue };
            known = known.saturating_add(1);
            if original != short {
                class.name = self.strings.add_own(&original);
            }
            let dump = &class.dump;
            let declared: FxHashMap<&str, &str> = mapping.fields(&short).collect();
            let statics = dump.statics.iter().map(|field| field.name);
            for field in dump.fields.iter().map(|field| field.name).chain(statics) {
                let short = std::str::from_utf8(self.strings.text(field)).unwrap_or_default();
                if let Some(original) = declared.get(short) {
                    self.strings.rename_field(dump.id, field, original);
                }
            }
        }
        known
    }

    fn original_frames(&self, frame: &Frame, mapping: &JavaMapping) -> Vec<MappedFrame> {
        let class = self.serials.get(&frame.class_serial).and_then(|id| self.names.get(id));
        let class = class_name(self.strings.text(class.copied().unwrap_or(0)), false);
        let method = String::from_utf8_lossy(self.strings.text(frame.method));
        mapping.frames(&class, &method, u32::try_from(frame.line).unwrap_or(0))
    }
}
