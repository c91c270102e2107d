//! Packets that are tuned together.

use catena_base::copy;

/// Shortest packet that may go by strings (`tune`).
const LONG: usize = copy::STRINGS;

/// Packets of about the same length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Short,
    Long,
}

impl Class {
    pub const ALL: [Class; 2] = [Class::Short, Class::Long];

    /// Of a packet of `len` bytes.
    #[inline(always)]
    pub fn of(len: usize) -> Class {
        match len < LONG {
            true => Class::Short,
            false => Class::Long,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_length_has_one() {
        let all = [0, 1, LONG - 1, LONG, usize::MAX].map(Class::of);
        let [short, long] = Class::ALL;
        assert_eq!(all, [short, short, short, long, long]);
    }
}
