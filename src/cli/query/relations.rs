//! The tables of a loaded file, with the data that they are computed from.

use crate::analyses::Analyses;
use crate::cli::heap::HeldHeap;
use crate::cli::open::Input;
use crate::model::profile::Profile;
use crate::tables::{self, EventRows, Relation, Table, TableSelection, TextLimit};
use self_cell::self_cell;
use std::sync::Arc;

/// A loaded file, with the damage that ended its reading.
pub(super) struct LoadedFile {
    pub(super) input: Input,
    pub(super) damage: Option<String>,
    pub(super) model: Model,
    /// The events of a recording. `None` for other files, and if they were not requested.
    pub(super) events: Option<Arc<EventRows>>,
}

pub(super) enum Model {
    Heap(Arc<HeldHeap>),
    Profile(Arc<Profile>),
}

self_cell!(
    /// The tables of a file, in the order in which they are listed.
    pub(super) struct Relations {
        owner: LoadedFile,
        #[covariant]
        dependent: Listed,
    }
);

type Listed<'f> = Vec<Box<dyn Relation + 'f>>;

impl Relations {
    pub(super) fn of(file: LoadedFile) -> Self {
        Self::new(file, relations)
    }
}

fn relations(file: &LoadedFile) -> Listed<'_> {
    let LoadedFile { input, damage, model, events } = file;
    let (mut all, analyses): (Listed<'_>, Option<&Analyses<'_>>) = match model {
        Model::Heap(held) => {
            let analyses: &Analyses<'_> = held.get();
            let written = [Table::Objects, Table::References, Table::Types, Table::Roots];
            let relation = |table| tables::of_heap(analyses, table, TextLimit::default());
            let own = tables::of_threads(analyses);
            (written.into_iter().filter_map(relation).chain(own).collect(), Some(analyses))
        }
        Model::Profile(profile) => {
            let relation = |table| tables::of_profile(profile, &TableSelection::default(), table);
            (Table::ALL.iter().copied().filter_map(relation).collect(), None)
        }
    };
    all.extend(events.as_deref().map(tables::of_events));
    all.push(tables::of_dump(move || {
        let file = input.file();
        let row = file.row(damage.clone(), analyses);
        // The file was loaded before. If it cannot be read again, the facts of the loaded data
        // remain.
        row.unwrap_or_else(|_| file.known(damage.clone()))
    }));
    all
}
