//! Targets for fuzzing (`fuzz/` at the root of the repository). Not a part of
//! the library.

#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;

use catena_base::PeerBytes;

use crate::frame::{Batch, FRAME, Front, Sign, open};
use crate::{Header, Peer};

/// The name of a folder in `fuzz/corpus`, and what takes its files.
type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: &[Target] = &[("fabric_frame", frame)];

/// A message of a network: its packets lie within it one after the other, and
/// are the same when they are written again.
pub fn frame(data: &[u8]) {
    let (job, processes) = (5, 3);
    let mut packets: Vec<(Peer, Header, Vec<u8>)> = Vec::new();
    let sound = open(PeerBytes::from(data), job, processes, |from, header, it| {
        packets.push((from, header, it.to_vec()));
    });
    let bytes: usize = packets.iter().map(|it| it.2.len()).sum();
    assert!(bytes <= data.len().saturating_sub(FRAME));
    assert!(packets.iter().all(|it| it.0.0 < processes));
    if !sound {
        return;
    }
    let mut batch = Batch::default();
    for (_, header, payload) in &packets {
        batch.add(*header, &payload.as_slice());
    }
    let from = packets.first().map_or(0, |it| it.0.0);
    let mut again = vec![0; FRAME + batch.bytes().len()];
    // SAFETY: exactly that long.
    unsafe {
        let sign = Sign::of_rank(job, from);
        Front::of_several(sign).write(again.as_mut_ptr(), &batch.bytes());
    }
    let mut left = packets.iter();
    let sound = open(
        PeerBytes::from(&again[..]),
        job,
        processes,
        |_, header, it| {
            let (_, written, payload) = left.next().expect("no more than were written");
            assert_eq!((header, &it.to_vec()), (*written, payload));
        },
    );
    assert!(sound && left.next().is_none());
}
