//! A profile as a person sees it.

use super::view::View;
use crate::cli::session::Session;
use crate::cli::size::{count, duration, interval, percent, plural, quantity, signed_size, size};
use crate::cli::terminal::shown;
use crate::input::Format;
use crate::input::info::{
    CountsByName, Info, JfrDetails, JvmSetting, MetricInfo, ProfileDetails, ProfileInfo,
};
use crate::model::profile::Unit;

pub(super) fn show(info: &Info, profile: &ProfileInfo, view: &mut View, session: &Session) {
    let value = |key: &str| {
        info.metadata.iter().find(|datum| datum.key == key).map(|datum| datum.value.as_str())
    };
    for (key, name) in [("austin", "austin"), ("sampler", "sampler"), ("python", "Python")] {
        view.headline.extend(value(key).map(|value| format!("{name} {value}")));
    }
    let measured = match profile.mode.as_deref() {
        Some("wall") => "wall time",
        Some("cpu") => "CPU time",
        Some("memory") => "memory",
        Some("full") => "wall time, CPU time and memory",
        _ => "samples",
    };
    let every =
        profile.interval_us.map(|every| format!(" every {}", interval(every))).unwrap_or_default();
    view.headline.push(format!("{measured}{every}"));
    show_samples(info.format, profile, view, session);
    show_sums(profile, view, session);
    let frames = format!("{} of names", plural(profile.strings, "string", "strings"));
    view.fact("frames", count(profile.frames), frames);
    if profile.empty_samples + profile.invalid_samples > 0 {
        let saturation =
            value("saturation").map(|value| format!(", saturation {value}")).unwrap_or_default();
        let invalid = count(profile.invalid_samples);
        let details = format!("samples without frames, {invalid} invalid{saturation}");
        view.fact("empty", count(profile.empty_samples), details);
    }
    if let Some(ProfileDetails::Jfr(details)) = &profile.details {
        show_recording(details, view, session);
    }
    if let Some(hottest) = &profile.hottest {
        let file = hottest.namespace.as_ref().map(|file| format!(" ({file})")).unwrap_or_default();
        view.fact("hottest", percent(hottest.share), format!("{}{file} by itself", hottest.name));
    }
}

/// The number of samples with their threads and processes, and sums of a format's own metrics.
fn show_samples(format: Format, profile: &ProfileInfo, view: &mut View, session: &Session) {
    let who = [(profile.threads, "thread", "threads"), (profile.processes, "process", "processes")];
    let who: Vec<_> = who
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, many)| plural(count, one, many))
        .collect();
    let recorded = profile.duration_us.map(|time| format!("{} recorded", duration(time)));
    let who = Some(who.join(" in ")).filter(|who| !who.is_empty());
    let is_samples = |metric: &MetricInfo| metric.name == "samples";
    let are_own = profile.metrics.len() > 1 || !profile.metrics.iter().all(is_samples);
    let has_own = profile.mode.as_deref() == Some("samples") && are_own;
    let has_samples = has_own && profile.metrics.iter().any(is_samples);
    let label = match format {
        Format::Cprofile => "calls",
        _ if has_samples => "records",
        _ => "samples",
    };
    view.fact(
        label,
        count(profile.samples),
        who.into_iter().chain(recorded).collect::<Vec<_>>().join(", "),
    );
    for metric in profile.metrics.iter().filter(|_| has_own) {
        let total = quantity(metric.total, &Unit::named(&metric.unit), session.common.bytes);
        let which = if metric.default { "default metric" } else { "" };
        view.fact(&shown(&metric.name), shown(&total), which.to_owned());
    }
}

/// Times and memory.
fn show_sums(profile: &ProfileInfo, view: &mut View, session: &Session) {
    let has_own = profile.mode.as_deref() == Some("samples");
    if profile.time_us > 0 && !has_own {
        let busy = profile
            .cpu_time_us
            .map(|time| format!(", {} of it on a CPU", duration(time)))
            .unwrap_or_default();
        view.fact("time", duration(profile.time_us), format!("over all threads{busy}"));
    }
    if let Some(memory) = profile.memory_bytes {
        view.fact("memory", signed_size(memory, session.common.bytes), "net change");
    }
    if profile.gc_samples > 0 {
        let samples = format!("in {}", plural(profile.gc_samples, "sample", "samples"));
        view.fact("gc", duration(profile.gc_time_us), samples);
    }
}

/// Maximum number of event types that the summary of a recording names.
const NAMED: usize = 5;

fn show_recording(details: &JfrDetails, view: &mut View, session: &Session) {
    view.headline.extend(details.jvm.clone());
    let CountsByName(events) = &details.events;
    let named = if session.common.verbose { events.len() } else { NAMED };
    let mut names: Vec<_> =
        events.iter().take(named).map(|(name, n)| format!("{name} {}", count(*n))).collect();
    if events.len() > named {
        names.push(format!("… of {} types (-v for all)", count(events.len() as u64)));
    }
    view.fact("events", count(events.iter().map(|(_, n)| n).sum()), names.join(", "));
    if details.flags + details.system_properties > 0 {
        let properties = plural(details.system_properties, "system property", "system properties");
        let all = if session.common.verbose { "" } else { " (-v for all)" };
        let remark = format!("of the JVM without their default value, {properties}{all}");
        view.fact("flags", count(details.flags), remark);
    }
    if session.common.verbose {
        view.notes.extend(details.settings.iter().map(|setting| {
            let JvmSetting { kind, name, value, origin } = setting;
            let origin = origin.as_ref().map(|by| format!(" ({by})")).unwrap_or_default();
            shown(&format!("{kind} {name}={value}{origin}"))
        }));
    }
    if let (Some(least), Some(most)) = (details.least_heap_bytes, details.most_heap_bytes) {
        let (least, most) = (size(least, session.common.bytes), size(most, session.common.bytes));
        let used = "most in use before or after a collection";
        view.fact("heap", most, format!("{used}, at least {least}"));
    }
    for (number, label, what) in [
        (
            details.truncated_stacks,
            "truncated",
            "stacks that were cut at the recording's stackdepth",
        ),
        (details.lost_samples, "lost", "samples of CPU time that the recorder could not take"),
    ] {
        if number > 0 {
            view.fact(label, count(number), what);
        }
    }
}
