//! Draws the interface into a buffer.

use super::app::{App, Mode, Prompt};
use super::flame;
use super::keys::HELP;
use super::place::View;
use super::sheet::{Align, Cell, Column, Row, Sheet, Tone};
use super::theme::{Theme, cut};
use crate::cli::fit;
use crate::cli::terminal::{escaped, shown};
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use textwrap::core::display_width;

/// The smallest screen that has room for anything.
const LEAST: (u16, u16) = (20, 8);
/// Maximum number of lines for each text of a sheet's head.
const MOST_HEAD: usize = 3;
/// Number of lines below the table that describe the selected row.
const MOST_DETAIL: usize = 6;

/// Draws the screen. `phase` names the current work and its progress.
pub(super) fn draw(app: &mut App, phase: Option<&str>, theme: Theme, frame: &mut Frame<'_>) {
    let area = frame.area();
    if area.width < LEAST.0 || area.height < LEAST.1 {
        line(frame.buffer_mut(), area, 0, "too small", Style::new());
        return;
    }
    let buffer = frame.buffer_mut();
    header(app, phase, theme, area, buffer);
    tabs(app, area, buffer);
    let crumbs = breadcrumb(app, usize::from(area.width));
    line(buffer, area, 2, &crumbs, theme.style(Tone::Dim));
    let body = Rect { y: area.y + 3, height: area.height - 5, ..area };
    content(app, phase, theme, body, buffer);
    let command = format!("$ {}", app.here.place.command(&app.files));
    let command = escaped(&command);
    line(buffer, area, area.height - 2, &cut(&command, area.width.into()), theme.style(Tone::Link));
    bottom(app, theme, area, buffer);
    if app.mode == Mode::Help {
        help(Rect { y: area.y + 1, height: area.height - 1, ..area }, theme, buffer);
    }
}

/// Writes a line over the whole width.
fn line(buffer: &mut Buffer, area: Rect, y: u16, text: &str, style: Style) {
    let width = usize::from(area.width);
    buffer.set_stringn(area.x, area.y + y, " ".repeat(width), width, style);
    buffer.set_stringn(area.x, area.y + y, text, width, style);
}

fn header(app: &App, phase: Option<&str>, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let width = usize::from(area.width);
    let right = match (phase, app.is_complete()) {
        (Some(phase), false) => format!(" {phase} "),
        (None, false) => " … ".to_owned(),
        _ => " ? help ".to_owned(),
    };
    let room = width.saturating_sub(display_width(&right));
    line(buffer, area, 0, &cut(&app.title, room), theme.style(Tone::Strong));
    let at = area.x + room as u16;
    buffer.set_stringn(at, area.y, &right, width, theme.style(Tone::Warn));
}

fn tabs(app: &mut App, area: Rect, buffer: &mut Buffer) {
    let current = app.tab();
    let names: Vec<String> = app
        .tabs
        .iter()
        .enumerate()
        .map(|(index, view)| format!(" {} {} ", (index + 1) % 10, view.spec().name))
        .collect();
    let widths: Vec<u16> = names.iter().map(|name| name.len() as u16).collect();
    // The first tab that is shown, so that the current one fits.
    let until = current.unwrap_or(0);
    let mut first = 0;
    while first < until && widths[first..=until].iter().sum::<u16>() > area.width {
        first += 1;
    }
    app.hits.tabs.clear();
    let mut x = area.x;
    for (index, name) in names.iter().enumerate().skip(first) {
        let room = (area.x + area.width).saturating_sub(x);
        let style = if Some(index) == current {
            Style::new().add_modifier(Modifier::REVERSED)
        } else {
            Style::new()
        };
        buffer.set_stringn(x, area.y + 1, name, room.into(), style);
        app.hits.tabs.push((x..x.saturating_add(widths[index]), index));
        x = x.saturating_add(widths[index]).min(area.x + area.width);
    }
    // Marks the sides on which there are more tabs.
    let shown: u16 = widths.iter().skip(first).fold(0, |sum, width| sum.saturating_add(*width));
    for (x, mark, has_more) in
        [(area.x, "‹", first > 0), (area.x + area.width - 1, "›", shown > area.width + 1)]
    {
        if has_more {
            buffer.set_stringn(x, area.y + 1, mark, 1, Style::new());
        }
    }
}

/// The path to this place. If it is too long, its beginning is left out.
fn breadcrumb(app: &App, width: usize) -> String {
    let mut crumbs: Vec<String> = app.here.crumbs.iter().map(|crumb| cut(crumb, 40)).collect();
    let place = &app.here.place;
    if let Some(glob) = place.type_glob.as_ref().filter(|_| place.view != View::Objects) {
        crumbs.push(format!("type {}", shown(glob)));
    }
    if let Some((name, _)) = place.view.spec().sorts.get(place.sort).filter(|_| place.sort > 0) {
        crumbs.push(format!("by {name}"));
    }
    if let Some(snapshot) = app.files.snapshot {
        crumbs.insert(0, format!("snapshot {snapshot}"));
    }
    let mut text = crumbs.join(" › ");
    while display_width(&text) > width && crumbs.len() > 1 {
        crumbs.remove(0);
        text = format!("… › {}", crumbs.join(" › "));
    }
    cut(&escaped(&text), width)
}

/// Draws the lines of the place: its head, its table, and the detail of the selected row.
fn content(app: &mut App, phase: Option<&str>, theme: Theme, body: Rect, buffer: &mut Buffer) {
    let Some(sheet) = &app.sheet else {
        let text = format!("{} …", phase.unwrap_or("working"));
        line(buffer, body, 1, &text, theme.style(Tone::Dim));
        app.hits.rows = (body.y, 0);
        return;
    };
    let width = usize::from(body.width);
    let mut y = 0;
    let end = body.height;
    if !app.is_complete() && !sheet.rows.is_empty() {
        let text = "all objects counted; live and retained sizes follow";
        line(buffer, body, y, text, theme.style(Tone::Warn));
        y += 1;
    }
    let least_head = if sheet.rows.is_empty() { usize::from(end) } else { MOST_HEAD };
    for (tone, text) in &sheet.head {
        for text in fit::wrap(text, width).into_iter().take(least_head) {
            if y < end {
                line(buffer, body, y, &text, theme.style(*tone));
                y += 1;
            }
        }
    }
    // Lines left after the head, the rows, their titles and the line below them.
    let rows = app.sheet.as_ref().map_or(0, |sheet| sheet.rows.len());
    let free = usize::from(end.saturating_sub(y)).saturating_sub(rows + 2);
    let detail = detail(app, width, body.height, free);
    let bottom = detail.len() as u16 + 1;
    let rows = Rect { y: body.y + y, height: end.saturating_sub(y + bottom), ..body };
    let foot = sheet.foot.clone();
    let after = rows.y + rows.height - body.y;
    for (index, (tone, text)) in detail.iter().enumerate() {
        line(buffer, body, after + index as u16, text, theme.style(*tone));
    }
    if end > after {
        line(buffer, body, end - 1, &cut(&foot, width), theme.style(Tone::Dim));
    }
    app.hits.width = body.width;
    match app.here.place.view {
        View::Flame => flame::draw(app, rows, buffer, theme),
        _ => table(app, rows, theme, buffer),
    }
}

/// The detail lines of the selected row, as far as there is room.
fn detail(app: &App, width: usize, height: u16, free: usize) -> Vec<(Tone, String)> {
    let least = match height {
        0..13 => 0,
        13..22 => 2,
        _ => MOST_DETAIL,
    };
    let most = least.max(free.min(MOST_DETAIL * 2));
    let (Some(row), Some(sheet)) = (app.row().filter(|_| most > 0), &app.sheet) else {
        return Vec::new();
    };
    // The detail has as many lines as the longest one, so that the table does not move with the
    // selection. If rows fill the screen, wrapping the details of all would take too long.
    let reserved = match free > least {
        true => sheet.rows.iter().map(|row| wrapped(row, width).len()).max().unwrap_or(0),
        false if sheet.rows.iter().any(|row| !row.detail.is_empty()) => most,
        false => 0,
    };
    let mut lines = wrapped(row, width);
    lines.resize(reserved.min(most), (Tone::Plain, String::new()));
    lines
}

fn wrapped(row: &Row, width: usize) -> Vec<(Tone, String)> {
    let texts = row.detail.iter().filter(|(_, text)| !text.is_empty());
    texts
        .flat_map(|(tone, text)| fit::wrap(text, width).into_iter().map(|text| (*tone, text)))
        .collect()
}

fn table(app: &mut App, area: Rect, theme: Theme, buffer: &mut Buffer) {
    let Some(sheet) =
        app.sheet.as_ref().filter(|sheet| !sheet.columns.is_empty() && !sheet.rows.is_empty())
    else {
        app.hits.rows = (area.y, 0);
        return;
    };
    let widths = widths(sheet, area.width);
    let mut x = area.x;
    for (column, width) in sheet.columns.iter().zip(&widths).filter(|(_, width)| **width > 0) {
        let text = aligned(&column.title, *width, column.align);
        buffer.set_stringn(x, area.y, text, *width, theme.style(Tone::Dim));
        x = x.saturating_add(*width as u16 + 2).min(area.x + area.width);
    }
    let lines = usize::from(area.height.saturating_sub(1));
    let here = &mut app.here;
    here.scroll = here.scroll.min(here.selected).max((here.selected + 1).saturating_sub(lines));
    // Keeps a heading on the screen with the row below it.
    if here.scroll > 0
        && here.scroll == here.selected
        && sheet.rows[here.scroll - 1].is_heading
        && lines > 1
    {
        here.scroll -= 1;
    }
    app.hits.rows = (area.y + 1, lines as u16);
    let shown = sheet.rows.iter().enumerate().skip(here.scroll).take(lines);
    for (line, (index, row)) in shown.enumerate() {
        let area = Rect { y: area.y + 1 + line as u16, height: 1, ..area };
        draw_row(row, &sheet.columns, &widths, (index == here.selected, theme), area, buffer);
    }
}

fn draw_row(
    row: &Row,
    columns: &[Column],
    widths: &[usize],
    (is_selected, theme): (bool, Theme),
    area: Rect,
    buffer: &mut Buffer,
) {
    if row.is_heading || row.is_more {
        let text = row.cells.first().map_or("", |cell| &cell.text);
        let tone = row.cells.first().map_or(Tone::Plain, |cell| cell.tone);
        let style = if is_selected { theme.selected() } else { theme.style(tone) };
        line(buffer, area, 0, &cut(text, area.width.into()), style);
        return;
    }
    if is_selected {
        line(buffer, area, 0, "", theme.selected());
    }
    let mut x = area.x;
    for ((column, width), cell) in columns.iter().zip(widths).zip(&row.cells) {
        if *width == 0 {
            continue;
        }
        let text = match column.align {
            Align::Bar => bar(cell.bar, *width),
            align => aligned(&cell.text, *width, align),
        };
        let tone = if column.align == Align::Bar { Tone::Link } else { cell.tone };
        let style = if is_selected { theme.selected() } else { theme.style(tone) };
        let room = usize::from((area.x + area.width).saturating_sub(x));
        buffer.set_stringn(x, area.y, text, (*width).min(room), style);
        x = x.saturating_add(*width as u16 + 2).min(area.x + area.width);
    }
}

/// The width of each column, 0 for those that are left out.
fn widths(sheet: &Sheet, screen: u16) -> Vec<usize> {
    let room = usize::from(screen);
    let longest = |index: usize, title: &str| {
        let cells = sheet.rows.iter().filter(|row| !row.is_heading && !row.is_more);
        let width = |cell: &Cell| display_width(&cell.text);
        let cells = cells.filter_map(|row| row.cells.get(index)).map(width).max().unwrap_or(0);
        cells.max(display_width(title))
    };
    let mut widths: Vec<usize> = sheet
        .columns
        .iter()
        .enumerate()
        .map(|(index, column)| match column {
            column if column.from > screen => 0,
            Column { align: Align::Bar, .. } => {
                if screen < 120 {
                    10
                } else {
                    20
                }
            }
            Column { align: Align::Left, title, .. } => longest(index, title).min(room / 2).max(1),
            Column { title, .. } => longest(index, title).max(1),
        })
        .collect();
    // The last column gets the remaining width.
    if let Some(last) = widths.iter().rposition(|width| *width > 0) {
        let used: usize =
            widths[..last].iter().filter(|width| **width > 0).map(|width| width + 2).sum();
        let is_left = matches!(sheet.columns[last].align, Align::Left | Align::Sentence);
        let rest = room.saturating_sub(used);
        widths[last] = if is_left { rest } else { widths[last].min(rest) };
    }
    widths
}

fn aligned(text: &str, width: usize, align: Align) -> String {
    let text = if align == Align::Sentence { cut_end(text, width) } else { cut(text, width) };
    let blank = width.saturating_sub(display_width(&text));
    match align {
        Align::Right => " ".repeat(blank) + &text,
        _ => text,
    }
}

/// A bar in eighths of a column.
fn bar(share: f64, width: usize) -> String {
    let eighths = (share.clamp(0.0, 1.0) * width as f64 * 8.0).round() as usize;
    let rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
    "█".repeat(eighths / 8) + rest
}

/// The last line: a prompt, a message, or the keys.
fn bottom(app: &App, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let y = area.height - 1;
    let (text, tone) = match (&app.mode, &app.message) {
        (Mode::Prompt(prompt, text), _) => {
            suggestions(app, *prompt, text, theme, area, buffer);
            let label = match prompt {
                Prompt::Search => "search: ",
                Prompt::Type => "type (*Cache; empty: all): ",
                Prompt::Object => "object: ",
                Prompt::Sql => "SQL: ",
            };
            (format!("{label}{text}▏"), Tone::Strong)
        }
        (Mode::Export, _) => {
            ("export: c CSV  j JSON  m Markdown  s SVG  Esc".to_owned(), Tone::Strong)
        }
        (_, Some(message)) => (message.clone(), Tone::Warn),
        _ => (
            "⏎ open  ⌫ up  / search  s sort  t type  p path  T tree  e export  ? help  q quit"
                .to_owned(),
            Tone::Dim,
        ),
    };
    let width = usize::from(area.width);
    // For a line that is being typed, shows the end.
    let mut text = escaped(&text);
    while matches!(app.mode, Mode::Prompt(..)) && display_width(&text) > width {
        text.remove(0);
    }
    line(buffer, area, y, &cut_end(&text, width), theme.style(tone));
}

/// Cuts a text to `width` columns, between words, with `…` at its end.
fn cut_end(text: &str, width: usize) -> String {
    if display_width(text) <= width {
        return text.to_owned();
    }
    let begin = fit::wrap(text, width.saturating_sub(1)).into_iter().next().unwrap_or_default();
    begin + "…"
}

/// Draws matching names above the line that is being typed.
fn suggestions(
    app: &App,
    prompt: Prompt,
    text: &str,
    theme: Theme,
    area: Rect,
    buffer: &mut Buffer,
) {
    if text.is_empty() || !matches!(prompt, Prompt::Search | Prompt::Type) {
        return;
    }
    let names = app.suggestions(text.trim_matches('*'), 5);
    for (index, name) in names.iter().rev().enumerate() {
        let y = (area.height - 2).saturating_sub(index as u16);
        let tab = if index + 1 == names.len() { "Tab  " } else { "     " };
        let name = format!("{tab}{}", shown(name));
        line(buffer, area, y, &cut(&name, area.width.into()), theme.style(Tone::Good));
    }
}

fn help(body: Rect, theme: Theme, buffer: &mut Buffer) {
    for y in 0..body.height {
        line(buffer, body, y, "", Style::new());
    }
    for (y, (keys, what)) in (0..body.height).zip(HELP) {
        line(buffer, body, y, &format!("  {keys:16}{what}"), theme.style(Tone::Plain));
    }
}
