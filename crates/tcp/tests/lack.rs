//! What a process does that has no descriptors left. Alone in its process, as the limit is that of
//! all tests there.

mod common;

use std::fs::File;

use catena_fabric::Transport;
use catena_fabric_tests::{Inbox, until};
use catena_tcp::Config;

use common::{pair, try_send};

/// Takes all descriptors that there are, but for `spare` of them.
fn take_all(spare: usize) -> Vec<File> {
    let limit = libc::rlimit {
        rlim_cur: 64,
        rlim_max: 64,
    };
    // SAFETY: the value is read during the call.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) }, 0);
    let mut all: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
    all.truncate(all.len() - spare);
    all
}

/// Both ends are in this process: the caller, or who is called, lacks one. Neither takes that for
/// the death of the other.
#[test]
fn connections_wait_for_descriptors() {
    for spare in [0, 1] {
        let (mut a, mut b) = pair(Config::from_settings());
        let (mut at_a, mut at_b) = (Inbox::default(), Inbox::default());
        let taken = take_all(spare);
        for _ in 0..2000 {
            assert!(!try_send(&mut a, 1, b"hello"), "there is no connection");
            a.poll(&mut at_a);
            b.poll(&mut at_b);
            assert!(at_a.lost.is_empty(), "{:?}", at_a.lost);
        }
        drop(taken);
        let mut sent = false;
        until(|| {
            sent = sent || try_send(&mut a, 1, b"hello");
            a.poll(&mut at_a);
            b.poll(&mut at_b);
            at_b.packets.len() == 1
        });
        assert!(at_a.lost.is_empty() && at_b.lost.is_empty());
    }
}
