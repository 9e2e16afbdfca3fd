//! Executables that name the objects of a Go dump.

use super::go_program::{Build, Container};
use dumptool::input::load::{Executable, LoadOptions};
use dumptool::input::{self, Format};
use std::ops::ControlFlow;

/// 64 bits, with and without relocations, and 32 bits in the other byte order.
const BUILDS: [Build; 5] = {
    let elf = Build {
        container: Container::Elf,
        word: 8,
        big_endian: false,
        position_independent: false,
        sections: true,
    };
    [
        elf,
        Build { position_independent: true, ..elf },
        Build { word: 4, big_endian: true, sections: false, ..elf },
        Build { container: Container::MachO, position_independent: true, ..elf },
        Build { container: Container::Pe, sections: false, ..elf },
    ]
};

/// Small executables to begin with.
pub fn executables() -> impl Iterator<Item = (String, Vec<u8>)> {
    (0..).zip(BUILDS).map(|(number, build)| {
        (format!("{:?}-{number}", build.container).to_lowercase(), build.executable())
    })
}

/// Takes the bytes for the program of small dumps, and reads all values by the types it gives them.
pub fn executable(bytes: &[u8]) {
    for build in BUILDS {
        let dump = build.dump();
        let options = LoadOptions::default().executable(Some(Executable { bytes, guesses: true }));
        if let Ok(loaded) = input::load(Format::Go, &dump, options) {
            let heap = &loaded.heap;
            for object in heap.objects() {
                heap.each_field(object, |_| ControlFlow::Continue(()));
                heap.elements(object, 0, |_, _| ControlFlow::Continue(()));
            }
        }
    }
}
