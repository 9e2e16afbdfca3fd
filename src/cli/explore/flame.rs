//! The flame graph: boxes as wide as what they cost, callees below their callers.

use super::app::App;
use super::theme::{Theme, cut};
use super::tree::{Node, children};
use crate::cli::terminal::shown;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

/// The start of each box, in the unit of the totals.
fn starts(nodes: &[Node]) -> Vec<u64> {
    let mut starts = vec![0_u64; nodes.len()];
    // For each box, the start of the next box below it.
    let mut next = vec![0_u64; nodes.len()];
    for (index, node) in nodes.iter().enumerate() {
        if let Some(parent) = node.parent {
            starts[index] = next[parent];
            next[parent] = next[parent].saturating_add(node.total);
        }
        next[index] = starts[index];
    }
    starts
}

/// The columns of a box when `zoom` fills the screen. `None` if it is outside or too small.
fn columns(
    nodes: &[Node],
    starts: &[u64],
    zoom: usize,
    index: usize,
    width: u16,
) -> Option<(u16, u16)> {
    let (whole, from) = (nodes.get(zoom)?.total.max(1), starts.get(zoom)?);
    let scale = |value: u64| {
        let part = value as f64 / whole as f64 * f64::from(width);
        (part.round() as u16).min(width)
    };
    let start = starts.get(index)?.checked_sub(*from)?;
    let (left, right) = (scale(start), scale(start.saturating_add(nodes.get(index)?.total)));
    (right > left).then_some((left, right))
}

/// The boxes that are visible: their indices, lines and columns.
fn visible(app: &App, width: u16) -> Vec<(usize, usize, (u16, u16))> {
    let Some(sheet) = &app.sheet else { return Vec::new() };
    let nodes = &sheet.boxes;
    let (starts, zoom) = (starts(nodes), app.here.zoom.min(nodes.len().saturating_sub(1)));
    let Some(top) = nodes.get(zoom) else { return Vec::new() };
    let below =
        nodes.iter().enumerate().skip(zoom + 1).take_while(|(_, node)| node.depth > top.depth);
    let all = [(zoom, top)].into_iter().chain(below);
    let place = |(index, node): (usize, &Node)| {
        let columns = columns(nodes, &starts, zoom, index, width)?;
        Some((index, node.depth - top.depth, columns))
    };
    all.filter_map(place).collect()
}

pub(super) fn draw(app: &mut App, area: Rect, buffer: &mut Buffer, theme: Theme) {
    let lines = usize::from(area.height);
    let boxes = visible(app, area.width);
    let selected = app.here.selected;
    let line = boxes.iter().find(|(index, ..)| *index == selected).map_or(0, |(_, line, _)| *line);
    app.here.scroll = app.here.scroll.min(line).max((line + 1).saturating_sub(lines));
    app.hits.rows = (area.y, area.height);
    let Some(sheet) = &app.sheet else { return };
    for (index, line, (left, right)) in boxes {
        let Some(y) = line.checked_sub(app.here.scroll).filter(|y| *y < lines) else { continue };
        let Some(node) = sheet.boxes.get(index) else { continue };
        let width = usize::from(right - left);
        let text = match width {
            // Too narrow for a readable name.
            0..4 => String::new(),
            _ => cut(&shown(&node.title()), width - 1),
        };
        let style = if index == selected { theme.selected() } else { color(node, theme) };
        let (x, y) = (area.x + left, area.y + y as u16);
        // The last column of a box stays blank as a separator, unless the box has only one column.
        let filled = width.saturating_sub(1).max(1);
        buffer.set_stringn(x, y, " ".repeat(filled), filled, style);
        buffer.set_stringn(x, y, text, filled, style);
    }
}

/// The color of a box, which depends on its name.
fn color(node: &Node, theme: Theme) -> Style {
    if !theme.color {
        return Style::new().add_modifier(Modifier::REVERSED | Modifier::DIM);
    }
    let colors = if node.kind.is_empty() {
        [Color::Yellow, Color::LightYellow, Color::LightRed, Color::LightMagenta]
    } else {
        [Color::Cyan, Color::LightCyan, Color::Green, Color::LightGreen]
    };
    let sum = node.name.bytes().fold(7_usize, |sum, byte| sum.wrapping_mul(31) + usize::from(byte));
    Style::new().fg(Color::Black).bg(colors[sum % colors.len()])
}

/// Moves between boxes. Returns `false` for keys that the flame graph does not use.
pub(super) fn key(app: &mut App, key: KeyCode) -> bool {
    let Some(sheet) = &app.sheet else { return false };
    let (nodes, at) = (&sheet.boxes, app.here.selected);
    let Some(node) = nodes.get(at) else { return false };
    let parent = node.parent;
    let to = match key {
        KeyCode::Down | KeyCode::Char('j') => children(nodes, at).map(|(index, _)| index).next(),
        KeyCode::Up | KeyCode::Char('k') => parent.filter(|_| at != app.here.zoom),
        KeyCode::Left | KeyCode::Char('h') => beside(nodes, at, false),
        KeyCode::Right | KeyCode::Char('l') => beside(nodes, at, true),
        KeyCode::Enter => {
            app.here.zoom = at;
            return true;
        }
        KeyCode::Backspace => {
            app.here.zoom = nodes.get(app.here.zoom).and_then(|node| node.parent).unwrap_or(0);
            Some(app.here.zoom)
        }
        KeyCode::Char('o') => {
            app.enter();
            return true;
        }
        _ => return false,
    };
    if let Some(to) = to {
        app.here.selected = to;
    }
    true
}

/// The box before or after one, below the same parent.
fn beside(nodes: &[Node], at: usize, is_after: bool) -> Option<usize> {
    let parent = nodes.get(at)?.parent?;
    let mut siblings = children(nodes, parent).map(|(index, _)| index);
    if is_after {
        siblings.find(|index| *index > at)
    } else {
        siblings.take_while(|index| *index < at).last()
    }
}

/// Selects the box under the mouse; zooms into the selected one.
pub(super) fn click(app: &mut App, x: u16, y: u16) {
    let (first, _) = app.hits.rows;
    let Some(line) = y.checked_sub(first) else { return };
    let line = usize::from(line) + app.here.scroll;
    let boxes = visible(app, app.hits.width);
    let hit =
        boxes.iter().find(|(_, at, (left, right))| *at == line && (*left..*right).contains(&x));
    if let Some((index, ..)) = hit {
        if app.here.selected == *index {
            app.here.zoom = *index;
        }
        app.here.selected = *index;
    }
}
