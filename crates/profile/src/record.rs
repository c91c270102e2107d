//! What a thread writes of each call, one by one, for a trace in time (`mpirun --trace`): records
//! of four words in a ring of `catena-trace`.
//!
//! A call is one record, and behind it as many more as there are messages that it has sent, has
//! received, or has seen the end of. Times are ticks of `catena_base::clock`.
//!
//! | kind       | word 0      | word 1 | word 2     | low bits of word 3                        |
//! |------------|-------------|--------|------------|-------------------------------------------|
//! | `Call`     | it began    | it took| bytes      | 16: entry, 16: function, 24: more records |
//! | `Sent`     | its arrow   | bytes  | rank, tag  |                                           |
//! | `Received` | its arrow   | bytes  | rank, tag  |                                           |
//! | `Aimed`    | 0           | bytes  | rank, tag  |                                           |
//! | `Joined`   | its arrow   |        |            |                                           |
//! | `Ended`    | 0           | bytes  | rank, tag  |                                           |
//! | `Begun`    | its arrow   | bytes  | rank, tag  |                                           |
//! | `Polls`    | 0           | calls  |            |                                           |
//!
//! An arrow is a number that both ends of a message, or all members of a collective, find out by
//! themselves: [`arrow`].

use catena_trace::Record;

/// What a record tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Kind {
    /// A call.
    Call = 1,
    /// It has begun to send a message.
    Sent = 2,
    /// It has received one, or has seen that it was received.
    Received = 3,
    /// It names another rank: what it moves is no message, or comes later.
    Aimed = 4,
    /// It is a collective.
    Joined = 5,
    /// It has seen that a message was sent which an earlier call has begun.
    Ended = 6,
    /// It has begun to send a message, and another call sees the end of that.
    Begun = 7,
    /// It stands for several calls that have seen nothing; their number stands where a message has
    /// its bytes.
    Polls = 8,
}

/// In place of the number of an entry: there is none.
pub const NO_ENTRY: u16 = u16::MAX;

/// In place of bytes: they are not known.
pub const NO_BYTES: u64 = u64::MAX;

/// In place of a rank: it is not one of this job, or not known.
pub const NO_RANK: u32 = u32::MAX;

/// In place of a tag: there is none.
pub const NO_TAG: i32 = i32::MIN;

/// Most records behind that of a call: further messages have no arrow.
pub const MOST: usize = 4096;

/// A call: its entry in the table of its thread, or [`NO_ENTRY`]; its function, one more than its
/// place among `catena_abi::table::names`; how many records follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// When it began.
    pub begin: u64,
    /// How long it took.
    pub took: u64,
    /// Bytes that this rank has given to it, or moved by it, or [`NO_BYTES`].
    pub bytes: u64,
    /// Its entry.
    pub entry: u16,
    /// Its function.
    pub function: u16,
    /// How many records follow.
    pub more: u32,
}

impl Call {
    /// As a record.
    #[inline]
    pub fn record(self) -> Record {
        let more = u64::from(self.more & 0xff_ffff) << 32;
        let what = u64::from(self.function) << 16 | u64::from(self.entry);
        let kind = (Kind::Call as u64) << 56;
        [self.begin, self.took, self.bytes, kind | more | what]
    }

    /// That of a record, if it is one.
    pub fn read(record: &Record) -> Option<Call> {
        let [begin, took, bytes, last] = *record;
        (last >> 56 == Kind::Call as u64).then_some(Call {
            begin,
            took,
            bytes,
            entry: last as u16,
            function: (last >> 16) as u16,
            more: (last >> 32) as u32 & 0xff_ffff,
        })
    }
}

/// A message, or whatever else goes from one rank to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// What has become of it.
    pub kind: Kind,
    /// Its arrow; 0 if it has none.
    pub arrow: u64,
    /// Its bytes, or [`NO_BYTES`].
    pub bytes: u64,
    /// The other rank, in the world of the job, or [`NO_RANK`].
    pub rank: u32,
    /// Its tag.
    pub tag: i32,
}

impl Message {
    /// As a record.
    #[inline]
    pub fn record(self) -> Record {
        let whom = u64::from(self.rank) | u64::from(self.tag as u32) << 32;
        let kind = (self.kind as u64) << 56;
        [self.arrow, self.bytes, whom, kind]
    }

    /// That of a record, if it is one.
    pub fn read(record: &Record) -> Option<Message> {
        let [arrow, bytes, whom, last] = *record;
        let kind = match last >> 56 {
            2 => Kind::Sent,
            3 => Kind::Received,
            4 => Kind::Aimed,
            5 => Kind::Joined,
            6 => Kind::Ended,
            7 => Kind::Begun,
            8 => Kind::Polls,
            _ => return None,
        };
        Some(Message {
            kind,
            arrow,
            bytes,
            rank: whom as u32,
            tag: (whom >> 32) as i32,
        })
    }
}

/// Mixes numbers into one that differs if one of them does, as far as 64 bits can tell.
#[inline]
pub fn mixed(numbers: &[u64]) -> u64 {
    numbers.iter().fold(0x9e37_79b9_7f4a_7c15, |sum, number| {
        let sum = (sum ^ number).wrapping_mul(0xff51_afd7_ed55_8ccd);
        sum ^ sum >> 32
    })
}

/// The arrow of the message of that number, from 1 on, with the same key: [`key`].
#[inline]
pub fn arrow(key: u64, number: u64) -> u64 {
    mixed(&[key, number]).max(1)
}

/// What messages have in common whose order MPI keeps: communicator, both ranks in the world, and
/// tag.
#[inline]
pub fn key(communicator: u64, from: u32, to: u32, tag: i32) -> u64 {
    mixed(&[
        communicator,
        u64::from(from) << 32 | u64::from(to),
        tag as u64,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_survive_the_way() {
        let call = Call {
            begin: 1 << 60,
            took: 3,
            bytes: 5 << 40,
            entry: 1023,
            function: 512,
            more: 4096,
        };
        assert_eq!(Call::read(&call.record()), Some(call));
        assert_eq!(Message::read(&call.record()), None);
        for kind in [
            Kind::Sent,
            Kind::Received,
            Kind::Aimed,
            Kind::Joined,
            Kind::Ended,
            Kind::Begun,
            Kind::Polls,
        ] {
            let message = Message {
                kind,
                arrow: u64::MAX,
                bytes: NO_BYTES,
                rank: NO_RANK,
                tag: -1,
            };
            assert_eq!(Message::read(&message.record()), Some(message));
            assert_eq!(Call::read(&message.record()), None);
        }
    }

    #[test]
    fn both_ends_find_the_same_arrow() {
        let of = |from, to, tag, number| arrow(key(7, from, to, tag), number);
        assert_eq!(of(0, 1, 5, 1), of(0, 1, 5, 1));
        let others = [
            of(1, 0, 5, 1),
            of(0, 1, 4, 1),
            of(0, 1, 5, 2),
            arrow(key(8, 0, 1, 5), 1),
        ];
        assert!(!others.contains(&of(0, 1, 5, 1)));
    }
}
