//! An operation that tells how its operands were combined.

use catena_schedule::Order;

use crate::ops::{Reduction, each};

/// Neither commutative nor associative: the result tells which operands were combined with which,
/// and which of them was the left one.
pub const TREE: Reduction = Reduction {
    name: "tree",
    function: &(tree as fn(&[u8], &mut [u8], Order)),
    commutative: false,
    associative: false,
};

fn tree(from: &[u8], into: &mut [u8], order: Order) {
    each(from, into, order, |l, r| {
        let (l, r) = (u16::from_le_bytes(l), u16::from_le_bytes(r));
        let mixed = l.wrapping_mul(40_503).rotate_left(5) ^ r.wrapping_mul(25_173);
        mixed.wrapping_add(13_849).to_le_bytes()
    });
}
