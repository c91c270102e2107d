//! What nodes shall do, down the tree of hosts.

use std::ops::Range;
use std::sync::Arc;

use catena_boot::Ended;
use catena_boot::wire::{Malformed, Reader, Writer};

use crate::event::NodeEvent;
use crate::kind::MessageKind;
use crate::new_job::NewJob;
use crate::survey::Question;

/// What nodes shall do.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeCommand {
    /// End the fence: what all ranks have brought.
    EndFence(Arc<[u8]>),
    /// Ask all ranks to end.
    End {
        /// By this signal.
        signal: i32,
    },
    /// Send a signal to all ranks that run.
    Signal {
        /// Its number.
        signal: i32,
        /// Whether it is for the groups of all, also of those that have ended.
        groups: bool,
    },
    /// Pass this on to the ranks that read standard input; no bytes: the end.
    Stdin(Vec<u8>),
    /// Nobody will read what the ranks write.
    Unwanted {
        /// To stdout (0) or stderr (1).
        which: usize,
    },
    /// What one node has for another: a question to the node of a rank, an
    /// answer for the node that has asked, a message between PMIx servers.
    Pass(NodeEvent),
    /// Some of a node's output was taken.
    Taken {
        /// The node.
        node: u32,
        /// Of stdout (0) or stderr (1).
        which: usize,
        /// How much, bytes.
        bytes: u32,
    },
    /// A process has died: tell the others.
    Died {
        /// Its number in the launcher.
        rank: u32,
        /// How many deaths this is, with all before.
        epoch: u32,
        /// How.
        how: Ended,
    },
    /// All ranks have ended: tell the rest.
    Finish,
    /// A job was spawned: know of it, and start its ranks.
    StartJob(Arc<NewJob>),
    /// End the fence of a spawned job.
    EndJobFence {
        /// The number of its first process in the launcher.
        first: u32,
        /// What its ranks have brought.
        parts: Arc<[u8]>,
    },
    /// Send a signal to processes and to their children.
    SignalJob {
        /// The numbers of the processes in the launcher.
        numbers: Range<u32>,
        /// Its number.
        signal: i32,
    },
    /// Forget a spawned job, all of whose processes have ended, once all is told of it.
    ForgetJob {
        /// The numbers of its processes in the launcher.
        numbers: Range<u32>,
    },
    /// Answer a question.
    Survey {
        /// What the answer is known by.
        number: u32,
        /// What is asked.
        question: Question,
    },
}

/// A frame of numbers.
fn numbers(kind: MessageKind, numbers: &[u32]) -> Writer {
    let mut w = Writer::new(kind);
    numbers.iter().for_each(|&n| w.u32(n));
    w
}

impl NodeCommand {
    /// As a frame.
    pub fn encode(&self) -> Vec<u8> {
        use MessageKind as Kind;
        let mut w;
        match self {
            NodeCommand::EndFence(parts) => {
                w = Writer::new(Kind::EndFence);
                w.raw(parts);
            }
            NodeCommand::End { signal } => w = numbers(Kind::End, &[*signal as u32]),
            NodeCommand::Signal { signal, groups } => {
                w = numbers(Kind::Signal, &[*signal as u32, u32::from(*groups)]);
            }
            NodeCommand::Stdin(bytes) => {
                w = Writer::new(Kind::Stdin);
                w.bytes(bytes);
            }
            NodeCommand::Unwanted { which } => w = numbers(Kind::Unwanted, &[*which as u32]),
            NodeCommand::Taken { node, which, bytes } => {
                w = numbers(Kind::Taken, &[*node, *which as u32, *bytes]);
            }
            NodeCommand::Pass(event) => return event.encode(),
            NodeCommand::Died { rank, epoch, how } => {
                w = numbers(Kind::Died, &[*rank, *epoch]);
                how.to_words().into_iter().for_each(|word| w.u32(word));
            }
            NodeCommand::Finish => w = Writer::new(Kind::Finish),
            NodeCommand::StartJob(new) => {
                w = Writer::new(Kind::StartJob);
                new.write(&mut w);
            }
            NodeCommand::EndJobFence { first, parts } => {
                w = numbers(Kind::JobFence, &[*first]);
                w.raw(parts);
            }
            NodeCommand::SignalJob {
                numbers: of,
                signal,
            } => {
                w = numbers(Kind::SignalJob, &[of.start, of.end, *signal as u32]);
            }
            NodeCommand::ForgetJob { numbers: of } => {
                w = numbers(Kind::ForgetJob, &[of.start, of.end]);
            }
            NodeCommand::Survey { number, question } => {
                w = numbers(Kind::Survey, &[*number, question.to_word()]);
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
            MessageKind::Survey => NodeCommand::Survey {
                number: r.u32()?,
                question: Question::from_word(r.u32()?)?,
            },
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
