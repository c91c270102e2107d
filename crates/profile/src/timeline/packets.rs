//! Packets of one node, one after another, as bytes: texts are written once and have numbers then.

use std::collections::HashMap;

use super::event::{Event, Note, Value, packet};
use super::message::{
    CounterDescriptor, Interned, InternedData, ProcessDescriptor, ThreadDescriptor, TracePacket,
    TrackDescriptor, append, flags, kind,
};

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
    /// An event that is being written; kept for its memory.
    event: Vec<u8>,
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
            event: Vec::new(),
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
        let packet = TracePacket {
            track_descriptor: Some(track),
            ..self.packet()
        };
        append(&packet, to);
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
        let name = Some(name);
        let event = Event {
            name,
            notes,
            arrows,
            ..Event::new(track, kind::BEGIN)
        };
        self.write(&event, at, to);
    }

    /// A slice ends.
    pub fn end(&mut self, (track, at): (u64, u64), to: &mut Vec<u8>) {
        self.write(&Event::new(track, kind::END), at, to);
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
        let name = Some(name);
        let event = Event {
            name,
            notes,
            arrows,
            ..Event::new(track, kind::INSTANT)
        };
        self.write(&event, at, to);
    }

    /// A number has that value from now on.
    pub fn count(&mut self, (track, at): (u64, u64), value: i64, to: &mut Vec<u8>) {
        let event = Event {
            value: Some(value),
            ..Event::new(track, kind::COUNTER)
        };
        self.write(&event, at, to);
    }

    fn write(&mut self, event: &Event<'_>, at: u64, to: &mut Vec<u8>) {
        // Texts are new once in a while.
        if !self.has_begun || self.has_new() {
            append(&self.packet(), to);
        }
        self.event.clear();
        event.write(&mut self.event);
        packet(self.sequence, at, &self.event, to);
    }

    /// A packet with texts that are new, if there are any.
    fn packet(&mut self) -> TracePacket {
        let flags = match self.has_begun {
            true => flags::NEEDED,
            false => flags::CLEARED | flags::NEEDED,
        };
        self.has_begun = true;
        TracePacket {
            trusted_packet_sequence_id: Some(self.sequence),
            sequence_flags: Some(flags),
            interned_data: self.has_new().then(|| std::mem::take(&mut self.new)),
            ..TracePacket::default()
        }
    }

    fn has_new(&self) -> bool {
        let new = &self.new;
        !(new.event_names.is_empty()
            && new.debug_annotation_names.is_empty()
            && new.debug_annotation_string_values.is_empty())
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
