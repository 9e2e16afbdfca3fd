//! `explore`: the documents of the other commands in a terminal, with the dump resident.
//!
//! A [place](place) is a command line; its document becomes a [sheet](sheet) of rows; entering a row
//! leads to another place. Nothing here computes an answer: [`Dumps::answer`] does.

mod app;
mod calls;
mod change;
mod doc;
mod draw;
mod flame;
mod heap;
mod keys;
mod object;
mod place;
mod query;
mod screen;
mod sheet;
#[cfg(test)]
mod tests;
mod theme;
mod tree;
mod views;
mod worker;

use super::args::{ExploreArgs, OutputFormat};
use super::dumps::{Dumps, Given};
use super::progress;
use super::session::Session;
use super::size::size;
use super::status::{OutputError, Status, UsageError};
use super::terminal::show_path;
use crate::input::Kind;
use app::App;
use keys::Effect;
use place::Files;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use theme::Theme;
use worker::{Ahead, Reply, Worker};

/// The time between two checks for replies.
const TICK: Duration = Duration::from_millis(20);

pub(super) fn run(args: &ExploreArgs, session: &Session) -> anyhow::Result<Status> {
    session.only(&[OutputFormat::Table], "explore shows a screen; `e` exports what it shows")?;
    if args.profile.words().iter().any(|word| word.starts_with("--focus=")) {
        return Err(UsageError::new("--focus has no effect in explore")
            .hint("`dumptool tree --focus NAME` shows who calls a function, and what it calls")
            .into());
    }
    let file = args.new.as_ref().unwrap_or(&args.file);
    if !io::stdout().is_terminal() || !io::stdin().is_terminal() || is_dumb() {
        let hint = format!("`dumptool top {}` prints what holds the memory", show_path(file));
        return Err(UsageError::new("explore needs a terminal").hint(hint).into());
    }
    let paths: Vec<PathBuf> = [&args.file].into_iter().chain(&args.new).cloned().collect();
    let given = Given {
        snapshot: args.heap.snapshot,
        roots: args.heap.roots.clone(),
        common: session.common.clone(),
        source_maps: session.given_source_maps()?,
        known: args.known.clone(),
    };
    let read: Vec<PathBuf> = paths.iter().chain(&args.heap.roots.exe).cloned().collect();
    let resident = Dumps::new(given, move |path| read.iter().any(|known| known == path), u64::MAX);
    let app = open(args, &paths, &resident, session)?;
    let theme = Theme { color: session.terminal.color };
    let failed = |error| OutputError::new(Path::new("terminal"), error);
    let ahead =
        Ahead { files: app.files.clone(), tabs: app.tabs.clone(), is_heap: app.kind == Kind::Heap };
    let worker = Worker::start(resident, app.quick(), ahead);
    interact(app, worker, theme).map_err(failed)?;
    Ok(Status::Done)
}

/// Whether the terminal cannot move its cursor.
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Opens the files, so that unreadable ones are refused before the screen changes.
fn open(
    args: &ExploreArgs,
    paths: &[PathBuf],
    resident: &Arc<Dumps>,
    session: &Session,
) -> anyhow::Result<App> {
    let mut kept = Session::new(session.common.clone());
    kept.resident = Some(Arc::clone(resident));
    let inputs = paths.iter().map(|path| kept.open(path)).collect::<anyhow::Result<Vec<_>>>()?;
    let Some(input) = inputs.last() else { return Err(UsageError::new("no file").into()) };
    let text = |path: &PathBuf| path.to_string_lossy().into_owned();
    let files = Files {
        file: text(&args.file),
        new: args.new.as_ref().map(text),
        loading: args.heap.words(),
        snapshot: None,
        profile: args.profile.words(),
    };
    let names: Vec<String> = paths.iter().map(|path| show_path(path)).collect();
    let title = format!(
        "{} · {} · {}",
        names.join(" → "),
        input.format.title(),
        size(input.bytes().len() as u64, false)
    );
    Ok(App::new(files, input.kind, input.format, title))
}

/// Draws the screen and handles events and replies until the user quits.
fn interact(mut app: App, mut worker: Worker, theme: Theme) -> io::Result<()> {
    let _screen = screen::Screen::enter()?;
    let mut terminal = ratatui::Terminal::new(CrosstermBackend::new(io::stdout()))?;
    let mut shown_phase = None;
    let mut is_new = true;
    loop {
        if let Some(words) = app.wanted() {
            worker.ask(words);
        }
        let phase = progress::current();
        if is_new || phase != shown_phase {
            terminal.draw(|frame| draw::draw(&mut app, phase.as_deref(), theme, frame))?;
            shown_phase = phase;
            is_new = false;
        }
        while let Some(reply) = worker.reply() {
            is_new = true;
            match reply {
                Reply::Document(words, answer) => app.arrived(words, &answer),
                Reply::Saved(message) => app.message = Some(message),
            }
        }
        if is_new || !event::poll(TICK)? {
            continue;
        }
        is_new = true;
        match app.take(&event::read()?) {
            Effect::Nothing => {}
            Effect::Quit => return Ok(()),
            Effect::Copy(text) => screen::copy(&text)?,
            Effect::Export(words, extension) => worker.save(words, app.files.newest(), extension),
        }
    }
}
