//! Tests of which dumps stay open within the budget.

use super::*;
use crate::cli::status::Status;

fn fixture(name: &str) -> String {
    format!("{}/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn all() -> Arc<Dumps> {
    Dumps::new(Given::default(), |_| true, u64::MAX)
}

#[test]
fn dumps_that_were_not_used_for_longest_are_forgotten() {
    let files = ["go/tiny_go127.heapdump.zst", "mvmheap/tiny-nqp.mvmheap"].map(fixture);
    let kept = |resident: &Dumps| -> Vec<PathBuf> {
        lock(&resident.dumps).iter().map(|dump| dump.path.clone()).collect()
    };
    let resident = Dumps::new(Given::default(), |_| true, 1);
    for file in [&files[0], &files[1], &files[0]] {
        assert_eq!(resident.answer(["top", file]).status, Status::Done);
        assert_eq!(kept(&resident), [Path::new(file)]);
    }
    let resident = all();
    files.iter().for_each(|file| drop(resident.answer(["top", file])));
    assert_eq!(kept(&resident).len(), 2);
}

#[test]
fn snapshots_that_were_not_used_for_longest_are_forgotten() {
    let file = fixture("mvmheap/tiny-nqp.mvmheap");
    let kept = |budget| {
        let resident = Dumps::new(Given::default(), |_| true, budget);
        for snapshot in ["0", "1", "0"] {
            let answer = resident.answer(["top", &file, "--snapshot", snapshot]);
            assert_eq!(answer.status, Status::Done);
        }
        let dump = resident.dump(Path::new(&file), &Named::default());
        lock(&dump.heaps).iter().map(|(key, _)| key.0).collect::<Vec<_>>()
    };
    assert_eq!(kept(1), [Some(Snapshot::Number(0))]);
    assert_eq!(kept(u64::MAX), [1, 0].map(|number| Some(Snapshot::Number(number))));
}

#[test]
fn dumps_that_were_only_decompressed_count() {
    let files = ["go/tiny_go127.heapdump.zst", "pprof/go127-cpu.pb.gz"].map(fixture);
    let resident = Dumps::new(Given::default(), |_| true, 1);
    for file in &files {
        assert_eq!(resident.answer(["info", file]).status, Status::Done);
        let dumps = lock(&resident.dumps);
        assert_eq!(dumps.iter().map(|dump| &dump.path).collect::<Vec<_>>(), [Path::new(file)]);
        assert!(dumps[0].bytes() > 0);
    }
}
