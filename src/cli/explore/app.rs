//! The state of the interface: the current place, the documents received, and navigation.

use super::doc::Doc;
use super::place::{Files, Place, View};
use super::sheet::Sheet;
use super::views;
use crate::cli::ask::Answer;
use crate::cli::status::Status;
use crate::cli::terminal::escaped;
use crate::input::{Format, Kind};
use serde_json::Value;

/// Maximum number of documents kept for going back.
const MOST_DOCUMENTS: usize = 32;

/// The interface without a terminal: keys and documents come in, a screen comes out.
pub(super) struct App {
    pub(super) files: Files,
    pub(super) kind: Kind,
    /// The first line of the screen: name, format and size of the file.
    pub(super) title: String,
    pub(super) tabs: Vec<View>,
    pub(super) here: Here,
    back: Vec<Here>,
    forward: Vec<Here>,
    pub(super) mode: Mode,
    /// The text that was searched for last.
    pub(super) searched: String,
    /// A line for the user: an error, or a confirmation.
    pub(super) message: Option<String>,
    /// Documents with the words that requested them, the most recently used one last.
    documents: Vec<(Vec<String>, Result<Value, String>)>,
    /// Types counted in one pass, shown until the first document arrives.
    counted: Option<Value>,
    pub(super) sheet: Option<Sheet>,
    /// The rows and tabs of the last screen, for the mouse.
    pub(super) hits: Hits,
}

/// A place with its selection and scroll position.
#[derive(Clone, Debug)]
pub(super) struct Here {
    pub(super) place: Place,
    pub(super) crumbs: Vec<String>,
    pub(super) selected: usize,
    pub(super) scroll: usize,
    /// The index of the box of a flame graph that fills the width of the screen.
    pub(super) zoom: usize,
}

/// The mode, which decides the meaning of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Browse,
    Help,
    Export,
    Prompt(Prompt, String),
}

/// The purpose of a text that the user types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prompt {
    Search,
    Type,
    Object,
    Sql,
}

/// Positions on the screen that the mouse can click.
#[derive(Clone, Debug, Default)]
pub(super) struct Hits {
    pub(super) tabs: Vec<(std::ops::Range<u16>, usize)>,
    pub(super) width: u16,
    /// The screen line where the table begins, and its number of lines.
    pub(super) rows: (u16, u16),
}

impl Here {
    fn new(place: Place, mut crumbs: Vec<String>) -> Self {
        crumbs.push(place.title.clone());
        Self { place, crumbs, selected: 0, scroll: 0, zoom: 0 }
    }
}

impl App {
    pub(super) fn new(files: Files, kind: Kind, format: Format, title: String) -> Self {
        let tabs = tabs(kind, format, files.new.is_some());
        let first = tabs.first().copied().unwrap_or(View::Types);
        Self {
            files,
            kind,
            title,
            here: Here::new(Place::new(first), Vec::new()),
            tabs,
            back: Vec::new(),
            forward: Vec::new(),
            mode: Mode::Browse,
            searched: String::new(),
            message: None,
            documents: Vec::new(),
            counted: None,
            sheet: None,
            hits: Hits::default(),
        }
    }

    /// The words that request the document of this place. `None` if it has arrived.
    pub(super) fn wanted(&self) -> Option<Vec<String>> {
        let words = self.here.place.asked(&self.files, "json");
        (!self.documents.iter().any(|(asked, _)| *asked == words)).then_some(words)
    }

    /// The words that count types in one pass, for the first screen. `None` except for one heap.
    pub(super) fn quick(&self) -> Option<Vec<String>> {
        let place = Place { options: vec!["--quick".to_owned()], ..Place::new(View::Types) };
        (self.kind == Kind::Heap && self.files.new.is_none())
            .then(|| place.asked(&self.files, "json"))
    }

    pub(super) fn arrived(&mut self, words: Vec<String>, answer: &Answer) {
        let is_counted = Some(&words) == self.quick().as_ref();
        let read = || serde_json::from_slice(&answer.result).map_err(|error| error.to_string());
        let document = match answer.status {
            Status::Done | Status::Broken | Status::Damaged => read(),
            _ => Err(escaped_lines(&answer.messages)),
        };
        if is_counted {
            self.counted = document.ok();
        } else {
            let is_here = words == self.here.place.asked(&self.files, "json");
            if is_here && document.is_ok() && !answer.messages.is_empty() {
                self.message = Some(escaped_lines(&answer.messages));
            }
            // A document that was prepared ahead may also have been requested meanwhile.
            self.documents.retain(|(asked, _)| *asked != words);
            self.documents.push((words, document));
            if self.documents.len() > MOST_DOCUMENTS {
                drop(self.documents.remove(0));
            }
        }
        self.refresh();
    }

    /// Rebuilds the sheet of this place.
    pub(super) fn refresh(&mut self) {
        let words = self.here.place.asked(&self.files, "json");
        let found = self.documents.iter().position(|(asked, _)| *asked == words);
        let place = &self.here.place;
        let is_first = matches!(place.view, View::Verdict | View::Types);
        self.sheet = match (found, &self.counted) {
            (Some(found), _) => {
                // The most recently used one goes last.
                let used = self.documents.remove(found);
                let sheet = match &used.1 {
                    Ok(document) => views::sheet(document, place),
                    Err(message) => refused(message),
                };
                self.documents.push(used);
                Some(sheet)
            }
            (None, Some(counted)) if is_first => {
                Some(views::sheet(counted, &Place::new(View::Types)))
            }
            _ => None,
        };
        // Restores the selection once the rows have arrived.
        if self.sheet.is_some() {
            self.select(self.here.selected);
        }
    }

    /// Whether the sheet shows the document of this place, not the types counted before it arrives.
    pub(super) fn is_complete(&self) -> bool {
        self.sheet.is_some() && self.wanted().is_none()
    }

    /// Goes to a place, from which `b` leads back here.
    pub(super) fn go(&mut self, place: Place) {
        let crumbs = self.here.crumbs.clone();
        self.leave(Here::new(place, crumbs));
    }

    /// Opens the view of a tab.
    pub(super) fn open_tab(&mut self, index: usize) {
        if let Some(view) = self.tabs.get(index) {
            self.leave(Here::new(Place::new(*view), Vec::new()));
        }
    }

    fn leave(&mut self, to: Here) {
        self.back.push(std::mem::replace(&mut self.here, to));
        self.forward.clear();
        self.message = None;
        self.refresh();
    }

    /// Replaces the place without adding it to the history: to change its order, filter or page.
    pub(super) fn replace(&mut self, place: Place) {
        self.here.place = place;
        self.refresh();
    }

    /// Goes back, or forward again.
    pub(super) fn step(&mut self, is_back: bool) {
        let (from, to) = if is_back {
            (&mut self.back, &mut self.forward)
        } else {
            (&mut self.forward, &mut self.back)
        };
        if let Some(here) = from.pop() {
            to.push(std::mem::replace(&mut self.here, here));
            self.message = None;
            self.refresh();
        }
    }

    /// The index of the tab that this place belongs to.
    pub(super) fn tab(&self) -> Option<usize> {
        let first = self.here.crumbs.first()?;
        self.tabs.iter().position(|tab| tab.spec().name == first)
    }

    /// Enters the selected row.
    pub(super) fn enter(&mut self) {
        let Some(row) = self.row() else { return };
        let (enter, snapshot, is_more) = (row.enter.clone(), row.snapshot, row.is_more);
        let Some(place) = enter else {
            self.message = Some("this row leads nowhere".to_owned());
            return;
        };
        if snapshot.is_some() {
            self.files.snapshot = snapshot;
            self.leave(Here::new(place, Vec::new()));
        } else if is_more {
            self.replace(place);
        } else {
            self.go(place);
        }
    }

    pub(super) fn row(&self) -> Option<&super::sheet::Row> {
        self.sheet.as_ref()?.rows.get(self.here.selected)
    }

    /// The id of the object of this place or of the selected row, depending on the view.
    pub(super) fn object(&self) -> Option<String> {
        let place = &self.here.place;
        let of_row = || self.row()?.object.clone();
        let of_place = || place.argument.clone();
        match place.view {
            View::Object => of_place(),
            View::Path | View::Tree => of_row().or_else(of_place),
            _ => of_row(),
        }
    }

    /// Selects a row, or the next one that can be selected.
    pub(super) fn select(&mut self, index: usize) {
        let rows = self.sheet.as_ref().map(|sheet| sheet.rows.as_slice()).unwrap_or_default();
        let index = index.min(rows.len().saturating_sub(1));
        let is_free = |at: &usize| rows.get(*at).is_some_and(|row| !row.is_heading);
        let found = (index..rows.len()).find(is_free);
        self.here.selected = found.or_else(|| (0..index).rev().find(is_free)).unwrap_or(index);
    }

    /// Moves the selection by rows, over headings.
    pub(super) fn shift(&mut self, by: isize) {
        let rows = self.sheet.as_ref().map(|sheet| sheet.rows.as_slice()).unwrap_or_default();
        let mut at = self.here.selected.saturating_add_signed(by).min(rows.len().saturating_sub(1));
        if by < 0 {
            // Moving up from below a heading leads to the row above it.
            while at > 0 && rows.get(at).is_some_and(|row| row.is_heading) {
                at -= 1;
            }
        }
        self.select(at);
    }

    /// Selects the next row that contains a text. The search starts after the selected row, or at
    /// the row itself with `from_here`. Returns whether there is such a row.
    pub(super) fn search(&mut self, text: &str, is_forward: bool, from_here: bool) -> bool {
        let Some(sheet) = &self.sheet else { return false };
        let (count, wanted) = (sheet.rows.len(), text.to_lowercase());
        let matches = |at: &usize| sheet.rows.get(*at).is_some_and(|row| row.contains(&wanted));
        let start = self.here.selected + usize::from(!from_here);
        let found = if is_forward {
            (start..count).chain(0..start.min(count)).find(matches)
        } else {
            (0..self.here.selected.min(count))
                .rev()
                .chain((start.min(count)..count).rev())
                .find(matches)
        };
        if let Some(found) = found {
            self.select(found);
        }
        found.is_some()
    }

    /// At most `most` names that contain a text, from the rows of all documents received so far.
    pub(super) fn suggestions(&self, text: &str, most: usize) -> Vec<String> {
        let wanted = text.to_lowercase();
        let mut names: Vec<String> = Vec::new();
        let documents =
            self.documents.iter().rev().filter_map(|(_, document)| document.as_ref().ok());
        for document in documents.chain(&self.counted) {
            for row in document.rows("rows") {
                let name = row.text("name");
                if name.to_lowercase().contains(&wanted) && !names.iter().any(|known| known == name)
                {
                    names.push(name.to_owned());
                    if names.len() == most {
                        return names;
                    }
                }
            }
        }
        names
    }
}

fn tabs(kind: Kind, format: Format, has_two: bool) -> Vec<View> {
    let has_snapshots = matches!(format, Format::Mvmheap);
    let has_sql = cfg!(feature = "query");
    let heap = [
        (View::Diff, has_two),
        (View::Verdict, true),
        (View::Types, true),
        (View::Tree, true),
        (View::Flame, true),
        (View::Threads, true),
        (View::Waste, true),
        (View::Roots, true),
        (View::Growth, has_snapshots && !has_two),
        (View::Snapshots, has_snapshots && !has_two),
        (View::Query, has_sql),
    ];
    let profile = [
        (View::Diff, has_two),
        (View::Functions, true),
        (View::Calls, true),
        (View::Callers, true),
        (View::Flame, true),
        (View::ByThread, true),
        (View::Timeline, has_sql),
        (View::Query, has_sql),
    ];
    let all: &[(View, bool)] = if kind == Kind::Heap { &heap } else { &profile };
    all.iter().filter(|(_, has)| *has).map(|(view, _)| *view).collect()
}

/// Messages in one line, without control characters.
fn escaped_lines(messages: &str) -> String {
    let lines: Vec<String> = messages.lines().map(|line| escaped(line.trim())).collect();
    lines.join(" · ")
}

fn refused(message: &str) -> Sheet {
    Sheet { head: vec![(super::sheet::Tone::Warn, message.to_owned())], ..Sheet::default() }
}
