//! What the tests of this folder share.
#![allow(dead_code)]

use catena_fabric::{LocalPeer, Peer};
use catena_fabric_tests::meet;
use catena_ofi::settings::OFI_LIBRARY;
use catena_ofi::{Config, Ofi, OfiError, Wanted};
use catena_ofi_sys::Library;
use catena_proof::Secret;
use catena_testing::skip;

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
    let place = LocalPeer {
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

/// The only process of a job, which meets others.
pub fn stranger(job: u64, provider: &str, config: Config) -> Option<Ofi> {
    let wanted = Wanted {
        provider: Some(provider.to_string()),
        domain: None,
    };
    let (place, _) = catena_fabric_tests::alone(job);
    match Ofi::open_with(library()?, place, &wanted, config) {
        Ok(mut end) => {
            end.meet_others(place, Secret::from_bytes([7; 32]));
            Some(end)
        }
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
