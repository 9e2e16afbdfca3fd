//! Enters the alternate screen of the terminal and always restores it, even after a panic.

use crate::cli::interrupt;
use ratatui::crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{cursor, execute};
use std::io::{self, Write, stdout};
use std::sync::Once;
use std::thread;

/// The alternate screen in raw mode. Dropping it restores the terminal.
pub(super) struct Screen(());

impl Screen {
    /// Fails if the terminal does not accept raw mode or the control sequences.
    pub(super) fn enter() -> io::Result<Self> {
        // First, so that the signals restore the terminal as it was.
        interrupt::restore_terminal_when_stopped();
        restore_after_panic();
        enable_raw_mode()?;
        let screen = Self(());
        execute!(stdout(), EnterAlternateScreen, EnableMouseCapture, EnableBracketedPaste)?;
        Ok(screen)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        leave();
    }
}

fn leave() {
    // There is no way to report a failure.
    let _ = execute!(
        stdout(),
        DisableBracketedPaste,
        DisableMouseCapture,
        LeaveAlternateScreen,
        cursor::Show
    );
    let _ = disable_raw_mode();
    interrupt::terminal_is_restored();
}

/// Makes a panic of this thread leave the screen before its message is printed. Panics of other
/// threads are defects of single commands, whose answers report them.
fn restore_after_panic() {
    static ONCE: Once = Once::new();
    let interface = thread::current().id();
    ONCE.call_once(|| {
        let print = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if thread::current().id() == interface {
                leave();
                print(panic);
            }
        }));
    });
}

/// Asks the terminal to put a text on the clipboard (OSC 52).
pub(super) fn copy(text: &str) -> io::Result<()> {
    let mut out = stdout();
    write!(out, "\x1b]52;c;{}\x07", base64(text.as_bytes()))?;
    out.flush()
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = (0..3)
            .fold(0_u32, |bits, at| bits << 8 | u32::from(group.get(at).copied().unwrap_or(0)));
        for at in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * at) & 63) as usize];
            text.push(if at <= group.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn base64_is_padded() {
        let all = ["", "f", "fo", "foo", "foob"].map(|text| super::base64(text.as_bytes()));
        assert_eq!(all, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="]);
    }
}
