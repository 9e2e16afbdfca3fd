//! What holds for any profile: its sums are those of its samples, analyses add up to them, and
//! outputs read again do too.

use super::{in_proportion, stacks};
use dumptool::analysis::profile::{
    CallTree, Focus, FrameBy, Groups, PruneLimits, Selected, TopBy, changes, places, prune, top,
};
use dumptool::input::austin::{AustinLine, Lines};
use dumptool::input::load::{LoadedProfile, ProfileOptions};
use dumptool::input::mojo::samples::for_each_sample;
use dumptool::input::mojo::symbols::Lookup;
use dumptool::input::{self, Format, ReadOptions};
use dumptool::model::profile::{Metric, Mode, Profile, Unit, Values};
use dumptool::model::sample::{Sample, SampleSink};
use dumptool::model::stacks::{Selection, of_profile};
use dumptool::output::austin::{AustinWriter, Dialect, write_profile};
use dumptool::output::{hprof, mojo};

/// Loads a profile with and without its samples, and asks and writes everything.
pub(crate) fn all(format: Format, bytes: &[u8]) {
    let load = |keep_samples| {
        input::load_profile(format, bytes, ProfileOptions::default().keep_samples(keep_samples))
    };
    let (Ok(sums), Ok(LoadedProfile { profile, damage, .. })) = (load(false), load(true)) else {
        return;
    };
    assert_eq!(
        (&sums.profile.total, &sums.profile.aggregate),
        (&profile.total, &profile.aggregate)
    );
    // Only recordings have samples; Java's profiles are sums.
    let has_samples = profile.samples.is_some();
    if has_samples && is_too_deep(&profile) {
        return;
    }
    if has_samples {
        model(&profile);
    }
    if has_samples && damage.is_none() && matches!(format, Format::Mojo | Format::Austin) {
        stream(format, bytes, &profile);
    }
    analyses(&profile);
    for in_order in [false, true] {
        let selection = Selection { in_order, ..Selection::default() };
        stacks::all(&of_profile(profile.clone(), "profile", &selection), bytes);
    }
    as_hprof(&profile, bytes);
    if has_samples {
        again_as_mojo(&profile, bytes);
        again_as_text(&profile, bytes);
    }
}

/// A sample may repeat the stack of the one before in a byte, so that stacks grow as the square of
/// the file. Writers of whole stacks take as long, which nobody can help.
fn is_too_deep(profile: &Profile) -> bool {
    let mut depths = vec![0u64; profile.stacks.len()];
    for stack in profile.stacks.ids() {
        depths[stack.index()] = depths[profile.stacks.parent(stack).index()] + 1;
    }
    let samples = profile.samples.as_ref().expect("samples are kept").iter();
    samples.map(|sample| depths[sample.stack.index()]).sum::<u64>() > 1 << 20
}

/// Sums of samples, in any order, if none is larger than its column: those stay where they are,
/// which depends on the order.
fn is_exact(profile: &Profile) -> bool {
    let Some(samples) = &profile.samples else {
        let metrics = profile.metrics_to_choose();
        let all = |values: &Values| {
            metrics.iter().map(|metric| u128::from(values.get(metric).unsigned_abs())).sum::<u128>()
        };
        let sums =
            profile.aggregate.iter().map(|row| u128::from(row.values.samples()) + all(&row.values));
        return sums.sum::<u128>() < 1 << 62;
    };
    let (mut time, mut memory) = (0u128, 0u128);
    for sample in samples.iter() {
        time += u128::from(sample.time.unwrap_or(0).unsigned_abs());
        memory += u128::from(sample.memory.unwrap_or(0).unsigned_abs());
    }
    time.max(memory) < 1 << 62
}

fn model(profile: &Profile) {
    let samples = profile.samples.as_ref().expect("samples are kept");
    let mut total = Values::default();
    for sample in samples.iter() {
        assert!(
            sample.thread.index() < profile.threads.len()
                && sample.stack.index() < profile.stacks.len()
        );
        total.add(&Values::of_sample(&sample));
    }
    assert_eq!(total, profile.total);
    if is_exact(profile) {
        let mut total = Values::default();
        profile.aggregate.iter().for_each(|row| total.add(&row.values));
        assert_eq!(total, profile.total);
    }
}

/// The stream of samples, as `convert --to austin` takes it.
fn stream(format: Format, bytes: &[u8], profile: &Profile) {
    if format == Format::Austin {
        let lines = Lines::new(bytes).filter(|line| matches!(line, Ok((_, AustinLine::Sample(_)))));
        assert_eq!(lines.count() as u64, profile.total.samples());
        return;
    }
    let mut sink = Sums::default();
    let (streamed, stop) =
        for_each_sample(bytes, Lookup::Robust, ReadOptions::default(), &mut sink);
    assert!(stop.is_none(), "what loads streams");
    assert_eq!(streamed.samples, profile.total.samples());
    if is_exact(profile) {
        assert_eq!(sink.time, profile.total.time().into());
        assert_eq!(
            sink.memory,
            i128::from(profile.total.memory_gained()) - i128::from(profile.total.memory_freed())
        );
    }
    for dialect in [Dialect::Full, Dialect::Peer] {
        let mut writer = AustinWriter::new(Vec::new(), dialect);
        for_each_sample(bytes, Lookup::Robust, ReadOptions::default(), &mut writer);
        let (text, written) = writer.finish().expect("memory takes everything");
        assert!(std::str::from_utf8(&text).is_ok());
        assert_eq!(written.samples, profile.total.samples());
    }
}

#[derive(Default)]
struct Sums {
    time: i128,
    memory: i128,
}

impl<'a> SampleSink<'a> for Sums {
    type Error = std::convert::Infallible;

    fn metadata(&mut self, _: &'a [u8], _: &'a [u8]) -> Result<(), Self::Error> {
        Ok(())
    }

    fn sample(&mut self, sample: &Sample<'a, '_>) -> Result<(), Self::Error> {
        self.time = self.time.saturating_add(sample.time.unwrap_or(0));
        self.memory = self.memory.saturating_add(sample.memory.unwrap_or(0));
        Ok(())
    }
}

fn analyses(profile: &Profile) {
    let selected = Selected::of(profile, &Selection::default());
    let exact = is_exact(profile);
    // Where samples are events of several kinds, those of the main metric are selected.
    let whole = if profile.has_separate_values { &selected.total } else { &profile.total };
    assert!(!exact || selected.total == *whole);
    let frames = [FrameBy::Function, FrameBy::File, FrameBy::Line].map(TopBy::Frames);
    for by in frames.into_iter().chain([TopBy::Thread, TopBy::Process]) {
        let mut rows = top(&selected, by);
        let mut own = if matches!(by, TopBy::Frames(_)) {
            selected.without_frames.clone()
        } else {
            Values::default()
        };
        rows.rows.iter().for_each(|row| own.add(&row.sums.own));
        assert!(!exact || own == *whole, "every sample is somebody's own");
        for metric in &profile.metrics_to_choose() {
            rows.sort(metric, false);
            let both = (metric, metric);
            let unchanged = changes(rows.clone(), rows.clone(), both);
            assert!(
                unchanged.iter().all(|change| change.own(both) == 0 && change.total(both) == 0)
            );
        }
    }
    let groups = Groups::of(profile, FrameBy::Function);
    let tree = CallTree::of(&selected, &groups);
    assert!(!exact || tree.node(0).sums.total == *whole);
    let wanted: Vec<bool> = (0..groups.labels().len()).map(|group| group % 2 == 0).collect();
    let focus = Focus::of(&selected, &groups, &wanted);
    for metric in &profile.metrics_to_choose() {
        for (min_share, depth, nodes) in [(0.0, u32::MAX, usize::MAX), (0.01, 3, 20)] {
            let limits = PruneLimits { min_share, base: selected.total.get(metric), depth, nodes };
            for tree in [&tree, &focus.callers, &focus.callees] {
                let shown = prune(tree, metric, &limits);
                assert!(
                    shown.len() <= nodes.min(tree.len())
                        && shown.iter().all(|node| node.depth <= depth)
                );
            }
        }
        assert_eq!(places(&selected, &groups, metric).len(), groups.labels().len());
    }
}

/// Sums of any size take rows in proportion to the input.
fn as_hprof(profile: &Profile, bytes: &[u8]) {
    for metric in [None, Some(Metric::MEMORY)] {
        let mut out = Vec::new();
        hprof::write_profile(profile, &|_| true, metric, &mut out)
            .expect("memory takes everything");
        in_proportion(&out, bytes);
        let info = input::info(Format::Hprof, &out, ReadOptions::default())
            .expect("our own output is known");
        assert!(info.damage.is_none(), "{:?}", info.damage);
    }
}

/// Written as MOJO and read again it has the same sums, whether neighbours were merged or not.
fn again_as_mojo(profile: &Profile, bytes: &[u8]) {
    for merge in [false, true] {
        let mut out = Vec::new();
        mojo::write(profile, &|_| true, merge, &mut out).expect("memory takes everything");
        in_proportion(&out, bytes);
        let LoadedProfile { profile: again, damage, .. } =
            input::load_profile(Format::Mojo, &out, ProfileOptions::default())
                .expect("our own output is loaded");
        assert!(damage.is_none(), "{damage:?}");
        if !is_exact(profile) {
            continue;
        }
        if merge {
            assert_eq!(measured(&again.total), measured(&profile.total));
        } else {
            assert_eq!(again.total, profile.total);
        }
    }
}

/// What merging leaves as it is: all but the numbers of samples.
fn measured(values: &Values) -> [i64; 6] {
    let bytes = |sum| i64::try_from(sum).unwrap_or(i64::MAX);
    let idle = values.idle_time();
    [
        values.time(),
        idle,
        values.gc_time(),
        bytes(values.memory_gained()),
        bytes(values.memory_freed()),
        values.get(&Metric::CPU),
    ]
}

/// Written as text and read again it has the same sums of what its mode measures, unless names look
/// like text around them.
fn again_as_text(profile: &Profile, bytes: &[u8]) {
    let selection = Selection { in_order: true, ..Selection::default() };
    let budget = stacks::Budget::of(&of_profile(profile.clone(), "profile", &selection), bytes);
    for dialect in [Dialect::Full, Dialect::Peer] {
        let mut out = Vec::new();
        let written =
            write_profile(profile, &|_| true, dialect, &mut out).expect("memory takes everything");
        budget.names(&out);
        assert_eq!(written.stacks, profile.total.samples());
        let again = input::load_profile(Format::Austin, &out, ProfileOptions::default())
            .expect("our own output is loaded");
        let again = again.profile.total;
        let modes = profile.metadata.iter().filter(|metadatum| metadatum.key == "mode");
        let one_mode = modes.clone().all(|metadatum| metadatum.before == 0) && modes.count() <= 1;
        if dialect == Dialect::Peer || !one_mode || !is_exact(profile) || !has_plain_names(profile)
        {
            continue;
        }
        assert_eq!(again.samples(), profile.total.samples());
        let metric = profile.default_metric();
        if *metric.unit() == Unit::Bytes || profile.mode == Mode::Full {
            assert_eq!(
                (again.memory_gained(), again.memory_freed()),
                (profile.total.memory_gained(), profile.total.memory_freed())
            );
        }
        if *metric.unit() == Unit::Microseconds {
            assert_eq!(again.time(), profile.total.time());
        }
    }
}

/// Whether no name has what text uses between names, and no process has a negative id, with which
/// no line begins.
fn has_plain_names(profile: &Profile) -> bool {
    let plain = |text: &str| text.chars().all(|c| c.is_alphanumeric() || "._-/<>".contains(c));
    (0..profile.names.len() as u32)
        .all(|name| plain(profile.names.text(dumptool::model::names::NameId(name))))
        && profile.threads.iter().all(|thread| thread.pid >= 0)
        && profile.metadata.iter().all(|metadatum| plain(&metadatum.key) && plain(&metadatum.value))
}
