//! Active messages go to their handlers, beside messages that are matched.

mod common;

use std::ops::Range;
use std::sync::{Arc, Mutex};

use catena_base::PeerBytes;
use catena_fabric::{Access, Buf, OpId, Peer, PeerLost, Posted, Rma, RmaError, Started, Transport};
use catena_link::{ActiveHeader, Class, Handler, Mode, Plane, Sent};
use catena_sim::{Reads, Seed, Sim};
use common::*;

/// What a handler was given.
#[derive(Debug, Default)]
struct Taken {
    packets: Vec<(Peer, ActiveHeader, Vec<u8>)>,
    lost: Vec<Peer>,
    forgotten: Vec<Range<u32>>,
    ended: Vec<(u64, Result<u64, RmaError>)>,
}

/// Keeps everything where the test sees it.
#[derive(Clone, Debug, Default)]
struct Recorder(Arc<Mutex<Taken>>);

impl Handler for Recorder {
    fn deliver(&mut self, from: Peer, header: ActiveHeader, payload: PeerBytes<'_>) {
        let mut taken = self.0.lock().expect("sound");
        taken.packets.push((from, header, payload.to_vec()));
    }

    fn lost(&mut self, lost: &PeerLost) {
        self.0.lock().expect("sound").lost.push(lost.peer);
    }

    fn forget(&mut self, peers: &Range<u32>) {
        self.0.lock().expect("sound").forgotten.push(peers.clone());
    }

    fn completed(&mut self, number: u64, result: Result<u64, RmaError>) {
        self.0.lock().expect("sound").ended.push((number, result));
    }
}

/// The handler of a class of a rank.
fn keep(rank: &mut Rank, class: Class) -> Recorder {
    let keeper = Recorder::default();
    let before = rank.set_handler(class, Some(Box::new(keeper.clone())));
    assert!(before.is_none());
    keeper
}

fn header(class: Class, n: u32) -> ActiveHeader {
    ActiveHeader {
        class,
        context: n ^ 0xffff_0000,
        what: -(n as i32),
        argument: u64::from(n) << 40,
    }
}

/// Posts an active message of rank 0 to rank 1; how often its route was full.
fn post(ranks: &mut [Rank], header: ActiveHeader, bytes: &[u8]) -> usize {
    let mut refused = 0;
    until(ranks, |ranks| {
        let posted = ranks[0].try_post_active(Peer(1), header, bytes);
        let is_full = posted.expect("the peer is alive") == Posted::Full;
        refused += usize::from(is_full);
        !is_full
    });
    refused
}

#[test]
fn each_reaches_its_handler_once_beside_matched_messages() {
    let mut refused = 0;
    for seed in 0..50 {
        let sim = Sim::new(Seed(seed)).max_packet(16).eager_max(64);
        let sim = sim.ring_slots(3).full_one_in(3).reads(Reads::Flaky);
        let mut ranks = ranks(sim.unordered(), 2);
        let classes = [Class(0), Class(7)];
        let keepers = classes.map(|class| keep(&mut ranks[1], class));
        let mut posted = [Vec::new(), Vec::new()];
        for n in 0..40u32 {
            let data = pattern(n.into(), 50);
            let sent = ranks[0].send(world(0), Plane::User, 1, n as i32, Mode::Standard, data);
            let which = n as usize % 2;
            let bytes = pattern(n.into(), n as usize % 17);
            let header = header(classes[which], n);
            refused += post(&mut ranks, header, &bytes.0);
            posted[which].push((Peer(0), header, bytes.0.to_vec()));
            let (got, into) = recv(&mut ranks, 1, 0, n as i32, 50);
            wait(&mut ranks, 1, got);
            assert_eq!(into.bytes(), pattern(n.into(), 50).0[..]);
            if let Sent::Pending(id) = sent {
                wait(&mut ranks, 0, id);
            }
        }
        quiesce(&mut ranks);
        for (keeper, posted) in keepers.iter().zip(&mut posted) {
            let mut taken = keeper.0.lock().expect("sound");
            let number = |it: &(Peer, ActiveHeader, Vec<u8>)| it.1.argument;
            taken.packets.sort_by_key(number);
            assert_eq!(taken.packets, *posted, "seed {seed}");
        }
    }
    assert!(refused > 0, "no route was ever full");
}

#[test]
fn one_without_a_handler_is_dropped() {
    let mut ranks = ranks(Sim::new(Seed(1)), 2);
    let keeper = keep(&mut ranks[1], Class(3));
    for class in [Class(2), Class(200), Class(3)] {
        post(&mut ranks, header(class, 1), b"x");
    }
    quiesce(&mut ranks);
    assert_eq!(keeper.0.lock().expect("sound").packets.len(), 1);
    assert_eq!(ranks[1].counters().dropped, 2);
    assert!(ranks[1].set_handler(Class(3), None).is_some());
    post(&mut ranks, header(Class(3), 1), b"x");
    quiesce(&mut ranks);
    assert_eq!(ranks[1].counters().dropped, 3);
}

#[test]
fn handlers_learn_of_losses_once() {
    let mut ranks = ranks(Sim::new(Seed(1)), 2);
    let keeper = keep(&mut ranks[0], Class(0));
    ranks[1].net().0.die();
    until(&mut ranks, |ranks| {
        let posted = ranks[0].try_post_active(Peer(1), header(Class(0), 1), &b"x"[..]);
        posted.is_err()
    });
    quiesce(&mut ranks);
    assert_eq!(keeper.0.lock().expect("sound").lost, [Peer(1)]);
}

#[test]
fn the_class_that_starts_an_operation_is_told_of_its_end() {
    let mut ranks = ranks(Sim::new(Seed(5)).reads(Reads::Flaky), 2);
    let keepers = [Class(2), Class(6)].map(|class| keep(&mut ranks[0], class));
    let mut memory = [0u8; 8];
    let key = ranks[1]
        .net()
        .0
        .register(None, Buf::host(memory.as_mut_ptr(), 8), Access::WRITE)
        .expect("the simulator registers all");
    let bytes = [7u8; 8];
    let mut started = Vec::new();
    for number in 0..20 {
        let op = OpId::new(Class(6).0, OpId::LAST - number);
        until(&mut ranks, |ranks| {
            let to = &mut ranks[0].net().0;
            // SAFETY: the bytes and the room stay until the end of the test, which waits for all.
            let put = unsafe { to.put(op, Peer(1), Buf::host(bytes.as_ptr(), 8), key) };
            let is_under_way = put == Ok(Started::UnderWay);
            started.extend(is_under_way.then_some(op.number()));
            is_under_way
        });
    }
    let ended = || keepers[1].0.lock().expect("sound").ended.len();
    until(&mut ranks, |_| ended() == started.len());
    let mut told: Vec<u64> = {
        let taken = keepers[1].0.lock().expect("sound");
        taken.ended.iter().map(|(number, _)| *number).collect()
    };
    told.sort_unstable_by(|a, b| b.cmp(a));
    assert_eq!(told, started);
    assert!(keepers[0].0.lock().expect("sound").ended.is_empty());
    assert_eq!(memory, bytes);
}
