//! Packets of one node, one after another, as bytes: texts are written once and have numbers then.

use std::collections::HashMap;

use prost::Message;

use super::message::{
    CounterDescriptor, DebugAnnotation, Interned, InternedData, ProcessDescriptor,
    ThreadDescriptor, TracePacket, TrackDescriptor, TrackEvent, flags, kind,
};

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

/// All of them, and how they are called.
const NOTES: [(Note, &str); 13] = [
    (Note::Peer, "rank"),
    (Note::Tag, "tag"),
    (Note::Bytes, "bytes"),
    (Note::Communicator, "communicator"),
    (Note::Place, "call site"),
    (Note::Received, "messages received"),
    (Note::Sent, "messages sent"),
    (Note::NeverReturned, "had not returned"),
    (Note::Missing, "missing"),
    (Note::Source, "source"),
    (Note::Window, "window"),
    (Note::File, "file"),
    (Note::Polls, "calls that saw nothing"),
];

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

/// The packets of a node.
#[derive(Debug)]
pub struct Packets {
    /// The number of the sequence.
    sequence: u32,
    /// Whether any was written.
    has_begun: bool,
    names: HashMap<String, u64>,
    texts: HashMap<String, u64>,
    /// What is to be written before its numbers are used.
    new: InternedData,
    /// What is being written; kept for its memory.
    packet: TracePacket,
}

impl Packets {
    /// The packets of node number `node`.
    pub fn new(node: u32) -> Packets {
        let note = |(note, name): (Note, &str)| Interned {
            iid: Some(note as u64),
            text: Some(name.into()),
        };
        Packets {
            sequence: node.wrapping_add(1),
            has_begun: false,
            names: HashMap::new(),
            texts: HashMap::new(),
            new: InternedData {
                debug_annotation_names: NOTES.into_iter().map(note).collect(),
                ..InternedData::default()
            },
            packet: TracePacket::default(),
        }
    }

    /// The number of the name of an event.
    pub fn name(&mut self, name: &str) -> u64 {
        number(&mut self.names, &mut self.new.event_names, name)
    }

    /// The number of another text.
    pub fn text(&mut self, text: &str) -> u64 {
        let new = &mut self.new.debug_annotation_string_values;
        number(&mut self.texts, new, text)
    }

    /// A process.
    pub fn process(
        &mut self,
        uuid: u64,
        pid: i32,
        name: String,
        labels: &[String],
        to: &mut Vec<u8>,
    ) {
        self.describe(
            TrackDescriptor {
                uuid: Some(uuid),
                process: Some(ProcessDescriptor {
                    pid: Some(pid),
                    process_name: Some(name),
                    process_labels: labels.to_vec(),
                }),
                ..TrackDescriptor::default()
            },
            to,
        );
    }

    /// A thread of a process.
    pub fn thread(
        &mut self,
        (uuid, parent): (u64, u64),
        (pid, tid): (i32, i32),
        name: String,
        to: &mut Vec<u8>,
    ) {
        self.describe(
            TrackDescriptor {
                uuid: Some(uuid),
                parent_uuid: Some(parent),
                thread: Some(ThreadDescriptor {
                    pid: Some(pid),
                    tid: Some(tid),
                    thread_name: Some(name),
                }),
                ..TrackDescriptor::default()
            },
            to,
        );
    }

    /// A number of a process.
    pub fn counter(
        &mut self,
        (uuid, parent): (u64, u64),
        name: &str,
        unit: &str,
        to: &mut Vec<u8>,
    ) {
        self.describe(
            TrackDescriptor {
                uuid: Some(uuid),
                name: Some(name.into()),
                parent_uuid: Some(parent),
                counter: Some(CounterDescriptor {
                    unit_name: Some(unit.into()),
                }),
                ..TrackDescriptor::default()
            },
            to,
        );
    }

    fn describe(&mut self, track: TrackDescriptor, to: &mut Vec<u8>) {
        self.packet.track_descriptor = Some(track);
        self.write(None, to);
        self.packet.track_descriptor = None;
    }

    /// A slice begins; `arrows` lead to it and from it.
    pub fn begin(
        &mut self,
        (track, at): (u64, u64),
        name: u64,
        notes: &[(Note, Value)],
        arrows: &[u64],
        to: &mut Vec<u8>,
    ) {
        self.named(kind::BEGIN, (track, at), name, notes, arrows, to);
    }

    /// A slice ends.
    pub fn end(&mut self, (track, at): (u64, u64), to: &mut Vec<u8>) {
        self.event(track, kind::END);
        self.write(Some(at), to);
    }

    /// Something that takes no time; `arrows` lead to it.
    pub fn instant(
        &mut self,
        (track, at): (u64, u64),
        name: u64,
        notes: &[(Note, Value)],
        arrows: &[u64],
        to: &mut Vec<u8>,
    ) {
        self.named(kind::INSTANT, (track, at), name, notes, arrows, to);
    }

    fn named(
        &mut self,
        kind: i32,
        (track, at): (u64, u64),
        name: u64,
        notes: &[(Note, Value)],
        arrows: &[u64],
        to: &mut Vec<u8>,
    ) {
        let event = self.event(track, kind);
        event.name_iid = Some(name);
        event.flow_ids.extend_from_slice(arrows);
        event.debug_annotations.extend(notes.iter().map(annotation));
        self.write(Some(at), to);
    }

    /// A number has that value from now on.
    pub fn count(&mut self, (track, at): (u64, u64), value: i64, to: &mut Vec<u8>) {
        self.event(track, kind::COUNTER).counter_value = Some(value);
        self.write(Some(at), to);
    }

    /// An event without anything.
    fn event(&mut self, track: u64, kind: i32) -> &mut TrackEvent {
        let event = self.packet.track_event.get_or_insert_default();
        event.debug_annotations.clear();
        event.flow_ids.clear();
        event.name_iid = None;
        event.counter_value = None;
        event.track_uuid = Some(track);
        event.kind = Some(kind);
        event
    }

    fn write(&mut self, at: Option<u64>, to: &mut Vec<u8>) {
        let packet = &mut self.packet;
        packet.timestamp = at;
        packet.timestamp_clock_id = at.map(|_| NODE_CLOCK);
        packet.trusted_packet_sequence_id = Some(self.sequence);
        packet.sequence_flags = Some(match self.has_begun {
            true => flags::NEEDED,
            false => flags::CLEARED | flags::NEEDED,
        });
        self.has_begun = true;
        let is_new = |all: &Vec<Interned>| !all.is_empty();
        let new = &mut self.new;
        let is_any = is_new(&new.event_names)
            || is_new(&new.debug_annotation_names)
            || is_new(&new.debug_annotation_string_values);
        packet.interned_data = is_any.then(|| std::mem::take(new));
        let event = match packet.track_descriptor.is_some() {
            true => packet.track_event.take(),
            false => None,
        };
        append(packet, to);
        if event.is_some() {
            packet.track_event = event;
        }
    }
}

/// How many bytes the first packets have together, as many of them as do not have more than `most`;
/// at least one, if there is any.
pub fn whole_packets(bytes: &[u8], most: usize) -> usize {
    let mut at = 0;
    while at < bytes.len() {
        // Behind the byte of the field.
        let mut rest = bytes.get(at + 1..).unwrap_or_default();
        let before = rest.len();
        let Ok(len) = prost::decode_length_delimiter(&mut rest) else {
            return bytes.len();
        };
        let end = at + 1 + (before - rest.len()) + len;
        if end > most && at > 0 || end > bytes.len() {
            break;
        }
        at = end;
    }
    at
}

/// Adds a packet to a file's bytes.
pub fn append(packet: &TracePacket, to: &mut Vec<u8>) {
    // The field of a `Trace`, and how long it is.
    const FIELD: u8 = 1 << 3 | 2;
    to.push(FIELD);
    let written = packet.encode_length_delimited(to);
    written.expect("memory grows as it has to");
}

fn number(known: &mut HashMap<String, u64>, new: &mut Vec<Interned>, text: &str) -> u64 {
    if let Some(number) = known.get(text) {
        return *number;
    }
    let number = known.len() as u64 + 1;
    known.insert(text.to_string(), number);
    new.push(Interned {
        iid: Some(number),
        text: Some(text.to_string()),
    });
    number
}

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
