//! What the tests of this folder share.
#![allow(dead_code)]

use catena_fabric::{LocalPeer, Peer};
use catena_fabric_tests::meet;
use catena_proof::Secret;
use catena_testing::skip;
use catena_ucx::settings::UCX_LIBRARY;
use catena_ucx::{Config, Ucx, UcxError, Wanted};
use catena_ucx_sys::Library;

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
    let place = LocalPeer {
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

/// The only process of a job, which meets others.
pub fn stranger(job: u64, transports: &str, config: Config) -> Option<Ucx> {
    let wanted = Wanted {
        transports: Some(transports.to_string()),
        devices: None,
    };
    let (place, _) = catena_fabric_tests::alone(job);
    match Ucx::open_with(library()?, place, &wanted, config) {
        Ok(mut end) => {
            end.meet_others(place, Secret::from_bytes([7; 32]));
            Some(end)
        }
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
