use std::collections::HashMap;
use std::fs::File;
use std::mem::offset_of;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;

use catena_trace::{PROFILES_AT, STREAMS_END, StreamWriter};
use prost::Message as _;

use super::message::{Trace, TrackEvent, kind};
use super::*;
use crate::layout::{self, Entry, Front, Group, Place};
use crate::record::{Call, Kind, Message, NO_BYTES, NO_ENTRY, NO_RANK, NO_TAG, arrow, key};

/// The file of a node.
struct Node(File);

impl Node {
    fn new(threads: u64) -> Node {
        let fd = rustix::fs::memfd_create("node", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        let file = File::from(fd);
        file.set_len(STREAMS_END).unwrap();
        let node = Node(file);
        node.put(PROFILES_AT, &threads.to_ne_bytes());
        node
    }

    fn put(&self, at: u64, bytes: &[u8]) {
        self.0.write_all_at(bytes, at).unwrap();
    }

    fn put_u32(&self, thread: u64, at: usize, number: u32) {
        self.put(layout::at(thread) + at as u64, &number.to_ne_bytes());
    }

    /// A thread of a rank; entry 5 is `MPI_Send` at `a.c:7` on the world.
    fn thread(&self, number: u64, rank: u32, thread: u32) -> StreamWriter {
        let writer = StreamWriter::map(self.0.as_fd(), number).unwrap();
        for (at, value) in [
            (offset_of!(Front, rank), rank),
            (offset_of!(Front, thread), thread),
            (offset_of!(Front, has_rank), 1),
            (offset_of!(Front, is_streamed), 1),
            (offset_of!(Front, places), 1),
            (offset_of!(Front, groups), 1),
        ] {
            self.put_u32(number, at, value);
        }
        let entry = layout::ENTRIES_AT + 5 * size_of::<Entry>();
        let what = u32::from(function("MPI_Send"));
        self.put_u32(number, entry + offset_of!(Entry, what), what);
        let group = layout::GROUPS_AT + offset_of!(Group, kind);
        self.put_u32(number, group, layout::kind::COMM);
        let name = layout::at(number) + (layout::GROUPS_AT + offset_of!(Group, name)) as u64;
        self.put(name, b"world");
        self.put_u32(number, layout::GROUPS_AT + offset_of!(Group, name_len), 5);
        self.put_u32(number, layout::PLACES_AT + offset_of!(Place, frames), 1);
        let mark = layout::at(number) + offset_of!(Front, mark) as u64;
        self.put(mark, &layout::MARK.to_ne_bytes());
        writer
    }
}

fn function(name: &str) -> u16 {
    let names = catena_abi::table::names();
    names.iter().position(|it| *it == name).unwrap() as u16 + 1
}

fn call(name: &str, begin: u64, took: u64, more: u32) -> Call {
    Call {
        begin,
        took,
        bytes: NO_BYTES,
        entry: 5,
        function: function(name),
        more,
    }
}

fn message(kind: Kind, rank: u32, arrow: u64) -> Message {
    Message {
        kind,
        arrow,
        bytes: 8,
        rank,
        tag: 3,
    }
}

/// Ticks are three for a nanosecond, from 3000 on.
fn timeline(node: &Node, first: u32) -> NodeTimeline {
    let scale = Scale {
        ticks: 3000,
        ns: 1000,
        per_us: 3000.0,
    };
    let mut timeline = NodeTimeline::new(4, "h4", scale);
    timeline.add(node.0.try_clone().unwrap(), first);
    timeline
}

fn name(_: u32, _: &str, _: &[u64], _: &str) -> String {
    "a.c:7".into()
}

/// What a reader finds.
#[derive(Default)]
struct Read {
    /// Of each row, its parent and its name.
    rows: HashMap<u64, (u64, String)>,
    /// Row, time and event, in the order of the file.
    events: Vec<(u64, u64, TrackEvent)>,
    texts: HashMap<(u32, u64), String>,
}

impl Read {
    fn of(bytes: &[u8]) -> Read {
        let mut read = Read::default();
        let trace = Trace::decode(bytes).expect("a trace");
        for (i, packet) in trace.packet.iter().enumerate() {
            assert_eq!(packet.trusted_packet_sequence_id, Some(5));
            assert_eq!(packet.sequence_flags, Some(if i == 0 { 3 } else { 2 }));
            let new = packet.interned_data.clone().unwrap_or_default();
            let kinds = [
                new.event_names,
                new.debug_annotation_names,
                new.debug_annotation_string_values,
            ];
            for (kind, texts) in (0..).zip(kinds) {
                for text in texts {
                    read.texts
                        .insert((kind, text.iid.unwrap()), text.text.unwrap());
                }
            }
            if let Some(row) = &packet.track_descriptor {
                let name = row.name.clone();
                let process = row.process.as_ref().and_then(|it| it.process_name.clone());
                let thread = row.thread.as_ref().and_then(|it| it.thread_name.clone());
                let name = name.or(process).or(thread).unwrap();
                let parent = row.parent_uuid.unwrap_or(0);
                let before = read.rows.insert(row.uuid.unwrap(), (parent, name));
                assert!(before.is_none(), "a row that is told twice");
            }
            if let Some(event) = &packet.track_event {
                assert_eq!(packet.timestamp_clock_id, Some(NODE_CLOCK));
                let row = event.track_uuid.unwrap();
                assert!(read.rows.contains_key(&row));
                read.events
                    .push((row, packet.timestamp.unwrap(), event.clone()));
            }
        }
        read
    }

    /// Events of the row with that name: time, kind, and name or count.
    fn of_row(&self, name: &str) -> Vec<(u64, i32, String)> {
        let of_row = self.events.iter().filter(|it| self.rows[&it.0].1 == name);
        let told = of_row.map(|(_, at, event)| {
            let name = event.name_iid.map(|iid| self.texts[&(0, iid)].clone());
            let count = event.counter_value.map(|it| it.to_string());
            (*at, event.kind.unwrap(), name.or(count).unwrap_or_default())
        });
        told.collect()
    }

    /// The notes of the first event of the row with that name that has any.
    fn notes(&self, name: &str) -> Vec<String> {
        let mut of_row = self.events.iter().filter(|it| self.rows[&it.0].1 == name);
        let (.., event) = of_row
            .find(|it| !it.2.debug_annotations.is_empty())
            .unwrap();
        let note = event.debug_annotations.iter().map(|it| {
            let name = &self.texts[&(1, it.name_iid.unwrap())];
            let text = it.string_value_iid.map(|iid| self.texts[&(2, iid)].clone());
            let number = it.uint_value.map(|it| it.to_string());
            let signed = it.int_value.map(|it| it.to_string());
            let flag = it.bool_value.map(|it| it.to_string());
            format!("{name} {}", text.or(number).or(signed).or(flag).unwrap())
        });
        note.collect()
    }
}

#[test]
fn a_message_is_an_arrow_between_two_calls() {
    let node = Node::new(2);
    let (mut from, mut to) = (node.thread(0, 0, 0), node.thread(1, 1, 0));
    let arrow = arrow(key(7, 0, 1, 3), 1);
    from.push(&[
        call("MPI_Send", 6000, 300, 1).record(),
        message(Kind::Begun, 1, arrow).record(),
    ]);
    // The receiver was first, and its call ends behind the beginning of the other one.
    to.push(&[
        call("MPI_Recv", 3600, 3000, 1).record(),
        message(Kind::Received, 0, arrow).record(),
    ]);
    let mut bytes = Vec::new();
    let mut timeline = timeline(&node, 0);
    timeline.take(9000, &mut name, &mut bytes);
    let read = Read::of(&bytes);
    assert_eq!(
        read.of_row("rank 0"),
        [
            (2000, kind::BEGIN, "MPI_Send".into()),
            (2100, kind::END, String::new())
        ]
    );
    assert_eq!(
        read.of_row("rank 1")[0],
        (1200, kind::BEGIN, "MPI_Recv".into())
    );
    assert_eq!(
        read.notes("rank 1"),
        [
            "rank 0",
            "tag 3",
            "bytes 8",
            "communicator world",
            "call site a.c:7"
        ]
    );
    let ends: Vec<_> = read.events.iter().flat_map(|it| &it.2.flow_ids).collect();
    assert_eq!((ends.len(), ends[0]), (2, ends[1]));
    let with_ends = read.events.iter().filter(|it| !it.2.flow_ids.is_empty());
    let moments: Vec<_> = with_ends.map(|it| (it.1, it.2.kind)).collect();
    assert_eq!(
        moments,
        [(2000, Some(kind::BEGIN)), (2200, Some(kind::INSTANT))],
        "from the beginning of one to the end of the other"
    );
    // The rank is a process, and the thread is one of it.
    let of = |name: &str| read.rows.iter().find(|it| it.1.1 == name).unwrap();
    assert_eq!(of("rank 1").1.0, *of("rank 1 on h4").0);
    assert_eq!(timeline.written().slices, 2);
    // 8 bytes in 2 us are told as those of the time before.
    assert_eq!(
        read.of_row("bytes of sends under way"),
        [(3000, kind::COUNTER, "8".into())]
    );
}

#[test]
fn what_was_sent_at_once_is_not_under_way() {
    let node = Node::new(2);
    let (mut thread, mut other) = (node.thread(0, 0, 0), node.thread(1, 1, 0));
    thread.push(&[
        call("MPI_Send", 6000, 300, 1).record(),
        message(Kind::Sent, 1, 0).record(),
    ]);
    let polls = Message {
        bytes: 500,
        rank: NO_RANK,
        tag: NO_TAG,
        ..message(Kind::Polls, 0, 0)
    };
    other.push(&[call("MPI_Test", 6600, 300, 1).record(), polls.record()]);
    let mut bytes = Vec::new();
    let mut timeline = timeline(&node, 0);
    timeline.take(9000, &mut name, &mut bytes);
    let read = Read::of(&bytes);
    assert!(read.of_row("bytes of sends under way").is_empty());
    let written = timeline.written();
    assert_eq!((written.slices, written.unmatched), (2, 1));
    let notes = read.notes("rank 1");
    assert!(
        notes.contains(&"calls that saw nothing 500".into()),
        "{notes:?}"
    );
}

#[test]
fn arrows_of_two_jobs_are_different() {
    let of = |first| {
        let node = Node::new(1);
        let mut thread = node.thread(0, 0, 0);
        let joined = Message {
            rank: NO_RANK,
            tag: NO_TAG,
            ..message(Kind::Joined, 0, 99)
        };
        thread.push(&[call("MPI_Barrier", 6000, 300, 1).record(), joined.record()]);
        let mut bytes = Vec::new();
        timeline(&node, first).take(9000, &mut name, &mut bytes);
        let read = Read::of(&bytes);
        let begin = &read.events[0].2;
        (begin.flow_ids.clone(), read.notes(&format!("rank {first}")))
    };
    let (world, other) = (of(0), of(2));
    assert_eq!(world.0.len(), 1);
    assert_ne!(world.0, other.0);
    assert_eq!(world.1, ["communicator world", "call site a.c:7"]);
}

#[test]
fn slices_of_a_thread_never_overlap() {
    let node = Node::new(1);
    let mut thread = node.thread(0, 3, 1);
    // The second one begins before the first one has ended, as clocks do not do.
    for (begin, took) in [(6000, 600), (6300, 30), (9000, u64::MAX)] {
        thread.push(&[call("MPI_Barrier", begin, took, 0).record()]);
    }
    let mut bytes = Vec::new();
    let mut timeline = timeline(&node, 0);
    timeline.take(9000, &mut name, &mut bytes);
    let read = Read::of(&bytes);
    let row = read.of_row("rank 3, thread 1");
    assert_eq!(row.len(), 6);
    for (i, pair) in row.windows(2).enumerate() {
        assert!(pair[0].0 <= pair[1].0, "{row:?}");
        let kinds = [kind::BEGIN, kind::END];
        assert_eq!((pair[0].1, pair[1].1), (kinds[i % 2], kinds[(i + 1) % 2]));
    }
}

#[test]
fn calls_that_are_missing_are_told() {
    let node = Node::new(1);
    let mut thread = node.thread(0, 0, 0);
    let record = Call {
        entry: NO_ENTRY,
        ..call("MPI_Init", 6000, 3, 0)
    };
    let all = catena_trace::RECORDS + 10;
    let written = (0..all).filter(|_| thread.push(&[record.record()])).count();
    let mut bytes = Vec::new();
    let mut timeline = timeline(&node, 0);
    timeline.take(9000, &mut name, &mut bytes);
    let told = timeline.written();
    assert_eq!((told.slices, told.lost), (written as u64, 10));
    let read = Read::of(&bytes);
    let last = read.of_row("rank 0").last().cloned().unwrap();
    assert_eq!(
        (last.1, last.2.as_str()),
        (kind::INSTANT, "calls are missing")
    );
    assert_eq!(read.notes("rank 0"), ["missing 10"]);
}

#[test]
fn a_call_that_has_not_returned_begins_and_does_not_end() {
    let node = Node::new(1);
    node.thread(0, 0, 0);
    node.put_u32(0, offset_of!(Front, open), 6);
    let since = layout::at(0) + offset_of!(Front, since) as u64;
    node.put(since, &6000_u64.to_ne_bytes());
    let mut bytes = Vec::new();
    let mut timeline = timeline(&node, 0);
    timeline.close(Some(7), 9000, &mut name, &mut bytes);
    assert_eq!(timeline.written().slices, 0, "another job");
    timeline.close(None, 9000, &mut name, &mut bytes);
    let read = Read::of(&bytes);
    assert_eq!(
        read.of_row("rank 0"),
        [(2000, kind::BEGIN, "MPI_Send".into())]
    );
    assert_eq!(read.notes("rank 0")[0], "had not returned true");
}

#[test]
fn whatever_stands_in_a_ring_is_read() {
    let node = Node::new(2);
    let mut thread = node.thread(0, 0, 0);
    // The second one has no ring that anything is known of.
    thread.push(&[[u64::MAX; 4], [0; 4], [1, 2, 3, 1 << 56 | 0xff_ffff << 32]]);
    thread.push(&[call("MPI_Send", u64::MAX, u64::MAX, 3).record(), [7; 4]]);
    let mut bytes = Vec::new();
    let mut timeline = timeline(&node, u32::MAX);
    timeline.take(9000, &mut name, &mut bytes);
    timeline.close(None, 0, &mut name, &mut bytes);
    assert!(timeline.written().slices > 0);
    Read::of(&bytes);
}

#[test]
fn packets_are_told_whole() {
    let mut bytes = Vec::new();
    for size in [3, 200, 1] {
        let track = message::TrackDescriptor {
            name: Some("x".repeat(size)),
            ..Default::default()
        };
        let packet = message::TracePacket {
            track_descriptor: Some(track),
            ..Default::default()
        };
        message::append(&packet, &mut bytes);
    }
    let first = whole_packets(&bytes, 1);
    let two = whole_packets(&bytes, bytes.len() - 1);
    assert!(first < two && two < bytes.len());
    assert_eq!(whole_packets(&bytes, bytes.len()), bytes.len());
    for (part, count) in [(&bytes[..first], 1), (&bytes[..two], 2), (&bytes[two..], 1)] {
        assert_eq!(Trace::decode(part).unwrap().packet.len(), count);
    }
    assert_eq!(whole_packets(&[], 5), 0);
    assert_eq!(whole_packets(&bytes[..first - 1], 500), 0, "torn");
}
