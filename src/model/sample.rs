//! A profile as a stream of samples, in the order of the file.

/// One element of a sampled stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleFrame<'a> {
    /// A position in the program. Names ought to be UTF-8 but may not be.
    Code {
        /// Source file, or a substitute for it.
        file: &'a [u8],
        /// Function name.
        function: &'a [u8],
        /// The line, from 1; 0 if unknown.
        line: i128,
    },
    /// A function of the operating system's kernel.
    Kernel(&'a [u8]),
    /// The profiler could not unwind the stack, or not all of it.
    Invalid,
    /// The garbage collector was running.
    GarbageCollector,
}

/// The thread of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleThread<'a> {
    /// Its id.
    Id(i128),
    /// Its name, or its id in decimal.
    Name(&'a [u8]),
}

/// One sample: the state of a thread at one moment.
#[derive(Clone, Debug)]
pub struct Sample<'a, 'f> {
    /// Process id.
    pub pid: i128,
    /// Interpreter id inside the process, in formats that have it.
    pub interpreter: Option<i128>,
    /// The thread.
    pub thread: SampleThread<'a>,
    /// The frames, outermost first, in the order of the file.
    pub frames: &'f [SampleFrame<'a>],
    /// Microseconds since the previous sampling round.
    pub time: Option<i128>,
    /// Change of the memory in use, in bytes.
    pub memory: Option<i128>,
    /// Whether the thread was not running.
    pub idle: bool,
}

/// Receives a profile as a stream.
pub trait SampleSink<'a> {
    /// The sink's reason to stop, such as an error of its output.
    type Error;

    /// A key and value pair of the file's header or trailer.
    ///
    /// # Errors
    /// Any error of the sink's output.
    fn metadata(&mut self, key: &'a [u8], value: &'a [u8]) -> Result<(), Self::Error>;

    /// Receives a complete sample.
    ///
    /// # Errors
    /// Any error of the sink's output.
    fn sample(&mut self, sample: &Sample<'a, '_>) -> Result<(), Self::Error>;
}
