//! The kinds of frames between the launcher's processes.

use catena_boot::wire::{Malformed, UNKNOWN};

/// The first kind: those below are the frames between a rank and its server.
const FIRST: u8 = 64;

macro_rules! kinds {
    ($($(#[$about:meta])* $name:ident,)*) => {
        /// Kinds of frames between the launcher's processes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum MessageKind {
            $($(#[$about])* $name,)*
        }

        /// All of them, by number.
        const ALL: &[MessageKind] = &[$(MessageKind::$name,)*];
    };
}

kinds! {
    /// Down, once: what is to be done at all.
    Launch,
    /// Up, once: the daemon has understood that.
    Hello,
    /// Both ways: nothing but that the sender is alive.
    Alive,
    /// Up: where the ranks of a node run.
    Placed,
    /// Up: a rank runs.
    Started,
    /// Up: what a rank wrote.
    Output,
    /// Up: ranks begin to wait in a fence.
    Fencing,
    /// Up: all ranks of a part of the tree wait in it.
    Fenced,
    /// Up: a rank has called `MPI_Init`.
    Joined,
    /// Up: a rank has called `MPI_Finalize`.
    Finalized,
    /// Up: a rank that had finalized uses MPI once more.
    Resumed,
    /// Up: a rank wants the job to end.
    Abort,
    /// Up: a rank says that the job has failed, and goes on.
    Fault,
    /// Up: a rank has closed its connection.
    Left,
    /// Up: a rank sent nonsense.
    Broken,
    /// Up: a rank could not execute its program.
    NotStarted,
    /// Up: a rank has ended.
    Ended,
    /// Up: a rank was never started.
    Missing,
    /// Up: how much of the standard input ranks have taken.
    Fed,
    /// Up: a node cannot do its part.
    Failed,
    /// Up: a node cannot be reached.
    Lost,
    /// Up: all of a node was told.
    Done,
    /// Down: the fence ends.
    EndFence,
    /// Down: ranks are to end.
    End,
    /// Down: a signal for all ranks.
    Signal,
    /// Down: more of the standard input.
    Stdin,
    /// Down: nobody reads what ranks write.
    Unwanted,
    /// Down: so much of a node's output was taken.
    Taken,
    /// Down: all ranks have ended.
    Finish,
    /// Both ways: a question for the node of a rank.
    Ask,
    /// Both ways: its answer.
    Answer,
    /// Both ways: a message between PMIx servers.
    ServerMessage,
    /// Up: a rank has the library of another MPI in it.
    Foreign,
    /// Up: something for the user.
    Note,
    /// Down: a process has died.
    Died,
    /// Up: a rank wants what the first server does.
    Call,
    /// Both ways: a frame for a rank.
    Tell,
    /// Up, and down when it ends.
    JobFence,
    /// Up: a spawned job cannot be started.
    JobFailed,
    /// Down, and up when it is done.
    ForgetJob,
    /// Down: a job was spawned.
    StartJob,
    /// Down: a signal for the processes of one job.
    SignalJob,
    /// Between launchers: a [`Word`](catena_boot::Word).
    Abroad,
    /// Down, and up with the answers.
    Survey,
}

impl From<MessageKind> for u8 {
    fn from(kind: MessageKind) -> u8 {
        FIRST + kind as u8
    }
}

impl MessageKind {
    /// The kind of a frame.
    ///
    /// # Errors
    /// If there is none.
    pub fn from_byte(byte: u8) -> Result<MessageKind, Malformed> {
        let index = byte.wrapping_sub(FIRST);
        ALL.get(usize::from(index)).copied().ok_or(UNKNOWN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_is_one_kind_or_none() {
        for byte in 0..=u8::MAX {
            match MessageKind::from_byte(byte) {
                Ok(kind) => assert_eq!(u8::from(kind), byte),
                Err(_) => assert!(byte < FIRST || usize::from(byte - FIRST) >= ALL.len()),
            }
        }
        assert_eq!(u8::from(MessageKind::Survey) - FIRST, ALL.len() as u8 - 1);
    }
}
