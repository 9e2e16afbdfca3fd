//! The drawing: boxes as an SVG file, with the script that zooms and searches.

use super::VISIBLE;
use super::boxes::{Boxes, Placed};
use super::captions::Caption;
use crate::model::profile::Unit;
use crate::output::quantity;
use crate::output::syntax::Xml;
use std::fmt::Write as _;
use std::io::{self, Write};

pub(super) struct Words {
    pub(super) title: String,
    /// The value, in words: `retained size`, `time`.
    pub(super) value: String,
    pub(super) unit: Unit,
    /// The picture shows the difference from an older profile.
    pub(super) compares: bool,
    /// Whether the innermost functions come first, followed by their callers.
    pub(super) inverted: bool,
}

/// Width of the picture without a script, and the heights of a box and of the space above all
/// boxes, in pixels.
const WIDTH: f64 = 1200.0;
const ROW: u32 = 17;
const HEADER: u32 = 58;
const FOOTER: u32 = 28;
const MARGIN: f64 = 10.0;

/// The width of a character in pixels: characters are 12 pixels high and 0.6 of that wide in nearly
/// all monospace fonts.
const CHARACTER: f64 = 7.2;

/// With more rows of boxes than this, they hang from the top, so that the base is visible at once.
const UPRIGHT: u32 = 40;

/// Draws all boxes. A picture without boxes contains a note.
pub(super) fn draw(boxes: &Boxes, words: &Words, out: &mut impl Write) -> io::Result<()> {
    let placed = boxes.placed(1.0 / VISIBLE as f64);
    let rows = placed.iter().map(|placed| placed.depth + 1).max().unwrap_or(1);
    let height = HEADER + rows * ROW + FOOTER;
    write!(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"{WIDTH}\" \
         height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-labelledby=\"title subtitle\">\n<style>{}</style>\n\
         <rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n<text id=\"title\" x=\"50%\" y=\"24\">{}</text>\n\
         <text id=\"subtitle\" x=\"50%\" y=\"43\">{}</text>\n<text id=\"reset\" x=\"{MARGIN}\" y=\"24\" class=\"hidden\">Show all</text>\n\
         <text id=\"search\" x=\"{}\" y=\"24\" class=\"hidden\">Search</text>\n",
        include_str!("flame.css"),
        Xml(&words.title),
        Xml(&subtitle(&placed, words)),
        WIDTH - MARGIN,
    )?;
    writeln!(
        out,
        "<svg id=\"boxes\" x=\"{MARGIN}\" y=\"{HEADER}\" width=\"{}\" height=\"{}\">",
        WIDTH - 2.0 * MARGIN,
        rows * ROW
    )?;
    let hanging = words.inverted || rows > UPRIGHT;
    let mut picture = Picture {
        boxes,
        words,
        base: placed.first().map_or([0, 0], |base| base.total),
        line: String::new(),
    };
    for placed in &placed {
        let row = if hanging { placed.depth } else { rows - 1 - placed.depth };
        picture.draw(placed, row * ROW);
        out.write_all(picture.line.as_bytes())?;
    }
    write!(
        out,
        "</svg>\n<text id=\"status\" x=\"{MARGIN}\" y=\"{}\"></text>\n<text id=\"matched\" x=\"{}\" y=\"{0}\"></text>\n\
         <script><![CDATA[{}]]></script>\n</svg>\n",
        height - 10,
        WIDTH - MARGIN,
        include_str!("flame.js"),
    )
}

/// `retained size, 4.1 MiB`, and an explanation of the picture.
fn subtitle(placed: &[Placed], words: &Words) -> String {
    let Some(base) = placed.first() else { return "There is nothing to draw.".to_owned() };
    let [now, before] = base.total.map(|total| amount(&words.unit, total));
    let mut subtitle = format!("{}, {now}", words.value);
    if words.inverted {
        subtitle.push_str(", innermost functions first, each followed by its callers");
    }
    if words.compares {
        let _ = write!(
            subtitle,
            " (was {before}). Red has grown, blue has shrunk; a box is as wide as the larger of its two values"
        );
    }
    subtitle
}

struct Picture<'a> {
    boxes: &'a Boxes,
    words: &'a Words,
    base: [u64; 2],
    /// The markup of the box drawn last.
    line: String,
}

impl Picture<'_> {
    fn draw(&mut self, placed: &Placed, y: u32) {
        let Placed { caption, x, width, total, .. } = *placed;
        let caption = caption.map(|caption| self.boxes.caption(caption));
        let name = caption.map_or("all", |caption| caption.text.as_str());
        let fill = match caption {
            _ if self.words.compares => difference(total),
            None => "#d4d4d4".to_owned(),
            Some(Caption { hue: None, .. }) => "#e6e6e6".to_owned(),
            Some(Caption { hue: Some(hue), text }) => format!(
                "hsl({hue} 75% {}%)",
                62 + text.bytes().fold(0, |sum: u32, byte| sum + u32::from(byte)) % 14
            ),
        };
        let (x, width) = (x * 100.0, width * 100.0);
        self.line.clear();
        // Writing to a string cannot fail.
        let _ = write!(
            self.line,
            "<g data-total=\"{}\"><title>{}\n{}</title><rect x=\"{x:.4}%\" y=\"{y}\" width=\"{width:.4}%\" height=\"{}\" fill=\"{fill}\"/>",
            total[0],
            Xml(name),
            self.numbers(total),
            ROW - 1,
        );
        if let Some(shown) = fitting(name, width / 100.0 * (WIDTH - 2.0 * MARGIN)) {
            let _ = write!(
                self.line,
                "<text x=\"{x:.4}%\" dx=\"3\" y=\"{}\">{}</text>",
                y + 12,
                Xml(&shown)
            );
        }
        self.line.push_str("</g>\n");
    }

    /// `16.1 KiB (0.4 %)`, or with the growth `16.1 KiB (0.4 %), was 12.0 KiB (+4.1 KiB)`.
    fn numbers(&self, [now, before]: [u64; 2]) -> String {
        let unit = &self.words.unit;
        let share = if self.base[0] == 0 { 0.0 } else { now as f64 / self.base[0] as f64 };
        let mut numbers = format!("{} ({})", amount(unit, now), quantity::percent(share));
        if self.words.compares {
            let sign = if now < before { '-' } else { '+' };
            let _ = write!(
                numbers,
                ", was {} ({sign}{})",
                amount(unit, before),
                amount(unit, now.abs_diff(before))
            );
        }
        numbers
    }
}

/// White where nothing changed, red or blue where all did.
fn difference([now, before]: [u64; 2]) -> String {
    let share = now.abs_diff(before) as f64 / now.max(before).max(1) as f64;
    let hue = if now < before { 215 } else { 5 };
    format!("hsl({hue} 85% {:.0}%)", 94.0 - 34.0 * share)
}

/// Returns the part of a name that fits into this many pixels.
fn fitting(name: &str, pixels: f64) -> Option<String> {
    let room = ((pixels - 6.0) / CHARACTER).max(0.0) as usize;
    match name.chars().count() {
        all if all <= room => Some(name.to_owned()),
        _ if room < 3 => None,
        _ => Some(name.chars().take(room - 1).chain(['…']).collect()),
    }
}

fn amount(unit: &Unit, value: u64) -> String {
    quantity::quantity(i64::try_from(value).unwrap_or(i64::MAX), unit, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_to_their_boxes() {
        assert_eq!(fitting("main", 40.0), Some("main".to_owned()));
        assert_eq!(fitting("java.util.HashMap", 60.0), Some("java.u…".to_owned()));
        assert_eq!(fitting("main", 20.0), None);
        assert_eq!(fitting("äöüßäöü", 44.0), Some("äöüß…".to_owned()));
    }

    #[test]
    fn colours_of_a_difference_are_stronger_where_more_changed() {
        assert_eq!(
            [[5, 5], [10, 5], [5, 0], [0, 5]].map(difference),
            ["hsl(5 85% 94%)", "hsl(5 85% 77%)", "hsl(5 85% 60%)", "hsl(215 85% 60%)"]
        );
    }
}
