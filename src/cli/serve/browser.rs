//! Opens the browser that the user has.

use std::process::{Command, Stdio};

/// Opens an address. The address is on the terminal, too, so that nothing is said if there is no
/// browser.
pub(super) fn open(url: &str) {
    let mut command = match std::env::consts::OS {
        "macos" => Command::new("open"),
        "windows" => {
            let mut command = Command::new("rundll32");
            command.arg("url.dll,FileProtocolHandler");
            command
        }
        _ => Command::new("xdg-open"),
    };
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Ok(mut child) = command.spawn() {
        // Somebody has to wait for it, or it stays as a zombie.
        drop(std::thread::Builder::new().spawn(move || child.wait()));
    }
}
