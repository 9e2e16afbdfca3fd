//! Classes that readers look up even if they have no objects.
//!
//! VisualVM throws without the arrays of numbers (while opening), without `java.lang.ref.Reference`
//! and its subclasses (on retained sizes), and without a size of `java.lang.Object`, the only class
//! that may have no superclass.

use super::class_table::{Class, Classes, OBJECT, Required};
use super::layout::Layout;
use crate::java::FieldType;

/// Adds the required classes, `java.lang.Object` first.
pub(super) fn add(classes: &mut Classes, layout: &Layout) -> Required {
    let mut add = |name: &str, parent: u32, size: u64, fields: &[(&str, FieldType)]| {
        let name = classes.names.intern(name);
        let fields =
            fields.iter().map(|(name, basic)| (classes.names.intern(name), *basic)).collect();
        classes.add(Class { parent, size: size as u32, fields, ..Class::named(name) })
    };
    let (header, reference) = (layout.header(), layout.reference());
    let object = add("java/lang/Object", OBJECT, header, &[]);
    add("java/lang/Class", object, header, &[]);
    add("java/lang/ClassLoader", object, header, &[]);
    let fields =
        [("value", FieldType::Object), ("coder", FieldType::Byte), ("hash", FieldType::Int)];
    let string = add("java/lang/String", object, layout.instance_size(reference + 5), &fields);
    let thread_size = layout.instance_size(2 * reference);
    let java_thread = add(
        "java/lang/Thread",
        object,
        layout.instance_size(reference),
        &[("name", FieldType::Object)],
    );
    let thread = add("dumptool/Thread", java_thread, thread_size, &[("object", FieldType::Object)]);
    let reference_size = layout.instance_size(reference);
    let parent =
        add("java/lang/ref/Reference", object, reference_size, &[("referent", FieldType::Object)]);
    let weak_reference = add("java/lang/ref/WeakReference", parent, reference_size, &[]);
    for name in [
        "java/lang/ref/SoftReference",
        "java/lang/ref/FinalReference",
        "java/lang/ref/PhantomReference",
    ] {
        add(name, parent, reference_size, &[]);
    }
    let object_array = add("[Ljava/lang/Object;", object, 0, &[]);
    for name in ["[Z", "[C", "[F", "[D", "[B", "[S", "[I", "[J"] {
        add(name, object, 0, &[]);
    }
    let info = add("dumptool/Info", object, header, &[]);
    Required { string, weak_reference, object_array, thread, info }
}
