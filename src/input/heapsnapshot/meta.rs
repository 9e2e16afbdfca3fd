//! `snapshot`: the names of fields and types, and counts.

use crate::error::{Error, Result};
use crate::input::json::{Scanner, ValueKind};

/// The most fields of a row, and the most types. Files have up to 7 fields and 16 types.
pub const MAX_FIELDS: usize = 16;
const MAX_TYPES: usize = 200;

/// The most types of nodes. Julia has one for each type of object; this many take 2 MiB.
const MAX_NODE_TYPES: usize = 1 << 16;

/// Declares the names of types that matter here.
macro_rules! named {
    ($(#[$meta:meta])* pub enum $name:ident { $($variant:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($variant,)+
            Other,
        }

        impl $name {
            fn of(name: &str) -> Self {
                match name {
                    $($text => Self::$variant,)+
                    _ => Self::Other,
                }
            }
        }
    };
}

named! {
    pub enum NodeType {
        Hidden = "hidden",
        Array = "array",
        String = "string",
        Object = "object",
        Code = "code",
        Closure = "closure",
        Regexp = "regexp",
        Number = "number",
        Native = "native",
        Synthetic = "synthetic",
        Symbol = "symbol",
        Bigint = "bigint",
        Concatenated = "concatenated string",
        JuliaArray = "jl_array_t",
        JuliaModule = "jl_module_t",
        JuliaString = "String",
        JuliaSymbol = "jl_sym_t",
        JuliaType = "jl_datatype_t",
        JuliaObject = "jl_value_t",
    }
}

named! {
    pub enum EdgeType {
        Element = "element",
        Property = "property",
        Internal = "internal",
        Hidden = "hidden",
        Shortcut = "shortcut",
        Weak = "weak",
    }
}

/// The positions of the fields of a node in its row.
#[derive(Clone, Copy, Debug)]
pub struct NodeFields {
    pub count: usize,
    /// The position of the node's type, an index into [`Meta::node_types`].
    pub kind: usize,
    pub name: usize,
    /// The node's number, which is stable between snapshots of a process.
    pub id: usize,
    pub self_size: usize,
    pub edge_count: usize,
    /// The id of the stack that allocated the node. Absent without tracking, or in older files.
    pub trace_node_id: Option<usize>,
    /// Whether a node of a DOM tree is attached. Absent before V8 9.
    pub detachedness: Option<usize>,
}

/// The positions of the fields of an edge in its row.
#[derive(Clone, Copy, Debug)]
pub struct EdgeFields {
    pub count: usize,
    /// The position of the edge's type, an index into [`Meta::edge_types`].
    pub kind: usize,
    /// A string, or the number of an element.
    pub name_or_index: usize,
    /// The position of the target in `nodes`.
    pub to_node: usize,
}

/// The member `snapshot` of the document.
#[derive(Clone, Debug)]
pub struct Meta {
    pub node: NodeFields,
    /// The types of nodes and their names in the file.
    pub node_types: Vec<(NodeType, String)>,
    /// The kinds of nodes: their types, except that all object types of Julia are one kind.
    pub kinds: Kinds,
    pub edge: EdgeFields,
    /// The types of edges and their names in the file.
    pub edge_types: Vec<(EdgeType, String)>,
    pub names: Names,
    pub node_count: Option<u64>,
    pub edge_count: Option<u64>,
    /// `trace_function_count` of the file, which may be less than the real number.
    pub trace_function_count: Option<u64>,
    /// Native memory that no node represents, in bytes.
    pub extra_native_bytes: Option<u64>,
}

impl Meta {
    /// Reads the value of `snapshot`. Fails when the value is truncated or lacks an indispensable
    /// field.
    pub fn read(json: &mut Scanner<'_>) -> Result<Self> {
        let offset = json.offset();
        let mut names = Names::default();
        let mut counts = [None; 4];
        json.begin_object()?;
        while let Some(key) = json.key()? {
            match key.raw() {
                b"meta" if json.peek()? == ValueKind::Object => names.read(json)?,
                b"node_count" => counts[0] = json.optional_unsigned()?,
                b"edge_count" => counts[1] = json.optional_unsigned()?,
                b"trace_function_count" => counts[2] = json.optional_unsigned()?,
                b"extra_native_bytes" => counts[3] = json.optional_unsigned()?,
                _ => json.skip()?,
            }
        }
        let [node_count, edge_count, trace_function_count, extra_native_bytes] = counts;
        let node = Fields { names: &names.node_fields, of: "node_fields", offset };
        let edge = Fields { names: &names.edge_fields, of: "edge_fields", offset };
        let (node, edge) = (
            NodeFields {
                count: node.count()?,
                kind: node.position("type")?,
                name: node.position("name")?,
                id: node.position("id")?,
                self_size: node.position("self_size")?,
                edge_count: node.position("edge_count")?,
                trace_node_id: node.find("trace_node_id"),
                detachedness: node.find("detachedness"),
            },
            EdgeFields {
                count: edge.count()?,
                kind: edge.position("type")?,
                name_or_index: edge.position("name_or_index")?,
                to_node: edge.position("to_node")?,
            },
        );
        let (node_types, edge_types) =
            (std::mem::take(&mut names.node_types), std::mem::take(&mut names.edge_types));
        let node_types: Vec<_> =
            node_types.into_iter().map(|name| (NodeType::of(&name), name)).collect();
        Ok(Self {
            node,
            edge,
            kinds: Kinds::of(&node_types),
            node_types,
            edge_types: edge_types.into_iter().map(|name| (EdgeType::of(&name), name)).collect(),
            names,
            node_count,
            edge_count,
            trace_function_count,
            extra_native_bytes,
        })
    }

    /// The type with a number in the file's own list of types.
    #[inline]
    pub fn node_type(&self, kind: u8) -> NodeType {
        self.kinds.list.get(usize::from(kind)).map_or(NodeType::Other, |(known, _)| *known)
    }

    /// The type of an edge by its number in the file.
    #[inline]
    pub fn edge_type(&self, number: u64) -> EdgeType {
        usize::try_from(number)
            .ok()
            .and_then(|number| self.edge_types.get(number))
            .map_or(EdgeType::Other, |(known, _)| *known)
    }
}

/// The kinds of nodes, which are at most 255.
///
/// For V8, kinds are node types. Julia adds a node type for each type of object, and names such a
/// node after its type; all of these are one kind.
#[derive(Clone, Debug, Default)]
pub struct Kinds {
    /// The type of the nodes of each kind, and its name.
    pub list: Vec<(NodeType, String)>,
    /// The kind of each type. Empty if each type is its own kind.
    of: Vec<u8>,
}

impl Kinds {
    fn of(types: &[(NodeType, String)]) -> Self {
        if !types.iter().any(|(known, _)| *known == NodeType::JuliaType) {
            return Self { list: types.iter().take(MAX_TYPES).cloned().collect(), of: Vec::new() };
        }
        let mut kinds = Self::default();
        for (known, name) in types {
            let (known, name) = match known {
                NodeType::Object | NodeType::Other => (NodeType::JuliaObject, "object"),
                known => (*known, name.as_str()),
            };
            let same = |(other, _): &(NodeType, String)| *other == known;
            let kind = kinds.list.iter().position(same).unwrap_or(kinds.list.len());
            if kind == kinds.list.len() {
                kinds.list.push((known, name.to_owned()));
            }
            kinds.of.push(kind as u8);
        }
        kinds
    }

    /// The kind of a node by the number of its type in the file; 255 for unknown types.
    #[inline]
    pub fn kind(&self, number: u64) -> u8 {
        if self.of.is_empty() {
            number.min(255) as u8
        } else {
            let number = usize::try_from(number).unwrap_or(usize::MAX);
            self.of.get(number).copied().unwrap_or(255)
        }
    }
}

/// The lists of `meta`.
#[derive(Clone, Debug, Default)]
pub struct Names {
    pub node_fields: Vec<String>,
    /// Empty once moved to [`Meta::node_types`]; likewise `edge_types`.
    node_types: Vec<String>,
    pub edge_fields: Vec<String>,
    edge_types: Vec<String>,
    pub location_fields: Vec<String>,
    pub sample_fields: Vec<String>,
    /// The fields of functions that allocate.
    pub trace_function_info_fields: Vec<String>,
    /// The fields of nodes of the allocation tree.
    pub trace_node_fields: Vec<String>,
}

impl Names {
    fn read(&mut self, json: &mut Scanner<'_>) -> Result<()> {
        json.begin_object()?;
        while let Some(key) = json.key()? {
            match key.raw() {
                b"node_fields" => self.node_fields = list(json, MAX_TYPES)?,
                b"node_types" => self.node_types = nested_list(json, MAX_NODE_TYPES)?,
                b"edge_fields" => self.edge_fields = list(json, MAX_TYPES)?,
                b"edge_types" => self.edge_types = nested_list(json, MAX_TYPES)?,
                b"location_fields" => self.location_fields = list(json, MAX_TYPES)?,
                b"sample_fields" => self.sample_fields = list(json, MAX_TYPES)?,
                b"trace_function_info_fields" => {
                    self.trace_function_info_fields = list(json, MAX_TYPES)?
                }
                b"trace_node_fields" => self.trace_node_fields = list(json, MAX_TYPES)?,
                _ => json.skip()?,
            }
        }
        Ok(())
    }
}

/// The names of fields, to be looked up.
struct Fields<'n> {
    names: &'n [String],
    of: &'static str,
    offset: u64,
}

impl Fields<'_> {
    fn find(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|field| field == name)
    }

    fn position(&self, name: &'static str) -> Result<usize> {
        self.find(name)
            .ok_or_else(|| Error::corrupt(self.offset, format!("{} has no {name}", self.of)))
    }

    fn count(&self) -> Result<usize> {
        match self.names.len() {
            count @ 1..=MAX_FIELDS => Ok(count),
            count => {
                Err(Error::unsupported(self.offset, format!("{} has {count} fields", self.of))
                    .expected(format!("1 to {MAX_FIELDS}")))
            }
        }
    }
}

/// Reads a list of at most this many names.
fn list(json: &mut Scanner<'_>, most: usize) -> Result<Vec<String>> {
    let mut names = Vec::new();
    json.items_of(ValueKind::String, |json| {
        let name = json.text()?;
        if names.len() < most {
            names.push(name.decode().into_owned());
        }
        Ok(())
    })?;
    Ok(names)
}

/// The first list in a list: the names of types.
fn nested_list(json: &mut Scanner<'_>, most: usize) -> Result<Vec<String>> {
    let mut names = Vec::new();
    json.items_of(ValueKind::Array, |json| {
        if names.is_empty() {
            names = list(json, most)?;
            return Ok(());
        }
        json.skip()
    })?;
    Ok(names)
}
