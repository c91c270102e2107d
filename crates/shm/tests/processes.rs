//! Ends in processes of their own: content, sleeping, damage, limits.

mod common;

use std::os::fd::OwnedFd;
use std::time::Duration;

use catena_base::{Idle, Waiter};
use catena_fabric::{Access, Buf, OpId, Peer, Posted, RemoteKey, Rma, RmaError, Transport};
use catena_shm::{Config, Geometry, Shm, ShmError, create_segment};
use common::*;

/// Runs `child` in a process of its own and `parent` here; the child must
/// come to its end without a panic.
fn fork(child: impl FnOnce(), parent: impl FnOnce(i32)) {
    // SAFETY: the child uses only what it made itself, and leaves by _exit.
    match unsafe { libc::fork() } {
        -1 => panic!("fork: {}", std::io::Error::last_os_error()),
        0 => {
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(child));
            // SAFETY: ends this process without running the parent's cleanup.
            unsafe { libc::_exit(if done.is_ok() { 0 } else { 1 }) }
        }
        pid => {
            parent(pid);
            let mut status = 0;
            // SAFETY: our own child, a valid place for its status.
            unsafe { libc::waitpid(pid, &mut status, 0) };
            assert_eq!(status, 0, "the child failed");
        }
    }
}

fn attach(fd: &OwnedFd, me: u32, config: Config) -> Shm {
    Shm::attach_with(fd.try_clone().unwrap(), me, &[Peer(0), Peer(1)], config).unwrap()
}

/// Waits as the library does.
fn wait(shm: &mut Shm, waiter: &mut Waiter, moved: bool) {
    if moved {
        waiter.reset();
    } else {
        waiter.idle().act(|limit| shm.sleep(limit));
    }
}

/// Sends `count` packets and receives as many, both ways at once.
fn exchange(mut shm: Shm, me: u32, count: u64, oversubscribed: bool) {
    let max = shm.caps(Peer(1 - me)).max_packet;
    let (mut sent, mut got) = (0, 0);
    let mut waiter = Waiter::new(oversubscribed);
    let seed = |from: u32, n: u64| n * 2 + u64::from(from);
    while sent < count || got < count {
        let mut moved = false;
        while sent < count {
            let seed = seed(me, sent);
            if !try_send(&mut shm, Peer(1 - me), seed, length(seed, max)) {
                break;
            }
            sent += 1;
            moved = true;
        }
        let mut inbox = Inbox::default();
        shm.poll(&mut inbox);
        assert_eq!(inbox.lost, []);
        for (from, head, bytes) in inbox.packets {
            let seed = seed(1 - me, got);
            assert_eq!((from, head), (Peer(1 - me), header(seed)));
            assert_eq!(bytes, pattern(seed, length(seed, max)));
            got += 1;
            moved = true;
        }
        wait(&mut shm, &mut waiter, moved);
    }
}

#[test]
fn stress_between_two_processes() {
    for (config, count) in [
        (Config::tiny(), 20_000),
        (
            Config {
                geometry: Geometry::new(8, 4096, 1024),
                ..Config::tiny()
            },
            20_000,
        ),
        (Config::from_settings(2, 2), 10_000),
    ] {
        for oversubscribed in [false, true] {
            let fd = create_segment().unwrap();
            fork(
                || exchange(attach(&fd, 1, config), 1, count, oversubscribed),
                |_| exchange(attach(&fd, 0, config), 0, count, oversubscribed),
            );
        }
    }
}

/// A sleeper is woken by a packet, by the first ring of a peer, and by room.
/// Counted, not timed: without a ring the doorbell's bound would end the sleep.
#[test]
fn sleepers_are_woken() {
    const ROUNDS: u32 = 200;
    let fd = create_segment().unwrap();
    let forever = Duration::from_secs(3600);
    fork(
        || {
            let mut shm = attach(&fd, 1, Config::tiny());
            for _ in 0..ROUNDS {
                let mut inbox = Inbox::default();
                while inbox.packets.is_empty() {
                    shm.sleep(forever);
                    shm.poll(&mut inbox);
                }
                assert!(try_send(&mut shm, Peer(0), 1, 8));
            }
        },
        |_| {
            let mut shm = attach(&fd, 0, Config::tiny());
            for _ in 0..ROUNDS {
                assert!(try_send(&mut shm, Peer(1), 1, 8));
                let mut inbox = Inbox::default();
                while inbox.packets.is_empty() {
                    shm.sleep(forever);
                    shm.poll(&mut inbox);
                }
            }
            let counters = shm.counters();
            assert!(counters.wakes > 0, "nobody rang: {counters:?}");
        },
    );
}

/// How often this thread has given up its core by itself.
fn blocked() -> i64 {
    // SAFETY: all-zero is a valid rusage, and the place is valid for the call.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        assert_eq!(libc::getrusage(libc::RUSAGE_THREAD, &mut usage), 0);
        usage.ru_nvcsw
    }
}

/// Once a waiter sleeps it does nothing else, and each sleep gives up the core.
#[test]
fn an_idle_rank_leaves_its_core_to_others() {
    const SLEEPS: u64 = 5;
    for oversubscribed in [false, true] {
        let fd = create_segment().unwrap();
        let mut shm = attach(&fd, 0, Config::tiny());
        let mut waiter = Waiter::new(oversubscribed);
        let mut inbox = Inbox::default();
        let mut from = 0;
        while shm.counters().sleeps < SLEEPS {
            assert_eq!(shm.poll(&mut inbox), 0);
            let idle = waiter.idle();
            match idle {
                Idle::Sleep(_) if shm.counters().sleeps == 0 => from = blocked(),
                Idle::Sleep(_) => {}
                _ => assert_eq!(shm.counters().sleeps, 0, "{idle:?} after a sleep"),
            }
            idle.act(|limit| shm.sleep(limit.min(Duration::from_millis(1))));
        }
        let gave_up = blocked() - from;
        assert!(gave_up >= SLEEPS as i64, "{gave_up} of {SLEEPS} sleeps");
    }
}

#[test]
fn a_peers_memory_can_be_read() {
    let fd = create_segment().unwrap();
    let data = pattern(5, 2 << 20);
    fork(
        || {
            let mut shm = attach(&fd, 1, Config::tiny());
            let remote = shm
                .register(Some(Peer(0)), Buf::from(&*data), Access::READ)
                .unwrap();
            let words = [remote.addr, remote.key];
            let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
            assert_eq!(
                shm.try_send(Peer(0), header(0), bytes.as_slice()),
                Ok(Posted::Done)
            );
            // Until the other side has read it.
            let mut inbox = Inbox::default();
            while inbox.packets.is_empty() {
                shm.sleep(Duration::from_secs(1));
                shm.poll(&mut inbox);
            }
        },
        |_| {
            let mut shm = attach(&fd, 0, Config::tiny());
            let mut inbox = Inbox::default();
            while inbox.packets.is_empty() {
                shm.sleep(Duration::from_secs(1));
                shm.poll(&mut inbox);
            }
            let word =
                |i: usize| u64::from_le_bytes(inbox.packets[0].2[i..i + 8].try_into().unwrap());
            let remote = RemoteKey {
                addr: word(0),
                key: word(8),
            };
            let mut into = vec![0u8; data.len()];
            // SAFETY: the room has as many bytes.
            let got = unsafe { shm.get(OpId(1), Peer(1), Buf::from(&mut *into), remote) };
            if let Err(error) = got {
                assert!(!kernel_copies_of_children(), "{error}");
                catena_testing::skip("single copies", &FORBIDDEN);
            } else {
                assert!(into == data);
            }
            assert!(try_send(&mut shm, Peer(1), 0, 0));
        },
    );
}

#[test]
fn reading_a_process_that_has_ended_loses_the_peer() {
    let fd = create_segment().unwrap();
    let mut shm = attach(&fd, 0, Config::tiny());
    let mut word = 0u64;
    let into = (&raw mut word).cast::<u8>();
    let mut allowed = false;
    let remote = RemoteKey {
        addr: (&raw const fd) as u64,
        key: 0,
    };
    let (reader, writer) = std::io::pipe().unwrap();
    fork(
        || {
            let mut shm = attach(&fd, 1, Config::tiny());
            std::io::Write::write_all(&mut &writer, b"x").unwrap();
            let mut inbox = Inbox::default();
            while inbox.packets.is_empty() {
                shm.sleep(Duration::from_secs(1));
                shm.poll(&mut inbox);
            }
        },
        |_| {
            std::io::Read::read_exact(&mut &reader, &mut [0]).unwrap();
            // SAFETY: four bytes of `word`.
            allowed = unsafe { shm.get(OpId(1), Peer(1), Buf::host(into, 4), remote) }.is_ok();
            assert!(try_send(&mut shm, Peer(1), 0, 0));
        },
    );
    if allowed {
        // SAFETY: four bytes of `word`.
        let error = unsafe { shm.get(OpId(1), Peer(1), Buf::host(into, 4), remote) }.unwrap_err();
        let RmaError::Lost(lost) = error else {
            panic!("{error}");
        };
        assert_eq!(lost.peer, Peer(1));
        assert_eq!(shm.try_send(Peer(1), header(0), &[][..]), Err(lost));
    }
}

/// A peer that overwrites all of the segment with garbage can do no worse than
/// send nonsense or be given up.
#[test]
fn garbage_in_the_segment_is_survived() {
    for round in 0..60u64 {
        let fd = create_segment().unwrap();
        let (mut a, mut b) = (
            attach(&fd, 0, Config::tiny()),
            attach(&fd, 1, Config::tiny()),
        );
        assert!(try_send(&mut a, Peer(1), 1, 100));
        let mut inbox = Inbox::default();
        if round % 2 == 0 {
            b.poll(&mut inbox);
            assert!(try_send(&mut b, Peer(0), 1, 100));
        }
        damage(&fd, round);
        for n in 0..50 {
            for (end, peer) in [(&mut a, Peer(1)), (&mut b, Peer(0))] {
                let bytes = pattern(n, length(n, 128));
                let _ = end.try_send(peer, header(n), bytes.as_slice()).is_ok();
                end.poll(&mut inbox);
            }
        }
        assert!(inbox.packets.iter().all(|(_, _, bytes)| bytes.len() <= 128));
    }
}

/// Overwrites what exists of the segment, or parts of it.
fn damage(fd: &OwnedFd, round: u64) {
    use std::os::unix::fs::FileExt;
    let file = std::fs::File::from(fd.try_clone().unwrap());
    let mut at = 0;
    // The front and the tables, two rings and their data areas.
    for page in 0..6 {
        let mut bytes = vec![0; 4096];
        file.read_at(&mut bytes, page * 4096).unwrap();
        for word in bytes.chunks_exact_mut(8) {
            at += 1;
            let x = pattern(round * 100_003 + at, 9);
            match (round / 2 % 3, x[8] % 4) {
                // Everything.
                (0, _) => word.copy_from_slice(&x[..8]),
                // Every fourth word, small numbers.
                (1, 0) => word.copy_from_slice(&u64::from(x[0]).to_le_bytes()),
                // Small changes to what stands there.
                (2, 0) => word[usize::from(x[0] % 3)] ^= x[1],
                _ => {}
            }
        }
        file.write_at(&bytes, page * 4096).unwrap();
    }
}

/// Limits of the process are errors, not signals.
#[test]
fn limits_are_clear_errors() {
    for (resource, words) in [
        (libc::RLIMIT_AS, "address space"),
        (libc::RLIMIT_FSIZE, "file sizes"),
    ] {
        let fd = create_segment().unwrap();
        fork(
            || {
                let limit = libc::rlimit {
                    rlim_cur: 64 << 20,
                    rlim_max: 64 << 20,
                };
                // SAFETY: a valid limit, of this process only.
                assert_eq!(unsafe { libc::setrlimit(resource, &limit) }, 0);
                let error =
                    Shm::attach(fd.try_clone().unwrap(), 0, &[Peer(0), Peer(1)], 2).unwrap_err();
                assert!(error.to_string().contains(words), "{error}");
                let kind_fits = matches!(error, ShmError::Map { .. } | ShmError::Segment(_));
                assert!(kind_fits);
            },
            |_| (),
        );
    }
}
