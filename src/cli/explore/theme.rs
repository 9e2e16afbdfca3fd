//! Colors and widths.

use super::sheet::Tone;
use crate::cli::fit;
use ratatui::style::{Color, Modifier, Style};
use textwrap::core::display_width;

/// The colors: those of the terminal's own palette, which fits its background.
#[derive(Clone, Copy, Debug)]
pub(super) struct Theme {
    pub(super) color: bool,
}

impl Theme {
    pub(super) fn style(self, tone: Tone) -> Style {
        let colored = |color: Color| if self.color { Style::new().fg(color) } else { Style::new() };
        match tone {
            Tone::Plain => Style::new(),
            Tone::Dim => Style::new().add_modifier(Modifier::DIM),
            Tone::Strong => Style::new().add_modifier(Modifier::BOLD),
            Tone::Good => colored(Color::Green),
            Tone::Bad => colored(Color::Red),
            Tone::Warn => colored(Color::Yellow),
            Tone::Link => colored(Color::Cyan),
        }
    }

    pub(super) fn selected(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }
}

/// Cuts a name to `width` columns.
pub(super) fn cut(text: &str, width: usize) -> String {
    if display_width(text) <= width { text.to_owned() } else { fit::cut(text, width) }
}
