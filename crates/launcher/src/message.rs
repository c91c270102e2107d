//! What the launcher's processes tell each other: events go up the tree of hosts, and
//! commands go down.

use std::ops::Range;
use std::sync::Arc;

use catena_boot::Ended;
use catena_boot::server::Event;
use catena_boot::wire::{Malformed, Reader, UNKNOWN, Writer};

use crate::new_job::NewJob;
use crate::sys::{Exit, Stage};

/// Bytes of each kind of output stream that a node may tell of before somebody
/// has taken them.
pub const WINDOW: usize = 256 << 10;

/// What happens on the nodes. What one node tells arrives in order.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeEvent {
    /// Where the ranks of a node run, for users to read.
    Placed { text: String },
    /// A rank runs, on these CPUs if it is bound.
    Started { rank: u32, pid: u32, cpus: String },
    /// A rank wrote to its stdout (0) or stderr (1); no bytes: its end.
    Output {
        rank: u32,
        which: usize,
        bytes: Vec<u8>,
    },
    /// What a rank, or all of a node or part of the tree, told the server.
    Said(Event),
    /// A rank could not execute its program: `error` is the system's number.
    NotStarted { rank: u32, stage: Stage, error: i32 },
    /// A rank's process has ended.
    Ended { rank: u32, exit: Exit },
    /// A rank was never started, and the reason was told.
    Missing { rank: u32 },
    /// A rank has the library of another MPI in it, or is going to have.
    Foreign {
        rank: u32,
        library: String,
        /// Whether it could have found its place by PMIx, and has not.
        served: bool,
    },
    /// Something that users want to know if it matters, or if they have asked for
    /// every word.
    Note { text: String, matters: bool },
    /// The ranks of a node that read standard input have taken so much more, the slowest and the fastest of them; whether one of
    /// them may want more.
    Fed {
        node: u32,
        slowest: u32,
        fastest: u32,
        more: bool,
    },
    /// A node cannot do its part; the job shall end with this status.
    Failed { status: i32, text: String },
    /// A node cannot be reached, and nothing is known of its ranks any more.
    /// The text, with the name of the host, says why if it is a failure.
    Lost { node: u32, text: Option<String> },
    /// Something for the PMIx server of a node.
    ServerMessage { node: u32, bytes: Vec<u8> },
    /// All of a node was told.
    Done { node: u32 },
    /// The job that was spawned with that first number cannot be started, and why.
    JobFailed { first: u32, text: String },
    /// A node has told all of the job with that first number, and has forgotten it.
    Forgotten { node: u32, first: u32 },
    /// A node has told what was said there before the question with that number came.
    Heard { node: u32, number: u32 },
}

/// What nodes shall do.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeCommand {
    /// End the fence: what all ranks have brought.
    EndFence(Arc<[u8]>),
    /// Ask all ranks to end, by this signal.
    End { signal: i32 },
    /// Send a signal to all ranks that run, or to the groups of all.
    Signal { signal: i32, groups: bool },
    /// Pass this on to the ranks that read standard input; no bytes: the end.
    Stdin(Vec<u8>),
    /// Nobody will read what the ranks write to stdout (0) or stderr (1).
    Unwanted { which: usize },
    /// What one node has for another: a question to the node of a rank, an
    /// answer for the node that has asked, a message between PMIx servers.
    Pass(NodeEvent),
    /// So much of a node's output was taken.
    Taken { node: u32, which: usize, bytes: u32 },
    /// A process has died, the how-manieth of all, and how: tell the others.
    Died { rank: u32, epoch: u32, how: Ended },
    /// All ranks have ended: tell the rest.
    Finish,
    /// A job was spawned: know of it, and start its ranks.
    StartJob(Arc<NewJob>),
    /// End the fence of the spawned job with that first number: what its ranks have brought.
    EndJobFence { first: u32, parts: Arc<[u8]> },
    /// Send a signal to the processes with these numbers, and to their children.
    SignalJob { numbers: Range<u32>, signal: i32 },
    /// Forget a spawned job, all of whose processes have ended, once all is told of it.
    ForgetJob { numbers: Range<u32> },
    /// Tell what processes have said so far.
    Hear { number: u32 },
}

/// Kinds of frames between the launcher's processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum MessageKind {
    /// Down, once: what is to be done at all.
    Launch = 64,
    /// Up, once: the daemon has understood that.
    Hello,
    /// Both ways: nothing but that the sender is alive.
    Alive,
    Placed,
    Started,
    Output,
    Fencing,
    Fenced,
    Joined,
    Finalized,
    Resumed,
    Abort,
    Fault,
    Left,
    Broken,
    NotStarted,
    Ended,
    Missing,
    Fed,
    Failed,
    Lost,
    Done,
    EndFence,
    End,
    Signal,
    Stdin,
    Unwanted,
    Taken,
    Finish,
    /// Both ways.
    Ask,
    /// Both ways.
    Answer,
    /// Both ways.
    ServerMessage,
    Foreign,
    Note,
    /// Down: a process has died.
    Died,
    /// Up: a rank wants what the first server does.
    Call,
    /// Both ways: a frame for a rank.
    Tell,
    /// Up, and down when it ends.
    JobFence,
    JobFailed,
    /// Down, and up when it is done.
    ForgetJob,
    /// Down.
    StartJob,
    /// Down.
    SignalJob,
    /// Between launchers: a [`Word`](catena_boot::Word).
    Abroad,
    /// Down, and up when it is done.
    Hear,
}

impl From<MessageKind> for u8 {
    fn from(kind: MessageKind) -> u8 {
        kind as u8
    }
}

impl MessageKind {
    /// The kind of a frame.
    ///
    /// # Errors
    /// If there is none.
    pub fn from_byte(byte: u8) -> Result<MessageKind, Malformed> {
        use MessageKind::*;
        const ALL: [MessageKind; 44] = [
            Launch,
            Hello,
            Alive,
            Placed,
            Started,
            Output,
            Fencing,
            Fenced,
            Joined,
            Finalized,
            Resumed,
            Abort,
            Fault,
            Left,
            Broken,
            NotStarted,
            Ended,
            Missing,
            Fed,
            Failed,
            Lost,
            Done,
            EndFence,
            End,
            Signal,
            Stdin,
            Unwanted,
            Taken,
            Finish,
            Ask,
            Answer,
            ServerMessage,
            Foreign,
            Note,
            Died,
            Call,
            Tell,
            JobFence,
            JobFailed,
            ForgetJob,
            StartJob,
            SignalJob,
            Abroad,
            Hear,
        ];
        let index = byte.wrapping_sub(Launch as u8);
        ALL.get(usize::from(index)).copied().ok_or(UNKNOWN)
    }
}

impl NodeEvent {
    /// As a frame.
    pub fn encode(&self) -> Vec<u8> {
        let frame = |kind: MessageKind, numbers: &[u32]| {
            let mut w = Writer::new(kind);
            numbers.iter().for_each(|&n| w.u32(n));
            w
        };
        let with = |kind: MessageKind, numbers: &[u32], bytes: &[u8]| {
            let mut w = frame(kind, numbers);
            w.bytes(bytes);
            w
        };
        let w = match self {
            NodeEvent::Placed { text } => with(MessageKind::Placed, &[], text.as_bytes()),
            NodeEvent::Started { rank, pid, cpus } => {
                with(MessageKind::Started, &[*rank, *pid], cpus.as_bytes())
            }
            NodeEvent::Output { rank, which, bytes } => {
                with(MessageKind::Output, &[*rank, *which as u32], bytes)
            }
            NodeEvent::Said(event) => match event {
                Event::Fencing => frame(MessageKind::Fencing, &[]),
                Event::Fenced { parts } => {
                    let mut w = frame(MessageKind::Fenced, &[]);
                    w.raw(parts);
                    w
                }
                Event::Ask { node, rank, key } => {
                    with(MessageKind::Ask, &[*node, *rank], key.as_bytes())
                }
                Event::Answer {
                    node,
                    rank,
                    key,
                    value,
                } => {
                    let mut w = with(MessageKind::Answer, &[*node, *rank], key.as_bytes());
                    w.bytes(value);
                    w
                }
                Event::JobFenced { node, first, parts } => {
                    let mut w = frame(MessageKind::JobFence, &[*node, *first]);
                    w.raw(parts);
                    w
                }
                Event::Call { rank, kind, body } => {
                    with(MessageKind::Call, &[*rank, u32::from(*kind)], body)
                }
                Event::Tell { rank, frame } => with(MessageKind::Tell, &[*rank], frame),
                Event::Joined { rank, pid } => frame(MessageKind::Joined, &[*rank, *pid]),
                Event::Finalized { rank } => frame(MessageKind::Finalized, &[*rank]),
                Event::Resumed { rank } => frame(MessageKind::Resumed, &[*rank]),
                Event::Abort {
                    rank,
                    code,
                    message,
                } => with(
                    MessageKind::Abort,
                    &[*rank, *code as u32],
                    message.as_bytes(),
                ),
                Event::Fault { rank, message } => {
                    with(MessageKind::Fault, &[*rank], message.as_bytes())
                }
                Event::Left { rank, pid } => frame(MessageKind::Left, &[*rank, *pid]),
                Event::Broken { rank, pid, cause } => {
                    with(MessageKind::Broken, &[*rank, *pid], cause.as_bytes())
                }
            },
            NodeEvent::NotStarted { rank, stage, error } => frame(
                MessageKind::NotStarted,
                &[*rank, *stage as u32, *error as u32],
            ),
            NodeEvent::Ended { rank, exit } => {
                let (killed, number) = match exit {
                    Exit::Code(code) => (0, *code),
                    Exit::Signal(signal) => (1, *signal),
                };
                frame(MessageKind::Ended, &[*rank, killed, number as u32])
            }
            NodeEvent::Missing { rank } => frame(MessageKind::Missing, &[*rank]),
            NodeEvent::Foreign {
                rank,
                library,
                served,
            } => {
                let numbers = [*rank, u32::from(*served)];
                with(MessageKind::Foreign, &numbers, library.as_bytes())
            }
            NodeEvent::Note { text, matters } => {
                with(MessageKind::Note, &[u32::from(*matters)], text.as_bytes())
            }
            NodeEvent::Fed {
                node,
                slowest,
                fastest,
                more,
            } => {
                let more = u32::from(*more);
                frame(MessageKind::Fed, &[*node, *slowest, *fastest, more])
            }
            NodeEvent::Failed { status, text } => {
                with(MessageKind::Failed, &[*status as u32], text.as_bytes())
            }
            NodeEvent::Lost { node, text } => {
                let mut w = frame(MessageKind::Lost, &[*node, u32::from(text.is_some())]);
                w.bytes(text.as_deref().unwrap_or_default().as_bytes());
                w
            }
            NodeEvent::ServerMessage { node, bytes } => {
                with(MessageKind::ServerMessage, &[*node], bytes)
            }
            NodeEvent::Done { node } => frame(MessageKind::Done, &[*node]),
            NodeEvent::JobFailed { first, text } => {
                with(MessageKind::JobFailed, &[*first], text.as_bytes())
            }
            NodeEvent::Forgotten { node, first } => frame(MessageKind::ForgetJob, &[*node, *first]),
            NodeEvent::Heard { node, number } => frame(MessageKind::Hear, &[*node, *number]),
        };
        w.finish()
    }

    /// From a frame, of a job with so many ranks and nodes.
    ///
    /// # Errors
    /// If it is no event, or of ranks or nodes that there are not.
    pub fn decode(
        kind: MessageKind,
        body: &[u8],
        ranks: u32,
        nodes: u32,
    ) -> Result<NodeEvent, Malformed> {
        let mut r = Reader::new(body);
        let below = |n: u32, most: u32| match n < most {
            true => Ok(n),
            false => Err(Malformed("a number beyond what the job has")),
        };
        // The node of mpirun may have no ranks, and no number among the others.
        let asker = |node: u32, nodes: u32| match node {
            u32::MAX => Ok(node),
            _ => below(node, nodes),
        };
        let rank = |r: &mut Reader<'_>| below(r.u32()?, ranks);
        let r = &mut r;
        Ok(match kind {
            MessageKind::Placed => NodeEvent::Placed { text: r.text()? },
            MessageKind::Started => NodeEvent::Started {
                rank: rank(r)?,
                pid: r.u32()?,
                cpus: r.text()?,
            },
            MessageKind::Output => NodeEvent::Output {
                rank: rank(r)?,
                which: below(r.u32()?, 2)? as usize,
                bytes: r.bytes()?.to_vec(),
            },
            MessageKind::Fencing => NodeEvent::Said(Event::Fencing),
            MessageKind::Fenced => NodeEvent::Said(Event::Fenced {
                parts: body.to_vec(),
            }),
            MessageKind::Ask => NodeEvent::Said(Event::Ask {
                node: asker(r.u32()?, nodes)?,
                rank: rank(r)?,
                key: r.text()?,
            }),
            MessageKind::Answer => NodeEvent::Said(Event::Answer {
                node: asker(r.u32()?, nodes)?,
                rank: rank(r)?,
                key: r.text()?,
                value: r.bytes()?.to_vec(),
            }),
            MessageKind::Joined => NodeEvent::Said(Event::Joined {
                rank: rank(r)?,
                pid: r.u32()?,
            }),
            MessageKind::Finalized => NodeEvent::Said(Event::Finalized { rank: rank(r)? }),
            MessageKind::Resumed => NodeEvent::Said(Event::Resumed { rank: rank(r)? }),
            MessageKind::Abort => NodeEvent::Said(Event::Abort {
                rank: rank(r)?,
                code: r.u32()? as i32,
                message: r.text()?,
            }),
            MessageKind::Fault => NodeEvent::Said(Event::Fault {
                rank: rank(r)?,
                message: r.text()?,
            }),
            MessageKind::Left => NodeEvent::Said(Event::Left {
                rank: rank(r)?,
                pid: r.u32()?,
            }),
            MessageKind::Broken => NodeEvent::Said(Event::Broken {
                rank: rank(r)?,
                pid: r.u32()?,
                cause: r.text()?,
            }),
            MessageKind::NotStarted => NodeEvent::NotStarted {
                rank: rank(r)?,
                stage: Stage::from_number(r.u32()?),
                error: r.u32()? as i32,
            },
            MessageKind::Ended => NodeEvent::Ended {
                rank: rank(r)?,
                exit: match (r.u32()?, r.u32()? as i32) {
                    (0, code) => Exit::Code(code),
                    (_, signal) => Exit::Signal(signal),
                },
            },
            MessageKind::Missing => NodeEvent::Missing { rank: rank(r)? },
            MessageKind::Foreign => NodeEvent::Foreign {
                rank: rank(r)?,
                served: r.u32()? != 0,
                library: r.text()?,
            },
            MessageKind::Note => NodeEvent::Note {
                matters: r.u32()? != 0,
                text: r.text()?,
            },
            MessageKind::Fed => NodeEvent::Fed {
                node: below(r.u32()?, nodes)?,
                slowest: r.u32()?,
                fastest: r.u32()?,
                more: r.u32()? != 0,
            },
            MessageKind::Failed => NodeEvent::Failed {
                status: r.u32()? as i32,
                text: r.text()?,
            },
            MessageKind::Lost => {
                let (node, failure) = (below(r.u32()?, nodes)?, r.u32()? != 0);
                let text = r.text()?;
                let text = failure.then_some(text);
                NodeEvent::Lost { node, text }
            }
            MessageKind::ServerMessage => NodeEvent::ServerMessage {
                node: below(r.u32()?, nodes)?,
                bytes: r.bytes()?.to_vec(),
            },
            MessageKind::Done => NodeEvent::Done {
                node: below(r.u32()?, nodes)?,
            },
            MessageKind::Call => NodeEvent::Said(Event::Call {
                rank: rank(r)?,
                kind: below(r.u32()?, 256)? as u8,
                body: r.bytes()?.to_vec(),
            }),
            MessageKind::Tell => NodeEvent::Said(Event::Tell {
                rank: rank(r)?,
                frame: r.bytes()?.to_vec(),
            }),
            MessageKind::JobFence => {
                let (node, first) = (below(r.u32()?, nodes)?, rank(r)?);
                let parts = body[8..].to_vec();
                NodeEvent::Said(Event::JobFenced { node, first, parts })
            }
            MessageKind::JobFailed => NodeEvent::JobFailed {
                first: rank(r)?,
                text: r.text()?,
            },
            MessageKind::ForgetJob => NodeEvent::Forgotten {
                node: below(r.u32()?, nodes)?,
                first: rank(r)?,
            },
            MessageKind::Hear => NodeEvent::Heard {
                node: below(r.u32()?, nodes)?,
                number: r.u32()?,
            },
            _ => return Err(Malformed("a command where an event is expected")),
        })
    }
}

impl NodeCommand {
    /// As a frame.
    pub fn encode(&self) -> Vec<u8> {
        let mut w;
        match self {
            NodeCommand::EndFence(parts) => {
                w = Writer::new(MessageKind::EndFence);
                w.raw(parts);
            }
            NodeCommand::End { signal } => {
                w = Writer::new(MessageKind::End);
                w.u32(*signal as u32);
            }
            NodeCommand::Signal { signal, groups } => {
                w = Writer::new(MessageKind::Signal);
                w.u32(*signal as u32);
                w.u32(u32::from(*groups));
            }
            NodeCommand::Stdin(bytes) => {
                w = Writer::new(MessageKind::Stdin);
                w.bytes(bytes);
            }
            NodeCommand::Unwanted { which } => {
                w = Writer::new(MessageKind::Unwanted);
                w.u32(*which as u32);
            }
            NodeCommand::Taken { node, which, bytes } => {
                w = Writer::new(MessageKind::Taken);
                w.u32(*node);
                w.u32(*which as u32);
                w.u32(*bytes);
            }
            NodeCommand::Pass(event) => return event.encode(),
            NodeCommand::Died { rank, epoch, how } => {
                w = Writer::new(MessageKind::Died);
                w.u32(*rank);
                w.u32(*epoch);
                how.to_words().into_iter().for_each(|word| w.u32(word));
            }
            NodeCommand::Finish => w = Writer::new(MessageKind::Finish),
            NodeCommand::StartJob(new) => {
                w = Writer::new(MessageKind::StartJob);
                new.write(&mut w);
            }
            NodeCommand::EndJobFence { first, parts } => {
                w = Writer::new(MessageKind::JobFence);
                w.u32(*first);
                w.raw(parts);
            }
            NodeCommand::SignalJob { numbers, signal } => {
                w = Writer::new(MessageKind::SignalJob);
                [numbers.start, numbers.end, *signal as u32]
                    .into_iter()
                    .for_each(|word| w.u32(word));
            }
            NodeCommand::ForgetJob { numbers } => {
                w = Writer::new(MessageKind::ForgetJob);
                w.u32(numbers.start);
                w.u32(numbers.end);
            }
            NodeCommand::Hear { number } => {
                w = Writer::new(MessageKind::Hear);
                w.u32(*number);
            }
        }
        w.finish()
    }

    /// From a frame, of a job with so many ranks and nodes.
    ///
    /// # Errors
    /// If it is no command, or for ranks or nodes that there are not.
    pub fn decode(
        kind: MessageKind,
        body: &[u8],
        ranks: u32,
        nodes: u32,
    ) -> Result<NodeCommand, Malformed> {
        let r = &mut Reader::new(body);
        let stream = |r: &mut Reader<'_>| match r.u32()? {
            which @ 0..2 => Ok(which as usize),
            _ => Err(Malformed("there is no such stream")),
        };
        Ok(match kind {
            MessageKind::EndFence => NodeCommand::EndFence(body.into()),
            MessageKind::End => NodeCommand::End {
                signal: r.u32()? as i32,
            },
            MessageKind::Signal => NodeCommand::Signal {
                signal: r.u32()? as i32,
                groups: r.u32()? != 0,
            },
            MessageKind::Stdin => NodeCommand::Stdin(r.bytes()?.to_vec()),
            MessageKind::Unwanted => NodeCommand::Unwanted { which: stream(r)? },
            MessageKind::Taken => NodeCommand::Taken {
                node: r.u32()?,
                which: stream(r)?,
                bytes: r.u32()?,
            },
            MessageKind::Finish => NodeCommand::Finish,
            MessageKind::Died => NodeCommand::Died {
                rank: r.u32()?,
                epoch: r.u32()?,
                how: Ended::from_words([r.u32()?, r.u32()?])?,
            },
            MessageKind::StartJob => NodeCommand::StartJob(Arc::new(NewJob::read(r)?)),
            MessageKind::JobFence => NodeCommand::EndJobFence {
                first: r.u32()?,
                parts: body[4..].into(),
            },
            MessageKind::SignalJob => NodeCommand::SignalJob {
                numbers: r.u32()?..r.u32()?,
                signal: r.u32()? as i32,
            },
            MessageKind::ForgetJob => NodeCommand::ForgetJob {
                numbers: r.u32()?..r.u32()?,
            },
            MessageKind::Hear => NodeCommand::Hear { number: r.u32()? },
            MessageKind::Ask
            | MessageKind::Answer
            | MessageKind::Tell
            | MessageKind::ServerMessage => {
                NodeCommand::Pass(NodeEvent::decode(kind, body, ranks, nodes)?)
            }
            _ => return Err(Malformed("an event where a command is expected")),
        })
    }
}
