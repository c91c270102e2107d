//! How a group keeps its members: a row of processes at equal distances as three
//! numbers, and anything else as a list.

use catena_fabric::Peer;

/// Members by rank. Equal lists have equal values: one that is a row is never
/// listed, and a row of less than two has the stride 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Members {
    Row(Row),
    Listed(Box<[Peer]>),
}

/// Processes at equal distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub first: u32,
    /// From each to the next: not 0.
    pub stride: i64,
    pub count: u32,
}

impl Row {
    pub const EMPTY: Row = Row {
        first: 0,
        stride: 1,
        count: 0,
    };

    /// The row that a list is, if it is one.
    pub fn of(list: &[Peer]) -> Option<Row> {
        let (first, stride) = match *list {
            [] => return Some(Row::EMPTY),
            [only] => (only.0, 1),
            [first, second, ..] => (first.0, i64::from(second.0) - i64::from(first.0)),
        };
        let count = list.len() as u32;
        let row = Row {
            first,
            stride,
            count,
        };
        let is_row = stride != 0
            && list
                .iter()
                .zip(0..)
                .all(|(&peer, rank)| row.at(rank) == peer);
        is_row.then_some(row)
    }

    pub fn at(self, rank: u32) -> Peer {
        Peer((i64::from(self.first) + i64::from(rank) * self.stride) as u32)
    }

    pub fn rank_of(self, peer: Peer) -> Option<u32> {
        let distance = i64::from(peer.0) - i64::from(self.first);
        let rank = distance / self.stride;
        let is_in = distance % self.stride == 0 && (0..i64::from(self.count)).contains(&rank);
        is_in.then_some(rank as u32)
    }

    /// Those of the ranks `range`.
    pub fn sub(self, range: Range) -> Row {
        Row {
            first: self.at(range.first).0,
            stride: match range.count {
                1 => 1,
                _ => self.stride * i64::from(range.stride),
            },
            count: range.count,
        }
    }
}

/// Ranks at equal distances, at least one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    pub first: u32,
    pub stride: i32,
    pub count: u32,
}

impl Members {
    pub fn of(list: impl AsRef<[Peer]> + Into<Box<[Peer]>>) -> Self {
        match Row::of(list.as_ref()) {
            Some(row) => Members::Row(row),
            None => Members::Listed(list.into()),
        }
    }

    pub fn len(&self) -> u32 {
        match self {
            Members::Row(row) => row.count,
            Members::Listed(list) => list.len() as u32,
        }
    }

    pub fn rank_of(&self, peer: Peer) -> Option<u32> {
        match self {
            Members::Row(row) => row.rank_of(peer),
            Members::Listed(list) => list.iter().position(|&p| p == peer).map(|r| r as u32),
        }
    }
}
