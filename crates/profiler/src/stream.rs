//! What is written of calls one by one, for `mpirun --trace`.

use catena_abi::Status;
use catena_profile::record::{Call, Kind, MOST, Message, NO_BYTES, NO_ENTRY, NO_RANK, NO_TAG};
use catena_trace::{Record, StreamWriter};

/// Where the library tells of messages, if the program does not want to know.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Nowhere.
    Nothing,
    /// In one status.
    One,
    /// In as many as there are requests.
    Many,
}

/// Where a thread writes its calls.
pub struct Stream {
    writer: StreamWriter,
    /// The call that is under way, and messages.
    records: Vec<Record>,
    /// The requests that the call was given.
    pub handles: Vec<usize>,
    /// Where the library tells of messages if the program does not want to know.
    pub statuses: Vec<Status>,
    /// Calls one after another that have seen nothing, and when the last one returned.
    polls: u64,
    first: Call,
    last: u64,
}

/// So many calls that have seen nothing are one at most.
const POLLS: u64 = 1 << 17;

impl Stream {
    pub fn new(writer: StreamWriter) -> Stream {
        Stream {
            writer,
            records: vec![[0; 4]],
            handles: Vec::new(),
            statuses: Vec::new(),
            polls: 0,
            first: Call {
                begin: 0,
                took: 0,
                bytes: NO_BYTES,
                entry: NO_ENTRY,
                function: 0,
                more: 1,
            },
            last: 0,
        }
    }

    /// Adds a message to the call that is under way.
    #[inline]
    pub fn add(&mut self, message: Message) {
        if self.records.len() <= MOST {
            self.records.push(message.record());
        }
    }

    /// A call has seen nothing of what it looked for: of a run of them one is written.
    #[inline]
    pub fn poll(&mut self, at: Option<usize>, function: u32, (begin, took): (u64, u64)) {
        self.records.truncate(1);
        if self.polls == 0 {
            self.first.begin = begin;
            self.first.entry = at.map_or(NO_ENTRY, |at| at as u16);
            self.first.function = function as u16;
        }
        self.polls += 1;
        self.last = begin.wrapping_add(took);
        if self.polls >= POLLS {
            self.end_polls();
        }
    }

    /// Writes calls that have seen nothing.
    pub fn end_polls(&mut self) {
        if self.polls == 0 {
            return;
        }
        let first = Call {
            took: self.last.wrapping_sub(self.first.begin),
            more: u32::from(self.polls > 1),
            ..self.first
        };
        let many = Message {
            kind: Kind::Polls,
            arrow: 0,
            bytes: self.polls,
            rank: NO_RANK,
            tag: NO_TAG,
        };
        match self.polls {
            1 => self.writer.push(&[first.record()]),
            _ => self.writer.push(&[first.record(), many.record()]),
        };
        self.polls = 0;
    }

    /// Writes the call, and the messages that were added. A call that has no room is counted.
    #[inline]
    pub fn write(
        &mut self,
        at: Option<usize>,
        function: u32,
        (begin, took): (u64, u64),
        bytes: Option<u64>,
    ) {
        self.end_polls();
        let call = Call {
            begin,
            took,
            bytes: bytes.unwrap_or(NO_BYTES),
            entry: at.map_or(NO_ENTRY, |at| at as u16),
            function: function as u16,
            more: self.records.len() as u32 - 1,
        };
        self.records[0] = call.record();
        self.writer.push(&self.records);
        self.records.truncate(1);
    }
}
