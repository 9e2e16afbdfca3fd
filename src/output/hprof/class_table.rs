//! The table of classes, filled before anything is written.

use crate::java::FieldType;
use crate::model::heap::ObjectId;
use crate::model::names::{NameId, Names};

/// All classes, and all names that the file needs.
#[derive(Default)]
pub(super) struct Classes {
    pub(super) names: Names,
    pub(super) required: Required,
    /// Classes whose static fields are roots.
    pub(super) holders: Vec<u32>,
    pub(super) list: Vec<Class>,
    /// The class of each plan's objects.
    pub(super) of_plan: Vec<u32>,
    /// The function and file of each call frame.
    pub(super) of_frames: Vec<(NameId, NameId)>,
    pub(super) of_threads: Vec<NameId>,
}

pub(super) struct Class {
    pub(super) name: NameId,
    pub(super) parent: u32,
    /// Bytes of an instance; nothing for arrays.
    pub(super) size: u32,
    /// The fields of the class itself, in the order of an instance's bytes.
    pub(super) fields: Vec<(NameId, FieldType)>,
    pub(super) statics: Vec<(NameId, Static)>,
}

impl Class {
    /// Creates a class without fields that inherits from `java.lang.Object`.
    pub(super) fn named(name: NameId) -> Self {
        Self { name, parent: OBJECT, size: 0, fields: Vec::new(), statics: Vec::new() }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Static {
    Object(ObjectId),
    Long(u64),
    /// [`IdSpace::first_helper`](super::ids::IdSpace::first_helper), which is known only after all
    /// classes are added.
    FirstHelper,
}

impl Classes {
    pub(super) fn add(&mut self, class: Class) -> u32 {
        self.list.push(class);
        self.list.len() as u32 - 1
    }
}

/// Rows of the classes that are used.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Required {
    pub(super) string: u32,
    pub(super) weak_reference: u32,
    pub(super) object_array: u32,
    pub(super) thread: u32,
    pub(super) info: u32,
}

/// The row of `java.lang.Object`, from which all classes inherit.
pub(super) const OBJECT: u32 = 0;

/// The serial number of a class, which must not be 0.
pub(super) fn serial(class: u32) -> u32 {
    class + 1
}
