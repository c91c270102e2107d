//! Questions to all nodes, whose answers are gathered on their way up the tree of hosts.
//!
//! A question goes down as `NodeCommand::Survey`. Each node answers by `NodeEvent::Surveyed`, at
//! once or later. A process of the launcher that has others below it waits for the answers of all
//! of them and of its own node, merges them, and passes one answer on. So mpirun hears as many
//! answers as daemons were started by it, however many hosts there are. A host that is lost is
//! waited for no longer.
//!
//! To ask something new is a variant of [`Question`], an arm of [`Question::merge`], and an arm of
//! `Node::answer` in the launcher; whoever asks in the supervisor gets a number, and later the
//! answer with that number.

use catena_boot::wire::Malformed;

/// What nodes are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// What processes have said so far: that comes up before the answer, which has nothing in it.
    Hear,
    /// Which processes do nothing but wait, have left, or are stopped: each is its number, the
    /// length of what follows, and that, a `Rank` of `catena_hang`.
    Waits,
    /// All processes in the same form, with places in their programs.
    WaitsInFull,
    /// What processes have called last: each is its number, the length of what follows, and that, a
    /// text of lines.
    Traces,
    /// What checked mode has found: each is the length of what follows, and that, a byte that is 0
    /// for an error, 1 for a warning and 2 for a number of findings that have had no room, and a
    /// text.
    Findings,
    /// Where the time of the program goes: each is the length of what follows, and that, a `Sheet`
    /// of `catena_profile`.
    Profile,
    /// Has all ranks tell what their library has counted: that comes by
    /// [`Counted`](Question::Counted), and the answer has nothing in it.
    Count,
    /// What ranks have counted so far: in the form of [`Profile`](Question::Profile), with what
    /// their library has told since it was asked.
    Counted,
    /// What ranks have called since they were asked last, one by one, and what clocks show: a
    /// `Part` of `catena_profile::timeline` of each node.
    Timeline,
    /// What is left of the calls of ranks, in the form of [`Timeline`](Question::Timeline), when
    /// all of them have ended; to be asked until no node has more.
    EndOfTimeline,
    /// What processes do, and what is counted of them: each is its number, the length of what
    /// follows, and that, a `Glance` of `catena_hang`.
    Glances,
}

impl Question {
    /// Its number in messages.
    pub(crate) fn to_word(self) -> u32 {
        match self {
            Question::Hear => 0,
            Question::Waits => 1,
            Question::WaitsInFull => 2,
            Question::Traces => 3,
            Question::Findings => 4,
            Question::Profile => 5,
            Question::Timeline => 6,
            Question::EndOfTimeline => 7,
            Question::Count => 8,
            Question::Counted => 9,
            Question::Glances => 10,
        }
    }

    /// The question with that number.
    pub(crate) fn from_word(word: u32) -> Result<Question, Malformed> {
        match word {
            0 => Ok(Question::Hear),
            1 => Ok(Question::Waits),
            2 => Ok(Question::WaitsInFull),
            3 => Ok(Question::Traces),
            4 => Ok(Question::Findings),
            5 => Ok(Question::Profile),
            6 => Ok(Question::Timeline),
            7 => Ok(Question::EndOfTimeline),
            8 => Ok(Question::Count),
            9 => Ok(Question::Counted),
            10 => Ok(Question::Glances),
            _ => Err(Malformed("a question of an unknown kind")),
        }
    }

    /// Adds the answer of one part of the tree to those of others. An answer without bytes adds
    /// nothing, to any question.
    pub fn merge(self, all: &mut Vec<u8>, answer: &[u8]) {
        match self {
            Question::Hear
            | Question::Waits
            | Question::WaitsInFull
            | Question::Traces
            | Question::Findings
            | Question::Profile
            | Question::Count
            | Question::Counted
            | Question::Timeline
            | Question::EndOfTimeline
            | Question::Glances => all.extend_from_slice(answer),
        }
    }
}
