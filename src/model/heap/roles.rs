//! The roles of a heap's types.

use super::{Heap, ObjectId, Role, Type, TypeKind};
use crate::model::roles::role_in;

impl Heap<'_> {
    /// Returns the role that the runtime's table gives a name.
    pub fn named_role(&self, name: &str) -> Option<Role> {
        role_in(self.roles, "", name)
    }

    /// Whether an object is the dictionary that contains the attributes of another object (Python).
    pub fn has_attributes(&self, object: ObjectId) -> bool {
        let type_ = self.type_of(object);
        type_.kind == TypeKind::Array
            && !self.names.text(type_.namespace).is_empty()
            && self.named_role(self.names.text(type_.name)) == Some(Role::Collection("dict"))
    }

    /// The role of each type. Classes have the same role in all runtimes; types that the runtime's
    /// table does not name have a role by their kind. An array is a part of its holder, unless the
    /// runtime's table or the reader names it as a collection.
    pub fn type_roles(&self) -> Vec<Role> {
        let role = |type_: &Type| {
            let (namespace, name) = (self.names.text(type_.namespace), self.names.text(type_.name));
            let named = || role_in(self.roles, namespace, name);
            match type_.kind {
                TypeKind::Class | TypeKind::Synthetic | TypeKind::Root => Role::Passage,
                TypeKind::Array => {
                    // Dictionaries of attributes have a namespace (Python).
                    let collection = named()
                        .filter(|role| matches!(role, Role::Collection(_)) && namespace.is_empty());
                    collection.unwrap_or(Role::Inside)
                }
                kind => match named() {
                    Some(Role::Library) => Role::Program,
                    role => role.unwrap_or_else(|| by_kind(kind)),
                },
            }
        };
        let mut roles: Vec<Role> = self.types.iter().map(role).collect();
        for (type_id, noun) in &self.collection_types {
            roles[type_id.0 as usize] = Role::Collection(noun);
        }
        roles
    }
}

fn by_kind(kind: TypeKind) -> Role {
    match kind {
        TypeKind::Bytes | TypeKind::Text | TypeKind::Number => Role::Runtime,
        TypeKind::Frame => Role::Closure,
        _ => Role::Program,
    }
}
