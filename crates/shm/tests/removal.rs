//! Processes of different jobs that live on, and remove each other.

mod common;

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;

use catena_fabric::{Peer, Transport};
use catena_shm::{Config, Shm, create_segment};

use common::{Inbox, header, pattern, try_send};

/// A process that is alone in its job, and its segment.
struct Alone {
    shm: Shm,
    fd: OwnedFd,
    job: u64,
    inbox: Inbox,
}

impl Alone {
    fn of(job: u64) -> Alone {
        let fd = create_segment().expect("a file");
        let shm = Shm::attach_with(
            fd.try_clone().expect("a descriptor"),
            0,
            &[Peer(0)],
            Config::tiny(),
        );
        let (shm, inbox) = (shm.expect("a segment"), Inbox::default());
        Alone {
            shm,
            fd,
            job,
            inbox,
        }
    }

    fn add(&mut self, peer: u32, other: &Alone) {
        let fd = other.fd.try_clone().expect("a descriptor");
        let added = self
            .shm
            .attach_other(fd, (self.job, other.job), &[Peer(peer)]);
        added.expect("its segment");
    }

    fn poll(&mut self) -> usize {
        self.shm.poll(&mut self.inbox)
    }

    fn send(&mut self, to: u32, seed: u64, len: usize) {
        assert!(try_send(&mut self.shm, Peer(to), seed, len));
    }

    /// What has come, by the peer and the seeds.
    fn takes(&mut self, from: u32, sent: &[(u64, usize)]) {
        while self.poll() > 0 {}
        let got = std::mem::take(&mut self.inbox.packets);
        let sent: Vec<_> = sent
            .iter()
            .map(|&(seed, len)| (Peer(from), header(seed), pattern(seed, len)))
            .collect();
        assert_eq!(got, sent);
    }

    /// Whom it was told to have left.
    fn ended(&mut self) -> Vec<Peer> {
        for _ in 0..3 {
            self.poll();
        }
        let told = std::mem::take(&mut self.inbox.lost).into_iter();
        let told = told.inspect(|it| assert!(it.cause.contains("removed this process")));
        told.map(|it| it.peer).collect()
    }

    /// Bytes of its segment that are in use.
    fn used(&self) -> u64 {
        let file = File::from(self.fd.try_clone().expect("a descriptor"));
        file.metadata().expect("it is open").blocks()
    }
}

#[test]
fn who_is_removed_is_told_behind_what_was_sent() {
    let (mut a, mut b) = (Alone::of(10), Alone::of(11));
    a.add(5, &b);
    b.add(1, &a);
    a.send(5, 1, 8);
    a.send(5, 2, 100);
    a.shm.remove_other(11);
    assert!(!a.shm.reaches(Peer(5)));
    assert!(b.shm.is_ready(), "a sleep does not begin");
    b.takes(1, &[(1, 8), (2, 100)]);
    assert_eq!(b.ended(), [Peer(1)]);
    assert!(b.ended().is_empty(), "it is told once");
    assert!(b.shm.is_silent());
    let refused = b.shm.try_send(Peer(1), header(1), [].as_slice());
    assert!(refused.is_err_and(|lost| lost.cause.contains("removed this process")));
    b.shm.remove_other(10);
    assert!(
        a.ended().is_empty(),
        "it does not know the other one any more"
    );
    // One that has sent nothing is known by its farewell.
    a.add(5, &b);
    b.add(1, &a);
    b.shm.remove_other(10);
    assert_eq!(a.ended(), [Peer(5)]);
}

#[test]
fn a_segment_does_not_grow_with_those_that_came_and_went() {
    let (mut a, mut b) = (Alone::of(10), Alone::of(11));
    let mut used = Vec::new();
    for round in 0..60 {
        a.add(1, &b);
        b.add(1, &a);
        a.send(1, 2 * round, 100);
        b.send(1, 2 * round + 1, 100);
        b.takes(1, &[(2 * round, 100)]);
        a.takes(1, &[(2 * round + 1, 100)]);
        match round % 3 {
            0 => {
                a.shm.remove_other(11);
                assert_eq!(b.ended(), [Peer(1)]);
                b.shm.remove_other(10);
            }
            1 => {
                b.shm.remove_other(10);
                assert_eq!(a.ended(), [Peer(1)]);
                a.shm.remove_other(11);
            }
            _ => {
                a.shm.remove_other(11);
                b.shm.remove_other(10);
            }
        }
        // One that goes before the other one comes leaves nothing either.
        a.add(1, &b);
        a.send(1, 7, 8);
        a.shm.remove_other(11);
        b.poll();
        a.poll();
        used.push((a.used(), b.used()));
    }
    assert!(used[6..].iter().all(|it| *it == used[6]), "{used:?}");
}

/// Nobody gets a ring into which a process may write that does not know yet that it was removed.
#[test]
fn what_a_removed_process_still_writes_harms_nobody() {
    let (mut a, mut b, mut c) = (Alone::of(10), Alone::of(11), Alone::of(12));
    a.add(1, &b);
    b.add(1, &a);
    b.send(1, 1, 100);
    a.takes(1, &[(1, 100)]);
    a.shm.remove_other(11);
    a.add(1, &c);
    c.add(1, &a);
    for round in 0..20 {
        // Until its ring is full, as nobody reads it.
        try_send(&mut b.shm, Peer(1), 1000 + round, 90);
        c.send(1, round, 90);
        a.takes(1, &[(round, 90)]);
    }
    assert_eq!(b.ended(), [Peer(1)]);
    b.shm.remove_other(10);
    a.takes(1, &[]);
    // Its ring is another one's now.
    let mut d = Alone::of(13);
    a.add(2, &d);
    d.add(1, &a);
    let before = a.used();
    d.send(1, 5, 100);
    assert_eq!(a.used(), before);
    a.takes(2, &[(5, 100)]);
}

#[test]
fn who_comes_back_early_waits() {
    let (mut a, mut b) = (Alone::of(10), Alone::of(11));
    a.add(1, &b);
    b.add(1, &a);
    for round in 0..5 {
        a.send(1, round, 8);
        a.shm.remove_other(11);
        a.add(1, &b);
        a.send(1, 100 + round, 8);
        b.takes(1, &[(round, 8)]);
        assert_eq!(b.ended(), [Peer(1)]);
        b.takes(1, &[]);
        b.shm.remove_other(10);
        b.add(1, &a);
        b.takes(1, &[(100 + round, 8)]);
        b.send(1, round, 100);
        a.takes(1, &[(round, 100)]);
        assert!(a.ended().is_empty() && b.ended().is_empty());
    }
}

#[test]
fn the_ring_of_one_that_was_removed_and_has_ended_is_for_others() {
    let mut a = Alone::of(10);
    let mut used = Vec::new();
    for job in 11..31 {
        let mut b = Alone::of(job);
        a.add(1, &b);
        b.add(1, &a);
        b.send(1, job, 100);
        a.takes(1, &[(job, 100)]);
        a.shm.remove_other(job);
        drop(b);
        a.shm.forget_removed(job);
        used.push(a.used());
    }
    assert!(used[1..].iter().all(|it| *it == used[1]), "{used:?}");
}
