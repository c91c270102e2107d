//! What a process is called wherever it is known.

/// A process by the job that it was started in and its rank there. Every process calls
/// it by these words, while a [`Peer`](crate::Peer) is a number of one process's own.
///
/// The order is the same at all processes, and means nothing else.
///
/// # Examples
/// ```
/// use catena_fabric::ProcessName;
///
/// let name = ProcessName { job: 0x0123_4567_89ab_cdef, rank: 7 };
/// assert_eq!(ProcessName::from_words(&name.to_words()), name);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcessName {
    /// The random number of the job.
    pub job: u64,
    /// The rank among the processes that were started together as that job.
    pub rank: u32,
}

/// Words of a name in a message.
const WORDS: usize = 3;

impl ProcessName {
    /// How many words [`ProcessName::to_words`] gives.
    pub const WORDS: usize = WORDS;

    /// As words of a message.
    pub fn to_words(self) -> [u32; WORDS] {
        [(self.job >> 32) as u32, self.job as u32, self.rank]
    }

    /// From the first words of a message.
    ///
    /// # Panics
    /// If there are less than [`ProcessName::WORDS`].
    pub fn from_words(words: &[u32]) -> ProcessName {
        ProcessName {
            job: u64::from(words[0]) << 32 | u64::from(words[1]),
            rank: words[2],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_survive_as_words() {
        let name = ProcessName {
            job: 0x0123_4567_89ab_cdef,
            rank: 7,
        };
        assert_eq!(ProcessName::from_words(&name.to_words()), name);
    }
}
