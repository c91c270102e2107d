//! Targets for fuzzing (`fuzz/` at the root of the repository). Not a part of
//! the library.

#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;

use crate::chain::Chain;
use crate::record::Record;
use crate::remote::RegionKeys;

/// The name of a folder in `fuzz/corpus`, and what takes its files.
type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: &[Target] = &[
    ("net_chain", chain),
    ("net_record", record),
    ("net_region", region),
];

/// The address records of two processes, with the length of the first in front.
pub fn record(data: &[u8]) {
    let Some((&len, rest)) = data.split_first() else {
        return;
    };
    let (one, two) = rest.split_at(rest.len().min(len.into()));
    let read = |bytes: &[u8]| {
        let record = Record::decode(bytes)?;
        let room: usize = record
            .ends
            .iter()
            .flatten()
            .map(|end| end.address.len())
            .sum();
        assert!(room < bytes.len() && record.ends.iter().all(|rails| !rails.is_empty()));
        let told = record.encode().expect("no longer than it was");
        let again = Record::decode(&told).expect("what was written");
        assert_eq!((&again.ends, again.shm), (&record.ends, record.shm));
        assert!(record.setting.starts_with(&again.setting));
        let place = |it: &Record| {
            it.address
                .as_ref()
                .map(|at| (at.name, at.realm, at.segment))
        };
        assert_eq!(place(&again), place(&record));
        Some(record)
    };
    let (Some(one), Some(two)) = (read(one), read(two)) else {
        return;
    };
    let found = one.common(&two, true);
    if let Some((mine, theirs)) = found {
        let (mine, theirs) = (&one.ends[mine][0], &two.ends[theirs][0]);
        assert_eq!((mine.kind, mine.protocol), (theirs.kind, theirs.protocol));
    }
    assert_eq!(
        two.common(&one, false),
        found.map(|(mine, theirs)| (theirs, mine))
    );
}

/// The keys of a region.
pub fn region(data: &[u8]) {
    if let Some(keys) = RegionKeys::decode(data) {
        let told = keys.encode();
        assert!(told.len() <= data.len());
        assert_eq!(RegionKeys::decode(&told), Some(keys));
    }
}

/// The value of `CATENA_LINK`.
pub fn chain(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Ok(chain) = Chain::parse(&text) {
        assert!(chain.shm || !chain.networks.is_empty());
        assert!(chain.networks.len() <= text.len().max(2));
    }
}
