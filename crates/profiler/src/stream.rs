//! What is written of calls one by one, for `mpirun --trace`.

use catena_abi::Status;
use catena_profile::record::{Call, MOST, Message, NO_BYTES, NO_ENTRY};
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
}

impl Stream {
    pub fn new(writer: StreamWriter) -> Stream {
        Stream {
            writer,
            records: vec![[0; 4]],
            handles: Vec::new(),
            statuses: Vec::new(),
        }
    }

    /// Adds a message to the call that is under way.
    #[inline]
    pub fn add(&mut self, message: Message) {
        if self.records.len() <= MOST {
            self.records.push(message.record());
        }
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
