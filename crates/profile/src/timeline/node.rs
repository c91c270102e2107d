//! The calls of the threads of a node, taken from their rings and written as packets.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;

use catena_trace::{Record, StreamReader};

use super::event::{Note, Value};
use super::packets::Packets;
use crate::layout;
use crate::record::{Call, Kind, Message, NO_BYTES, NO_RANK, NO_TAG, mixed};
use crate::sheet::GroupKind;
use crate::sums::label;
use crate::table::{Name, Table, tables_asked};

/// Ticks of a node's processes as nanoseconds of one clock.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// A moment, in ticks.
    pub ticks: u64,
    /// That moment, in nanoseconds.
    pub ns: u64,
    /// Ticks per microsecond.
    pub per_us: f64,
}

impl Scale {
    /// A moment in nanoseconds, which may be before that of the scale.
    pub fn ns(&self, ticks: u64) -> u64 {
        let since = ticks.wrapping_sub(self.ticks) as i64;
        self.ns.saturating_add_signed(self.span(since))
    }

    fn span(&self, ticks: i64) -> i64 {
        (ticks as f64 / self.per_us * 1e3) as i64
    }
}

/// How much was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Slices.
    pub slices: u64,
    /// Calls that had no room in the ring of their thread.
    pub lost: u64,
    /// Threads that have called.
    pub threads: u64,
    /// Messages whose arrow is not known.
    pub unmatched: u64,
    /// Threads whose calls had no room at all.
    pub left_out: u64,
}

/// The calls of the threads of a node.
pub struct NodeTimeline {
    host: String,
    scale: Scale,
    packets: Packets,
    files: Vec<NodeFile>,
    functions: Vec<&'static str>,
    /// The numbers of their names, as far as these were written; 0 before.
    names: Vec<u64>,
    /// The number of what marks messages that were received; 0 before.
    received: u64,
    ranks: Vec<Rank>,
    /// Their places there.
    known: HashMap<u32, usize>,
    written: Written,
    /// What was taken from a ring; kept for its memory.
    records: Vec<Record>,
    /// A copy of a table; kept for its memory.
    table: Vec<u8>,
    /// What is told of a call, and the arrows from it and to it; kept for their memory.
    told: Told,
    /// When rings were looked at last, nanoseconds.
    looked: u64,
}

/// What is told of a call.
#[derive(Default)]
struct Told {
    notes: Vec<(Note, Value)>,
    arrows: Vec<u64>,
    /// They lead to where the call learnt of the message: a picture draws them forward in time.
    incoming: Vec<u64>,
}

/// The file that the processes of a job share on a node.
struct NodeFile {
    file: File,
    /// The number of the job's rank 0, as the launcher counts processes.
    first: u32,
    threads: Vec<Option<Thread>>,
    /// Threads that had no room.
    left_out: u64,
}

/// A thread.
struct Thread {
    number: u64,
    reader: StreamReader,
    /// The place of its rank among those that are known.
    rank: usize,
    track: u64,
    /// When its last slice ended, nanoseconds.
    last: u64,
    lost: u64,
    /// By their numbers, as far as they are known.
    entries: Vec<Option<Entry>>,
}

/// What is known of an entry: numbers of texts.
#[derive(Clone, Copy, Default)]
struct Entry {
    place: Option<u64>,
    on: Option<(Note, u64)>,
}

/// Sums of a rank.
struct Rank {
    rate: u64,
    under_way: u64,
    /// Bytes since rings were looked at last.
    bytes: u64,
    /// What both counters have shown last.
    shown: (i64, i64),
    /// Bytes of messages that are under way.
    open: u64,
}

/// The threads of a rank are numbered from 0 to one less than this.
const THREADS: u32 = 1 << 14;

impl Told {
    fn clear(&mut self) {
        self.notes.clear();
        self.arrows.clear();
        self.incoming.clear();
    }
}

impl NodeTimeline {
    /// The timeline of node number `node`, on a host.
    pub fn new(node: u32, host: &str, scale: Scale) -> NodeTimeline {
        NodeTimeline {
            host: host.to_string(),
            scale,
            packets: Packets::new(node),
            files: Vec::new(),
            names: vec![0; catena_abi::table::names().len()],
            received: 0,
            functions: catena_abi::table::names(),
            ranks: Vec::new(),
            known: HashMap::new(),
            written: Written::default(),
            records: Vec::new(),
            table: vec![0; layout::TABLE],
            told: Told::default(),
            looked: scale.ns,
        }
    }

    /// The ranks of a job, which share a file; `first` is the number of its rank 0, as the launcher
    /// counts processes.
    pub fn add(&mut self, file: File, first: u32) {
        self.files.push(NodeFile {
            file,
            first,
            threads: Vec::new(),
            left_out: 0,
        });
    }

    /// Moments from now on are told by that scale.
    pub fn set_scale(&mut self, scale: Scale) {
        self.scale = scale;
    }

    /// How much was written so far.
    pub fn written(&self) -> Written {
        self.written
    }

    /// Adds all that threads have written since the last time to `to`; `now` is in ticks. Gives how
    /// full the fullest ring was, records. A ring that cannot be read is left out.
    pub fn take(&mut self, now: u64, name: &mut Name<'_>, to: &mut Vec<u8>) -> usize {
        let mut most = 0;
        let mut files = std::mem::take(&mut self.files);
        for file in &mut files {
            let asked = tables_asked(&file.file).unwrap_or_default();
            let count = asked.min(layout::TABLES) as usize;
            let left_out = asked.saturating_sub(layout::TABLES);
            let more = left_out.saturating_sub(file.left_out);
            self.written.left_out = self.written.left_out.saturating_add(more);
            file.left_out = left_out;
            file.threads
                .resize_with(count.max(file.threads.len()), || None);
            for number in 0..file.threads.len() {
                if file.threads[number].is_none() {
                    file.threads[number] = self.find(file, number as u64, to);
                }
                let NodeFile {
                    file,
                    first,
                    threads,
                    ..
                } = file;
                if let Some(thread) = &mut threads[number] {
                    most = most.max(self.take_thread(file, *first, thread, name, to));
                }
            }
        }
        self.files = files;
        self.count(now, to);
        most
    }

    /// Takes what is left of a job, or of all of them, and writes which calls have not returned.
    pub fn close(&mut self, first: Option<u32>, now: u64, name: &mut Name<'_>, to: &mut Vec<u8>) {
        self.take(now, name, to);
        let is_over = |it: &NodeFile| first.is_none_or(|first| it.first == first);
        let (over, others) = std::mem::take(&mut self.files)
            .into_iter()
            .partition::<Vec<_>, _>(is_over);
        self.files = others;
        for mut file in over {
            for thread in file.threads.iter_mut().flatten() {
                self.write_open(&file.file, file.first, thread, name, to);
            }
        }
    }

    /// The thread whose table has that number, once it writes a ring.
    fn find(&mut self, of: &NodeFile, number: u64, to: &mut Vec<u8>) -> Option<Thread> {
        // What tells that lies at its beginning.
        let head = &mut self.table[..layout::FRONT];
        of.file.read_exact_at(head, layout::at(number)).ok()?;
        let (rank, thread, pid) = Table(&self.table).writer()?;
        let reader = StreamReader::map(&of.file, number).ok()?;
        let rank = of.first.saturating_add(rank);
        let at = self.write_rank(rank, pid, to);
        let process = uuid(1, rank, 0);
        let track = uuid(2, rank, mixed(&[of.first.into(), number]));
        let (shown, of_thread) = shown(rank, thread);
        let name = match thread {
            0 => format!("rank {rank}"),
            _ => format!("rank {rank}, thread {thread}"),
        };
        self.packets
            .thread((track, process), (shown, of_thread), name, to);
        self.written.threads += 1;
        Some(Thread {
            number,
            reader,
            rank: at,
            track,
            last: 0,
            lost: 0,
            entries: vec![None; layout::ENTRIES],
        })
    }

    /// Writes who a rank is, unless that is known: its place.
    fn write_rank(&mut self, rank: u32, pid: u32, to: &mut Vec<u8>) -> usize {
        if let Some(at) = self.known.get(&rank) {
            return *at;
        }
        let track = uuid(1, rank, 0);
        let (rate, under_way) = (uuid(3, rank, 1), uuid(3, rank, 2));
        let labels = [format!("host {}", self.host), format!("process {pid}")];
        let name = format!("rank {rank} on {}", self.host);
        self.packets
            .process(track, shown(rank, 0).0, name, &labels, to);
        self.packets
            .counter((rate, track), "bytes given to MPI", "B/s", to);
        let name = "bytes of sends under way";
        self.packets.counter((under_way, track), name, "B", to);
        self.known.insert(rank, self.ranks.len());
        self.ranks.push(Rank {
            rate,
            under_way,
            bytes: 0,
            shown: (0, 0),
            open: 0,
        });
        self.ranks.len() - 1
    }

    fn take_thread(
        &mut self,
        file: &File,
        first: u32,
        thread: &mut Thread,
        name: &mut Name<'_>,
        to: &mut Vec<u8>,
    ) -> usize {
        let mut records = std::mem::take(&mut self.records);
        records.clear();
        let taken = thread.reader.take(&mut records);
        let mut rest = &records[..];
        let mut is_read = false;
        while let Some((record, more)) = rest.split_first() {
            rest = more;
            // What stands alone was written by nobody who means well.
            let Some(call) = Call::read(record) else {
                continue;
            };
            let (messages, more) = rest.split_at((call.more as usize).min(rest.len()));
            rest = more;
            let is_new = |it: &Option<Entry>| it.is_none();
            if thread
                .entries
                .get(usize::from(call.entry))
                .is_some_and(is_new)
            {
                if !is_read {
                    let read = file.read_exact_at(&mut self.table, layout::at(thread.number));
                    is_read = read.is_ok();
                }
                let entry = self.entry(call.entry, first, name);
                thread.entries[usize::from(call.entry)] = Some(entry);
            }
            self.write_call(thread, first, &call, messages, to);
        }
        self.records = records;
        let lost = thread.reader.lost();
        if lost != thread.lost {
            let missing = lost.wrapping_sub(thread.lost);
            self.written.lost = self.written.lost.saturating_add(missing);
            thread.lost = lost;
            let name = self.packets.name("calls are missing");
            let notes = [(Note::Missing, Value::Number(missing))];
            let at = (thread.track, thread.last);
            self.packets.instant(at, name, &notes, &[], to);
        }
        taken
    }

    /// What an entry is about, of the table that was read last.
    fn entry(&mut self, entry: u16, first: u32, name: &mut Name<'_>) -> Entry {
        let (place, group) = Table(&self.table).about(entry.into(), first, name);
        let place = (!place.is_empty()).then(|| self.packets.text(&place));
        let on = group.map(|group| {
            let note = match group.kind {
                GroupKind::Comm => Note::Communicator,
                GroupKind::Win => Note::Window,
                GroupKind::File => Note::File,
            };
            (note, self.packets.text(&label(&group)))
        });
        Entry { place, on }
    }

    fn write_call(
        &mut self,
        thread: &mut Thread,
        first: u32,
        call: &Call,
        records: &[Record],
        to: &mut Vec<u8>,
    ) {
        let begin = self.scale.ns(call.begin).max(thread.last);
        let end = self
            .scale
            .ns(call.begin.saturating_add(call.took))
            .max(begin);
        thread.last = end;
        let messages = || records.iter().filter_map(Message::read);
        let mut told = std::mem::take(&mut self.told);
        told.clear();
        let Told {
            notes,
            arrows,
            incoming,
        } = &mut told;
        let (mut sent, mut received) = (0, 0);
        let mut bytes = call.bytes;
        let rank = &mut self.ranks[thread.rank];
        if call.bytes != NO_BYTES {
            rank.bytes = rank.bytes.saturating_add(call.bytes);
        }
        for message in messages() {
            if message.arrow != 0 {
                // Ranks of two jobs find the same ones.
                let arrow = mixed(&[message.arrow, first.into()]).max(1);
                match message.kind {
                    Kind::Received => incoming.push(arrow),
                    _ => arrows.push(arrow),
                }
            } else if message.rank != NO_RANK
                && matches!(message.kind, Kind::Sent | Kind::Begun | Kind::Received)
            {
                self.written.unmatched += 1;
            }
            match message.kind {
                Kind::Sent | Kind::Begun => sent += 1,
                Kind::Received => received += 1,
                _ => {}
            }
            if matches!(message.kind, Kind::Begun | Kind::Ended) && message.bytes != NO_BYTES {
                rank.open = match message.kind {
                    Kind::Ended => rank.open.saturating_sub(message.bytes),
                    _ => rank.open.saturating_add(message.bytes),
                };
            }
        }
        // Of a call for several messages, how many there are says more.
        match (sent, received) {
            (..=1, ..=1) => {
                let mut is_told = false;
                for message in messages() {
                    match message.kind {
                        Kind::Joined | Kind::Ended => continue,
                        Kind::Polls => {
                            notes.push((Note::Polls, Value::Number(message.bytes)));
                            continue;
                        }
                        _ => {}
                    }
                    let peer = match message.rank {
                        NO_RANK => None,
                        rank => Some(Value::Number(first.saturating_add(rank).into())),
                    };
                    let note = if is_told { Note::Source } else { Note::Peer };
                    notes.extend(peer.map(|peer| (note, peer)));
                    if !is_told {
                        if message.tag != NO_TAG {
                            notes.push((Note::Tag, Value::Signed(message.tag.into())));
                        }
                        if bytes == NO_BYTES {
                            bytes = message.bytes;
                        }
                    }
                    is_told = true;
                }
            }
            _ => {
                let all = [(Note::Sent, sent), (Note::Received, received)];
                let some = all.into_iter().filter(|(_, count)| *count > 0);
                notes.extend(some.map(|(note, count)| (note, Value::Number(count))));
            }
        }
        if bytes != NO_BYTES {
            notes.push((Note::Bytes, Value::Number(bytes)));
        }
        let entry = thread.entries.get(usize::from(call.entry));
        let entry = entry.copied().flatten().unwrap_or_default();
        notes.extend(entry.on.map(|(note, on)| (note, Value::Text(on))));
        notes.extend(entry.place.map(|place| (Note::Place, Value::Text(place))));
        let name = self.function(call.function);
        let track = thread.track;
        self.packets.begin((track, begin), name, notes, arrows, to);
        if !incoming.is_empty() {
            if self.received == 0 {
                self.received = self.packets.name("received");
            }
            let at = (track, end);
            self.packets.instant(at, self.received, &[], incoming, to);
        }
        self.packets.end((track, end), to);
        self.told = told;
        self.written.slices += 1;
    }

    /// Writes the call of a thread that is under way.
    fn write_open(
        &mut self,
        file: &File,
        first: u32,
        thread: &mut Thread,
        name: &mut Name<'_>,
        to: &mut Vec<u8>,
    ) {
        let read = file.read_exact_at(&mut self.table, layout::at(thread.number));
        let Some((entry, function, since)) =
            Table(&self.table).under_way().filter(|_| read.is_ok())
        else {
            return;
        };
        // `under_way` gives one of the table's, of which there are few.
        let entry = self.entry(entry as u16, first, name);
        let mut notes = vec![(Note::NeverReturned, Value::Yes)];
        notes.extend(entry.on.map(|(note, on)| (note, Value::Text(on))));
        notes.extend(entry.place.map(|place| (Note::Place, Value::Text(place))));
        let at = self.scale.ns(since).max(thread.last);
        let name = self.function(function);
        self.packets
            .begin((thread.track, at), name, &notes, &[], to);
        self.written.slices += 1;
    }

    /// The number of the name of a function.
    fn function(&mut self, function: u16) -> u64 {
        let at = usize::from(function).wrapping_sub(1);
        let Some(known) = self.names.get_mut(at) else {
            return self.packets.name("a call");
        };
        if *known == 0 {
            *known = self.packets.name(self.functions[at]);
        }
        *known
    }

    /// Writes the counters of all ranks.
    fn count(&mut self, now: u64, to: &mut Vec<u8>) {
        let (from, now) = (self.looked, self.scale.ns(now));
        let span = now.saturating_sub(from);
        if span == 0 {
            return;
        }
        self.looked = now;
        for rank in &mut self.ranks {
            let rate = (rank.bytes as f64 / span as f64 * 1e9) as i64;
            let open = i64::try_from(rank.open).unwrap_or(i64::MAX);
            rank.bytes = 0;
            if rank.shown.0 != rate {
                self.packets.count((rank.rate, from), rate, to);
            }
            if rank.shown.1 != open {
                self.packets.count((rank.under_way, now), open, to);
            }
            rank.shown = (rate, open);
        }
    }
}

/// The number of a row: kinds of rows have numbers of their own.
fn uuid(kind: u64, rank: u32, which: u64) -> u64 {
    mixed(&[kind, rank.into(), which]).max(1)
}

/// What a rank and its thread are called where processes and threads have numbers. There, process 0
/// is none, and the first thread of a process has its number.
fn shown(rank: u32, thread: u32) -> (i32, i32) {
    let process = rank.saturating_add(1).min(THREADS << 2);
    let thread = match thread {
        0 => process,
        thread => (process << 14) + thread.min(THREADS - 1) + (1 << 17),
    };
    (process as i32, thread as i32)
}
