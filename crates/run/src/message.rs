//! What the launcher's processes tell each other: news goes up the tree of
//! hosts, orders go down.

use std::sync::Arc;

use catena_boot::server::Event;
use catena_boot::wire::{Malformed, Reader, UNKNOWN, Writer};

use crate::sys::{Exit, Stage};

/// Bytes of each kind of output stream that a node may tell of before somebody
/// has taken them.
pub const WINDOW: usize = 256 << 10;

/// What happens on the nodes. What one node tells arrives in order.
#[derive(Clone, Debug, PartialEq)]
pub enum News {
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
    Foreign { rank: u32, library: String },
    /// The rank that reads standard input has taken some; whether it may want
    /// more.
    Fed { bytes: u32, more: bool },
    /// A node cannot do its part; the job shall end with this status.
    Failed { status: i32, text: String },
    /// A node cannot be reached, and nothing is known of its ranks any more.
    /// The text, with the name of the host, says why if it is a failure.
    Lost { node: u32, text: Option<String> },
    /// Something for the PMIx server of a node.
    Parcel { node: u32, bytes: Vec<u8> },
    /// All of a node was told.
    Done { node: u32 },
}

/// What nodes shall do.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// End the fence: what all ranks have brought.
    EndFence(Arc<[u8]>),
    /// Ask all ranks to end.
    End,
    /// Send a signal to all ranks that run, or to the groups of all.
    Signal { signal: i32, groups: bool },
    /// Pass this on to the rank that reads standard input; no bytes: the end.
    Stdin(Vec<u8>),
    /// Nobody will read what the ranks write to stdout (0) or stderr (1).
    Unwanted { which: usize },
    /// What one node has for another: a question to the node of a rank, an
    /// answer for the node that has asked, a parcel.
    Pass(News),
    /// So much of a node's output was taken.
    Taken { node: u32, which: usize, bytes: u32 },
    /// All ranks have ended: tell the rest.
    Finish,
}

/// Kinds of frames between the launcher's processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
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
    Parcel,
    Foreign,
}

impl From<Kind> for u8 {
    fn from(kind: Kind) -> u8 {
        kind as u8
    }
}

impl Kind {
    /// The kind of a frame.
    ///
    /// # Errors
    /// If there is none.
    pub fn from_byte(byte: u8) -> Result<Kind, Malformed> {
        use Kind::*;
        const ALL: [Kind; 33] = [
            Launch, Hello, Alive, Placed, Started, Output, Fencing, Fenced, Joined, Finalized,
            Resumed, Abort, Fault, Left, Broken, NotStarted, Ended, Missing, Fed, Failed, Lost,
            Done, EndFence, End, Signal, Stdin, Unwanted, Taken, Finish, Ask, Answer, Parcel,
            Foreign,
        ];
        let index = byte.wrapping_sub(Launch as u8);
        ALL.get(usize::from(index)).copied().ok_or(UNKNOWN)
    }
}

impl News {
    /// As a frame.
    pub fn encode(&self) -> Vec<u8> {
        let frame = |kind: Kind, numbers: &[u32]| {
            let mut w = Writer::new(kind);
            numbers.iter().for_each(|&n| w.u32(n));
            w
        };
        let with = |kind: Kind, numbers: &[u32], bytes: &[u8]| {
            let mut w = frame(kind, numbers);
            w.bytes(bytes);
            w
        };
        let w = match self {
            News::Placed { text } => with(Kind::Placed, &[], text.as_bytes()),
            News::Started { rank, pid, cpus } => {
                with(Kind::Started, &[*rank, *pid], cpus.as_bytes())
            }
            News::Output { rank, which, bytes } => {
                with(Kind::Output, &[*rank, *which as u32], bytes)
            }
            News::Said(event) => match event {
                Event::Fencing => frame(Kind::Fencing, &[]),
                Event::Fenced { parts } => {
                    let mut w = frame(Kind::Fenced, &[]);
                    w.raw(parts);
                    w
                }
                Event::Ask { node, rank, key } => with(Kind::Ask, &[*node, *rank], key.as_bytes()),
                Event::Answer {
                    node,
                    rank,
                    key,
                    value,
                } => {
                    let mut w = with(Kind::Answer, &[*node, *rank], key.as_bytes());
                    w.bytes(value);
                    w
                }
                Event::Joined { rank, pid } => frame(Kind::Joined, &[*rank, *pid]),
                Event::Finalized { rank } => frame(Kind::Finalized, &[*rank]),
                Event::Resumed { rank } => frame(Kind::Resumed, &[*rank]),
                Event::Abort {
                    rank,
                    code,
                    message,
                } => with(Kind::Abort, &[*rank, *code as u32], message.as_bytes()),
                Event::Fault { rank, message } => with(Kind::Fault, &[*rank], message.as_bytes()),
                Event::Left { rank, pid } => frame(Kind::Left, &[*rank, *pid]),
                Event::Broken { rank, pid, cause } => {
                    with(Kind::Broken, &[*rank, *pid], cause.as_bytes())
                }
            },
            News::NotStarted { rank, stage, error } => {
                frame(Kind::NotStarted, &[*rank, *stage as u32, *error as u32])
            }
            News::Ended { rank, exit } => {
                let (killed, number) = match exit {
                    Exit::Code(code) => (0, *code),
                    Exit::Signal(signal) => (1, *signal),
                };
                frame(Kind::Ended, &[*rank, killed, number as u32])
            }
            News::Missing { rank } => frame(Kind::Missing, &[*rank]),
            News::Foreign { rank, library } => with(Kind::Foreign, &[*rank], library.as_bytes()),
            News::Fed { bytes, more } => frame(Kind::Fed, &[*bytes, u32::from(*more)]),
            News::Failed { status, text } => with(Kind::Failed, &[*status as u32], text.as_bytes()),
            News::Lost { node, text } => {
                let mut w = frame(Kind::Lost, &[*node, u32::from(text.is_some())]);
                w.bytes(text.as_deref().unwrap_or_default().as_bytes());
                w
            }
            News::Parcel { node, bytes } => with(Kind::Parcel, &[*node], bytes),
            News::Done { node } => frame(Kind::Done, &[*node]),
        };
        w.finish()
    }

    /// From a frame, of a job with so many ranks and nodes.
    ///
    /// # Errors
    /// If it is no news, or of ranks or nodes that there are not.
    pub fn decode(kind: Kind, body: &[u8], ranks: u32, nodes: u32) -> Result<News, Malformed> {
        let mut r = Reader::new(body);
        let below = |n: u32, most: u32| match n < most {
            true => Ok(n),
            false => Err(Malformed("a number beyond what the job has")),
        };
        let rank = |r: &mut Reader<'_>| below(r.u32()?, ranks);
        let r = &mut r;
        Ok(match kind {
            Kind::Placed => News::Placed { text: r.text()? },
            Kind::Started => News::Started {
                rank: rank(r)?,
                pid: r.u32()?,
                cpus: r.text()?,
            },
            Kind::Output => News::Output {
                rank: rank(r)?,
                which: below(r.u32()?, 2)? as usize,
                bytes: r.bytes()?.to_vec(),
            },
            Kind::Fencing => News::Said(Event::Fencing),
            Kind::Fenced => News::Said(Event::Fenced {
                parts: body.to_vec(),
            }),
            Kind::Ask => News::Said(Event::Ask {
                node: below(r.u32()?, nodes)?,
                rank: rank(r)?,
                key: r.text()?,
            }),
            Kind::Answer => News::Said(Event::Answer {
                node: below(r.u32()?, nodes)?,
                rank: rank(r)?,
                key: r.text()?,
                value: r.bytes()?.to_vec(),
            }),
            Kind::Joined => News::Said(Event::Joined {
                rank: rank(r)?,
                pid: r.u32()?,
            }),
            Kind::Finalized => News::Said(Event::Finalized { rank: rank(r)? }),
            Kind::Resumed => News::Said(Event::Resumed { rank: rank(r)? }),
            Kind::Abort => News::Said(Event::Abort {
                rank: rank(r)?,
                code: r.u32()? as i32,
                message: r.text()?,
            }),
            Kind::Fault => News::Said(Event::Fault {
                rank: rank(r)?,
                message: r.text()?,
            }),
            Kind::Left => News::Said(Event::Left {
                rank: rank(r)?,
                pid: r.u32()?,
            }),
            Kind::Broken => News::Said(Event::Broken {
                rank: rank(r)?,
                pid: r.u32()?,
                cause: r.text()?,
            }),
            Kind::NotStarted => News::NotStarted {
                rank: rank(r)?,
                stage: Stage::from_number(r.u32()?),
                error: r.u32()? as i32,
            },
            Kind::Ended => News::Ended {
                rank: rank(r)?,
                exit: match (r.u32()?, r.u32()? as i32) {
                    (0, code) => Exit::Code(code),
                    (_, signal) => Exit::Signal(signal),
                },
            },
            Kind::Missing => News::Missing { rank: rank(r)? },
            Kind::Foreign => News::Foreign {
                rank: rank(r)?,
                library: r.text()?,
            },
            Kind::Fed => News::Fed {
                bytes: r.u32()?,
                more: r.u32()? != 0,
            },
            Kind::Failed => News::Failed {
                status: r.u32()? as i32,
                text: r.text()?,
            },
            Kind::Lost => {
                let (node, failure) = (below(r.u32()?, nodes)?, r.u32()? != 0);
                let text = r.text()?;
                let text = failure.then_some(text);
                News::Lost { node, text }
            }
            Kind::Parcel => News::Parcel {
                node: below(r.u32()?, nodes)?,
                bytes: r.bytes()?.to_vec(),
            },
            Kind::Done => News::Done {
                node: below(r.u32()?, nodes)?,
            },
            _ => return Err(Malformed("an order where news is expected")),
        })
    }
}

impl Order {
    /// As a frame.
    pub fn encode(&self) -> Vec<u8> {
        let mut w;
        match self {
            Order::EndFence(parts) => {
                w = Writer::new(Kind::EndFence);
                w.raw(parts);
            }
            Order::End => w = Writer::new(Kind::End),
            Order::Signal { signal, groups } => {
                w = Writer::new(Kind::Signal);
                w.u32(*signal as u32);
                w.u32(u32::from(*groups));
            }
            Order::Stdin(bytes) => {
                w = Writer::new(Kind::Stdin);
                w.bytes(bytes);
            }
            Order::Unwanted { which } => {
                w = Writer::new(Kind::Unwanted);
                w.u32(*which as u32);
            }
            Order::Taken { node, which, bytes } => {
                w = Writer::new(Kind::Taken);
                w.u32(*node);
                w.u32(*which as u32);
                w.u32(*bytes);
            }
            Order::Pass(news) => return news.encode(),
            Order::Finish => w = Writer::new(Kind::Finish),
        }
        w.finish()
    }

    /// From a frame, of a job with so many ranks and nodes.
    ///
    /// # Errors
    /// If it is no order, or for ranks or nodes that there are not.
    pub fn decode(kind: Kind, body: &[u8], ranks: u32, nodes: u32) -> Result<Order, Malformed> {
        let r = &mut Reader::new(body);
        let stream = |r: &mut Reader<'_>| match r.u32()? {
            which @ 0..2 => Ok(which as usize),
            _ => Err(Malformed("there is no such stream")),
        };
        Ok(match kind {
            Kind::EndFence => Order::EndFence(body.into()),
            Kind::End => Order::End,
            Kind::Signal => Order::Signal {
                signal: r.u32()? as i32,
                groups: r.u32()? != 0,
            },
            Kind::Stdin => Order::Stdin(r.bytes()?.to_vec()),
            Kind::Unwanted => Order::Unwanted { which: stream(r)? },
            Kind::Taken => Order::Taken {
                node: r.u32()?,
                which: stream(r)?,
                bytes: r.u32()?,
            },
            Kind::Finish => Order::Finish,
            Kind::Ask | Kind::Answer | Kind::Parcel => {
                Order::Pass(News::decode(kind, body, ranks, nodes)?)
            }
            _ => return Err(Malformed("news where an order is expected")),
        })
    }
}
