//! Tests of rails that [add peers](Rail::ADDS_PEERS): two processes of no job that add and remove
//! each other.

use std::time::{Duration, Instant};

use catena_fabric::{
    Access, Buf, LocalPeer, OpId, Peer, PeerLost, Posted, ProcessName, Rail, RmaError, Started,
};

use crate::Inbox;
use crate::help::{header, pattern};
use crate::network::until;

/// Two ends of one network, each of a process that is alone in its job and knows no other.
#[derive(Debug)]
pub struct Strangers<R: Rail> {
    /// One end.
    pub a: R,
    /// What its process is called.
    pub a_is: ProcessName,
    /// The other end.
    pub b: R,
    /// What its process is called.
    pub b_is: ProcessName,
}

/// Where a process with that name is alone in its job.
pub fn alone(job: u64) -> (LocalPeer, ProcessName) {
    let (me, processes) = (Peer(0), 1);
    let place = LocalPeer { me, processes, job };
    (place, ProcessName { job, rank: 0 })
}

/// One end, and what it has received.
#[derive(Debug)]
struct Side<R> {
    at: R,
    is: ProcessName,
    inbox: Inbox,
}

impl<R: Rail> Side<R> {
    fn poll(&mut self) {
        self.at.poll(&mut self.inbox);
    }

    fn try_send(&mut self, to: Peer, n: u32, len: usize) -> Result<Posted, PeerLost> {
        self.at.try_send(to, header(n), pattern(n, len).as_slice())
    }

    fn has_taken(&mut self, to: Peer, n: u32, len: usize) -> bool {
        self.try_send(to, n, len) == Ok(Posted::Done)
    }

    /// Adds the other one.
    fn add(&mut self, peer: Peer, other: &Side<R>) {
        self.at.add_peer(peer, other.is).expect("it is new");
        let address = other.at.address().expect("an address");
        self.at
            .connect(peer, &address.bytes)
            .expect("a good address");
    }

    /// Adds the other one, once nothing is under way to one that had that number.
    fn add_again(&mut self, peer: Peer, other: &mut Side<R>) {
        until(|| {
            self.poll();
            other.poll();
            self.at.has_let_go(peer)
        });
        self.add(peer, other);
    }
}

impl<R: Rail> Strangers<R> {
    fn sides(self) -> [Side<R>; 2] {
        assert!(R::ADDS_PEERS, "it adds peers");
        let side = |at, is| Side {
            at,
            is,
            inbox: Inbox::default(),
        };
        [side(self.a, self.a_is), side(self.b, self.b_is)]
    }
}

/// The number of `b` at `a`, and of `a` at `b`.
const THERE: Peer = Peer(3);
const BACK: Peer = Peer(1);

/// Sends packets of many lengths from one to the other.
fn exchange<R: Rail>(from: &mut Side<R>, to: &mut Side<R>, there: Peer, back: Peer) {
    let most = from.at.caps(there).max_packet;
    for (n, len) in (1..).zip([0, 8, 100, most / 2, most]) {
        to.inbox.packets.clear();
        let mut sent = false;
        until(|| {
            sent = sent || from.has_taken(there, n, len);
            from.poll();
            to.poll();
            !to.inbox.packets.is_empty()
        });
        assert_eq!(to.inbox.packets, [(back, header(n), pattern(n, len))]);
    }
    to.inbox.packets.clear();
}

/// Polls until `at` is told that the other one has left.
fn await_end<R: Rail>(at: &mut Side<R>, other: &mut Side<R>, peer: Peer) {
    until(|| {
        at.poll();
        other.poll();
        !at.inbox.left.is_empty()
    });
    for _ in 0..1000 {
        at.poll();
    }
    assert!(at.inbox.lost.is_empty(), "{:?}", at.inbox.lost);
    let told: Vec<PeerLost> = std::mem::take(&mut at.inbox.left);
    assert_eq!(told.len(), 1, "it is told once: {told:?}");
    assert!(told[0].peer == peer && told[0].cause.contains("removed"));
    let refused = at.try_send(peer, 9, 8);
    assert_eq!(refused, Err(told[0].clone()), "sends repeat it");
}

/// Whoever adds the other one first: nothing is lost of what is sent meanwhile, and there is not
/// room for more and more.
pub fn peers_are_added_in_any_order<R: Rail>(strangers: Strangers<R>) {
    let [mut a, mut b] = strangers.sides();
    a.add(THERE, &b);
    let (mut taken, mut refused) = (Vec::new(), 0);
    for n in 0.. {
        match a.try_send(THERE, n, 8).expect("it lives") {
            Posted::Done => taken.push(n as i32),
            Posted::Full => refused += 1,
        }
        a.poll();
        b.poll();
        if refused == 2000 {
            break;
        }
        assert!(taken.len() < 100_000, "a route without end");
    }
    assert!(b.inbox.packets.is_empty(), "nobody knows it");
    b.add(BACK, &a);
    until(|| {
        a.poll();
        b.poll();
        b.inbox.packets.len() >= taken.len()
    });
    let mut came: Vec<i32> = b.inbox.packets.iter().map(|it| it.1.tag).collect();
    came.sort_unstable();
    assert_eq!(came, taken);
    exchange(&mut a, &mut b, THERE, BACK);
    exchange(&mut b, &mut a, BACK, THERE);
}

/// A number and a name are given once, and only who was added is removed.
pub fn names_and_numbers_are_given_once<R: Rail>(strangers: Strangers<R>) {
    let [mut a, b] = strangers.sides();
    let other = |job| ProcessName { job, rank: 0 };
    assert!(a.at.remove_peer(THERE).is_err(), "nobody was added");
    a.add(THERE, &b);
    assert!(a.at.add_peer(Peer(1), b.is).is_err(), "it has a number");
    assert!(a.at.add_peer(THERE, other(77)).is_err(), "it is another's");
    assert!(a.at.add_peer(Peer(1), a.is).is_err(), "it is this one");
    assert!(a.at.remove_peer(Peer(0)).is_err(), "it is this one");
    assert!(a.at.remove_peer(Peer(1)).is_err(), "it is nobody");
    a.at.remove_peer(THERE).expect("it was added");
    assert!(a.at.remove_peer(THERE).is_err(), "it was removed");
    let refused = a.try_send(THERE, 1, 8);
    assert_eq!(refused.map_err(|lost| lost.peer), Err(THERE));
}

/// What had left arrives, then the end is told.
pub fn a_removed_peer_is_told_behind_what_was_sent<R: Rail>(strangers: Strangers<R>) {
    let [mut a, mut b] = strangers.sides();
    a.add(THERE, &b);
    b.add(BACK, &a);
    exchange(&mut b, &mut a, BACK, THERE);
    let count = 200;
    for n in 0..count {
        until(|| {
            a.poll();
            b.poll();
            a.has_taken(THERE, n, n as usize % 90)
        });
    }
    until(|| {
        a.poll();
        b.poll();
        a.at.is_quiet()
    });
    a.at.remove_peer(THERE).expect("it was added");
    await_end(&mut b, &mut a, BACK);
    assert_eq!(b.inbox.packets.len(), count as usize);
    // What it sends does not come any more; nor is anything told of it.
    for _ in 0..1000 {
        a.poll();
    }
    assert!(a.inbox.packets.is_empty() && a.inbox.left.is_empty() && a.inbox.lost.is_empty());
}

/// Time and again, and whichever removes the other one; one that comes back early waits.
pub fn removed_peers_are_added_again<R: Rail>(strangers: Strangers<R>) {
    let [mut a, mut b] = strangers.sides();
    a.add(THERE, &b);
    b.add(BACK, &a);
    for round in 0..6 {
        exchange(&mut a, &mut b, THERE, BACK);
        exchange(&mut b, &mut a, BACK, THERE);
        let (goes, stays, there, back) = match round % 2 {
            0 => (&mut a, &mut b, THERE, BACK),
            _ => (&mut b, &mut a, BACK, THERE),
        };
        goes.at.remove_peer(there).expect("it was added");
        if round < 2 {
            await_end(stays, goes, back);
            goes.add_again(there, stays);
        } else {
            goes.add_again(there, stays);
            until(|| {
                // It is not taken for what it was before.
                let taken = goes.has_taken(there, 5, 8);
                goes.poll();
                stays.poll();
                assert!(!taken, "the other end has not begun anew");
                !stays.inbox.left.is_empty()
            });
            await_end(stays, goes, back);
        }
        assert!(stays.inbox.packets.is_empty(), "nothing new has come");
        stays.at.remove_peer(back).expect("it was added");
        stays.add_again(back, goes);
    }
    exchange(&mut a, &mut b, THERE, BACK);
    // Both at once.
    a.at.remove_peer(THERE).expect("it was added");
    b.at.remove_peer(BACK).expect("it was added");
    a.add_again(THERE, &mut b);
    b.add_again(BACK, &mut a);
    exchange(&mut b, &mut a, BACK, THERE);
}

/// Operations on the memory of a peer that is removed end once each: well, or because of that.
pub fn operations_to_a_removed_peer_end_once<R: Rail>(strangers: Strangers<R>) {
    let [mut a, mut b] = strangers.sides();
    a.add(THERE, &b);
    b.add(BACK, &a);
    exchange(&mut a, &mut b, THERE, BACK);
    exchange(&mut b, &mut a, BACK, THERE);
    if !a.at.rma_caps(THERE).get {
        return;
    }
    let len = 1 << 16;
    let mut memory = pattern(3, len);
    let key = b.at.register(
        Some(BACK),
        Buf::host(memory.as_mut_ptr(), len),
        Access::READ,
    );
    let key = key.expect("it reads");
    let mut rooms: Vec<Vec<u8>> = (0..64).map(|_| vec![0; len]).collect();
    let mut begun = Vec::new();
    // The first waits until the key is known.
    for (number, room) in (0..).zip(&mut rooms) {
        let mut started = Ok(Started::Full);
        let mut tries = 0;
        while started == Ok(Started::Full) && (begun.is_empty() || tries < 100) {
            // SAFETY: as long as told, and ours until the operation has ended.
            started = unsafe {
                a.at.get(OpId(number), THERE, Buf::host(room.as_mut_ptr(), len), key)
            };
            a.poll();
            if begun.is_empty() {
                b.poll();
            }
            tries += 1;
        }
        match started.expect("it lives") {
            Started::Full => break,
            Started::UnderWay => begun.push(number),
            Started::Complete(_) => {}
        }
    }
    a.at.remove_peer(THERE).expect("it was added");
    // SAFETY: as above.
    let refused = unsafe {
        a.at.get(OpId(99), THERE, Buf::host(rooms[0].as_mut_ptr(), len), key)
    };
    assert!(matches!(refused, Err(RmaError::Lost(_))), "{refused:?}");
    until(|| {
        a.poll();
        b.poll();
        a.inbox.completed.len() >= begun.len() && a.at.has_let_go(THERE)
    });
    let mut ended: Vec<u64> = a.inbox.completed.iter().map(|it| it.0.0).collect();
    ended.sort_unstable();
    assert_eq!(ended, begun, "each has ended once");
    for (op, result) in &a.inbox.completed {
        match result {
            Ok(_) => assert_eq!(rooms[op.0 as usize], memory),
            Err(error) => assert!(matches!(error, RmaError::Lost(_)), "{error:?}"),
        }
    }
    await_end(&mut b, &mut a, BACK);
    b.at.deregister(key);
}

/// How long a rail may wait for a peer that does not poll, before it ends what is under way.
const PATIENCE: Duration = Duration::from_millis(2500);

/// A peer that does not poll is removed, too, and is told when it polls, however late that is. What
/// is under way to one that has died ends.
pub fn a_peer_that_does_nothing_is_removed<R: Rail>(strangers: Strangers<R>) {
    let [mut a, mut b] = strangers.sides();
    a.add(THERE, &b);
    b.add(BACK, &a);
    for wait in [Duration::ZERO, PATIENCE] {
        exchange(&mut a, &mut b, THERE, BACK);
        exchange(&mut b, &mut a, BACK, THERE);
        fill(&mut a);
        a.at.remove_peer(THERE).expect("it was added");
        let begin = Instant::now();
        until(|| {
            a.poll();
            begin.elapsed() >= wait
        });
        until(|| {
            a.poll();
            b.poll();
            !(b.inbox.left.is_empty() && b.inbox.lost.is_empty())
        });
        b.at.remove_peer(BACK).expect("it was added");
        a.add_again(THERE, &mut b);
        b.add_again(BACK, &mut a);
        b.inbox = Inbox::default();
    }
    exchange(&mut a, &mut b, THERE, BACK);
    fill(&mut a);
    drop(b);
    a.at.remove_peer(THERE).expect("it was added");
    until(|| {
        a.poll();
        a.at.has_let_go(THERE)
    });
}

/// Sends packets to a peer that takes none, until it has been refused some times.
fn fill<R: Rail>(a: &mut Side<R>) {
    let most = a.at.caps(THERE).max_packet;
    let mut refused = 0;
    until(|| {
        refused += i32::from(!a.has_taken(THERE, 1, most));
        a.poll();
        refused > 300
    });
}
