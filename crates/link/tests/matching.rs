//! The matching queues against a model that scans one list for posted receives
//! and one for unexpected messages, for every kind of key.

mod common;

use catena_fabric::Peer;
use catena_link::{
    ANY_SOURCE, ANY_TAG, Cid, Endpoint, Envelope, MatchKey, MessageId, Mode, MpiKey, Plane, ReqId,
    Selector, Sent, TagKey, TagSelector,
};
use catena_sim::{Seed, Sim};
use common::*;
use proptest::prelude::*;

/// A kind of key: what the small numbers of an [`Op`] mean in it.
trait Kind: MatchKey {
    /// The tag of number 0 to 3.
    fn tag_of_number(number: i32) -> Self::Tag;

    /// The selector of a source or [`ANY_SOURCE`], and of a number from [`ANY_TAG`] to 9.
    fn selector_of(source: i32, number: i32) -> Self::Selector;

    fn accepts(selector: Self::Selector, source: u32, tag: Self::Tag) -> bool;
}

impl Kind for MpiKey {
    fn tag_of_number(number: i32) -> i32 {
        number
    }

    fn selector_of(source: i32, number: i32) -> Selector {
        let tag = if number == ANY_TAG {
            ANY_TAG
        } else {
            number % 4
        };
        Selector { source, tag }
    }

    fn accepts(selector: Selector, source: u32, tag: i32) -> bool {
        selector.accepts(source, tag)
    }
}

/// Tags that differ in low bits, in high ones, and in both.
const TAGS: [u64; 4] = [7, 0x1_0000_0007, 0x1_0000_0008, u64::MAX];

impl Kind for TagKey {
    fn tag_of_number(number: i32) -> u64 {
        TAGS[number as usize]
    }

    fn selector_of(source: i32, number: i32) -> TagSelector {
        let source = (source != ANY_SOURCE).then_some(Peer(source as u32));
        let (tag, ignore) = match number {
            ANY_TAG => (0, u64::MAX),
            // The bits that are ignored may be anything.
            4 => (TAGS[0] | 0xf << 32, 0xf << 32),
            5 => (TAGS[1], 0xf),
            6 => (TAGS[1], 0xff_ffff_ffff),
            7 => (TAGS[3], 1),
            8 => (TAGS[2], 0xf << 60),
            9 => (TAGS[2], 0xff),
            number => (TAGS[number as usize % 4], 0),
        };
        TagSelector {
            source,
            tag,
            ignore,
        }
    }

    fn accepts(selector: TagSelector, source: u32, tag: u64) -> bool {
        selector.accepts(Peer(source), tag)
    }
}

#[derive(Clone, Debug)]
enum Op {
    /// Communicator, plane, source, tag.
    Arrive(u32, u8, u32, i32),
    Post(u32, u8, i32, i32),
    Probe(u32, u8, i32, i32),
    Take(u32, u8, i32, i32),
    /// Which of the held messages.
    ReceiveHeld(usize),
    /// Which of the requests.
    Cancel(usize),
    Collect(usize),
}

/// Operations in communicators and planes below those numbers.
fn op(comms: u32, planes: u8) -> impl Strategy<Value = Op> {
    let source = prop_oneof![1 => Just(ANY_SOURCE), 3 => 0..3i32];
    let tag = prop_oneof![2 => Just(ANY_TAG), 3 => 0..4i32, 3 => 4..10i32];
    let what = (0..comms, 0..planes, source, tag);
    prop_oneof![
        6 => (0..comms, 0..planes, 0..3u32, 0..4i32).prop_map(|(c, p, s, t)| Op::Arrive(c, p, s,
            t)),
        6 => what.clone().prop_map(|(c, p, s, t)| Op::Post(c, p, s, t)),
        1 => what.clone().prop_map(|(c, p, s, t)| Op::Probe(c, p, s, t)),
        1 => what.prop_map(|(c, p, s, t)| Op::Take(c, p, s, t)),
        1 => any::<usize>().prop_map(Op::ReceiveHeld),
        1 => any::<usize>().prop_map(Op::Cancel),
        2 => any::<usize>().prop_map(Op::Collect),
    ]
}

fn plane(plane: u8) -> Plane {
    Plane::ALL[usize::from(plane)]
}

#[derive(Clone, Copy, Debug)]
struct Message<K: Kind> {
    space: (u32, u8),
    source: u32,
    tag: K::Tag,
    number: u8,
}

impl<K: Kind> Message<K> {
    fn envelope(self) -> Envelope<K::Tag> {
        Envelope {
            source: self.source,
            tag: self.tag,
            len: 1,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Outcome<T> {
    Waits,
    Got(u32, T, u8),
    Cancelled,
}

#[derive(Debug)]
struct Posted<K: Kind> {
    space: (u32, u8),
    selector: K::Selector,
    outcome: Outcome<K::Tag>,
    id: ReqId,
    into: Into,
}

struct Model<K: Kind> {
    requests: Vec<Posted<K>>,
    unexpected: Vec<Message<K>>,
    held: Vec<(MessageId, Message<K>)>,
}

impl<K: Kind> Model<K> {
    fn new() -> Self {
        Model {
            requests: Vec::new(),
            unexpected: Vec::new(),
            held: Vec::new(),
        }
    }

    /// Requests stand in order of posting.
    fn arrive(&mut self, message: Message<K>) {
        let fits = |it: &&mut Posted<K>| {
            it.outcome == Outcome::Waits
                && it.space == message.space
                && K::accepts(it.selector, message.source, message.tag)
        };
        match self.requests.iter_mut().find(fits) {
            Some(it) => it.outcome = Outcome::Got(message.source, message.tag, message.number),
            None => self.unexpected.push(message),
        }
    }

    fn find(&self, space: (u32, u8), selector: K::Selector) -> Option<usize> {
        let fits = |it: &Message<K>| it.space == space && K::accepts(selector, it.source, it.tag);
        self.unexpected.iter().position(fits)
    }
}

/// Rank 0 receives from itself and two others, in two communicators.
struct Bed<K: Kind> {
    ranks: Vec<Endpoint<SimNet, K>>,
}

impl<K: Kind> Bed<K> {
    fn new() -> Self {
        let ports = Sim::new(Seed(0)).ports(3);
        let mut ranks: Vec<Endpoint<SimNet, K>> = ports
            .into_iter()
            .map(|port| Endpoint::matching(SimNet::new(port)))
            .collect();
        for (r, rank) in ranks.iter_mut().enumerate() {
            for cid in [0, 1] {
                rank.open(
                    Cid(cid),
                    r as u32,
                    (0..3).map(|p| (Peer(p), Cid(cid))).collect(),
                );
            }
        }
        Bed { ranks }
    }

    fn arrive(&mut self, message: Message<K>) {
        let (cid, p) = message.space;
        let data = Bytes([message.number].into());
        let sender = &mut self.ranks[message.source as usize];
        let sent = sender.send(Cid(cid), plane(p), 0, message.tag, Mode::Standard, data);
        assert_eq!(sent, Sent::Done);
        let before = self.ranks[0].traffic(None).received.all();
        while self.ranks[0].traffic(None).received.all() == before {
            self.ranks[0].progress();
        }
    }
}

fn check<K: Kind>(rank: &Endpoint<SimNet, K>, request: &Posted<K>) {
    let Some(completion) = rank.peek(request.id) else {
        assert_eq!(request.outcome, Outcome::Waits);
        return;
    };
    assert_eq!(completion.error, None);
    match request.outcome {
        Outcome::Waits => panic!("matched what it should not: {completion:?}"),
        Outcome::Cancelled => assert!(completion.cancelled),
        Outcome::Got(source, tag, number) => {
            assert!(!completion.cancelled);
            assert_eq!((completion.source, completion.tag), (source as i32, tag));
            assert_eq!((completion.len, request.into.bytes()), (1, vec![number]));
        }
    }
}

fn run<K: Kind>(ops: Vec<Op>) {
    let mut bed = Bed::<K>::new();
    let mut model = Model::<K>::new();
    let mut stale = Vec::new();
    for (number, op) in ops.into_iter().enumerate() {
        match op {
            Op::Arrive(cid, p, source, tag) => {
                let message = Message {
                    space: (cid, p),
                    source,
                    tag: K::tag_of_number(tag),
                    number: number as u8,
                };
                bed.arrive(message);
                model.arrive(message);
            }
            Op::Post(cid, p, source, tag) => {
                let (selector, into) = (K::selector_of(source, tag), Into::room(1));
                let id = bed.ranks[0].recv(Cid(cid), plane(p), selector, into.clone());
                let outcome = match model.find((cid, p), selector) {
                    None => Outcome::Waits,
                    Some(at) => {
                        let it = model.unexpected.remove(at);
                        Outcome::Got(it.source, it.tag, it.number)
                    }
                };
                model.requests.push(Posted {
                    space: (cid, p),
                    selector,
                    outcome,
                    id,
                    into,
                });
            }
            Op::Probe(cid, p, source, tag) => {
                let selector = K::selector_of(source, tag);
                let expected = model.find((cid, p), selector);
                let expected = expected.map(|at| model.unexpected[at].envelope());
                assert_eq!(bed.ranks[0].probe(Cid(cid), plane(p), selector), expected);
            }
            Op::Take(cid, p, source, tag) => {
                let selector = K::selector_of(source, tag);
                let taken = bed.ranks[0].mprobe(Cid(cid), plane(p), selector);
                let expected = model
                    .find((cid, p), selector)
                    .map(|at| model.unexpected.remove(at));
                assert_eq!(
                    taken.map(|(_, envelope)| envelope),
                    expected.map(Message::envelope)
                );
                model
                    .held
                    .extend(taken.zip(expected).map(|((id, _), message)| (id, message)));
            }
            Op::ReceiveHeld(which) => {
                if model.held.is_empty() {
                    continue;
                }
                let (held, it) = model.held.swap_remove(which % model.held.len());
                let into = Into::room(1);
                let id = bed.ranks[0].mrecv(held, into.clone());
                assert!(!bed.ranks[0].message_valid(held));
                let outcome = Outcome::Got(it.source, it.tag, it.number);
                // It has matched already.
                let selector = K::selector_of(it.source as i32, 0);
                model.requests.push(Posted {
                    space: it.space,
                    selector,
                    outcome,
                    id,
                    into,
                });
            }
            Op::Cancel(which) => {
                let Some(at) = which.checked_rem(model.requests.len()) else {
                    continue;
                };
                let request = &mut model.requests[at];
                bed.ranks[0].cancel(request.id);
                if request.outcome == Outcome::Waits {
                    request.outcome = Outcome::Cancelled;
                }
            }
            Op::Collect(which) => {
                let Some(at) = which.checked_rem(model.requests.len()) else {
                    continue;
                };
                if model.requests[at].outcome != Outcome::Waits {
                    let request = model.requests.remove(at);
                    check(&bed.ranks[0], &request);
                    bed.ranks[0].take(request.id);
                    stale.push(request.id);
                }
            }
        }
        for request in &model.requests {
            check(&bed.ranks[0], request);
        }
        assert!(stale.iter().all(|&id| !bed.ranks[0].valid(id)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn agrees_with_the_model(ops in prop::collection::vec(op(2, 4), 1..120)) {
        run::<MpiKey>(ops.clone());
        run::<TagKey>(ops);
    }

    /// Queues so long that they are indexed.
    #[test]
    fn agrees_with_the_model_in_long_queues(
        mut ops in prop::collection::vec(op(1, 1), 100..300),
        posts_first in any::<bool>(),
    ) {
        ops.sort_by_key(|op| match op {
            Op::Arrive(..) => posts_first,
            Op::Post(..) => !posts_first,
            _ => true,
        });
        // The rest in any order.
        let first = ops.partition_point(|op| match op {
            Op::Arrive(..) => !posts_first,
            Op::Post(..) => posts_first,
            _ => false,
        });
        let (first, rest) = ops.split_at_mut(first);
        rest.sort_by_key(|op| match op {
            Op::Collect(n) | Op::Cancel(n) | Op::ReceiveHeld(n) => *n % 1024,
            Op::Arrive(_, _, source,
                tag) => 97 * (*source as usize + 1) * (*tag as usize + 3) % 1024,
            Op::Post(_, _, source, tag) | Op::Probe(_, _, source, tag) | Op::Take(_, _, source,
                tag) => {
                (389 * (source + 7) * (tag + 11)) as usize % 1024
            }
        });
        let ops = [first, rest].concat();
        run::<MpiKey>(ops.clone());
        run::<TagKey>(ops);
    }
}

/// More queues than buckets at the start, of different lengths.
#[test]
fn many_keys_stay_apart() {
    let mut bed = Bed::<MpiKey>::new();
    let mut posted = Vec::new();
    for round in 0..3 {
        for tag in 0..500 {
            for source in 0..2 {
                if tag % 3 >= round {
                    let into = Into::room(1);
                    let selector = selector(source, tag);
                    let id = bed.ranks[0].recv(Cid(0), Plane::User, selector, into.clone());
                    posted.push((source, tag, id, into));
                }
            }
        }
    }
    for (n, (source, tag, id, into)) in posted.into_iter().enumerate().collect::<Vec<_>>() {
        let number = n as u8;
        bed.arrive(Message {
            space: (0, 0),
            source: source as u32,
            tag,
            number,
        });
        assert!(
            bed.ranks[0].is_done(id),
            "the first of its key is matched first"
        );
        assert_eq!(into.bytes(), [number]);
        bed.ranks[0].take(id);
    }
    assert_eq!(bed.ranks[0].traffic(None).unexpected, 0);
}
