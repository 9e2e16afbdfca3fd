//! A stack in one line.

use crate::analysis::profile::Place;
use crate::model::profile::{FrameId, Profile};

/// Callers that are shown before the function.
const CALLERS: usize = 4;

/// `P1;T0:1: … 12 more → main → run → slow (app.py:17)`: the function of a place and those that called it.
pub(in crate::cli) fn stack_text(profile: &Profile, place: &Place, whole: bool) -> String {
    let mut frames: Vec<FrameId> = profile.stacks.frames(place.until).take(CALLERS + 1).collect();
    frames.reverse();
    let more = place.depth as usize - frames.len();
    let names: Vec<&str> = frames.iter().map(|frame| profile.function_name(*frame)).collect();
    let before = if more > 0 { format!("… {more} more → ") } else { String::new() };
    let position = frames.last().map(|frame| profile.frame(*frame)).filter(|frame| !profile.names.text(frame.file).is_empty());
    let position = position.map(|frame| {
        let file = profile.names.text(frame.file);
        let file = if whole { file } else { file.rsplit('/').next().unwrap_or(file) };
        format!(" ({file}:{})", frame.line)
    });
    let thread = profile.thread(place.thread).label(&profile.names);
    format!("{thread}: {before}{}{}", names.join(" → "), position.unwrap_or_default())
}
