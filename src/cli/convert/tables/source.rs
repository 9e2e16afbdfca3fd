//! The heap or profile that tables are written of.

use super::{Conversion, Converted};
use crate::analysis::dominator_tree::DominatorTree;
use crate::cli::dump_row;
use crate::cli::heap::{damage, report_loaded};
use crate::cli::memory::profile_limit;
use crate::cli::open::Input;
use crate::cli::profile::{self, named, refused, require_thread};
use crate::cli::session::Session;
use crate::cli::status::{Status, UsageError};
use crate::error::Error;
use crate::input::load::{Loaded, LoadedProfile, ProfileOptions};
use crate::input::{self, Kind};
use crate::output::tables::{self, DumpRow, Table, TableRows, TableSelection, TextLimit};

/// A loaded input, and the row of the table `dump`.
pub(super) struct TableSource<'a> {
    input: &'a Input,
    model: Model<'a>,
    texts: TextLimit,
    dump: DumpRow,
}

enum Model<'a> {
    Heap(Box<Loaded<'a>>, DominatorTree),
    Profile(Box<LoadedProfile>, TableSelection),
}

impl<'a> TableSource<'a> {
    /// Loads the data of the tables.
    ///
    /// # Errors
    /// As for any conversion: when nothing can be loaded, or options do not fit the input.
    pub(super) fn load(conversion: &Conversion<'a>, tables: &[Table]) -> anyhow::Result<Self> {
        let Conversion { args, input, .. } = *conversion;
        let model = match input.kind {
            Kind::Heap => {
                let loaded = conversion.load_heap()?;
                let tree = DominatorTree::new(&loaded.heap);
                Model::Heap(Box::new(loaded), tree)
            }
            Kind::Profile => profile(conversion, tables)?,
        };
        let mut source =
            Self { input, model, texts: args.text.unwrap_or_default(), dump: DumpRow::default() };
        source.dump = source.dump_row(tables.contains(&Table::Dump))?;
        Ok(source)
    }

    /// The rows of a table that the input has.
    pub(super) fn rows(&self, table: Table) -> Box<dyn TableRows + '_> {
        let rows = match &self.model {
            Model::Heap(loaded, tree) => tables::of_heap(&loaded.heap, tree, table, self.texts),
            Model::Profile(loaded, selected) => {
                tables::of_profile(&loaded.profile, selected, table)
            }
        };
        rows.unwrap_or_else(|| Box::new(self.dump.clone()))
    }

    /// The facts about the input that a Parquet file names.
    pub(super) fn metadata(&self) -> [(&'static str, String); 3] {
        [
            ("dumptool.file", self.dump.file.clone()),
            ("dumptool.format", self.dump.format.clone()),
            ("dumptool.complete", self.dump.damage.is_none().to_string()),
        ]
    }

    pub(super) fn converted(&self) -> Converted {
        match &self.model {
            Model::Heap(loaded, _) => Converted::Objects(loaded.heap.object_count()),
            Model::Profile(loaded, _) => Converted::Samples(loaded.profile.total.samples()),
        }
    }

    /// Prints warnings and damage. Returns the status that belongs to them.
    pub(super) fn report(&self, session: &Session, input: &Input) -> Status {
        match &self.model {
            Model::Heap(loaded, _) => report_loaded(session, input, loaded),
            Model::Profile(..) => input.report_if_damaged(self.damage(), &session.terminal),
        }
    }

    fn damage(&self) -> Option<&Error> {
        match &self.model {
            Model::Heap(loaded, _) => damage(self.input, loaded),
            Model::Profile(loaded, _) => self.input.source.damage().or(loaded.damage.as_ref()),
        }
    }

    /// Returns the row of the table `dump`. Data that requires reading the file is present only if
    /// the table is `wanted`.
    fn dump_row(&self, wanted: bool) -> anyhow::Result<DumpRow> {
        let heap = match &self.model {
            Model::Heap(loaded, tree) => Some((&**loaded, tree)),
            Model::Profile(..) => None,
        };
        let damage = self.damage().map(ToString::to_string);
        match wanted {
            true => dump_row::read(self.input, damage, heap),
            false => Ok(dump_row::known(self.input, damage)),
        }
    }
}

fn profile<'a>(conversion: &Conversion<'a>, tables: &[Table]) -> anyhow::Result<Model<'a>> {
    let Conversion { args, input, session, .. } = *conversion;
    if args.profile.tag.is_some() {
        return Err(UsageError::new("--tag does not apply to tables").into());
    }
    let progress = session.progress(input);
    let options = ProfileOptions {
        keep_samples: tables.contains(&Table::Samples) && !args.aggregate,
        memory: profile_limit(input, &session.common),
        progress: &|offset| progress.reached(offset),
    };
    let loaded = input::load_profile(input.format, input.bytes(), options)
        .map_err(|error| refused(error, input, &session.common))?;
    let selection = profile::selection(&args.profile);
    require_thread(&loaded.profile, &selection, input)?;
    let metric = args.profile.metric.as_deref();
    let metric = metric.map(|name| named(&loaded.profile, name, &input.path)).transpose()?;
    Ok(Model::Profile(Box::new(loaded), TableSelection { selection, metric }))
}
