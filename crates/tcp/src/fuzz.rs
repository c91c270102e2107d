//! Targets for fuzzing (`fuzz/` at the root of the repository). Not a part of
//! the library.

#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;

use crate::addr;
use crate::frame::{HEAD, Head};
use crate::greeting::{self, CALL, CHALLENGE};

/// The name of a folder in `fuzz/corpus`, and what takes its files.
type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: &[Target] = &[
    ("tcp_addr", addr),
    ("tcp_greeting", greeting),
    ("tcp_head", head),
];

/// Port and addresses of a process.
pub fn addr(data: &[u8]) {
    let Some((port, all)) = addr::decode(data) else {
        return;
    };
    assert!(!all.is_empty() && 5 * all.len() < data.len());
    // Only the first ones are told.
    let told = addr::encode(port, all.iter().copied());
    let (again, some) = addr::decode(&told).expect("what was written");
    assert_eq!(again, port);
    assert!(some.iter().all(|it| all.contains(it)));
    assert!(data != told || some == all);
}

/// The first message of each end of a connection.
pub fn greeting(data: &[u8]) {
    if let Ok(greeting) = greeting::parse(data) {
        assert_eq!(data.len(), CALL);
        assert!(data.starts_with(&greeting.encode()));
    }
    if let Ok(nonce) = greeting::parse_challenge(data) {
        assert_eq!(data.len(), CHALLENGE);
        assert!(data.ends_with(&nonce));
    }
}

/// A stream of frames behind the greeting.
pub fn head(data: &[u8]) {
    let (packet, mut rest) = (1 << 10, data);
    while let Some((bytes, after)) = rest.split_first_chunk::<HEAD>() {
        let Ok(head) = Head::decode(bytes, packet) else {
            return;
        };
        assert!(head.len <= packet);
        assert_eq!(head.encode(), *bytes);
        let Some(next) = after.get(head.len..) else {
            return;
        };
        rest = next;
    }
}
