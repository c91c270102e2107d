//! What goes wrong in a simulated network.

/// How remote reads and writes and other operations on registered memory go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// Never offered: long messages are streamed.
    Never,
    /// All at once.
    Whole,
    /// Often full, often only in part, and now and then refused.
    Flaky,
}

/// What goes wrong. "One in n" is a chance per call; 0 means never.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Faults {
    pub ordered: bool,
    pub slots: usize,
    pub max_packet: usize,
    pub eager_max: u64,
    pub full_one_in: u32,
    pub reads: Reads,
    pub local_keys: bool,
    pub part: u64,
    pub streams_one_in: u32,
    pub lends_one_in: u32,
    pub duplicate_one_in: u32,
    pub garbage_one_in: u32,
}
