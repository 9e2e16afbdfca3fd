//! Stores the results in the columns of a heap: types of objects, labels of references, names of
//! roots.

mod labels;
mod places;

use super::debug::Global;
use super::objects::{Fit, Level, Typed};
use super::propagate::Propagation;
use super::types::{Kind, TypeRef, Types};
use crate::input::go::goroutine::StackFrame;
use crate::input::go::load::package::package_of;
use crate::model::heap::{
    self, Label, LabelKind, ObjectId, References, Root, RootKind, Thread, Type, TypeId, TypeKind,
    TypeSource,
};
use crate::model::names::Names;
use places::{Place, Way};

/// The number of variants of a type: each source of the type, for single values and for arrays.
const VARIANTS: usize = 10;

pub(in super::super) struct Columns<'c> {
    pub(in super::super) names: &'c mut Names,
    pub(in super::super) types: &'c mut Vec<Type>,
    pub(in super::super) sources: &'c mut Vec<TypeSource>,
    pub(in super::super) type_of: &'c mut [TypeId],
    pub(in super::super) references: &'c mut References,
    pub(in super::super) roots: &'c mut [Root],
    pub(in super::super) threads: &'c [Thread],
    pub(in super::super) frames: &'c [heap::StackFrame],
    /// For each frame of the dump, the row of its call.
    pub(in super::super) rows: &'c [u32],
    /// The roots in frames by row, with the address of each.
    pub(in super::super) words: &'c [(u32, u64)],
}

impl Propagation<'_, '_, '_, '_> {
    /// Names all objects with a type. Returns, for each type of the model, the type of a value and
    /// whether objects hold several values.
    pub(super) fn name_objects(&self, columns: &mut Columns<'_>) -> Vec<Option<(TypeRef, bool)>> {
        let mut of_type = vec![None; columns.types.len()];
        // The source of a name is the weakest source among types with this name. Types without
        // objects do not count.
        columns.sources.resize(columns.types.len(), TypeSource::Exact);
        let mut known: Vec<[Option<TypeId>; VARIANTS]> = Vec::new();
        for (row, place) in columns.type_of.iter_mut().enumerate() {
            let Some(typed) = self.objects.get(ObjectId(row as u32)) else {
                if let Some(source) = columns.sources.get_mut(place.0 as usize) {
                    *source = TypeSource::None;
                }
                continue;
            };
            let (source, is_array) = (source(&typed), typed.is_array(self.string));
            let (ty, variant) =
                (typed.ty.0 as usize, (source as usize) << 1 | usize::from(is_array));
            if known.len() <= ty {
                known.resize(ty.saturating_add(1), [None; VARIANTS]);
            }
            let Some(known) = known.get_mut(ty).and_then(|known| known.get_mut(variant)) else {
                continue;
            };
            *place = *known.get_or_insert_with(|| {
                let number = TypeId(columns.types.len() as u32);
                columns.types.push(self.described(&typed, is_array, source, columns.names));
                columns.sources.push(source);
                of_type.push(Some((typed.ty, is_array)));
                number
            });
        }
        of_type
    }

    fn described(
        &self,
        typed: &Typed,
        is_array: bool,
        source: TypeSource,
        names: &mut Names,
    ) -> Type {
        let (name, package, has_pointers) =
            self.types.get(typed.ty).map_or((String::new(), None, false), |ty| {
                (ty.name.clone(), ty.package.clone(), self.known_pointers(typed.ty) > 0)
            });
        let guess = if source == TypeSource::Guess { " ?" } else { "" };
        // `string` and `[]T` are the contents of a string or a slice.
        let is_header = |ty: &super::types::Type| {
            ty.package.is_none() && matches!(ty.kind, Kind::String | Kind::Slice { .. })
        };
        let header = self.types.get(typed.ty).is_some_and(is_header);
        let name = match (is_array, header) {
            (true, _) => format!("[]{name}{guess}"),
            (false, true) => format!("{name} header{guess}"),
            (false, false) => format!("{name}{guess}"),
        };
        let package = package.as_deref().unwrap_or_else(|| package_of(&name));
        let kind = match (has_pointers, is_array) {
            (true, true) => TypeKind::Array,
            (true, false) => TypeKind::Instance,
            // The program's own structs are instances, even if they contain numbers only.
            (false, false) if !package.is_empty() => TypeKind::Instance,
            (false, _) => TypeKind::Bytes,
        };
        let namespace = names.intern(package);
        Type { name: names.intern(&name), namespace, kind }
    }

    pub(super) fn name_roots(&mut self, globals: &[Global], columns: &mut Columns<'_>) {
        let variables = self.global_places(globals);
        let facts = self.facts();
        let segments: Vec<(&str, u64)> = [("data", &facts.data), ("bss", &facts.bss)]
            .iter()
            .filter_map(|(name, segment)| Some((*name, segment.as_ref()?.addr)))
            .collect();
        // Arguments are in the frame of the caller.
        let frames = facts.frames().zip(columns.rows);
        let mut locals: Vec<Place> =
            frames.flat_map(|(frame, row)| self.places(frame, *row)).collect();
        locals.sort_by_key(|place| place.address);
        let mut words = columns.words.iter().peekable();
        for (row, root) in (0u32..).zip(columns.roots.iter_mut()) {
            let word = words.next_if(|(ty, _)| *ty == row).map(|(_, address)| *address);
            let LabelKind::Offset(offset) = root.label.kind() else { continue };
            let named = match (root.kind, root.frame) {
                (RootKind::Global, _) => {
                    let group = columns.names.text(root.group);
                    let start = segments
                        .iter()
                        .find(|(name, _)| *name == group)
                        .map(|(_, address)| *address);
                    let named = start.and_then(|start| {
                        self.variable_at(&variables, start.wrapping_add(offset.into()))
                    });
                    if let Some(named) = &named {
                        root.group = Names::EMPTY;
                        root.variable = Some(columns.names.intern(&named.variable));
                    }
                    named
                }
                (RootKind::Frame, _) => word.and_then(|word| self.variable_at(&locals, word)),
                _ => None,
            };
            let Some(named) = named else { continue };
            root.label = Label::field(columns.names.intern(&named.text));
            // An argument belongs to the function that is called, not to the frame that holds it.
            let Some(row) = named.frame.filter(|row| root.frame != Some(*row)) else { continue };
            let thread = root.thread.and_then(|thread| columns.threads.get(thread as usize));
            let (Some(frame), Some(thread)) = (columns.frames.get(row as usize), thread) else {
                continue;
            };
            let [thread, function] = [thread.name, frame.function].map(|it| columns.names.text(it));
            root.group = columns.names.intern(&format!("{thread} {function}"));
            root.frame = Some(row);
        }
    }

    /// The variables of a frame that are in memory, its own or that of its caller.
    fn places(&mut self, frame: &StackFrame<'_>, row: u32) -> Vec<Place> {
        let end = frame.sp.wrapping_add(frame.contents.len() as u64);
        let mut places = Vec::new();
        for variable in self.variables(frame).iter() {
            let Some(size) = self.types.get(variable.ty).map(|ty| ty.size) else { continue };
            for piece in &variable.pieces {
                let size = piece.size.unwrap_or(size);
                let address = end.wrapping_add_signed(piece.from_cfa);
                places.push(Place {
                    address,
                    size,
                    ty: variable.ty,
                    inside: piece.offset,
                    name: variable.name.clone(),
                    way: Way::Itself,
                    frame: Some(row),
                });
            }
        }
        places
    }

    /// The variable whose part is at an address, and the path to that part.
    fn variable_at(&self, places: &[Place], address: u64) -> Option<Named> {
        let after = places.partition_point(|place| place.address <= address);
        let place = places.get(after.checked_sub(1)?)?;
        let offset = address.wrapping_sub(place.address);
        (offset < place.size).then(|| Named {
            variable: place.name.clone(),
            text: place.text(&self.types, offset),
            frame: place.frame,
        })
    }
}

struct Named {
    variable: String,
    /// The variable, and the path to the part.
    text: String,
    /// The row of the frame whose function declares it; `None` for globals.
    frame: Option<u32>,
}

fn source(typed: &Typed) -> TypeSource {
    match (typed.level, typed.fit) {
        (Level::Guess, _) => TypeSource::Guess,
        (_, Fit::Exact) => TypeSource::Exact,
        (_, Fit::Array) => TypeSource::Array,
        (_, Fit::Partial) => TypeSource::Partial,
    }
}

/// The path to the part of a value at an offset: `.User.Prefs`, `.slots[3].elem`, or empty for the
/// value itself.
pub(super) fn path(types: &Types, ty: TypeRef, offset: u64) -> String {
    let (mut ty, mut offset, mut path) = (ty, offset, String::new());
    // Types nest less deeply than this, unless a damaged type contains itself.
    for _ in 0..64 {
        match types.get(ty).map(|ty| &ty.kind) {
            Some(Kind::Struct { fields }) => {
                let inside = |field: &&super::types::Field| {
                    let size = types.size(field.ty);
                    offset >= field.offset && offset.wrapping_sub(field.offset) < size
                };
                let Some(field) = fields.iter().find(inside) else { return path };
                path.push('.');
                path.push_str(&field.name);
                (ty, offset) = (field.ty, offset.wrapping_sub(field.offset));
            }
            Some(Kind::Array { element, .. }) => {
                let Some(size) = types.get(*element).map(|ty| ty.size).filter(|size| *size > 0)
                else {
                    return path;
                };
                path.push_str(&format!("[{}]", offset.checked_div(size).unwrap_or(0)));
                (ty, offset) = (*element, offset.checked_rem(size).unwrap_or(0));
            }
            _ => return path,
        }
    }
    path
}
