//! What the members of a communicator say of a call to each other.

use std::fmt;

use catena_datatype::Kinds;
use catena_hang::function_name;

use super::tag::Label;

/// With what the names of functions begin that are made of other collectives.
const MADE_OF_OTHERS: [&str; 9] = [
    "MPI_File_",
    "MPI_Win_",
    "MPI_Comm_",
    "MPI_Intercomm_",
    "MPI_Cart_",
    "MPI_Graph_",
    "MPI_Dist_graph_",
    "MPI_Finalize",
    "MPI_Session_",
];

/// What a member says of its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallSignature {
    pub label: Label,
    /// As in [`catena_coll::Shape`], so alike for all; 0 where they need not be.
    pub bytes: u64,
    /// It is a blocking one that takes place on the board.
    pub on_board: bool,
    /// It made a persistent operation.
    pub is_persistent: bool,
    /// It has nothing to do: this member has no data.
    pub is_idle: bool,
    /// The number of the function that the program has called and that waits in it, and one more; 0
    /// if that is not known.
    pub function: u16,
}

impl CallSignature {
    const LEN: usize = 23;

    /// Of a blocking call in which no member has anything for another one.
    #[inline]
    pub fn void(label: Label) -> Self {
        CallSignature {
            label,
            bytes: 0,
            on_board: true,
            is_persistent: false,
            is_idle: true,
            function: 0,
        }
    }

    /// As in the function that this thread has called last.
    pub fn in_this_call(self) -> Self {
        let function = catena_trace::current();
        CallSignature { function, ..self }
    }

    /// The function of the program, if that is not the collective itself: a call of a file, say, or
    /// the first one that needs shared memory.
    pub fn words(&self) -> Option<&'static str> {
        let name = function_name(self.function.checked_sub(1)?)?;
        let is_made_of_others = MADE_OF_OTHERS.iter().any(|head| name.starts_with(head));
        let is_made_of_others = is_made_of_others && !self.label.is(Label::FINALIZE);
        (is_made_of_others || self.label.is(Label::FIRST)).then_some(name)
    }

    /// As [`CallSignature::read`] reads it.
    pub fn to_bytes(self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..4].copy_from_slice(&self.label.number().to_ne_bytes());
        bytes[4..8].copy_from_slice(&self.label.detail.to_ne_bytes());
        bytes[8..16].copy_from_slice(&self.bytes.to_ne_bytes());
        let flags = [self.on_board, self.is_idle, self.is_persistent].map(u8::from);
        bytes[16] = flags[0] | flags[1] << 1 | flags[2] << 2;
        bytes[17..21].copy_from_slice(&self.label.kinds.bits().to_ne_bytes());
        bytes[21..].copy_from_slice(&self.function.to_ne_bytes());
        bytes
    }

    /// What bytes say; `None` if it is nothing of a call.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; Self::LEN] = bytes.try_into().ok()?;
        let word = |at: usize| bytes[at..at + 4].try_into().map(u32::from_ne_bytes).ok();
        Some(CallSignature {
            label: Label {
                kinds: Kinds::from_bits(word(17)?)?,
                ..Label::of(word(0)?, word(4)?)
            },
            bytes: bytes[8..16].try_into().map(u64::from_ne_bytes).ok()?,
            on_board: bytes[16] & 1 != 0,
            is_idle: bytes[16] & 2 != 0,
            is_persistent: bytes[16] & 4 != 0,
            function: u16::from_ne_bytes([bytes[21], bytes[22]]),
        })
    }
}

/// As in "the persistent form of MPI_Bcast with root 3".
impl fmt::Display for CallSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = self.words() {
            f.write_str(name)?;
            return match self.label.is(Label::FIRST) {
                true => write!(f, ", {}", self.label),
                false => Ok(()),
            };
        }
        if self.is_persistent {
            f.write_str("the persistent form of ")?;
        }
        write!(f, "{}", self.label)
    }
}

#[cfg(test)]
mod tests {
    use catena_coll::Collective;

    use super::*;

    #[test]
    fn what_is_said_arrives() {
        for what in Collective::ALL.map(Some).into_iter().chain([None]) {
            let label = Label {
                what,
                detail: 70_000,
                kinds: Kinds::of_class(9),
            };
            let signature = CallSignature {
                label,
                bytes: 1 << 40,
                on_board: what == Some(Collective::Scan),
                is_persistent: what == Some(Collective::Barrier),
                is_idle: what == Some(Collective::Gatherv),
                function: 17,
            };
            assert_eq!(CallSignature::read(&signature.to_bytes()), Some(signature));
        }
        assert_eq!(CallSignature::read(b""), None);
    }
}
