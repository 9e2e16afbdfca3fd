//! A pprof profile of a CPU: stacks of 40 frames that walk through a graph of calls, so that they
//! share their outermost frames only. Tables come after the samples, as Go writes them.

use super::{Out, Random};
use std::io::{self, Write};

const FUNCTIONS: u64 = 20_000;
/// Each function has three lines that call.
const LOCATIONS: u64 = 3 * FUNCTIONS;
/// Places that a function calls.
const CALLS: u64 = 20;
const DEPTH: usize = 40;

/// Writes a profile of that many samples.
pub(crate) fn write(samples: u64, file: &mut dyn Write) -> io::Result<()> {
    let mut random = Random(1);
    let calls: Vec<u64> = (0..FUNCTIONS * CALLS).map(|_| random.below(LOCATIONS)).collect();
    let mut out = Out::new(file);
    let mut message = Message::default();
    for (name, unit) in [(1, 2), (3, 4)] {
        message.number(1, name).number(2, unit).end(1, &mut out);
    }
    for _ in 0..samples {
        let (mut stack, mut function) = ([0; DEPTH], 0);
        for place in stack.iter_mut().rev() {
            let location = calls[(function * CALLS + random.below(CALLS)) as usize];
            (*place, function) = (location + 1, location / 3);
        }
        let count = 1 + random.below(30);
        message.numbers(1, &stack).numbers(2, &[count, count * 10_000_000]).end(2, &mut out);
        out.spill()?;
    }
    let mut line = Message::default();
    for location in 0..LOCATIONS {
        line.number(1, location / 3 + 1).number(2, 10 + location % 3);
        message.number(1, location + 1).number(3, 0x40_0000 + 16 * location);
        message.bytes(4, &line.0).end(4, &mut out);
        line.0.clear();
    }
    for function in 0..FUNCTIONS {
        let file = 5 + FUNCTIONS + function / 50;
        message.number(1, function + 1).number(2, 5 + function).number(4, file).end(5, &mut out);
        out.spill()?;
    }
    let names = ["", "samples", "count", "cpu", "nanoseconds"].map(str::to_owned).into_iter();
    let functions = (0..FUNCTIONS).map(|it| format!("example.com/app/pkg{}.Function{it}", it / 50));
    let files = (0..FUNCTIONS / 50).map(|it| format!("/src/app/pkg{it}/file.go"));
    for name in names.chain(functions).chain(files) {
        out.uleb(6 << 3 | 2);
        out.string(name);
    }
    out.flush()
}

/// The fields of a message.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn number(&mut self, field: u64, value: u64) -> &mut Self {
        self.uleb(field << 3);
        self.uleb(value);
        self
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) -> &mut Self {
        self.uleb(field << 3 | 2);
        self.uleb(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    fn numbers(&mut self, field: u64, values: &[u64]) -> &mut Self {
        let mut packed = Self::default();
        values.iter().for_each(|value| packed.uleb(*value));
        self.bytes(field, &packed.0)
    }

    /// Appends the message as a field of the profile, and begins another one.
    fn end(&mut self, field: u64, out: &mut Out<'_>) {
        out.uleb(field << 3 | 2);
        out.string(&self.0);
        self.0.clear();
    }

    fn uleb(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}
