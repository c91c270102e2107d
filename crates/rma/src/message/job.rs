//! What is to leave to a peer: answers, and requests, each in order.
//!
//! Requests are records that are ready, and long operations, of which one part at a time becomes a
//! record, so that their bytes stay where they are until there is room, and a peer is asked for no
//! more at a time than it may have to keep ([`ANSWERS`]). So requests may wait for answers. Answers
//! wait for room alone, and never behind requests: two that ask each other for more than that would
//! wait for each other else. No record means less for one of the other kind that leaves before it.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use catena_base::PayloadRoom;
use catena_core::buffer::SendBuf;
use catena_datatype::TypeRef;
use catena_fabric::{Payload, PeerLost, Posted};
use catena_link::Source;

use super::record::{self, CHUNK, Head, What};
use super::runs;
use super::token::Token;

/// Bytes of answers of one peer that are under way at a time.
pub(super) const ANSWERS: u64 = 1 << 20;
/// Bytes of records that share one piece of memory.
const SHARE: usize = 256 << 10;
/// Bytes of answers that share one piece of memory. A long one, which is taken where it lies if
/// it is in one packet, shares it with nobody behind it.
const SHARE_ANSWERS: usize = 8 << 10;
/// Pieces of memory that are kept for records.
const SPARES: usize = 8;
/// Bytes of records that leave with the last part of a long operation before them.
const BEHIND: usize = 512;

/// Bytes that leave together.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Packet<'a> {
    Bytes(&'a [u8]),
    /// The front of a record, its other bytes where the program has them, and records behind it.
    Record([&'a [u8]; 3]),
}

impl Payload for Packet<'_> {
    fn len(&self) -> usize {
        match self {
            Packet::Bytes(bytes) => bytes.len(),
            Packet::Record(runs) => runs.iter().map(|run| run.len()).sum(),
        }
    }

    fn contiguous(&self) -> Option<*const u8> {
        match self {
            Packet::Bytes(bytes) => Some(bytes.as_ptr()),
            Packet::Record(_) => None,
        }
    }

    fn write(&self, mut room: PayloadRoom<'_>) {
        let runs = self.runs().unwrap_or_default();
        let mut at = 0;
        for run in runs {
            room.write(at, run);
            at += run.len();
        }
    }

    fn runs(&self) -> Option<[&[u8]; 3]> {
        Some(match self {
            Packet::Bytes(bytes) => [bytes, &[], &[]],
            Packet::Record(runs) => *runs,
        })
    }
}

/// Elements of a target, as records name them.
#[derive(Clone)]
pub(crate) struct Spot {
    /// The address of the first element there.
    pub addr: u64,
    /// How many of which type; `None` for one run of bytes.
    pub layout: Option<(TypeRef, u64)>,
}

impl fmt::Debug for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}, {}", self.addr, self.layout.is_some())
    }
}

impl Spot {
    /// Writes where packed bytes `[at, at + len)` are.
    fn write(&self, (at, len): (u64, usize), head: &mut Head, out: &mut Vec<u8>) {
        let Some((ty, count)) = &self.layout else {
            out.extend_from_slice(&self.addr.wrapping_add(at).to_ne_bytes());
            return;
        };
        head.c = 1;
        out.extend_from_slice(&self.addr.to_ne_bytes());
        let before = out.len();
        out.extend_from_slice(&[0; 4]);
        runs::write(ty, *count, (at, len), out);
        let bytes = (out.len() - before - 4) as u32;
        out[before..before + 4].copy_from_slice(&bytes.to_ne_bytes());
    }
}

/// An operation on its way.
#[derive(Debug)]
pub(crate) struct Operation {
    pub head: Head,
    pub spot: Spot,
    /// What goes there.
    pub source: SendBuf,
    /// Packed bytes at the target.
    pub len: u64,
    /// Whether the former bytes come back.
    pub is_answered: bool,
    /// Bytes of an element, which is not cut.
    pub unit: usize,
    /// The number that this process has for the window, unlike the one in the head.
    pub window: u32,
    /// The rank of the target.
    pub rank: u32,
    /// Its request.
    pub token: Option<Arc<Token>>,
    /// Bytes of which records have been made.
    pub at: u64,
}

impl Operation {
    /// Makes a record of the next part; how many bytes come back for it.
    pub fn write_next(&mut self, out: &mut Vec<u8>) -> u64 {
        let (at, len) = (self.at, self.next_len());
        record::write(out, self.head, |head, out| {
            if self.is_answered {
                out.extend_from_slice(&at.to_ne_bytes());
                out.extend_from_slice(&(len as u64).to_ne_bytes());
            }
            self.spot.write((at, len), head, out);
            if self.source.len() != 0 {
                // What is compared and swapped is in one part: both elements.
                let len = match self.head.what() {
                    Some(What::Swap) => self.source.len() as usize,
                    _ => len,
                };
                let from = out.len();
                out.reserve(len);
                // SAFETY: room for as many bytes, all of which are written.
                unsafe {
                    let room = PayloadRoom::new(out.as_mut_ptr().add(from), len);
                    self.source.part(at, len).write(room);
                    out.set_len(from + len);
                }
            }
        });
        self.at += len as u64;
        if self.is_answered { len as u64 } else { 0 }
    }

    /// The bytes of the next part where the program has them, if they are one run there and at the
    /// target.
    fn run(&self) -> Option<&[u8]> {
        let changes = matches!(self.head.what(), Some(What::Put | What::Combine));
        if !changes || self.spot.layout.is_some() {
            return None;
        }
        let from = self.source.contiguous()?.wrapping_add(self.at as usize);
        // SAFETY: the program lends the bytes until the operation is over.
        Some(unsafe { std::slice::from_raw_parts(from, self.next_len()) })
    }

    /// Makes the front of a record of that part.
    fn write_front(&self, out: &mut Vec<u8>) {
        let (at, len) = (self.at, self.next_len());
        record::write_front(out, self.head, len, |head, out| {
            self.spot.write((at, len), head, out);
        });
    }

    /// Bytes of the next part.
    fn next_len(&self) -> usize {
        let most = CHUNK / self.unit * self.unit;
        (self.len - self.at).min(most as u64) as usize
    }

    /// Whether there is a record of every part.
    pub fn is_over(&self) -> bool {
        self.at == self.len
    }
}

/// Records.
#[derive(Debug, Default)]
struct Ready {
    bytes: Vec<u8>,
    /// The other bytes of the last of them, where they lie in this process's part of a window.
    run: Option<Run>,
    /// Whether they answer something.
    is_answer: bool,
    /// Bytes of the answers to them.
    brings: u64,
}

impl Ready {
    /// Reads the bytes that lie in a window.
    fn read(&mut self) {
        if let Some(run) = self.run.take() {
            self.bytes.extend_from_slice(run.bytes());
        }
    }
}

/// Bytes of a window.
#[derive(Clone, Copy, Debug)]
struct Run(*const u8, usize);

impl Run {
    /// The bytes, until the next record comes.
    fn bytes(&self) -> &[u8] {
        // SAFETY: the promise of `add_answer_from`.
        unsafe { std::slice::from_raw_parts(self.0, self.1) }
    }
}

#[derive(Debug)]
enum Request {
    Ready(Ready),
    Long(Box<Operation>),
}

/// The sending end of a stream.
#[derive(Debug)]
pub(crate) struct Outgoing {
    /// Records of which some bytes may have left, and how many have: others leave when all of them
    /// have.
    leaving: Option<(Ready, usize)>,
    answers: VecDeque<Ready>,
    requests: VecDeque<Request>,
    /// Bytes that have left.
    sent: u64,
    /// Bytes of records that are no answers and have not left.
    ready: usize,
    /// Bytes of answers that are to come.
    under_way: u64,
    /// From how many on no long operation asks for more, until half of them have come: requests
    /// leave together then, as each packet takes a call of the system.
    most: u64,
    rests: bool,
    /// Memory for the next records, and for the front of one whose bytes stay where they are.
    spares: Vec<Vec<u8>>,
    front: Vec<u8>,
}

impl Default for Outgoing {
    fn default() -> Self {
        Outgoing::asking_for(ANSWERS)
    }
}

impl Outgoing {
    /// One that asks for at most `most` bytes at a time, and a part more.
    pub fn asking_for(most: u64) -> Outgoing {
        Outgoing {
            leaving: None,
            answers: VecDeque::new(),
            requests: VecDeque::new(),
            sent: 0,
            ready: 0,
            under_way: 0,
            most,
            rests: false,
            spares: Vec::new(),
            front: Vec::new(),
        }
    }

    /// Whether nothing is to leave.
    pub fn is_empty(&self) -> bool {
        self.leaving.is_none() && self.answers.is_empty() && self.requests.is_empty()
    }

    /// Bytes of records that are no answers and have not left.
    pub fn ready(&self) -> usize {
        self.ready
    }

    /// An answer of as many bytes has come.
    pub fn answered(&mut self, bytes: u64) {
        self.under_way = self.under_way.saturating_sub(bytes);
    }

    /// Adds a record that answers something: `write` appends it.
    pub fn add_answer(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.answer().bytes);
    }

    /// Adds a record that answers something: `write` appends its front, and its other bytes are
    /// those at `at`, which are read when it leaves.
    ///
    /// # Safety
    /// The bytes stay where they are until whoever has asked has the answer, or is lost.
    pub unsafe fn add_answer_from(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>),
        (at, len): (*const u8, usize),
    ) {
        let ready = self.answer();
        write(&mut ready.bytes);
        ready.run = Some(Run(at, len));
    }

    /// Reads the bytes of answers that have not left.
    pub fn read_answers(&mut self) {
        let leaving = self.leaving.iter_mut().map(|(ready, _)| ready);
        leaving.chain(&mut self.answers).for_each(Ready::read);
    }

    /// Where the next answer is added.
    fn answer(&mut self) -> &mut Ready {
        let shares = |last: &Ready| last.run.is_none() && last.bytes.len() < SHARE_ANSWERS;
        if !self.answers.back().is_some_and(shares) {
            let bytes = self.spares.pop().unwrap_or_default();
            self.answers.push_back(Ready {
                bytes,
                is_answer: true,
                ..Ready::default()
            });
        }
        let last = self.answers.len() - 1;
        &mut self.answers[last]
    }

    /// Adds a record: `write` appends it, and says how many bytes will come back.
    pub fn add(&mut self, write: impl FnOnce(&mut Vec<u8>) -> u64) {
        let shares = |last: &Request| matches!(last, Request::Ready(it) if it.bytes.len() < SHARE);
        if !self.requests.back().is_some_and(shares) {
            let bytes = self.spares.pop().unwrap_or_default();
            let ready = Ready {
                bytes,
                ..Ready::default()
            };
            self.requests.push_back(Request::Ready(ready));
        }
        if let Some(Request::Ready(Ready { bytes, brings, .. })) = self.requests.back_mut() {
            let before = bytes.len();
            *brings += write(bytes);
            self.ready += bytes.len() - before;
        }
    }

    /// Adds a long operation.
    pub fn add_long(&mut self, operation: Operation) {
        self.requests.push_back(Request::Long(Box::new(operation)));
    }

    /// Nothing leaves any more: the operations that have not as a whole.
    pub fn give_up(&mut self) -> Vec<Operation> {
        (self.ready, self.under_way) = (0, 0);
        self.leaving = None;
        self.answers.clear();
        let requests = self.requests.drain(..).filter_map(|request| match request {
            Request::Long(operation) => Some(*operation),
            Request::Ready(_) => None,
        });
        requests.collect()
    }

    /// Posts the next part of a long operation, and a few records behind the last one, from where
    /// they lie. `None` if there is none that can be posted so.
    fn post_run(
        &mut self,
        most: usize,
        post: &mut impl FnMut(u64, Packet<'_>) -> Result<Posted, PeerLost>,
        ended: &mut impl FnMut(Operation),
    ) -> Option<Result<Posted, PeerLost>> {
        if self.leaving.is_some() || !self.answers.is_empty() {
            return None;
        }
        let Some(Request::Long(long)) = self.requests.front() else {
            return None;
        };
        let run = long.run()?;
        self.front.clear();
        long.write_front(&mut self.front);
        let len = self.front.len() + run.len();
        if len > most {
            return None;
        }
        let is_last = long.at + run.len() as u64 == long.len;
        let room = BEHIND.min(most - len);
        let behind = match self.requests.get(1) {
            Some(Request::Ready(ready)) if is_last && ready.bytes.len() <= room => Some(ready),
            _ => None,
        };
        let tail = behind.map_or(&[][..], |ready| &ready.bytes);
        match post(self.sent, Packet::Record([&self.front, run, tail])) {
            Ok(Posted::Done) => {}
            other => return Some(other),
        }
        let (run, tail, brings) = (run.len(), tail.len(), behind.map_or(0, |it| it.brings));
        self.sent += (len + tail) as u64;
        self.ready -= tail;
        self.under_way += brings;
        if let Some(Request::Long(mut long)) = self.requests.pop_front() {
            if tail > 0 {
                self.requests.pop_front();
            }
            long.at += run as u64;
            match long.is_over() {
                true => ended(*long),
                false => self.requests.push_front(Request::Long(long)),
            }
        }
        Some(Ok(Posted::Done))
    }

    /// Has a few records that come next leave with those of `packet`, if one packet has room for
    /// both.
    fn take_along(&mut self, most: usize, packet: &mut Ready) {
        if let Some(Request::Ready(Ready { bytes, brings, .. })) = self.requests.front()
            && bytes.len() <= BEHIND.min(most.saturating_sub(packet.bytes.len()))
        {
            packet.bytes.extend_from_slice(bytes);
            packet.brings += brings;
            self.requests.pop_front();
        }
    }

    /// Whether no long operation asks for more now.
    fn rests(&mut self) -> bool {
        self.rests = match self.rests {
            true => self.under_way > self.most / 2,
            false => self.under_way >= self.most,
        };
        self.rests
    }

    /// Adds the next part of a long operation to `packet`, or, if it is one that asks for bytes, as
    /// many parts of it and of such ones behind it as may be asked for and have little room.
    fn write_long(
        &mut self,
        mut long: Box<Operation>,
        most: usize,
        packet: &mut Ready,
        ended: &mut impl FnMut(Operation),
    ) {
        loop {
            let before = packet.bytes.len();
            packet.brings += long.write_next(&mut packet.bytes);
            self.ready += packet.bytes.len() - before;
            let is_full = !long.is_answered
                || self.under_way + packet.brings >= self.most
                || packet.bytes.len() > BEHIND;
            if !long.is_over() {
                if is_full {
                    return self.requests.push_front(Request::Long(long));
                }
                continue;
            }
            ended(*long);
            match self.requests.pop_front() {
                Some(Request::Long(next)) if !is_full && next.is_answered => long = next,
                Some(other) => {
                    self.requests.push_front(other);
                    return self.take_along(most, packet);
                }
                None => return,
            }
        }
    }

    /// The records that leave next, in packets of at most `most` bytes; none if there are none, or
    /// only such as wait for answers.
    fn next(&mut self, most: usize, mut ended: impl FnMut(Operation)) -> Option<Ready> {
        if let Some(answers) = self.answers.pop_front() {
            return Some(answers);
        }
        if let Request::Long(long) = self.requests.front()?
            && long.is_answered
            && self.rests()
        {
            return None;
        }
        let ready = match self.requests.pop_front()? {
            Request::Ready(ready) => ready,
            Request::Long(long) => {
                let mut ready = Ready {
                    bytes: self.spares.pop().unwrap_or_default(),
                    ..Ready::default()
                };
                self.write_long(long, most, &mut ready, &mut ended);
                ready
            }
        };
        // Not before: what stands behind a long operation must not keep it waiting.
        self.under_way += ready.brings;
        Some(ready)
    }

    /// Keeps memory of records that have left for the next ones: whoever reads a window piece by
    /// piece has many answers under way at once, and new memory takes longer than what is copied
    /// into it.
    fn keep(&mut self, mut bytes: Vec<u8>) {
        if self.spares.len() < SPARES {
            bytes.clear();
            self.spares.push(bytes);
        }
    }

    /// Posts packets of at most `most` bytes while there is room; true if any left. `ended` is told
    /// of long operations whose buffers are not needed any more.
    pub fn pump(
        &mut self,
        most: usize,
        mut post: impl FnMut(u64, Packet<'_>) -> Result<Posted, PeerLost>,
        mut ended: impl FnMut(Operation),
    ) -> Result<bool, PeerLost> {
        let mut moved = false;
        loop {
            match self.post_run(most, &mut post, &mut ended) {
                Some(Ok(Posted::Done)) => {
                    moved = true;
                    continue;
                }
                Some(Ok(Posted::Full)) => return Ok(moved),
                Some(Err(lost)) => return Err(lost),
                None => {}
            }
            let begun = self.leaving.take();
            let Some((mut ready, from)) = begun.or_else(|| Some((self.next(most, &mut ended)?, 0)))
            else {
                return Ok(moved);
            };
            if let Some(run) = ready.run {
                let len = ready.bytes.len() + run.1;
                if len <= most {
                    let packet = Packet::Record([&ready.bytes, run.bytes(), &[]]);
                    if post(self.sent, packet)? == Posted::Full {
                        self.leaving = Some((ready, 0));
                        return Ok(moved);
                    }
                    moved = true;
                    self.sent += len as u64;
                    self.keep(ready.bytes);
                    continue;
                }
                ready.read();
            }
            let len = most.min(ready.bytes.len() - from);
            let posted = post(self.sent, Packet::Bytes(&ready.bytes[from..from + len]))?;
            if posted == Posted::Full {
                self.leaving = Some((ready, from));
                return Ok(moved);
            }
            moved = true;
            self.sent += len as u64;
            if !ready.is_answer {
                self.ready -= len;
            }
            if from + len < ready.bytes.len() {
                self.leaving = Some((ready, from + len));
            } else {
                self.keep(ready.bytes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long_get(len: u64) -> Operation {
        Operation {
            head: Head::new(What::Get, 0),
            spot: Spot {
                addr: 64,
                layout: None,
            },
            source: SendBuf::EMPTY,
            len,
            is_answered: true,
            unit: 1,
            window: 0,
            rank: 0,
            token: None,
            at: 0,
        }
    }

    /// What leaves while there is room, as kinds of records.
    fn leaves(out: &mut Outgoing, most: usize, room: usize) -> Vec<What> {
        let (mut bytes, mut left) = (Vec::new(), room);
        let post = |_, packet: Packet<'_>| {
            if left == 0 {
                return Ok(Posted::Full);
            }
            left -= 1;
            bytes.extend(packet.runs().unwrap().concat());
            Ok(Posted::Done)
        };
        out.pump(most, post, drop).expect("nobody is lost");
        let (mut kinds, mut at) = (Vec::new(), 0);
        while let Some(head) = Head::read(&bytes[at..]) {
            kinds.push(head.what().expect("a record"));
            at += record::HEAD + head.len as usize;
        }
        kinds
    }

    /// All bytes that leave in packets of at most `most` bytes, where the route is full `full`
    /// times before it takes each.
    fn all_that_leaves(
        out: &mut Outgoing,
        most: usize,
        full: usize,
        mut ended: impl FnMut(Operation),
    ) -> Vec<u8> {
        let (mut sent, mut posts) = (Vec::new(), 0);
        while !out.is_empty() {
            let post = |at, packet: Packet<'_>| {
                posts += 1;
                if posts % (full + 1) != 0 {
                    return Ok(Posted::Full);
                }
                assert!(at == sent.len() as u64 && packet.len() <= most);
                let (mut copy, from) = (vec![0; packet.len()], sent.len());
                // SAFETY: as many bytes.
                packet.write(unsafe { PayloadRoom::new(copy.as_mut_ptr(), copy.len()) });
                sent.extend(packet.runs().unwrap().concat());
                assert_eq!(copy, sent[from..]);
                Ok(Posted::Done)
            };
            out.pump(most, post, &mut ended).expect("nobody is lost");
        }
        sent
    }

    fn tell(what: What) -> impl FnOnce(&mut Vec<u8>) -> u64 {
        move |out| {
            Head::new(what, 0).write(out);
            0
        }
    }

    fn answer(what: What) -> impl FnOnce(&mut Vec<u8>) {
        move |out| Head::new(what, 0).write(out)
    }

    #[test]
    fn answers_leave_although_a_request_waits_for_some() {
        let mut out = Outgoing::asking_for(1);
        out.add_long(long_get(2 * CHUNK as u64));
        out.add(tell(What::Flush));
        out.add_answer(answer(What::Bytes));
        assert_eq!(leaves(&mut out, 1 << 20, 9), [What::Bytes, What::Get]);
        assert_eq!(leaves(&mut out, 1 << 20, 9), []);
        out.add_answer(answer(What::Done));
        assert_eq!(leaves(&mut out, 1 << 20, 9), [What::Done]);
        assert!(!out.is_empty());
        out.answered(CHUNK as u64);
        assert_eq!(leaves(&mut out, 1 << 20, 9), [What::Get, What::Flush]);
        assert!(out.is_empty() && out.ready() == 0);
    }

    #[test]
    fn what_stands_behind_a_request_does_not_keep_it_waiting() {
        let mut out = Outgoing::asking_for(8);
        out.add(|out| {
            Head::new(What::Fetch, 0).write(out);
            8
        });
        assert_eq!(leaves(&mut out, 1 << 20, 9), [What::Fetch]);
        out.add_long(long_get(100));
        out.add(|out| {
            Head::new(What::Fetch, 0).write(out);
            8
        });
        assert_eq!(leaves(&mut out, 1 << 20, 9), []);
        out.answered(8);
        assert_eq!(leaves(&mut out, 1 << 20, 9), [What::Get, What::Fetch]);
    }

    /// A call of the system for each would take longer than the bytes that they ask for.
    #[test]
    fn requests_for_many_long_answers_leave_together() {
        let mut out = Outgoing::asking_for(8 * CHUNK as u64);
        (0..16).for_each(|_| out.add_long(long_get(CHUNK as u64)));
        out.add(tell(What::Flush));
        assert_eq!(leaves(&mut out, 1 << 20, 1), [What::Get; 8]);
        (0..3).for_each(|_| out.answered(CHUNK as u64));
        assert_eq!(leaves(&mut out, 1 << 20, 9), [], "half are still to come");
        out.answered(CHUNK as u64);
        assert_eq!(leaves(&mut out, 1 << 20, 1), [What::Get; 4]);
        (0..8).for_each(|_| out.answered(CHUNK as u64));
        let last = [[What::Get; 4].as_slice(), &[What::Flush]].concat();
        assert_eq!(leaves(&mut out, 1 << 20, 1), last);
    }

    /// Whether it is handed over where it lies or copied, at once or after its route was full for a
    /// while.
    #[test]
    fn a_long_put_leaves_as_the_same_records_by_every_way() {
        let bytes: Vec<u8> = (0..5 * CHUNK / 2).map(|at| (at % 251) as u8).collect();
        let put = || Operation {
            head: Head::new(What::Put, 7),
            source: SendBuf::Bytes(bytes.as_ptr(), bytes.len() as u64),
            is_answered: false,
            ..long_get(bytes.len() as u64)
        };
        let (mut expected, mut operation) = (Vec::new(), put());
        while !operation.is_over() {
            operation.write_next(&mut expected);
        }
        tell(What::Flush)(&mut expected);
        for (most, full) in [(1 << 20, 0), (1 << 20, 2), (CHUNK + 24, 1), (1000, 1)] {
            let (mut out, mut ended) = (Outgoing::default(), 0);
            out.add_long(put());
            out.add(tell(What::Flush));
            let sent = all_that_leaves(&mut out, most, full, |_| ended += 1);
            assert!(sent == expected && ended == 1 && out.ready() == 0);
        }
    }

    /// Whether one packet has room for it or not, at once or after its route was full for a while,
    /// and whether it was read before.
    #[test]
    fn an_answer_that_is_left_where_it_lies_leaves_as_the_same_record() {
        let old = [7u8; 1000];
        for (most, full) in [(1 << 20, 0), (1 << 20, 1), (1024, 0), (100, 1)] {
            for is_read in [false, true] {
                let mut bytes = old;
                let mut out = Outgoing::default();
                out.add_answer(answer(What::Done));
                let front = |out: &mut Vec<u8>| {
                    let head = Head::new(What::Bytes, 3);
                    record::write_front(out, head, old.len(), |_, out| out.extend([1; 16]));
                };
                // SAFETY: they outlive the answer.
                unsafe { out.add_answer_from(front, (bytes.as_ptr(), bytes.len())) };
                out.add_answer(answer(What::Done));
                if is_read {
                    out.read_answers();
                    bytes = [0; 1000];
                }
                let mut expected = Vec::new();
                answer(What::Done)(&mut expected);
                record::write(&mut expected, Head::new(What::Bytes, 3), |_, out| {
                    out.extend([1; 16]);
                    out.extend(old);
                });
                answer(What::Done)(&mut expected);
                let sent = all_that_leaves(&mut out, most, full, drop);
                assert!(sent == expected, "{most} {full} {is_read} {}", bytes[0]);
            }
        }
    }

    #[test]
    fn no_record_is_cut_in_two_by_others() {
        let mut out = Outgoing::default();
        out.add(tell(What::Post));
        assert_eq!(leaves(&mut out, 5, 1), [], "its first bytes");
        out.add(tell(What::Complete));
        out.add_answer(answer(What::Done));
        let (mut bytes, mut place) = (Vec::new(), 5);
        let post = |at, packet: Packet<'_>| {
            assert_eq!(at, place, "one packet behind the other");
            place += packet.len() as u64;
            bytes.extend(packet.runs().unwrap().concat());
            Ok(Posted::Done)
        };
        out.pump(5, post, drop).expect("nobody is lost");
        let heads = bytes[record::HEAD - 5..].chunks(record::HEAD);
        let kinds: Vec<_> = heads
            .map(|it| Head::read(it).and_then(|it| it.what()))
            .collect();
        assert_eq!(kinds, [Some(What::Done), Some(What::Complete)]);
    }
}
