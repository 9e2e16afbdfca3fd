//! Handles keys and the mouse.

use super::app::{App, Mode, Prompt};
use super::flame;
use super::place::{Place, View};
use ratatui::crossterm::event::{
    Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};

/// An action that the caller must perform outside of the interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Nothing,
    Quit,
    /// Put a text on the clipboard of the terminal.
    Copy(String),
    /// Write an answer to a file with this extension.
    Export(Vec<String>, &'static str),
}

/// The keys as `?` lists them.
pub(super) const HELP: &[(&str, &str)] = &[
    ("↑ ↓  j k", "move; PgUp PgDn, Home End"),
    ("Enter  → l", "open the selected row"),
    ("Backspace  ← h", "up, to where you came from"),
    ("b  f", "back, forward"),
    ("1 … 9  Tab", "views"),
    ("/  n N", "search, next, previous (else all of it)"),
    ("t", "only types that match, such as *Cache"),
    ("s", "sort by another column"),
    ("p", "path: why the object is alive"),
    ("T", "tree: what the object retains"),
    ("o", "the selected object"),
    ("g", "go to an address or number"),
    ("y  Y", "copy the address, or the command below"),
    ("e", "export: CSV, JSON, Markdown or SVG"),
    (":", "SQL (in the full build)"),
    ("mouse", "click selects, then opens; right: back"),
    ("q", "quit"),
];

impl App {
    /// Handles an event of the terminal.
    pub(super) fn take(&mut self, event: &Event) -> Effect {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.key(key),
            Event::Mouse(mouse) => self.mouse(mouse),
            Event::Paste(text) => {
                if let Mode::Prompt(_, line) = &mut self.mode {
                    line.extend(text.chars().filter(|c| !c.is_control()));
                }
                Effect::Nothing
            }
            _ => Effect::Nothing,
        }
    }

    fn key(&mut self, key: &KeyEvent) -> Effect {
        if key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c') {
            return Effect::Quit;
        }
        match std::mem::replace(&mut self.mode, Mode::Browse) {
            Mode::Browse => self.browse(key),
            Mode::Help => Effect::Nothing,
            Mode::Export => self.export(key.code),
            Mode::Prompt(prompt, line) => self.edit(prompt, line, key),
        }
    }

    fn browse(&mut self, key: &KeyEvent) -> Effect {
        if self.here.place.view == View::Flame && flame::key(self, key.code) {
            return Effect::Nothing;
        }
        let page = isize::try_from(self.hits.rows.1.max(2) - 1).unwrap_or(1);
        match key.code {
            KeyCode::Char('q') => return Effect::Quit,
            KeyCode::Down | KeyCode::Char('j') => self.shift(1),
            KeyCode::Up | KeyCode::Char('k') => self.shift(-1),
            KeyCode::PageDown | KeyCode::Char(' ') => self.shift(page),
            KeyCode::PageUp => self.shift(-page),
            KeyCode::Home => self.select(0),
            KeyCode::End | KeyCode::Char('G') => self.select(usize::MAX),
            KeyCode::Enter | KeyCode::Right | KeyCode::Char('l') => self.enter(),
            KeyCode::Backspace | KeyCode::Left | KeyCode::Char('h')
                if self.here.crumbs.len() > 1 =>
            {
                self.step(true);
            }
            KeyCode::Char('b') => self.step(true),
            KeyCode::Char('f') => self.step(false),
            KeyCode::Tab => self.next_tab(1),
            KeyCode::BackTab => self.next_tab(self.tabs.len().saturating_sub(1)),
            KeyCode::Char(digit @ '1'..='9') => self.open_tab(digit as usize - '1' as usize),
            KeyCode::Char('0') => self.open_tab(9),
            KeyCode::Char('?') | KeyCode::F(1) => self.mode = Mode::Help,
            KeyCode::Char(key) => return self.command(key),
            _ => {}
        }
        Effect::Nothing
    }

    fn next_tab(&mut self, by: usize) {
        let count = self.tabs.len().max(1);
        self.open_tab((self.tab().unwrap_or_default() + by) % count);
    }

    /// Handles letters that act on the place or the selected row.
    fn command(&mut self, key: char) -> Effect {
        let prompt = |prompt| Mode::Prompt(prompt, String::new());
        match key {
            '/' => self.mode = prompt(Prompt::Search),
            'n' | 'N' => self.search_again(key == 'n'),
            't' => self.mode = prompt(Prompt::Type),
            'g' => self.mode = prompt(Prompt::Object),
            ':' => {
                let place = &self.here.place;
                let sql = place.argument.clone().filter(|_| place.view == View::Query);
                self.mode = Mode::Prompt(Prompt::Sql, sql.unwrap_or_default());
            }
            's' => self.sort(),
            'p' => self.about(View::Path),
            'T' => self.about(View::Tree),
            'o' => self.about(View::Object),
            'e' => self.mode = Mode::Export,
            'y' => return self.copy(self.object()),
            'Y' => return self.copy(None),
            _ => {}
        }
        Effect::Nothing
    }

    fn search_again(&mut self, is_forward: bool) {
        let text = self.searched.clone();
        if !text.is_empty() && !self.search(&text, is_forward, false) {
            self.message = Some(format!("no row contains {text}"));
        }
    }

    fn sort(&mut self) {
        let place = &self.here.place;
        let sorts = place.view.spec().sorts;
        match sorts.get((place.sort + 1) % sorts.len().max(1)) {
            Some((name, _)) => {
                let sort = (place.sort + 1) % sorts.len();
                self.message = Some(format!("sorted by {name}"));
                self.here.selected = 0;
                self.replace(Place { sort, ..self.here.place.clone() });
            }
            None => self.message = Some("this view has one order".to_owned()),
        }
    }

    /// Goes to a view of the selected object.
    fn about(&mut self, view: View) {
        match self.object() {
            Some(object) => {
                let title = match view {
                    View::Path => format!("path to {object}"),
                    _ => object.clone(),
                };
                self.go(Place::of(view, &object, &title));
            }
            None => self.message = Some("no object is selected".to_owned()),
        }
    }

    /// Copies the id of an object, or else the command line of the place.
    fn copy(&mut self, object: Option<String>) -> Effect {
        let text = object.unwrap_or_else(|| self.here.place.command(&self.files));
        self.message = Some(format!("copied: {text}"));
        Effect::Copy(text)
    }

    fn export(&mut self, key: KeyCode) -> Effect {
        let place = &self.here.place;
        let (format, extension) = match key {
            KeyCode::Char('c') => ("csv", "csv"),
            KeyCode::Char('j') => ("json", "json"),
            KeyCode::Char('m') => ("markdown", "md"),
            KeyCode::Char('s') => match place.picture(&self.files) {
                Some(words) => return Effect::Export(words, "svg"),
                None => {
                    self.message = Some("SVG is for whole trees and flame graphs".to_owned());
                    return Effect::Nothing;
                }
            },
            _ => return Effect::Nothing,
        };
        Effect::Export(place.asked(&self.files, format), extension)
    }

    /// Handles a key while a line is being typed.
    fn edit(&mut self, prompt: Prompt, mut line: String, key: &KeyEvent) -> Effect {
        match key.code {
            KeyCode::Esc => return Effect::Nothing,
            KeyCode::Enter => {
                self.answer(prompt, line.trim());
                return Effect::Nothing;
            }
            KeyCode::Backspace if line.is_empty() => return Effect::Nothing,
            KeyCode::Backspace => drop(line.pop()),
            KeyCode::Tab => {
                if let Some(name) = self.suggestions(&line, 1).into_iter().next() {
                    line = name;
                }
            }
            KeyCode::Char('u') if key.modifiers.contains(KeyModifiers::CONTROL) => line.clear(),
            KeyCode::Char(c) if !c.is_control() => line.push(c),
            _ => {}
        }
        if prompt == Prompt::Search && !line.is_empty() {
            self.search(&line, true, true);
        }
        self.mode = Mode::Prompt(prompt, line);
        Effect::Nothing
    }

    /// Applies the line that was typed at a prompt.
    fn answer(&mut self, prompt: Prompt, line: &str) {
        match prompt {
            Prompt::Search if !line.is_empty() => {
                self.searched = line.to_owned();
                if !self.search(line, true, true) {
                    self.go(Place::objects_of(&format!("*{line}*")));
                }
            }
            Prompt::Type if self.here.place.view.spec().filters => {
                let type_glob = (!line.is_empty()).then(|| line.to_owned());
                self.here.selected = 0;
                self.replace(Place { type_glob, ..self.here.place.clone() });
            }
            Prompt::Type => self.message = Some("this view has no types to choose from".to_owned()),
            Prompt::Object if !line.is_empty() => self.go(Place::of(View::Object, line, line)),
            Prompt::Sql if !line.is_empty() => self.go(Place::of(View::Query, line, line)),
            _ => {}
        }
    }

    fn mouse(&mut self, mouse: &MouseEvent) -> Effect {
        if self.mode != Mode::Browse {
            return Effect::Nothing;
        }
        match mouse.kind {
            MouseEventKind::ScrollDown => self.shift(3),
            MouseEventKind::ScrollUp => self.shift(-3),
            MouseEventKind::Down(MouseButton::Left) => self.click(mouse.column, mouse.row),
            MouseEventKind::Down(MouseButton::Right) => self.step(true),
            _ => {}
        }
        Effect::Nothing
    }

    /// Handles a click: selects a row, or opens the row that is already selected.
    fn click(&mut self, x: u16, y: u16) {
        if y == 1 {
            let tab = self.hits.tabs.iter().find(|(range, _)| range.contains(&x));
            if let Some((_, index)) = tab {
                self.open_tab(*index);
            }
            return;
        }
        if self.here.place.view == View::Flame {
            return flame::click(self, x, y);
        }
        let (first, lines) = self.hits.rows;
        if (first..first.saturating_add(lines)).contains(&y) {
            let index = self.here.scroll + usize::from(y - first);
            let count = self.sheet.as_ref().map_or(0, |sheet| sheet.rows.len());
            match index == self.here.selected {
                _ if index >= count => {}
                true => self.enter(),
                false => self.select(index),
            }
        }
    }
}
