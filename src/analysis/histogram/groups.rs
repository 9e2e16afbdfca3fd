//! The groups of objects, by their types, sizes or allocations.

use super::GroupBy;
use crate::analysis::glob::TypeFilter;
use crate::analysis::owners::{TypeOwner, TypeOwners};
use crate::analysis::sites::SiteGroups;
use crate::model::heap::{Heap, ObjectId, TypeId, TypeKind, TypeSource};
use rustc_hash::FxHashMap;

/// The groups of a heap's objects.
pub(super) struct Groups {
    /// Name and namespace of each group.
    pub(super) names: Vec<(String, String)>,
    /// The group of each type, or [`Groups::NONE`]. For size classes: whether the type has any.
    pub(super) of_type: Vec<u32>,
    pub(super) by: GroupBy,
    owners: TypeOwners,
    /// The group of each object, if it depends on the object's allocation.
    of_object: Vec<u32>,
}

impl Groups {
    pub(super) const NONE: u32 = u32::MAX;

    pub(super) fn of(heap: &Heap<'_>, by: GroupBy, filter: &TypeFilter) -> Self {
        let selected = filter.types(heap);
        let mut names = Vec::new();
        let mut seen: FxHashMap<(&str, &str), u32> = FxHashMap::default();
        let text = |name| heap.names.text(name);
        let of_type = heap.types.iter().zip(selected).map(|(kind, selected)| {
            if kind.kind == TypeKind::Root || !selected {
                return Self::NONE;
            }
            let key = match by {
                GroupBy::Type => (text(kind.name), text(kind.namespace)),
                GroupBy::Namespace => ("", text(kind.namespace)),
                GroupBy::PackageRoot => ("", package_root(text(kind.namespace))),
                GroupBy::Owner | GroupBy::SizeClass | GroupBy::Site | GroupBy::Generation => {
                    return 0;
                }
            };
            *seen.entry(key).or_insert_with(|| {
                names.push((key.0.to_owned(), key.1.to_owned()));
                names.len() as u32 - 1
            })
        });
        let of_type = of_type.collect();
        let owners =
            if by == GroupBy::Owner { TypeOwners::of(heap) } else { TypeOwners::default() };
        if by == GroupBy::Owner {
            let name = |owner: &TypeOwner| match owner.object {
                Some(object) => format!("{} {}", owner.name, heap.id(object)),
                None => owner.name.clone(),
            };
            names = owners.list.iter().map(|owner| (name(owner), String::new())).collect();
        }
        if by == GroupBy::SizeClass {
            names = (0..=u64::BITS).map(|class| (size_class(class), String::new())).collect();
        }
        let sites = match by {
            GroupBy::Site => Some(SiteGroups::by_frame(heap)),
            GroupBy::Generation => Some(SiteGroups::by_generation(heap)),
            _ => None,
        };
        let mut of_object = Vec::new();
        if let Some(sites) = sites {
            of_object = sites.of_objects(heap);
            names = sites.names;
        }
        Self { names, of_type, by, owners, of_object }
    }

    /// The weakest source of the types of each group. Empty if the file states all types.
    pub(super) fn sources(&self, heap: &Heap<'_>) -> Vec<TypeSource> {
        if heap.type_sources.is_empty() || self.by != GroupBy::Type {
            return Vec::new();
        }
        let mut sources = vec![TypeSource::Exact; self.names.len()];
        for (group, source) in self.of_type.iter().zip(&heap.type_sources) {
            if let Some(weakest) = sources.get_mut(*group as usize) {
                *weakest = (*weakest).min(*source);
            }
        }
        sources
    }

    /// Whether an object counts for the whole, but is in no group: a filter
    /// leaves out its type, or its allocation was not recorded.
    #[inline]
    pub(super) fn is_left_out(&self, heap: &Heap<'_>, object: ObjectId) -> bool {
        heap.type_of(object).kind != TypeKind::Root
    }

    #[inline]
    pub(super) fn group(
        &self,
        heap: &Heap<'_>,
        object: ObjectId,
        type_id: TypeId,
    ) -> Option<usize> {
        let group = self.of_type[type_id.0 as usize];
        match (group, self.by) {
            (Self::NONE, _) => None,
            (_, GroupBy::Owner) => Some(self.owners.owner(heap, object) as usize),
            (_, GroupBy::SizeClass) => Some(class_of(heap.shallow.get(object.index())) as usize),
            (_, GroupBy::Site | GroupBy::Generation) => {
                Some(self.of_object[object.index()] as usize)
                    .filter(|group| *group != SiteGroups::NONE as usize)
            }
            (group, _) => Some(group as usize),
        }
    }
}

/// The first parts of a namespace, which name who wrote the code: `package:sass` of
/// `package:sass/src/ast.dart`, `com.example` of `com.example.app`, `github.com/user/module` of a
/// Go package in it, `Perl6` of `Perl6::Metamodel`.
pub fn package_root(namespace: &str) -> &str {
    let parts =
        |separator: &str, count: usize| match namespace.match_indices(separator).nth(count - 1) {
            Some((end, _)) => &namespace[..end],
            None => namespace,
        };
    if namespace.contains("::") {
        return parts("::", 1);
    }
    if namespace.contains(':') {
        return if namespace.starts_with("package:") { parts("/", 1) } else { namespace };
    }
    match namespace.split_once('/') {
        None => parts(".", 2),
        // Hosts of code have a folder for each owner; other hosts and the standard library do not.
        Some(("github.com" | "gitlab.com" | "bitbucket.org" | "golang.org", _)) => parts("/", 3),
        Some((host, _)) => parts("/", if host.contains('.') { 2 } else { 1 }),
    }
}

/// 0 for nothing; otherwise the smallest k with size ≤ 2ᵏ, plus one.
fn class_of(size: u64) -> u32 {
    match size.checked_sub(1) {
        None => 0,
        Some(less) => (u64::BITS - less.leading_zeros() + 1).min(u64::BITS),
    }
}

/// `0 B`, `1 B`, `2 B`, `3–4 B` … `513–1024 B`, `1–2 KiB`.
fn size_class(class: u32) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    match class {
        0 => "0 B".to_owned(),
        1 | 2 => format!("{class} B"),
        3..=11 => format!("{}–{} B", (1 << (class - 2)) + 1, 1 << (class - 1)),
        _ => format!(
            "{}–{} {}",
            1 << ((class - 2) % 10),
            2 << ((class - 2) % 10),
            UNITS[(class as usize - 2) / 10]
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn package_roots_are_the_first_parts() {
        for (namespace, root) in [
            ("package:sass/src/ast.dart", "package:sass"),
            ("dart:core", "dart:core"),
            ("file:///home/a/main.dart", "file:///home/a/main.dart"),
            ("com.example.app.ui", "com.example"),
            ("java.util.concurrent", "java.util"),
            ("kotlin", "kotlin"),
            ("main", "main"),
            ("net/http", "net"),
            ("github.com/user/module/v2/pkg", "github.com/user/module"),
            ("example.com/app/internal", "example.com/app"),
            ("Perl6::Metamodel::Roles", "Perl6"),
            ("", ""),
        ] {
            assert_eq!(package_root(namespace), root);
        }
    }

    #[test]
    fn size_classes_are_named_by_their_bounds() {
        let named = |size| size_class(class_of(size));
        assert_eq!(
            [0, 1, 2, 3, 4, 5, 8].map(named),
            ["0 B", "1 B", "2 B", "3–4 B", "3–4 B", "5–8 B", "5–8 B"]
        );
        assert_eq!(
            [1024, 1025, 2048, 1 << 20].map(named),
            ["513–1024 B", "1–2 KiB", "1–2 KiB", "512–1024 KiB"]
        );
        assert_eq!(named((1 << 20) + 1), "1–2 MiB");
        assert!(!named(u64::MAX).is_empty());
    }
}
