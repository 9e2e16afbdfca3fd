//! Tables as Parquet: the same cells as in CSV, in files that appear only when they are complete.

#![cfg(feature = "parquet")]

use crate::support::{files, fixture, read};
use assert_cmd::Command;
use dumptool::input::{
    self,
    load::{LoadOptions, Loaded},
};
use dumptool::model::builder::HeapBuilder;
use dumptool::model::heap::{Ids, Label, ObjectId, TypeKind};
use dumptool::output::Syntax;
use dumptool::tables::{self, DumpRow, Relation, Table, TableSelection, TextLimit};
use dumptool::{Analyses, ProfileOptions};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use std::fs::{self, File};
use std::io::{Seek, Write};
use std::path::Path;

/// The cells of a Parquet file as CSV has them, after its columns.
fn cells(file: File) -> Vec<Vec<String>> {
    let reader = SerializedFileReader::new(file).unwrap();
    let schema = reader.metadata().file_metadata().schema_descr();
    let names = schema.columns().iter().map(|column| column.name().to_owned()).collect();
    let rows = reader.get_row_iter(None).unwrap().map(|row| {
        let row = row.unwrap();
        let cells = row.get_column_iter().map(|(_, field)| match field {
            Field::Null => String::new(),
            Field::Bool(value) => value.to_string(),
            Field::Int(number) => number.to_string(),
            Field::Long(number) => number.to_string(),
            Field::Str(text) => text.clone(),
            other => panic!("{other:?}"),
        });
        cells.collect()
    });
    std::iter::once(names).chain(rows).collect()
}

/// Writes a table as Parquet and as CSV, and compares them. Returns the number of rows.
fn compare(relation: &dyn Relation) -> usize {
    let mut file = tempfile::tempfile().unwrap();
    let written =
        tables::write_parquet(relation, &[("dumptool.file", "a".to_owned())], &file).unwrap();
    file.flush().and_then(|()| file.rewind()).unwrap();
    let mut csv = Vec::new();
    assert_eq!(tables::write(relation, Syntax::Csv, &mut csv).unwrap(), written);
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(csv.as_slice());
    let expected = reader
        .records()
        .map(|record| record.unwrap().iter().map(str::to_owned).collect::<Vec<_>>());
    let read = cells(file);
    assert!(expected.eq(read.iter().cloned()), "{}", relation.name());
    assert_eq!(read.len() as u64, written + 1);
    read.len() - 1
}

/// Compares a table of a heap.
fn compare_heap(loaded: &Loaded<'_>, table: Table, texts: TextLimit) -> usize {
    compare(&*tables::of_heap(&Analyses::of(loaded), table, texts).unwrap())
}

#[test]
fn every_table_of_a_heap_comes_back() {
    let mut rows = [0; 5];
    for path in
        ["go", "dart", "hprof", "mvmheap", "ruby"].iter().flat_map(|folder| files(&fixture(folder)))
    {
        let bytes = read(&path);
        let Ok(format) = dumptool::detect::detect(&bytes) else { continue };
        let Ok(loaded) = input::load(format, &bytes, LoadOptions::default()) else { continue };
        if loaded.heap.len() > 20_000 {
            continue;
        }
        let tables = Table::ALL.iter().filter(|table| table.is_of_heaps());
        for (sum, table) in rows.iter_mut().zip(tables.filter(|table| **table != Table::Dump)) {
            *sum += compare_heap(&loaded, *table, TextLimit::Bytes(7));
        }
    }
    assert!(rows.iter().all(|rows| *rows > 1000), "{rows:?}");
}

#[test]
fn every_table_of_a_profile_comes_back() {
    let mut rows = [0; 4];
    for (file, keep_samples) in [
        ("mojo/tiny-3.5.0-full-thr.mojo", true),
        ("mojo/tiny-3.5.0-full-thr.mojo", false),
        ("mojo/tiny-4.0.0-cpu-thr.mojo", true),
    ] {
        compare_profile(&fixture(file), keep_samples, &mut rows);
    }
    let pprof = files(&fixture("pprof")).into_iter().filter(|path| {
        dumptool::detect::detect(&read(path)).is_ok_and(|format| format.name() == "pprof")
    });
    pprof.for_each(|path| compare_profile(&path, true, &mut rows));
    assert!(rows.iter().all(|rows| *rows > 300), "{rows:?}");
}

fn compare_profile(path: &Path, keep_samples: bool, rows: &mut [usize; 4]) {
    let dump = dumptool::open(path).unwrap();
    let options = ProfileOptions::default().keep_samples(keep_samples);
    let Ok(loaded) = dump.load_profile(options) else { return };
    let selected = TableSelection::default();
    let tables = [Table::Samples, Table::Stacks, Table::Frames, Table::Functions];
    for (sum, table) in rows.iter_mut().zip(tables) {
        *sum += compare(&*tables::of_profile(&loaded.profile, &selected, table).unwrap());
    }
}

/// More rows than a row group, and more labels than a dictionary.
#[test]
fn row_groups_come_back() {
    const REFERENCES: u32 = (1 << 20) + 10_000;
    let mut builder = HeapBuilder::with_capacity(3, REFERENCES as usize);
    let of = builder.add_type("Array", "", TypeKind::Array);
    for object in 0..3 {
        builder.add_object(of, 8);
        for number in 0..if object == 1 { REFERENCES } else { 1 } {
            builder.add_reference(
                ObjectId(number % 3),
                Label::index(number.into()),
                number % 7 == 0,
            );
        }
    }
    let heap = builder.finish(Ids::Rows(0), None);
    let rows = compare_heap(&Loaded::of(heap), Table::References, TextLimit::All);
    assert_eq!(rows, REFERENCES as usize + 2);
}

#[test]
fn hostile_names_come_back() {
    const OBJECTS: usize = 5000;
    let mut builder = HeapBuilder::with_capacity(OBJECTS, 0);
    let hostile =
        ["'; drop table objects; --", "a,\"b\"\nc", "é日本\u{202e}", "", "\0", "../../etc"];
    let types: Vec<_> = (0..3000)
        .map(|number| {
            let name = format!("{}{number}", hostile[number % hostile.len()]);
            builder.add_type(&name, hostile[number % 5], TypeKind::Instance)
        })
        .collect();
    for number in 0..OBJECTS {
        let size = (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (number % 60);
        builder.add_object(types[number % types.len()], size.min(i64::MAX as u64));
    }
    let heap = builder.finish(Ids::Rows(0), None);
    let loaded = Loaded::of(heap);
    for table in [Table::Objects, Table::Types] {
        compare_heap(&loaded, table, TextLimit::All);
    }
}

#[test]
fn a_dump_is_one_row() {
    let damaged = DumpRow { damage: Some("cut,\n\"short\"".to_owned()), ..DumpRow::default() };
    assert_eq!(compare(&*tables::of_dump(|| damaged)), 1);
    assert_eq!(compare(&*tables::of_dump(DumpRow::default)), 1);
}

fn dumptool() -> Command {
    let mut command = Command::cargo_bin("dumptool").unwrap();
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    command
}

const HEAP: &str = "fixtures/hprof/small_java17.hprof.zst";

/// The paths of all files in a folder, from there.
fn below(folder: &Path) -> Vec<String> {
    let mut paths: Vec<_> = files(folder)
        .iter()
        .map(|path| path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned())
        .collect();
    paths.sort();
    paths
}

#[test]
fn a_folder_has_every_table_but_the_private_one() {
    let folder = tempfile::tempdir().unwrap();
    let tables = folder.path().join("new/tables/");
    for format in ["parquet", "csv", "jsonl"] {
        dumptool()
            .arg("convert")
            .args([Path::new(HEAP), &tables])
            .args(["--to", format])
            .assert()
            .success();
    }
    let names = ["dump", "objects", "references", "roots", "types"];
    let expected: Vec<_> = names
        .iter()
        .flat_map(|name| ["csv", "jsonl", "parquet"].map(|format| format!("{name}.{format}")))
        .collect();
    assert_eq!(below(&tables), expected);
}

#[test]
fn partitions_are_folders_and_names_are_stable() {
    let folder = tempfile::tempdir().unwrap();
    let hostile = folder.path().join("_a 'b';*.hprof.zst");
    fs::copy(fixture("hprof/small_java17.hprof.zst"), &hostile).unwrap();
    let lake = folder.path().join("lake");
    let mut before = Vec::new();
    for _ in 0..2 {
        dumptool()
            .arg("convert")
            .args([&hostile, &lake])
            .args(["--to", "parquet", "--table", "types,dump"])
            .args(["--partition", "service=../sh op,build=1%2"])
            .assert()
            .success();
        let name = "service=..%2Fsh%20op/build=1%252/-_a%20%27b%27%3B%2A-69b02b21.parquet";
        assert_eq!(below(&lake), [format!("dump/{name}"), format!("types/{name}")]);
        let bytes = fs::read(lake.join(format!("types/{name}"))).unwrap();
        assert!(before.is_empty() || before == bytes);
        before = bytes;
    }
}

#[test]
fn partitions_that_cannot_be_are_refused() {
    for (partition, message) in [
        ("type=a", "column"),
        ("service=a,service=b", "twice"),
        ("Service=a", "letters"),
        ("a/b=c", "letters"),
        ("service", "KEY=VALUE"),
        ("service=", "empty"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let output = dumptool()
            .arg("convert")
            .args([Path::new(HEAP), &folder.path().join("lake")])
            .args(["--to", "parquet", "--table", "types", "--partition", partition])
            .assert()
            .code(2);
        let error = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
        assert!(error.contains(message), "{error}");
        assert!(below(folder.path()).is_empty());
    }
}

/// The value types of a profile are columns, too.
#[test]
fn partitions_that_a_profile_has_as_columns_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let lake = folder.path().join("lake");
    for (partition, status) in [("inuse_space=a", 2), ("space=a", 0)] {
        dumptool()
            .args(["convert", "fixtures/pprof/go127-heap.pb.gz"])
            .arg(&lake)
            .args(["--to", "parquet", "--partition", partition])
            .assert()
            .code(status);
        assert_eq!(lake.exists(), status == 0);
    }
}

#[test]
fn tables_are_the_same_for_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let written = ["1", "3"].map(|threads| {
        let path = folder.path().join(format!("{threads}.parquet"));
        let args = ["convert", HEAP, path.to_str().unwrap(), "--threads", threads];
        dumptool().args(args).assert().success();
        fs::read(path).unwrap()
    });
    assert!(written[0] == written[1]);
}

#[test]
fn a_damaged_dump_says_so_in_its_tables() {
    let folder = tempfile::tempdir().unwrap();
    let whole = read(&fixture("hprof/small_java17.hprof.zst"));
    let cut = folder.path().join("cut.hprof");
    fs::write(&cut, &whole[..whole.len() * 2 / 3]).unwrap();
    for (lenient, status) in [(false, 3), (true, 0)] {
        let tables = folder.path().join(format!("tables{status}/"));
        let mut command = dumptool();
        command.arg("convert").args([&cut, &tables]).args(["--to", "parquet"]);
        command.args(lenient.then_some("--lenient")).assert().code(status);
        let dump = cells(File::open(tables.join("dump.parquet")).unwrap());
        let cell = |name: &str| {
            let column = dump[0].iter().position(|column| column == name).unwrap();
            dump[1][column].as_str()
        };
        assert_eq!(cell("complete"), "false");
        assert!(cell("damage").contains("offset"), "{}", cell("damage"));
        let objects = cells(File::open(tables.join("objects.parquet")).unwrap());
        assert_eq!(cell("objects"), (objects.len() - 1).to_string());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_written_leaves_nothing() {
    dumptool().args(["convert", HEAP, "/dev/full", "--to", "parquet"]).assert().code(4);
    dumptool().args(["convert", HEAP, "/proc/tables/", "--to", "parquet"]).assert().code(4);
    // A file where a folder is to be.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let lake = file.join("lake/");
    dumptool().arg("convert").args([Path::new(HEAP), &lake]).args(["--to", "csv"]).assert().code(4);
    assert_eq!(below(folder.path()), ["file"]);
}

/// A disk that becomes full after a few kilobytes.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let dump = folder.path().join("a.hprof");
    fs::write(&dump, read(&fixture("hprof/small_java17.hprof.zst"))).unwrap();
    let script = "ulimit -f 8; trap '' XFSZ; exec \"$@\"";
    let program = assert_cmd::cargo::cargo_bin("dumptool");
    Command::new("sh")
        .args(["-c", script, "sh"])
        .args([&program, Path::new("convert"), &dump, &folder.path().join("tables/")])
        .args(["--to", "parquet"])
        .assert()
        .code(4);
    assert_eq!(below(folder.path()), ["a.hprof"]);
    assert!(!folder.path().join("tables").exists());
}
