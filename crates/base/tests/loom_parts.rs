//! Model of two processes that share pieces of work.
#![cfg(loom)]

use catena_base::parts::{End, Parts};
use loom::sync::Arc;

/// Takes all that is left.
fn take(parts: &Parts, number: u32, end: End, of: u32) -> Vec<u32> {
    std::iter::from_fn(|| parts.take(number, end, of)).collect()
}

#[test]
fn every_part_is_taken_once() {
    loom::model(|| {
        let parts = Arc::new(Parts::default());
        let first = parts.open();
        let other = {
            let parts = parts.clone();
            loom::thread::spawn(move || take(&parts, first, End::Back, 3))
        };
        let mut all = take(&parts, first, End::Front, 3);
        // The other one may not have noticed yet that this piece is over.
        // The last of these lies where it lay.
        let second = (0..Parts::AHEAD).map(|_| parts.open()).last().unwrap();
        assert_eq!(take(&parts, second, End::Front, 1), [0]);
        all.extend(other.join().unwrap().into_iter().rev());
        assert_eq!(all, [0, 1, 2]);
    });
}
