//! Nanoseconds that the engine itself takes per message: send, receive, match,
//! complete, over a route that only moves packets from one array to itself.
//!
//! `cargo run --release -p catena-link --example engine -- [messages [part of a name]]`
//!
//! With few messages of one name it is a program for tools that count instructions.

use std::hint::black_box;
use std::time::Instant;

use catena_base::{PayloadRoom, PeerBytes};
use catena_fabric::{
    Caps, Deliver, Header, Kinds, Load, OpId, Payload, Peer, PeerLost, Posted, Rendezvous,
    RmaError, Started,
};
use catena_link::{
    ANY_SOURCE, Cid, Endpoint, Mode, Net, Plane, RemoteKeys, ReqId, Selector, Sink, Source,
};

const SLOTS: usize = 256;

#[derive(Debug)]
struct Message(usize, [u8; 8]);

impl Source for Message {
    type Part<'a> = &'a [u8];

    #[inline]
    fn len(&self) -> u64 {
        self.0 as u64
    }

    #[inline]
    fn part(&self, from: u64, len: usize) -> &[u8] {
        &self.1[from as usize..from as usize + len]
    }
}

#[derive(Debug)]
struct Word(usize, u64);

impl Sink for Word {
    #[inline]
    fn capacity(&self) -> u64 {
        self.0 as u64
    }

    #[inline]
    fn place(&mut self, _: u64, bytes: PeerBytes<'_>) {
        let mut word = [0; 8];
        bytes.read(&mut word);
        self.1 = black_box(u64::from_ne_bytes(word));
    }
}

/// A ring of 64-byte cells in plain memory.
#[derive(Debug)]
struct Ring {
    cells: Vec<(Header, usize, [u8; 32])>,
    head: usize,
    tail: usize,
}

impl Net for Ring {
    type Source = Message;
    type Sink = Word;

    #[inline]
    fn caps(&self, _: Peer) -> Caps {
        Caps {
            max_packet: 32,
            whole: 32,
            eager_max: 32,
            ordered: true,
            kinds: Kinds::HOST,
        }
    }

    #[inline]
    fn try_send<P: Payload>(
        &mut self,
        _: Peer,
        header: Header,
        payload: P,
    ) -> Result<Posted, PeerLost> {
        if self.tail - self.head == SLOTS {
            return Ok(Posted::Full);
        }
        let cell = &mut self.cells[self.tail % SLOTS];
        (cell.0, cell.1) = (header, payload.len());
        // SAFETY: no payload is longer than `max_packet`, the size of the cell.
        payload.write(unsafe { PayloadRoom::new(cell.2.as_mut_ptr(), payload.len()) });
        self.tail += 1;
        Ok(Posted::Done)
    }

    #[inline]
    fn poll<D: Deliver>(&mut self, deliver: &mut D) -> usize {
        let n = (self.tail - self.head).min(16);
        for _ in 0..n {
            let cell = &self.cells[self.head % SLOTS];
            deliver.deliver(Peer(0), cell.0, PeerBytes::from(&cell.2[..cell.1]));
            self.head += 1;
        }
        n
    }

    fn rendezvous(&self, _: Peer, _: u64, _: Load) -> Rendezvous {
        Rendezvous::Stream
    }

    fn register(&mut self, _: Peer, _: &Message) -> Option<RemoteKeys> {
        None
    }

    fn deregister(&mut self, _: Peer, _: RemoteKeys) {}

    fn get(
        &mut self,
        _: OpId,
        _: Peer,
        _: RemoteKeys,
        _: &mut Word,
        _: u64,
        _: u64,
    ) -> Result<Started, RmaError> {
        Err(RmaError::Unsupported)
    }
}

struct Null;

impl Deliver for Null {
    #[inline]
    fn deliver(&mut self, _: Peer, header: Header, payload: PeerBytes<'_>) {
        let mut word = [0; 8];
        payload.read(&mut word);
        black_box((header.seq, word));
    }

    fn lost(&mut self, _: PeerLost) {}

    fn completed(&mut self, _: OpId, _: Result<u64, RmaError>) {}
}

type Bed = Endpoint<Ring>;

#[inline(always)]
fn send(bed: &mut Bed, len: usize, tag: i32) {
    let message = Message(len, [7; 8]);
    let sent = bed.send(
        Cid(0),
        Plane::User,
        0,
        black_box(tag),
        Mode::Standard,
        message,
    );
    assert_eq!(sent, catena_link::Sent::Done);
}

#[inline(always)]
fn post(bed: &mut Bed, source: i32, len: usize, tag: i32) -> ReqId {
    let selector = Selector {
        source,
        tag: black_box(tag),
    };
    bed.recv(Cid(0), Plane::User, selector, Word(len, 0))
}

#[inline(always)]
fn finish(bed: &mut Bed, id: ReqId) {
    while !bed.is_done(id) {
        bed.progress();
    }
    black_box(bed.take(id));
}

/// Best of several runs, in nanoseconds per message.
fn time(name: &str, per_call: usize, mut call: impl FnMut()) {
    let mut arguments = std::env::args().skip(1);
    let messages = arguments.next().and_then(|it| it.parse().ok());
    if arguments.next().is_some_and(|part| !name.contains(&part)) {
        return;
    }
    let rounds = messages.unwrap_or(400_000usize).div_ceil(per_call);
    let mut best = f64::MAX;
    for _ in 0..15 {
        let start = Instant::now();
        for _ in 0..rounds {
            call();
        }
        best = best.min(start.elapsed().as_nanos() as f64 / (rounds * per_call) as f64);
    }
    println!("{name:<44} {best:6.1} ns");
}

fn main() {
    let ring = Ring {
        cells: vec![(Header::default(), 0, [0; 32]); SLOTS],
        head: 0,
        tail: 0,
    };
    let mut bed = Endpoint::new(ring);
    bed.open(Cid(0), 0, vec![(Peer(0), Cid(0))]);
    send(&mut bed, 0, 0);
    let id = post(&mut bed, 0, 0, 0);
    finish(&mut bed, id);

    for len in [0, 8] {
        time(&format!("{len} B, the route alone"), 1, || {
            let ring = bed.net();
            let data = [7; 8];
            let posted = ring.try_send(Peer(0), black_box(Header::default()), &data[..len]);
            assert_eq!(posted, Ok(Posted::Done));
            ring.poll(&mut Null);
        });
        time(&format!("{len} B, receive posted first"), 1, || {
            let id = post(&mut bed, 0, len, 1);
            send(&mut bed, len, 1);
            finish(&mut bed, id);
        });
        time(&format!("{len} B, receive from any source"), 1, || {
            let id = post(&mut bed, ANY_SOURCE, len, 1);
            send(&mut bed, len, 1);
            finish(&mut bed, id);
        });
        time(&format!("{len} B, message first"), 1, || {
            send(&mut bed, len, 1);
            bed.progress();
            let id = post(&mut bed, 0, len, 1);
            finish(&mut bed, id);
        });
        let mut ids = Vec::with_capacity(64);
        for (name, step) in [("one tag", 0), ("64 tags", 1)] {
            time(
                &format!("{len} B, window of 64, {name}, posted first"),
                64,
                || {
                    ids.extend((0..64).map(|n| post(&mut bed, 0, len, n * step)));
                    for n in 0..64 {
                        send(&mut bed, len, n * step);
                    }
                    for id in ids.drain(..) {
                        finish(&mut bed, id);
                    }
                },
            );
            time(
                &format!("{len} B, window of 64, {name}, messages first"),
                64,
                || {
                    for n in 0..64 {
                        send(&mut bed, len, n * step);
                    }
                    while bed.progress() {}
                    ids.extend((0..64).map(|n| post(&mut bed, 0, len, n * step)));
                    for id in ids.drain(..) {
                        finish(&mut bed, id);
                    }
                },
            );
        }
    }
}
