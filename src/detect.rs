//! Format detection, by the first bytes of a file and never by its name.

use crate::error::{Error, Result};
use crate::input::{self, Format};

/// Detects the format of an input from its first bytes. Fails with `Unsupported` if the bytes are
/// of no known format. Names well-known foreign formats.
pub fn detect(bytes: &[u8]) -> Result<Format> {
    if let Some(format) = input::FORMATS.into_iter().find(|format| format.begins(bytes)) {
        return Ok(format);
    }
    if let Some(format) = input::FORMATS.into_iter().find(|format| format.begins_otherwise(bytes)) {
        return Ok(format);
    }
    if bytes.is_empty() {
        return Err(Error::other_kind("the input is empty").hint(READ));
    }
    let without_magic = WITHOUT_MAGIC.iter().find(|(matches, _)| matches(bytes));
    let with_magic = || FOREIGN.iter().find(|kind| kind.matches(bytes));
    Err(match without_magic.map(|(_, kind)| kind).or_else(with_magic) {
        Some(kind) => Error::other_kind(kind.message()).hint(if kind.hint.is_empty() {
            READ
        } else {
            kind.hint
        }),
        None if bytes.iter().take(4096).all(|&byte| byte == 0) => {
            Error::other_kind("the input begins with zeros")
                .hint("the dump may not have been written to disk completely")
        }
        None => Error::other_kind("not a heap dump or profile of a known format")
            .expected("the magic of a known format")
            .found(show(bytes))
            .hint("--from FORMAT reads it as that format anyway"),
    })
}

const READ: &str = "`dumptool formats` lists the supported formats";

/// A well-known kind of file that people confuse with a dump.
struct Foreign {
    name: &'static str,
    /// A heap dump or profile, but of a format that is not read.
    is_dump: bool,
    offset: usize,
    magic: &'static [u8],
    hint: &'static str,
}

impl Foreign {
    fn matches(&self, bytes: &[u8]) -> bool {
        bytes.get(self.offset..).is_some_and(|bytes| bytes.starts_with(self.magic))
    }

    fn message(&self) -> String {
        if self.is_dump {
            format!("{} is not supported", self.name)
        } else {
            format!("not a heap dump or profile ({})", self.name)
        }
    }
}

const fn dump(name: &'static str, magic: &'static [u8], hint: &'static str) -> Foreign {
    Foreign { name, is_dump: true, offset: 0, magic, hint }
}

const fn other(name: &'static str, magic: &'static [u8], hint: &'static str) -> Foreign {
    Foreign { name, is_dump: false, offset: 0, magic, hint }
}

/// Whether a file that begins with these bytes is of a kind.
type Matches = fn(&[u8]) -> bool;

/// Kinds that have no magic at a fixed offset.
static WITHOUT_MAGIC: &[(Matches, Foreign)] = &[
    (
        // An LZ4 frame. The magic is at the beginning of its first block.
        |bytes| bytes.starts_with(b"\x04\x22\x4d\x18") && has(bytes, 64, b"memray\0"),
        dump(
            "a memray recording",
            b"",
            "`memray transform speedscope FILE` writes a profile that dumptool reads",
        ),
    ),
    (
        // The synchronization marker of a packet.
        |bytes| {
            has(
                bytes,
                64 << 10,
                b"\x82\x47\x7a\x76\xb2\x8d\x42\xba\x81\xdc\x33\x32\x6d\x57\xa0\x79",
            )
        },
        dump(
            "a Perfetto trace",
            b"",
            "`traceconv profile FILE` writes its heap profiles as pprof, which dumptool reads",
        ),
    ),
    (
        // LZ4 blocks after their lengths. The first block contains the name of the processor.
        |bytes| {
            let is_block = matches!(bytes, [1, _, _, 0..=16, 0, ..]);
            let names = [&b"x86_64"[..], b"aarch64", b"amd64"];
            is_block && names.iter().any(|name| has(bytes, 4096, name))
        },
        dump(
            "a bytehound recording",
            b"",
            "`bytehound export-as-heaptrack FILE` writes a recording that dumptool reads",
        ),
    ),
];

/// Whether the first `first` bytes contain a mark.
fn has(bytes: &[u8], first: usize, mark: &[u8]) -> bool {
    memchr::memmem::find(bytes.get(..first).unwrap_or(bytes), mark).is_some()
}

/// The order matters: a magic comes before every other one that is a prefix of it.
static FOREIGN: &[Foreign] = &[
    dump(
        "a Java heap dump (hprof) of an unknown version",
        b"JAVA PROFILE 1.",
        "dumptool reads versions 1.0.1 to 1.0.3",
    ),
    dump("a V8 heap snapshot (JSON) without node_fields", b"{\"snapshot\":", ""),
    dump(
        "a heap snapshot of JavaScriptCore (Safari, Bun)",
        b"{\"version\":3,\"type\":\"Inspector\"",
        "in Bun, use Bun.generateHeapSnapshot(\"v8\")",
    ),
    dump(
        "a heap snapshot of JavaScriptCore (Safari, Bun)",
        b"{\"version\":2,\"type\":",
        "in Bun, use Bun.generateHeapSnapshot(\"v8\")",
    ),
    dump("a Firefox Profiler profile (JSON)", b"{\"meta\":", ""),
    dump(
        "a DevTools offline file (JSON)",
        b"{\"selectedTab\"",
        "export the snapshot itself from DevTools",
    ),
    dump("a Chrome trace (JSON)", b"{\"traceEvents\"", ""),
    dump(
        "a MoarVM heap snapshot of version 1 (text, up to 2017.08)",
        b"strings: [",
        "take the snapshot with MoarVM 2017.09 or later",
    ),
    dump(
        "a MoarVM heap snapshot of version 1 (text, up to 2017.08)",
        b"strings:[",
        "take the snapshot with MoarVM 2017.09 or later",
    ),
    dump(
        "a MoarVM heap dump of an unknown version",
        b"MoarHeapDump",
        "dumptool reads versions 2 and 3",
    ),
    dump("a Go heap dump of an unknown version", b"go1.", "dumptool reads dumps of Go 1.3 to 1.27"),
    other(
        "ELF core dump or executable",
        b"\x7fELF",
        "a core dump is not a heap dump; let the runtime write a heap dump",
    ),
    other("Mach-O file", b"\xcf\xfa\xed\xfe", ""),
    dump("a Windows minidump", b"MDMP", ""),
    other("Windows executable", b"MZ", ""),
    dump("a JDK Flight Recorder recording", b"FLR\0", ""),
    dump(
        "an OpenJ9 heap dump (PHD)",
        b"\0\x12portable heap dump",
        "let OpenJ9 write a system dump and convert it to hprof with jdmpview (`hprof`)",
    ),
    dump(
        "an Erlang crash dump",
        b"=erl_crash_dump:",
        "crashdump_viewer, a part of OTP's observer, opens it",
    ),
    dump(
        "a .NET trace",
        b"Nettrace",
        "`dotnet-trace convert --format Speedscope FILE` writes a profile that dumptool reads",
    ),
    // The magic is a string with its length before it.
    dump(
        "a .NET gcdump",
        b"\x14\0\0\0!FastSerialization.1",
        "PerfView and Visual Studio open it; `dotnet-gcdump report` lists its types",
    ),
    dump(
        "a memray recording",
        b"memray",
        "`memray transform speedscope FILE` writes a profile that dumptool reads",
    ),
    other("SQLite database", b"SQLite format 3\0", ""),
    other("Parquet file", b"PAR1", ""),
    other("zip archive", b"PK\x03\x04", "unpack it and use the dump inside"),
    other("7z archive", b"7z\xbc\xaf\x27\x1c", "unpack it and use the dump inside"),
    other("xz file", b"\xfd7zXZ\0", "only gzip and zstd are decompressed; run xz -d first"),
    other("bzip2 file", b"BZh", "only gzip and zstd are decompressed; run bzip2 -d first"),
    other("lz4 file", b"\x04\x22\x4d\x18", "only gzip and zstd are decompressed; run lz4 -d first"),
    other(
        "gzip file inside another compression",
        b"\x1f\x8b\x08",
        "dumptool removes one layer of compression; decompress the file once before",
    ),
    other(
        "zstd file inside another compression",
        b"\x28\xb5\x2f\xfd",
        "dumptool removes one layer of compression; decompress the file once before",
    ),
    Foreign {
        name: "tar archive",
        is_dump: false,
        offset: 257,
        magic: b"ustar",
        hint: "unpack it and use the dump inside",
    },
    other("shell script", b"#!", ""),
    other("HTML page", b"<!DOCTYPE", "the download may have failed"),
    other("HTML page", b"<html", "the download may have failed"),
    other("XML file", b"<?xml", ""),
    other("PNG image", b"\x89PNG", ""),
    other("PDF file", b"%PDF", ""),
    other("JSON file", b"{", ""),
    other("JSON file", b"[", ""),
];

/// The first bytes, for an error message.
fn show(bytes: &[u8]) -> String {
    let head = bytes.get(..16).unwrap_or(bytes);
    if head.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' ') {
        return format!("\"{}\"", String::from_utf8_lossy(head));
    }
    head.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formats_are_told_by_their_beginning() {
        assert_eq!(detect(b"MoarHeapDumpv003rest").unwrap(), Format::Mvmheap);
        assert_eq!(detect(b"dartheap\0").unwrap(), Format::Dart);
        assert_eq!(detect(b"go1.7 heap dump\n").unwrap(), Format::Go);
        assert_eq!(detect(b"JAVA PROFILE 1.0.2\0").unwrap(), Format::Hprof);
        assert_eq!(detect(b"MOJ\x03").unwrap(), Format::Mojo);
        assert_eq!(detect(b"# austin: 3.7.0\n").unwrap(), Format::Austin);
        assert_eq!(detect(b"\x0a\x04\x08\x01\x10\x02\x32\0\x32\x02cp").unwrap(), Format::Pprof);
        assert_eq!(detect(b"\nP12;T0:12;a.py:f:1 5\n").unwrap(), Format::Austin);
        assert_eq!(
            detect(b"{\"snapshot\":{\"meta\":{\"node_fields\":[").unwrap(),
            Format::Heapsnapshot
        );
        assert_eq!(
            detect(b" {\n \"edges\": [], \"snapshot\": {\"meta\": {\"node_fields\"").unwrap(),
            Format::Heapsnapshot
        );
        assert!(detect(b"# a heading\n").is_err() && detect(b"P12 ;T").is_err());
    }

    #[test]
    fn other_kinds_are_named() {
        for (bytes, name) in [
            (&b"PK\x03\x04"[..], "zip"),
            (b"\x7fELF\x02", "ELF"),
            (b"{\"snapshot\":{", "V8"),
            (b"strings: [\"a\"]", "MoarVM"),
            (b"go1.9 heap dump\n", "unknown version"),
            (b"JAVA PROFILE 1.0.9\0", "hprof"),
            (b"\x14\0\0\0!FastSerialization.1\x04", "gcdump"),
            (b"\0\x12portable heap dump\0\0\0\x06", "PHD"),
            (b"\x04\x22\x4d\x18\x40\x40\xc0\x79\x4a\0\0\xf9\x05memray\0\x0d", "memray"),
            (b"\x04\x22\x4d\x18\x40\x40\xc0\x79", "lz4"),
            (b"=erl_crash_dump:0.5\nMon", "Erlang"),
            (
                b"\x0a\x12\x0f\x82\x47\x7a\x76\xb2\x8d\x42\xba\x81\xdc\x33\x32\x6d\x57\xa0\x79",
                "Perfetto",
            ),
            (b"\x01\x40\0\0\0\xf0\x01\x20\0\0\0\0\0\0\0x86_64", "bytehound"),
        ] {
            let error = detect(bytes).unwrap_err();
            assert!(error.message().contains(name), "{error} should name {name}");
            assert_eq!(error.offset(), None, "no byte is to blame");
        }
    }

    #[test]
    fn dumps_that_are_not_read_are_not_called_other_files() {
        assert_eq!(
            detect(b"\x89PNG\r\n").unwrap_err().headline(),
            "not a heap dump or profile (PNG image)"
        );
        assert_eq!(
            detect(b"{\"snapshot\":{").unwrap_err().headline(),
            "a V8 heap snapshot (JSON) without node_fields is not supported"
        );
        assert_eq!(detect(b"").unwrap_err().headline(), "the input is empty");
    }

    #[test]
    fn unknown_bytes_are_shown() {
        assert!(detect(b"\x01\x02").unwrap_err().message().contains("01 02"));
        assert!(detect(b"hello").unwrap_err().message().contains("\"hello\""));
        assert!(detect(b"").unwrap_err().message().contains("empty"));
    }
}
