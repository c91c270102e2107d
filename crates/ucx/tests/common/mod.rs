//! What the tests of this folder share.
#![allow(dead_code)]

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use catena_fabric::{Header, Peer, Place, Posted, Transport};
use catena_fabric_tests::Inbox;
use catena_ucx::settings::UCX_LIBRARY;
use catena_ucx::{Config, Ucx, UcxError, Wanted};
use catena_ucx_sys::Library;

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

/// UCX as the settings name it; `None`, with a word, if there is none.
pub fn library() -> Option<Library> {
    let library = Library::open(UCX_LIBRARY.get().split(':'));
    library
        .map_err(|error| skip("UCX", &UcxError::Library(error)))
        .ok()
}

/// Process `me` of two of a job; `None`, with a word, where this machine lacks
/// the transports.
pub fn end(me: u32, job: u64, transports: &str, config: Config) -> Option<Ucx> {
    let wanted = Wanted {
        transports: Some(transports.to_string()),
        devices: None,
    };
    let place = Place {
        me: Peer(me),
        processes: 2,
        job,
    };
    match Ucx::open_with(library()?, place, &wanted, config) {
        Ok(end) => Some(end),
        Err(error @ UcxError::NoTransport { .. }) => {
            skip(transports, &error);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Two ends over `transports` that know each other and have talked; `None`, with
/// a word, where this machine lacks them.
pub fn connected(transports: &str, config: Config) -> Option<(Ucx, Ucx)> {
    const JOB: u64 = 0x1234_5678_9abc_def0;
    let mut a = end(0, JOB, transports, config)?;
    let mut b = end(1, JOB, transports, config)?;
    let addresses = [a.address(), b.address()].map(|it| it.expect("an address"));
    a.connect(Peer(1), &addresses[1]);
    b.connect(Peer(0), &addresses[0]);
    meet(&mut a, &mut b);
    Some((a, b))
}

/// Has peers 0 and 1 send each other a packet.
fn meet(a: &mut Ucx, b: &mut Ucx) {
    let (mut at_a, mut at_b) = (Inbox::default(), Inbox::default());
    let (mut from_a, mut from_b) = (false, false);
    let send = |from: &mut Ucx, peer, sent: &mut bool| {
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
