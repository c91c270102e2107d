//! One-sided operations by messages over a network that misbehaves: random operations of several
//! members on each other's memory, in random order with what carries them. A seed that fails does
//! so again.

use std::cell::Cell;
use std::collections::HashMap;

use catena_abi::consts;
use catena_base::PeerBytes;
use catena_core::buffer::{RecvBuf, SendBuf};
use catena_datatype::{Datatype, TypeRef};
use catena_fabric::{Deliver, Header, Kind, OpId, Peer, PeerLost, Posted, RmaError, Transport};
use catena_sim::{Port, Rng, Seed, Sim};

use super::codes::{BYTE, code};
use super::exchange::{Exchange, Pending};
use super::job::{Operation, Packet, Spot};
use super::origin::{COPIED, SHORT_ANSWER};
use super::record::{CHUNK, Head, Trouble, What};
use super::target::{Owner, answer, change, flush};

const MEMBERS: u32 = 3;
/// Operations of each member.
const OPERATIONS: usize = 60;
/// Words that all add to.
const COUNTER: usize = 0;
/// Words from which each takes a number of its own.
const TICKETS: usize = 1;
/// Words that are swapped, each new value for the one before it.
const CHAIN: usize = 2;
/// Words of which every second one is added to.
const SPARSE: usize = 3;
const SPARSE_LEN: usize = 40;
/// Words for each member alone, longer than a record.
const AREA: usize = 5000;
const WORDS: usize = SPARSE + SPARSE_LEN + MEMBERS as usize * AREA;

/// The memory of a member.
struct Words(Box<[Cell<u64>]>);

impl Words {
    fn addr(&self, word: usize) -> u64 {
        self.0.as_ptr().addr() as u64 + 8 * word as u64
    }

    fn area(of: u32) -> usize {
        SPARSE + SPARSE_LEN + of as usize * AREA
    }

    fn read(&self, from: usize, len: usize) -> Vec<u64> {
        self.0[from..from + len].iter().map(Cell::get).collect()
    }
}

impl Owner for Words {
    type Held<'a> = ();

    fn bytes(&self, addr: u64, len: u64) -> Option<(*mut u8, Kind)> {
        let from = addr.checked_sub(self.addr(0))?;
        let at = self.0.as_ptr().cast::<u8>().cast_mut();
        let is_inside = from + len <= 8 * WORDS as u64;
        is_inside.then(|| (at.wrapping_add(from as usize), Kind::Host))
    }

    fn hold(&self) -> Result<(), Trouble> {
        Ok(())
    }
}

/// Keeps packets.
#[derive(Default)]
struct Inbox(Vec<(Peer, u64, Vec<u8>)>);

impl Deliver for Inbox {
    fn deliver(&mut self, from: Peer, header: Header, payload: PeerBytes<'_>) {
        let mut bytes = vec![0; payload.len()];
        payload.read(&mut bytes);
        self.0.push((from, header.len, bytes));
    }

    fn lost(&mut self, lost: PeerLost) {
        panic!("nobody dies: {lost:?}");
    }

    fn completed(&mut self, _: OpId, _: Result<u64, RmaError>) {}
}

/// An answer: where it goes, and what it is to be.
struct Answer {
    room: Box<[u64]>,
    expected: Expected,
}

enum Expected {
    Words(Vec<u64>),
    Ticket { of: u32 },
    Link { of: u32, compare: u64, new: u64 },
}

/// A member as an origin.
struct Member {
    me: u32,
    exchange: Exchange,
    port: Port,
    rng: Rng,
    left: usize,
    /// Whose flush it waits for.
    flushes: Option<u32>,
    answers: Vec<Answer>,
    /// What it has put where it alone puts, by target.
    put: Vec<Vec<u64>>,
    /// What it has added, by target.
    added: Vec<u64>,
    sparse: Vec<u64>,
    /// What it saw last in the word that is swapped, by target.
    seen: Vec<u64>,
}

/// What an operation does, to elements of `unit` bytes.
#[derive(Clone, Copy)]
struct ElementOp {
    what: What,
    elements: u8,
    unit: usize,
}

impl Member {
    /// One that asks each of the others for at most `most` bytes at a time.
    fn new(port: Port, seed: u64, most: u64) -> Member {
        let none = || vec![0; MEMBERS as usize];
        Member {
            me: port.peer().0,
            exchange: Exchange::asking_for(most),
            rng: Rng::new(Seed(seed)),
            port,
            left: OPERATIONS,
            flushes: None,
            answers: Vec::new(),
            put: vec![vec![0; AREA]; MEMBERS as usize],
            added: none(),
            sparse: none(),
            seen: none(),
        }
    }

    /// Starts an operation, as `origin` does.
    fn start(
        &mut self,
        to: u32,
        deed: ElementOp,
        (addr, layout): (u64, Option<(TypeRef, u64)>),
        (source, len): (Option<Vec<u64>>, u64),
        expected: Option<Expected>,
    ) {
        let mut head = Head {
            b: deed.elements,
            c: 0,
            ..Head::new(deed.what, 0)
        };
        let is_answered = expected.is_some();
        if let Some(expected) = expected {
            let mut room = vec![0u64; len as usize / 8].into_boxed_slice();
            let sink = RecvBuf::Bytes(room.as_mut_ptr().cast(), len);
            self.answers.push(Answer { room, expected });
            head.id = self.expect(to, sink, len);
        }
        let bytes = source.map(|words| words.iter().flat_map(|it| it.to_ne_bytes()).collect());
        let operation = Operation {
            head,
            spot: Spot { addr, layout },
            source: bytes.map_or(SendBuf::EMPTY, SendBuf::Owned),
            len,
            is_answered,
            unit: deed.unit,
            window: 0,
            rank: to,
            token: None,
            at: 0,
        };
        let is_long = len > if is_answered { SHORT_ANSWER } else { COPIED };
        self.exchange.start(Peer(to), operation, is_long);
    }

    fn expect(&mut self, to: u32, sink: RecvBuf, left: u64) -> u32 {
        self.exchange.expect(Pending {
            sink,
            left,
            ..Pending::new(Peer(to), 0, to)
        })
    }

    /// Whether answers of a target, or of any, are to come.
    fn awaits(&self, of: Option<u32>) -> bool {
        let mut awaited = self.exchange.awaited();
        awaited.any(|peer| of.is_none_or(|of| peer.0 == of))
    }

    fn flush(&mut self, to: u32) {
        let id = self.expect(to, RecvBuf::EMPTY, 0);
        let head = Head {
            id,
            ..Head::new(What::Flush, 0)
        };
        self.exchange.tell(Peer(to), head);
        self.flushes = Some(to);
    }

    /// Starts one operation, or looks whether a flush is over, which it waits for.
    fn act(&mut self, all: &[Words]) {
        if let Some(to) = self.flushes {
            if self.awaits(Some(to)) {
                return;
            }
            self.flushes = None;
            let area = all[to as usize].read(Words::area(self.me), AREA);
            assert!(area == self.put[to as usize], "a flush completes puts");
        }
        if self.left == 0 {
            return;
        }
        self.left -= 1;
        let to = (self.me + 1 + self.rng.below(MEMBERS as usize - 1) as u32) % MEMBERS;
        if self.left < MEMBERS as usize {
            // At last every target is flushed.
            if self.left as u32 != self.me {
                self.flush(self.left as u32);
            }
            return;
        }
        let (target, at) = (&all[to as usize], to as usize);
        let long = Datatype::predefined(consts::UINT64_T.0 as u16).expect("predefined");
        let elements = code(long.basic().expect("one kind"));
        let deed = |what| ElementOp {
            what,
            elements,
            unit: 8,
        };
        let plain = |what| ElementOp {
            what,
            elements: BYTE,
            unit: 1,
        };
        match self.rng.below(8) {
            0 => {
                let more = self.rng.any() >> 8;
                self.added[at] = self.added[at].wrapping_add(more);
                let place = (target.addr(COUNTER), None);
                self.start(to, deed(What::Combine), place, (Some(vec![more]), 8), None);
            }
            1 => {
                let place = (target.addr(TICKETS), None);
                let expected = Some(Expected::Ticket { of: to });
                self.start(to, deed(What::Fetch), place, (Some(vec![1]), 8), expected);
            }
            2 => {
                // What is new is used once.
                let new = (u64::from(self.me) << 32) | (self.left as u64 + 1);
                let compare = self.seen[at];
                let place = (target.addr(CHAIN), None);
                let both = (Some(vec![compare, new]), 8);
                let of = to;
                let expected = Some(Expected::Link { of, compare, new });
                self.start(to, plain(What::Swap), place, both, expected);
            }
            3 => {
                self.sparse[at] += 1;
                let n = SPARSE_LEN / 2;
                let every = Datatype::vector(n as i64, 1, 2, long).expect("a type");
                let place = (target.addr(SPARSE), Some((every, 1)));
                let ones = (Some(vec![1; n]), 8 * n as u64);
                self.start(to, deed(What::Combine), place, ones, None);
            }
            4 | 5 => {
                let longest = if self.rng.one_in(3) { AREA } else { 100 };
                let len = 1 + self.rng.below(longest);
                let from = self.rng.below(AREA - len + 1);
                let words: Vec<u64> = (0..len).map(|_| self.rng.any()).collect();
                self.put[at][from..from + len].copy_from_slice(&words);
                let place = (target.addr(Words::area(self.me) + from), None);
                let bytes = 8 * len as u64;
                self.start(to, plain(What::Put), place, (Some(words), bytes), None);
            }
            6 => {
                let longest = if self.rng.one_in(3) { AREA } else { 100 };
                let len = 1 + self.rng.below(longest);
                let from = self.rng.below(AREA - len + 1);
                // Records of a stream are carried out in order.
                let words = self.put[at][from..from + len].to_vec();
                let place = (target.addr(Words::area(self.me) + from), None);
                let bytes = 8 * len as u64;
                let expected = Some(Expected::Words(words));
                self.start(to, plain(What::Get), place, (None, bytes), expected);
            }
            _ => self.flush(to),
        }
    }

    /// Sends what there is room for.
    fn send(&mut self) {
        for peer in self.exchange.listed.clone() {
            let (port, out) = (&mut self.port, &mut self.exchange.lane(peer).out);
            let most = port.caps(peer).max_packet;
            let post = |at, packet: Packet<'_>| -> Result<Posted, PeerLost> {
                let header = Header {
                    len: at,
                    ..Header::default()
                };
                port.try_send(peer, header, packet)
            };
            out.pump(most, post, drop).expect("nobody dies");
            if out.is_empty() {
                self.exchange.unlist(peer);
            }
        }
    }

    /// Takes what has come.
    fn poll(&mut self, memory: &Words) {
        let mut inbox = Inbox::default();
        self.port.poll(&mut inbox);
        let serve = |exchange: &mut Exchange, from, head: Head, body: &[u8]| match head.what() {
            Some(What::Get | What::Fetch | What::Swap) => {
                answer(exchange, (from, head), body, Some(memory));
            }
            Some(What::Flush) => flush(exchange, from, head),
            Some(what) => assert_eq!(change(exchange, memory, (from, what, head), body), Ok(())),
            None => panic!("it makes no sense: {head:?}"),
        };
        for (from, at, bytes) in inbox.0 {
            self.exchange.take(from, at, &bytes, &serve);
        }
    }

    fn is_done(&self) -> bool {
        self.left == 0 && self.flushes.is_none() && self.exchange.is_quiet() && !self.awaits(None)
    }
}

/// That the answers and the memory of all fit together.
fn check(members: &[Member], all: &[Words]) {
    let mut tickets = vec![Vec::new(); MEMBERS as usize];
    let mut links = vec![HashMap::new(); MEMBERS as usize];
    for member in members {
        let mut last = vec![None; MEMBERS as usize];
        for answer in &member.answers {
            match &answer.expected {
                Expected::Words(words) => assert!(answer.room[..] == words[..], "what was got"),
                Expected::Ticket { of } => {
                    let (ticket, last) = (answer.room[0], &mut last[*of as usize]);
                    assert!(last.replace(ticket) < Some(ticket), "its own are in order");
                    tickets[*of as usize].push(ticket);
                }
                Expected::Link { of, compare, new } if answer.room[0] == *compare => {
                    let before = links[*of as usize].insert(*compare, *new);
                    assert_eq!(before, None, "two have swapped the same value");
                }
                Expected::Link { .. } => {}
            }
        }
    }
    for (of, words) in all.iter().enumerate() {
        let sum = |of_each: fn(&Member) -> &Vec<u64>| {
            let all = members.iter().map(|it| of_each(it)[of]);
            all.fold(0, u64::wrapping_add)
        };
        assert_eq!(words.0[COUNTER].get(), sum(|it| &it.added));
        let sparse = words.read(SPARSE, SPARSE_LEN);
        let expected = sum(|it| &it.sparse);
        assert!(sparse.chunks(2).all(|two| two == [expected, 0]));
        let tickets = &mut tickets[of];
        tickets.sort_unstable();
        assert!(tickets.iter().copied().eq(0..words.0[TICKETS].get()));
        let (mut value, mut count) = (0u64, 0usize);
        while let Some(next) = links[of].get(&value) {
            (value, count) = (*next, count + 1);
        }
        assert_eq!((value, count), (words.0[CHAIN].get(), links[of].len()));
    }
}

fn run(seed: u64, sim: Sim, most: u64) {
    let ports = sim.ports(MEMBERS).into_iter().zip(1..);
    let mut members: Vec<Member> = ports
        .map(|(port, number)| Member::new(port, (seed << 8) + number, most))
        .collect();
    let words = || Words((0..WORDS).map(|_| Cell::default()).collect());
    let all: Vec<Words> = members.iter().map(|_| words()).collect();
    let mut rng = Rng::new(Seed(seed));
    for _ in 0..10_000_000 {
        let who = rng.below(MEMBERS as usize);
        let member = &mut members[who];
        match rng.below(5) {
            0 => member.act(&all),
            1 | 2 => member.send(),
            _ => member.poll(&all[who]),
        }
        for answer in &member.answers {
            // What a swap has found is compared with next.
            if let Expected::Link { of, .. } = answer.expected
                && !member.exchange.awaited().any(|peer| peer.0 == of)
            {
                member.seen[of as usize] = answer.room[0];
            }
        }
        if members.iter().all(Member::is_done) {
            return check(&members, &all);
        }
    }
    panic!("seed {seed}: there is no end");
}

#[test]
fn operations_are_whole_and_in_order_whatever_the_network_does() {
    for seed in 1..=12 {
        let sim = Sim::new(Seed(seed)).unordered();
        run(
            seed,
            match seed % 3 {
                0 => sim
                    .ring_slots(1)
                    .max_packet(1000)
                    .full_one_in(2 + seed as u32),
                1 => sim.ring_slots(3).max_packet(97),
                _ => sim.max_packet(5000).full_one_in(3),
            },
            // One part at a time, two, or as many as there are.
            [1, CHUNK as u64 + 1, 1 << 20][seed as usize / 3 % 3],
        );
    }
}
