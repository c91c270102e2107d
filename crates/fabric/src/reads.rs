//! Reads that a network carries out in pieces, several of which are under way at
//! once.
//!
//! A read is known by where its next byte goes to; what has arrived from its
//! beginning is told by the call that asks for it again. Neither that call nor a completion
//! searches: places are hashed, and each operation remembers its read.

use std::collections::{HashMap, VecDeque};

use crate::{Peer, RemoteKey, RmaStatus};

/// Pieces of one read that are under way at once, at most.
const AHEAD: usize = 4;

/// What became of a piece that a network was asked for.
#[derive(Debug)]
pub enum Asked<T> {
    /// It will arrive. The value is kept until then.
    UnderWay(T),
    /// It is there.
    Arrived,
    /// There is no room for it now.
    Full,
    /// It cannot be had.
    Unable,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    UnderWay,
    Arrived,
    Failed,
}

#[derive(Debug)]
struct Piece<T> {
    operation: usize,
    len: usize,
    state: State,
    _kept: Option<T>,
}

/// A read, from its first call to its end.
#[derive(Debug)]
struct Read<T> {
    from: Peer,
    key: u64,
    /// Where the next byte goes to that was not told yet.
    at: usize,
    /// Under way or not told yet, in order.
    pieces: VecDeque<Piece<T>>,
    /// No piece follows those that are under way.
    failed: bool,
}

impl<T> Read<T> {
    /// Takes what has arrived from the beginning, at most `most` bytes; how
    /// many.
    fn advance(&mut self, most: usize) -> usize {
        let mut got = 0;
        while let Some(piece) = self.pieces.front()
            && piece.state == State::Arrived
            && got + piece.len <= most
        {
            got += piece.len;
            self.pieces.pop_front();
        }
        self.at += got;
        got
    }

    /// Whether nothing writes to its memory.
    fn is_quiet(&self) -> bool {
        let quiet = |piece: &Piece<T>| piece.state != State::UnderWay;
        self.pieces.iter().all(quiet)
    }
}

/// The reads of an endpoint. An operation of the network is known by its number.
#[derive(Debug)]
pub struct Reads<T> {
    reads: Vec<Option<Read<T>>>,
    /// Numbers of reads that are over.
    over: Vec<usize>,
    /// The number of each read, by its peer and where its next byte goes to.
    places: HashMap<(Peer, usize), usize>,
    /// Operations that are not under way.
    free: Vec<usize>,
    /// The first operation, and the read that each was last used for.
    first: usize,
    used_by: Vec<usize>,
}

impl<T> Reads<T> {
    /// None; each piece is one of these operations.
    pub fn new(operations: impl Iterator<Item = usize>) -> Reads<T> {
        let free: Vec<usize> = operations.collect();
        let first = free.iter().copied().min().unwrap_or(0);
        let end = free.iter().copied().max().map_or(0, |last| last + 1);
        Reads {
            reads: Vec::new(),
            over: Vec::new(),
            places: HashMap::new(),
            free,
            first,
            used_by: vec![0; end - first],
        }
    }

    fn find(&self, from: Peer, into: *mut u8) -> Option<usize> {
        self.places.get(&(from, into as usize)).copied()
    }

    /// A new read of which nothing is under way; its number.
    fn begin(&mut self, from: Peer, into: *mut u8, key: u64) -> usize {
        let number = self.over.pop().unwrap_or_else(|| {
            self.reads.push(None);
            self.reads.len() - 1
        });
        self.places.insert((from, into as usize), number);
        self.reads[number] = Some(Read {
            from,
            key,
            at: into as usize,
            pieces: VecDeque::new(),
            failed: false,
        });
        number
    }

    /// Ends a read.
    fn finish(&mut self, number: usize) {
        if let Some(read) = self.reads[number].take() {
            self.places.remove(&(read.from, read.at));
            self.over.push(number);
        }
    }

    /// Whether one from that peer uses this key.
    pub fn uses(&self, from: Peer, key: u64) -> bool {
        let uses = |read: &Read<T>| read.from == from && read.key == key;
        self.reads.iter().flatten().any(uses)
    }

    /// Whether nothing of that read is under way.
    pub fn is_quiet(&self, from: Peer, into: *mut u8) -> bool {
        let found = self.find(from, into);
        let read = found.and_then(|number| self.reads[number].as_ref());
        read.is_none_or(Read::is_quiet)
    }

    /// Forgets a read; what arrives of it is not told.
    pub fn forget(&mut self, from: Peer, into: *mut u8) {
        if let Some(number) = self.find(from, into) {
            self.finish(number);
        }
    }

    /// Goes on with reading `len` bytes, in pieces of at most `longest`: `ask` is given the operation
    /// of one, its offset and its length. As [`Transport::try_get`](crate::Transport::try_get).
    pub fn go_on(
        &mut self,
        (from, remote): (Peer, RemoteKey),
        (into, len): (*mut u8, usize),
        longest: usize,
        mut ask: impl FnMut(usize, usize, usize) -> Asked<T>,
    ) -> RmaStatus {
        let known = self.find(from, into);
        let number = known.unwrap_or_else(|| self.begin(from, into, remote.key));
        let Some(read) = &mut self.reads[number] else {
            return RmaStatus::Unable;
        };
        let mut at: usize = read.pieces.iter().map(|piece| piece.len).sum();
        while !read.failed && at < len && read.pieces.len() < AHEAD {
            let Some(operation) = self.free.pop() else {
                break;
            };
            let piece = (len - at).min(longest);
            let asked = ask(operation, at, piece);
            if !matches!(asked, Asked::UnderWay(_)) {
                self.free.push(operation);
            }
            let (state, kept) = match asked {
                Asked::UnderWay(kept) => (State::UnderWay, Some(kept)),
                Asked::Arrived => (State::Arrived, None),
                Asked::Full => break,
                Asked::Unable => {
                    read.failed = true;
                    break;
                }
            };
            self.used_by[operation - self.first] = number;
            read.pieces.push_back(Piece {
                operation,
                len: piece,
                state,
                _kept: kept,
            });
            at += piece;
        }
        let before = read.at;
        let got = read.advance(len);
        let (over, at) = (read.failed && read.is_quiet(), read.at);
        if over || read.pieces.is_empty() {
            read.at = before;
            self.finish(number);
        } else if got > 0 {
            self.places.remove(&(from, before));
            self.places.insert((from, at), number);
        }
        match got {
            0 if over => RmaStatus::Unable,
            0 => RmaStatus::Full,
            got => RmaStatus::Bytes(got),
        }
    }

    /// A piece has arrived, or has failed; whose memory it was, if its read was
    /// not forgotten.
    pub fn ended(&mut self, operation: usize, arrived: bool) -> Option<Peer> {
        self.free.push(operation);
        let under_way =
            |piece: &Piece<T>| piece.operation == operation && piece.state == State::UnderWay;
        let number = *self.used_by.get(operation.checked_sub(self.first)?)?;
        let read = self.reads.get_mut(number)?.as_mut()?;
        let piece = read.pieces.iter_mut().find(|piece| under_way(piece))?;
        piece.state = if arrived {
            State::Arrived
        } else {
            State::Failed
        };
        read.failed |= !arrived;
        Some(read.from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FROM: (Peer, RemoteKey) = (Peer(3), RemoteKey { addr: 64, key: 7 });

    /// Ten operations, and room for 1000 bytes.
    fn reads() -> (Reads<()>, Vec<u8>) {
        (Reads::new(0..10), vec![0; 1000])
    }

    /// Asks for 1000 bytes in pieces of 100, all of which take their time; which operations began.
    fn ask(reads: &mut Reads<()>, into: *mut u8, len: usize) -> (RmaStatus, Vec<usize>) {
        let mut begun = Vec::new();
        let got = reads.go_on(FROM, (into, len), 100, |operation, _, _| {
            begun.push(operation);
            Asked::UnderWay(())
        });
        (got, begun)
    }

    #[test]
    fn what_arrives_is_told_from_the_beginning_on() {
        let (mut reads, mut room) = reads();
        let into = room.as_mut_ptr();
        let (got, begun) = ask(&mut reads, into, 1000);
        assert_eq!((got, begun.len()), (RmaStatus::Full, AHEAD));
        assert_eq!(reads.ended(begun[1], true), Some(Peer(3)));
        assert_eq!(ask(&mut reads, into, 1000), (RmaStatus::Full, vec![]));
        assert!(!reads.is_quiet(Peer(3), into) && reads.uses(Peer(3), 7));
        assert_eq!(reads.ended(begun[0], true), Some(Peer(3)));
        assert_eq!(ask(&mut reads, into, 1000), (RmaStatus::Bytes(200), vec![]));
        // The rest is known by where it goes to.
        let (got, more) = ask(&mut reads, into.wrapping_add(200), 800);
        assert_eq!((got, more.len()), (RmaStatus::Full, 2));
    }

    #[test]
    fn one_that_fails_ends_when_nothing_of_it_is_under_way() {
        let (mut reads, mut room) = reads();
        let into = room.as_mut_ptr();
        let (_, begun) = ask(&mut reads, into, 1000);
        let _ = reads.ended(begun[0], false);
        assert_eq!(ask(&mut reads, into, 1000), (RmaStatus::Full, vec![]));
        for operation in &begun[1..] {
            let _ = reads.ended(*operation, true);
        }
        assert_eq!(ask(&mut reads, into, 1000), (RmaStatus::Unable, vec![]));
        assert!(!reads.uses(Peer(3), 7));
        let refused = reads.go_on(FROM, (into, 1000), 100, |_, _, _| Asked::Unable);
        assert_eq!(refused, RmaStatus::Unable);
    }

    #[test]
    fn operations_are_used_again() {
        let (mut reads, mut room) = reads();
        let into = room.as_mut_ptr();
        for _ in 0..5 {
            let full = reads.go_on(FROM, (into, 1000), 100, |_, _, _| Asked::Full);
            assert_eq!(full, RmaStatus::Full);
            let mut asked = Vec::new();
            let got = reads.go_on(FROM, (into, 250), 100, |_, at, len| {
                asked.push((at, len));
                Asked::Arrived
            });
            assert_eq!(got, RmaStatus::Bytes(250));
            assert_eq!(asked, [(0, 100), (100, 100), (200, 50)]);
        }
        assert_eq!(reads.free.len(), 10);
    }

    #[test]
    fn one_that_is_forgotten_is_not_told() {
        let (mut reads, mut room) = reads();
        let into = room.as_mut_ptr();
        let (_, begun) = ask(&mut reads, into, 100);
        reads.forget(Peer(3), into);
        assert!(reads.is_quiet(Peer(3), into));
        assert_eq!(reads.ended(begun[0], true), None);
        assert_eq!(reads.free.len(), 10);
    }
}
