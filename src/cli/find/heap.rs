//! `find` of heaps: objects by type, size, value, root, reachability.

use crate::analysis::largest::{Largest, LargestByType, largest, shallow};
use crate::analysis::readable::ReadableTypes;
use crate::analysis::text_signatures::{TextSignature, TextSignatures};
use crate::cli::args::{FindArgs, FindHeapOptions, FindSortArg};
use crate::cli::heap::{
    Analysed, class_called, known_types, load_as, own_name, report_loaded, value, without_roots,
};
use crate::cli::memory::Work;
use crate::cli::open::Input;
use crate::cli::print::{Align, Columns, Document, Shown, Value as Json, print};
use crate::cli::session::Session;
use crate::cli::size::{count, plural};
use crate::cli::status::{Status, UsageError};
use crate::cli::terminal::shown;
use crate::input::Format;
use crate::input::load::Loaded;
use crate::model::heap::{Heap, ObjectId, TypeId, TypeKind, Value};
use crate::parallel;
use memchr::memmem::Finder;

pub(super) fn run(args: &FindArgs, input: &Input, session: &Session) -> anyhow::Result<Status> {
    let options = &args.heap;
    input.only(&[Format::Heapsnapshot], "--detached", options.detached)?;
    let sort = sort(options)?;
    // Without retained sizes, only the objects and their references are needed.
    let work = if options.no_retained { Work::Search } else { Work::Analysis };
    let selection = &options.options;
    let held = load_as(work, session, "find", input, selection.snapshot, &selection.roots)?;
    let loaded = held.get();
    let heap = &loaded.heap;
    if heap.roots.is_empty() && (options.live || options.unreachable) {
        let what = "live and unreachable objects cannot be distinguished";
        return without_roots(session, input, loaded, what, None);
    }
    let analysed = if options.no_retained { loaded.reached() } else { loaded.analysed() };
    let types = types(loaded, input, args)?;
    // A resident program searches texts repeatedly, which makes an index of them worthwhile.
    let texts = (session.resident.is_some() && options.value.is_some()).then(|| loaded.texts());
    let most = session.rows(args.limit, 20);
    let is_kept =
        sort == FindSortArg::Retained && most <= LargestByType::MOST && selects_types(options);
    let found = match loaded.known_largest().filter(|_| is_kept) {
        Some(largest) => largest.of_types(heap, analysed.tree(), &types, most),
        None => first(&analysed, &matching(&analysed, &types, texts, args), sort, most),
    };
    let (rows, total) = (&found.objects, found.shallow_bytes);
    let document = || {
        let shown = shallow(heap, rows);
        Document::new("dumptool/find/1", &args.file)
            .with("snapshot", loaded.snapshot)
            .with("total", total_json(found.count, total))
            .rows("objects")
            .with("omitted", total_json(found.count - rows.len(), total.saturating_sub(shown)))
    };
    let footer = || {
        let objects = plural(found.count as u64, "object", "objects");
        format!(
            "showing {} of {objects}; {} shallow in total\n",
            count(rows.len() as u64),
            session.size(total)
        )
    };
    let none = || match args.name() {
        Some(glob) if !heap.type_of.iter().any(|type_id| types[type_id.0 as usize]) => {
            let class = class_called(heap, glob).map(|class| format!("; {class}"));
            format!("{} has no objects{}\n", shown(glob), class.unwrap_or_default())
        }
        _ => "no matching objects\n".to_owned(),
    };
    let text = if found.count == 0 { Shown::Text(&none) } else { Shown::Table(&footer) };
    print(session, document, rows, &columns(&analysed, rows, args, session), &text)?;
    Ok(report_loaded(session, input, loaded))
}

fn first(analysed: &Analysed<'_, '_>, all: &[ObjectId], sort: FindSortArg, most: usize) -> Largest {
    let heap = analysed.heap;
    let objects = match sort {
        // Among objects that retain nothing, the largest comes first.
        FindSortArg::Retained => {
            largest(all, most, |object| (analysed.retained(object), heap.own_bytes(object)))
        }
        FindSortArg::Shallow => largest(all, most, |object| (heap.shallow_bytes(object), 0)),
        FindSortArg::Id => all[..most.min(all.len())].to_vec(),
    };
    Largest { count: all.len(), shallow_bytes: shallow(heap, all), objects }
}

/// The order of the rows. Fails with a [`UsageError`] for `--sort retained` with `--no-retained`.
fn sort(options: &FindHeapOptions) -> Result<FindSortArg, UsageError> {
    match (options.sort, options.no_retained) {
        (Some(FindSortArg::Retained), true) => {
            Err(UsageError::new("--sort retained cannot be used with --no-retained"))
        }
        (None, true) => Ok(FindSortArg::Shallow),
        (sort, _) => Ok(sort.unwrap_or(FindSortArg::Retained)),
    }
}

fn columns<'a>(
    analysed: &'a Analysed<'_, '_>,
    rows: &[ObjectId],
    args: &FindArgs,
    session: &'a Session,
) -> Columns<'a, ObjectId> {
    let heap = analysed.heap;
    // Unreachable objects have no retained sizes.
    let is_known = !args.heap.no_retained;
    let has_retained = is_known && !heap.roots.is_empty() && !args.heap.unreachable;
    let has_external = rows.iter().any(|object| heap.external_bytes(*object) > 0);
    let mut keys = vec!["shallow_bytes", "id", "type", "brief"];
    if has_external {
        keys.insert(1, "external_bytes");
    }
    if has_retained {
        keys.insert(0, "retained_bytes");
    }
    Columns::new(session)
        .text("id", "OBJECT", |object: &ObjectId| heap.id(*object))
        .whole()
        .text("type", "TYPE", |object| heap.type_name(*object))
        .shown_as(|object| analysed.describe(*object))
        .value("namespace", |object| Json::non_empty(analysed.namespace(*object)))
        .json("name", |object| own_name(heap, *object))
        .bytes("shallow_bytes", "SHALLOW", |object| heap.shallow_bytes(*object))
        .bytes("retained_bytes", "RETAINED", move |object| {
            is_known.then(|| analysed.retained(*object))
        })
        .shown_as(|object| {
            if analysed.is_live(*object) {
                session.size(analysed.retained(*object))
            } else {
                analysed.not_live(*object).to_owned()
            }
        })
        .bytes("external_bytes", "EXTERNAL", |object| heap.external_bytes(*object))
        // Null for bytes, because there can be many.
        .json("value", |object| match heap.value(*object) {
            Value::Bytes(_) => Json::Null,
            _ => value::json(heap, *object, None),
        })
        .flat("value", "", |object| match heap.value(*object) {
            Value::Text { text, .. } => text.into_owned(),
            value => value::line(&value).unwrap_or_default(),
        })
        .cell("brief", "", Align::Left, |object| value::brief(heap, *object))
        .table(&keys)
        .value_if(!heap.generated_types.is_empty(), "generated_name", |object| {
            analysed.generated_name(*object)
        })
        .value_if(!heap.type_sources.is_empty(), "type_source", |object| {
            heap.type_source(heap.type_id(*object)).name()
        })
}

fn total_json(count: usize, shallow_bytes: u64) -> Json<'static> {
    Json::from([("count", count.into()), ("shallow_bytes", shallow_bytes.into())])
}

/// Whether the options select objects by nothing but their types.
fn selects_types(options: &FindHeapOptions) -> bool {
    let sizes = [options.min_size, options.max_size, options.min_retained];
    sizes.iter().all(Option::is_none)
        && options.value.is_none()
        && options.root.is_none()
        && !options.live
        && !options.unreachable
}

/// Whether each type matches the options, by row of the type. Fails with a [`UsageError`] if no
/// type of the file has such a name.
fn types(loaded: &Loaded<'_>, input: &Input, args: &FindArgs) -> Result<Vec<bool>, UsageError> {
    let heap = &loaded.heap;
    let mut types = known_types(loaded, input, &args.filter())?;
    types
        .iter_mut()
        .zip(&heap.types)
        .for_each(|(wanted, type_)| *wanted &= type_.kind != TypeKind::Root);
    if args.heap.detached {
        let detached = |row| heap.detached_types.contains(&TypeId(row));
        types.iter_mut().zip(0..).for_each(|(wanted, row)| *wanted &= detached(row));
    }
    Ok(types)
}

/// Number of objects that one task examines.
const BLOCK: u32 = 1 << 14;

/// The objects that match all options, in the order of the heap.
fn matching(
    analysed: &Analysed<'_, '_>,
    types: &[bool],
    texts: Option<&TextSignatures>,
    args: &FindArgs,
) -> Vec<ObjectId> {
    let (heap, options) = (analysed.heap, &args.heap);
    let held = args.heap.root.map(|kind| {
        let mut held: Vec<ObjectId> =
            heap.roots.iter().filter(|root| root.kind == kind).map(|root| root.object).collect();
        held.sort_unstable();
        held
    });
    let value = options.value.as_deref().map(|text| Wanted::new(heap, text, texts));
    let (least, most) = (options.min_size.unwrap_or(0), options.max_size.unwrap_or(u64::MAX));
    let by_size = options.min_size.is_some() || options.max_size.is_some();
    let fits = |object: ObjectId| {
        let size = || heap.shallow_bytes(object);
        types[heap.type_id(object).0 as usize]
            && (!by_size || (least..=most).contains(&size()))
            && value.as_ref().is_none_or(|value| value.may_fit(object))
            && (!options.live || analysed.is_live(object))
            && (!options.unreachable || !analysed.is_live(object))
            && options.min_retained.is_none_or(|least| analysed.retained(object) >= least)
            && held.as_ref().is_none_or(|held| held.binary_search(&object).is_ok())
            && value.as_ref().is_none_or(|value| value.fits(heap, object))
    };
    let count = heap.len() as u32;
    let found = parallel::map((0..count).step_by(BLOCK as usize), |first| {
        let objects = (first..first.saturating_add(BLOCK).min(count)).map(ObjectId);
        objects.filter(|object| fits(*object)).collect::<Vec<_>>()
    });
    found.concat()
}

/// The text to search for. Text values must contain it; numbers and booleans must be equal to it.
struct Wanted<'t> {
    text: &'t str,
    finder: Finder<'t>,
    /// Finds the text in arrays of characters.
    units: Finder<'static>,
    signature: TextSignature,
    texts: Option<&'t TextSignatures>,
    readable: ReadableTypes,
}

impl<'t> Wanted<'t> {
    fn new(heap: &Heap<'_>, text: &'t str, texts: Option<&'t TextSignatures>) -> Self {
        let (signature, readable) = (TextSignature::wanted(text), ReadableTypes::of(heap));
        let bytes = if heap.big_endian { u16::to_be_bytes } else { u16::to_le_bytes };
        let units: Vec<u8> = text.encode_utf16().flat_map(bytes).collect();
        let units = Finder::new(&units).into_owned();
        Self { text, finder: Finder::new(text), units, signature, texts, readable }
    }

    /// Whether the value may match. `false` is certain; for `true`, the value must be read.
    #[inline]
    fn may_fit(&self, object: ObjectId) -> bool {
        self.texts.is_none_or(|texts| texts.may_contain(object, self.signature))
    }

    fn fits(&self, heap: &Heap<'_>, object: ObjectId) -> bool {
        match heap.value(object) {
            Value::Text { text, .. } | Value::Name(text) => {
                self.finder.find(text.as_bytes()).is_some()
            }
            Value::Bytes(bytes) if heap.is_array_of_chars(object) => self.has_units(&bytes),
            Value::Bytes(bytes) => self.finder.find(&bytes).is_some(),
            Value::Boolean(value) => self.text == value.to_string(),
            Value::Integer(value) => self.text == value.to_string(),
            Value::Float(value) => self.text.parse() == Ok(value),
            Value::None => self
                .readable
                .text(heap, object)
                .is_some_and(|text| self.finder.find(text.as_bytes()).is_some()),
            Value::Length(_) => false,
        }
    }

    /// Whether characters contain the text. A match between two characters may overlap one of whole
    /// characters.
    fn has_units(&self, bytes: &[u8]) -> bool {
        let mut from = 0;
        while let Some(at) = bytes.get(from..).and_then(|rest| self.units.find(rest)) {
            if (from + at).is_multiple_of(2) {
                return true;
            }
            from += at + 1;
        }
        false
    }
}
