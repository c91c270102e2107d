//! What the tests of this folder share.
#![allow(dead_code)]

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use catena_fabric::{Header, Peer, Place, Posted, Transport};
use catena_fabric_tests::Inbox;
use catena_ofi::settings::OFI_LIBRARY;
use catena_ofi::{Config, Ofi, OfiError, Wanted};
use catena_ofi_sys::Library;

/// How long something may take before it counts as never.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Says on standard error, past what the test harness keeps to itself, why
/// nothing is tested: once for all tests of a program.
pub fn skip(what: &str, why: &dyn std::fmt::Display) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let line = format!("skipped {what}: {why}\n");
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if said.insert(line.clone()) {
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
}

/// libfabric as the settings name it; `None`, with a word, if there is none.
pub fn library() -> Option<Library> {
    let library = Library::open(OFI_LIBRARY.get().split(':'));
    library
        .map_err(|error| skip("libfabric", &OfiError::Library(error)))
        .ok()
}

/// Process `me` of two of a job; `None`, with a word, where this machine lacks
/// the provider.
pub fn end(me: u32, job: u64, provider: &str, config: Config) -> Option<Ofi> {
    let wanted = Wanted {
        provider: Some(provider.to_string()),
        domain: None,
    };
    let place = Place {
        me: Peer(me),
        processes: 2,
        job,
    };
    match Ofi::open_with(library()?, place, &wanted, config) {
        Ok(end) => Some(end),
        Err(error @ OfiError::NoProvider { .. }) => {
            skip(provider, &error);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Two ends of `provider` that know each other and have talked; `None`, with a
/// word, where this machine lacks it.
pub fn connected(provider: &str, config: Config) -> Option<(Ofi, Ofi)> {
    const JOB: u64 = 0x1234_5678_9abc_def0;
    let mut a = end(0, JOB, provider, config)?;
    let mut b = end(1, JOB, provider, config)?;
    let addresses = [a.address(), b.address()].map(|it| it.expect("an address"));
    a.connect(Peer(1), &addresses[1]).expect("a good address");
    b.connect(Peer(0), &addresses[0]).expect("a good address");
    meet(&mut a, &mut b);
    Some((a, b))
}

/// Has peers 0 and 1 send each other a packet. Both begin before either hears:
/// two ends in one process of which only one began are not connected rightly by
/// the shm provider of libfabric 2.5, which then crashes in a remote read.
fn meet(a: &mut Ofi, b: &mut Ofi) {
    let (mut at_a, mut at_b) = (Inbox::default(), Inbox::default());
    let (mut from_a, mut from_b) = (false, false);
    let send = |from: &mut Ofi, peer, sent: &mut bool| {
        let header = Header::default();
        *sent = *sent || from.try_send(peer, header, &b"hello"[..]) == Ok(Posted::Done);
    };
    until(|| {
        send(a, Peer(1), &mut from_a);
        send(b, Peer(0), &mut from_b);
        a.poll(&mut at_a);
        b.poll(&mut at_b);
        !at_a.packets.is_empty() && !at_b.packets.is_empty()
    });
    for inbox in [at_a, at_b] {
        assert_eq!(inbox.packets[0].2, b"hello");
    }
}

/// Does something until it says that it is done.
pub fn until(mut done: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !done() {
        assert!(begin.elapsed() < PATIENCE, "it never happens");
    }
}
