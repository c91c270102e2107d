//! Operations on elements of two bytes.

use catena_schedule::Order;

/// Bytes of an element.
pub const ELEM: usize = 2;

type Function = fn(&[u8], &mut [u8], Order);

#[derive(Clone, Copy)]
pub struct Reduction {
    pub name: &'static str,
    pub function: &'static Function,
    pub commutative: bool,
    pub associative: bool,
}

impl std::fmt::Debug for Reduction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.name)
    }
}

/// Addition of 16-bit numbers.
pub const SUM: Reduction = Reduction {
    name: "sum",
    function: &(sum as Function),
    commutative: true,
    associative: true,
};

/// Composition of the maps x ↦ ax + b modulo 256: not commutative.
pub const AFFINE: Reduction = Reduction {
    name: "affine",
    function: &(affine as Function),
    commutative: false,
    associative: true,
};

/// Commutative, but not associative: the result tells which operands were combined with which.
pub const MIX: Reduction = Reduction {
    name: "mix",
    function: &(mix as Function),
    commutative: true,
    associative: false,
};

/// Neither: the result tells the order and the grouping of all operands.
#[allow(
    dead_code,
    reason = "not all who include this file have such operations"
)]
pub const TREE: Reduction = Reduction {
    name: "tree",
    function: &(tree as Function),
    commutative: false,
    associative: false,
};

/// Applies `f`, whose left operand comes first, to each pair of elements.
pub fn each(
    from: &[u8],
    into: &mut [u8],
    order: Order,
    f: impl Fn([u8; ELEM], [u8; ELEM]) -> [u8; ELEM],
) {
    assert!(
        from.len() == into.len() && from.len().is_multiple_of(ELEM),
        "cut inside an element"
    );
    for (x, y) in from.chunks_exact(ELEM).zip(into.chunks_exact_mut(ELEM)) {
        let (a, b) = ([x[0], x[1]], [y[0], y[1]]);
        let (left, right) = if order == Order::FromLeft {
            (a, b)
        } else {
            (b, a)
        };
        y.copy_from_slice(&f(left, right));
    }
}

fn sum(from: &[u8], into: &mut [u8], order: Order) {
    each(from, into, order, |l, r| {
        u16::from_le_bytes(l)
            .wrapping_add(u16::from_le_bytes(r))
            .to_le_bytes()
    });
}

fn affine(from: &[u8], into: &mut [u8], order: Order) {
    each(from, into, order, |l, r| {
        // The lowest bit of the factor is taken as set, or the maps would soon
        // all be constant and nothing be seen.
        let (a, c) = (l[0] | 1, r[0] | 1);
        [a.wrapping_mul(c), a.wrapping_mul(r[1]).wrapping_add(l[1])]
    });
}

fn mix(from: &[u8], into: &mut [u8], order: Order) {
    each(from, into, order, |l, r| {
        let (l, r) = (u16::from_le_bytes(l), u16::from_le_bytes(r));
        (l ^ r)
            .wrapping_mul(40_503)
            .wrapping_add(l.wrapping_mul(r) >> 3)
            .to_le_bytes()
    });
}

fn tree(from: &[u8], into: &mut [u8], order: Order) {
    each(from, into, order, |l, r| {
        let (l, r) = (u16::from_le_bytes(l), u16::from_le_bytes(r));
        l.wrapping_mul(31)
            .wrapping_add(r.rotate_left(5) ^ 0x9E37)
            .to_le_bytes()
    });
}
