//! Events as bytes, in the format that `message` describes. There are several for each call, so
//! they are written without going through its types.

/// The clock in which nodes tell times: each sequence of packets has one of its own by that number.
pub const NODE_CLOCK: u32 = 64;

/// What is told of a slice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Note {
    /// The other rank of a message.
    Peer = 1,
    /// A tag.
    Tag = 2,
    /// Bytes.
    Bytes = 3,
    /// A communicator.
    Communicator = 4,
    /// The place in the program.
    Place = 5,
    /// How many messages a call for several has received.
    Received = 6,
    /// How many messages a call has begun to send.
    Sent = 7,
    /// That a call had not returned when the job was over.
    NeverReturned = 8,
    /// How many calls are missing.
    Missing = 9,
    /// The other rank of what is received, where the call sends as well.
    Source = 10,
    /// A window.
    Window = 11,
    /// A file.
    File = 12,
    /// How many calls a slice stands for that have seen nothing.
    Polls = 13,
}

/// A value of a note.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    /// A number.
    Number(u64),
    /// A number with a sign.
    Signed(i64),
    /// The number of a text: see [`Packets::text`].
    Text(u64),
    /// That it is so.
    Yes,
}

/// Something that happens on a row.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// See `message::kind`.
    pub kind: i32,
    /// The number of its row.
    pub track: u64,
    /// The number of its name.
    pub name: Option<u64>,
    /// What is told of it besides.
    pub notes: &'a [(Note, Value)],
    /// Arrows that lead to it or from it.
    pub arrows: &'a [u64],
    /// The value of a counter.
    pub value: Option<i64>,
}

/// How a field lies in a message: a number, eight bytes, or bytes behind their number.
const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const BYTES: u64 = 2;

/// A number of any size, the lowest seven bits first.
#[inline]
fn varint(mut number: u64, to: &mut Vec<u8>) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

/// How many bytes that takes.
#[inline]
fn varint_len(number: u64) -> usize {
    (64 - (number | 1).leading_zeros() as usize).div_ceil(7)
}

/// A field that is a number.
#[inline]
fn field(tag: u64, number: u64, to: &mut Vec<u8>) {
    varint(tag << 3 | VARINT, to);
    varint(number, to);
}

impl<'a> Event<'a> {
    /// One without anything.
    pub fn new(track: u64, kind: i32) -> Event<'a> {
        Event {
            kind,
            track,
            name: None,
            notes: &[],
            arrows: &[],
            value: None,
        }
    }

    /// Adds its bytes, a `TrackEvent`.
    pub fn write(&self, to: &mut Vec<u8>) {
        for (note, value) in self.notes {
            let (tag, number) = match *value {
                Value::Yes => (2, 1),
                Value::Number(number) => (3, number),
                Value::Signed(number) => (4, number as u64),
                Value::Text(text) => (17, text),
            };
            varint(4 << 3 | BYTES, to);
            // Each part of it takes a byte, but for this field and its number.
            let len = 2 + varint_len(tag << 3) + varint_len(number);
            to.push(len as u8);
            field(1, *note as u64, to);
            field(tag, number, to);
        }
        field(9, self.kind as u64, to);
        if let Some(name) = self.name {
            field(10, name, to);
        }
        field(11, self.track, to);
        if let Some(value) = self.value {
            field(30, value as u64, to);
        }
        for arrow in self.arrows {
            varint(47 << 3 | FIXED64, to);
            to.extend_from_slice(&arrow.to_le_bytes());
        }
    }
}

/// Adds a packet of a sequence with an event at a moment of the node's clock; it uses numbers of
/// texts that were written.
pub fn packet(sequence: u32, at: u64, event: &[u8], to: &mut Vec<u8>) {
    const CLOCK: u64 = 58;
    let (sequence, clock) = (u64::from(sequence), u64::from(NODE_CLOCK));
    let numbers = [at, sequence, event.len() as u64, clock].map(varint_len);
    // A byte for each field but that of the clock, and one for the flags.
    let len = 4 + varint_len(CLOCK << 3) + 1 + numbers.iter().sum::<usize>() + event.len();
    to.reserve(len + 4);
    varint(1 << 3 | BYTES, to);
    varint(len as u64, to);
    field(8, at, to);
    field(10, sequence, to);
    varint(11 << 3 | BYTES, to);
    varint(event.len() as u64, to);
    to.extend_from_slice(event);
    field(13, super::message::flags::NEEDED.into(), to);
    field(CLOCK, clock, to);
}

#[cfg(test)]
mod tests {
    use super::super::message::{DebugAnnotation, TracePacket, TrackEvent, append, flags, kind};
    use super::*;

    fn annotation((note, value): &(Note, Value)) -> DebugAnnotation {
        let mut annotation = DebugAnnotation {
            name_iid: Some(*note as u64),
            ..DebugAnnotation::default()
        };
        match *value {
            Value::Number(number) => annotation.uint_value = Some(number),
            Value::Signed(number) => annotation.int_value = Some(number),
            Value::Text(text) => annotation.string_value_iid = Some(text),
            Value::Yes => annotation.bool_value = Some(true),
        }
        annotation
    }

    /// The packet with an event, by the types of the format.
    fn typed(sequence: u32, at: u64, event: &Event<'_>) -> Vec<u8> {
        let packet = TracePacket {
            timestamp: Some(at),
            timestamp_clock_id: Some(NODE_CLOCK),
            trusted_packet_sequence_id: Some(sequence),
            sequence_flags: Some(flags::NEEDED),
            track_event: Some(TrackEvent {
                debug_annotations: event.notes.iter().map(annotation).collect(),
                kind: Some(event.kind),
                name_iid: event.name,
                track_uuid: Some(event.track),
                counter_value: event.value,
                flow_ids: event.arrows.to_vec(),
            }),
            ..TracePacket::default()
        };
        let mut bytes = Vec::new();
        append(&packet, &mut bytes);
        bytes
    }

    #[test]
    fn events_are_written_as_by_the_types_of_the_format() {
        let numbers = (0..64).flat_map(|bit| [1_u64 << bit, (1_u64 << bit) - 1]);
        for number in numbers.chain([0, u64::MAX]) {
            let notes = [
                (Note::Peer, Value::Number(number)),
                (Note::Tag, Value::Signed(number as i64)),
                (Note::Place, Value::Text(number)),
                (Note::NeverReturned, Value::Yes),
                (Note::Polls, Value::Number(number)),
            ];
            let arrows = [number; 12];
            let named = Event {
                name: Some(number),
                notes: &notes,
                arrows: &arrows,
                ..Event::new(number, kind::BEGIN)
            };
            let counted = Event {
                value: Some(number as i64),
                ..Event::new(number, kind::COUNTER)
            };
            for event in [named, counted, Event::new(number, kind::END)] {
                let (mut body, mut bytes) = (Vec::new(), Vec::new());
                event.write(&mut body);
                packet(number as u32, number, &body, &mut bytes);
                assert_eq!(bytes, typed(number as u32, number, &event), "{event:?}");
            }
        }
    }
}
