//! Any number of ranks made a power of two.
//!
//! Of the first 2r ranks, neighbours pair up; one of each pair hands its
//! operand to the other and stands aside. Pairs are neighbours so that the
//! order of operands is kept (Thakur, Rabenseifner, Gropp, 2005).

/// What a rank is in the folded group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Takes part under this new rank.
    Alone(u32),
    /// Takes part under `new`, and for `other` as well.
    Keeper {
        /// New rank.
        new: u32,
        /// The rank that stands aside.
        other: u32,
    },
    /// Stands aside; `keeper` takes part instead.
    Aside {
        /// Old rank of the keeper.
        keeper: u32,
    },
}

/// A group folded to a power of two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fold {
    /// Ranks that take part.
    pub(crate) ranks: u32,
    /// Pairs: size minus `ranks`.
    pairs: u32,
    /// A rank that must not stand aside.
    stays: u32,
}

impl Fold {
    /// Folds `size` ranks; of a pair the lower one takes part, unless the
    /// other one is `stays`.
    pub(crate) fn new(size: u32, stays: u32) -> Self {
        let ranks = 1 << size.ilog2();
        Fold {
            ranks,
            pairs: size - ranks,
            stays,
        }
    }

    /// What `rank` is.
    pub(crate) fn role(&self, rank: u32) -> Role {
        if rank >= 2 * self.pairs {
            return Role::Alone(rank - self.pairs);
        }
        let keeper = self.old(rank / 2);
        if keeper == rank {
            Role::Keeper {
                new: rank / 2,
                other: rank ^ 1,
            }
        } else {
            Role::Aside { keeper }
        }
    }

    /// The old rank of a new one.
    pub(crate) fn old(&self, new: u32) -> u32 {
        if new >= self.pairs {
            new + self.pairs
        } else if self.stays == 2 * new + 1 {
            self.stays
        } else {
            2 * new
        }
    }
}
