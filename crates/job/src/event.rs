//! What happens on the nodes, up the tree of hosts.

use catena_boot::server::Event;
use catena_boot::wire::{Malformed, Reader, Writer};

use crate::exit::{Exit, Stage};
use crate::kind::MessageKind;

/// Bytes of each kind of output stream that a node may tell of before somebody
/// has taken them.
pub const WINDOW: usize = 256 << 10;

/// What happens on the nodes. What one node tells arrives in order.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeEvent {
    /// Where the ranks of a node run, for users to read.
    Placed {
        /// Lines.
        text: String,
    },
    /// A rank runs, on these CPUs if it is bound.
    Started {
        /// Its number in the launcher.
        rank: u32,
        /// Its process.
        pid: u32,
        /// A list such as `0-3,8`; empty if it is not bound.
        cpus: String,
    },
    /// A rank wrote something.
    Output {
        /// Its number in the launcher.
        rank: u32,
        /// To its stdout (0) or stderr (1).
        which: usize,
        /// What; nothing is the end of that stream.
        bytes: Vec<u8>,
    },
    /// What a rank, or all of a node or part of the tree, told the server.
    Said(Event),
    /// A rank could not execute its program.
    NotStarted {
        /// Its number in the launcher.
        rank: u32,
        /// How far it came.
        stage: Stage,
        /// The system's number of the error.
        error: i32,
    },
    /// A rank's process has ended.
    Ended {
        /// Its number in the launcher.
        rank: u32,
        /// How.
        exit: Exit,
    },
    /// A rank was never started, and the reason was told.
    Missing {
        /// Its number in the launcher.
        rank: u32,
    },
    /// A rank has the library of another MPI in it, or is going to have.
    Foreign {
        /// Its number in the launcher.
        rank: u32,
        /// The file.
        library: String,
        /// Whether it could have found its place by PMIx, and has not.
        served: bool,
    },
    /// Something that users want to know.
    Note {
        /// A line.
        text: String,
        /// Whether all want to, and not only those who have asked for every word.
        matters: bool,
    },
    /// The ranks of a node that read standard input have taken more of it.
    Fed {
        /// The node.
        node: u32,
        /// How much more the slowest of them has taken, bytes.
        slowest: u32,
        /// How much more the fastest of them has taken, bytes.
        fastest: u32,
        /// Whether one of them may want more.
        more: bool,
    },
    /// A node cannot do its part; the job shall end.
    Failed {
        /// With this status.
        status: i32,
        /// Why.
        text: String,
    },
    /// A node cannot be reached, and nothing is known of its ranks any more.
    Lost {
        /// The node.
        node: u32,
        /// Why, with the name of the host, if it is a failure.
        text: Option<String>,
    },
    /// Something for the PMIx server of a node.
    ServerMessage {
        /// The node.
        node: u32,
        /// What its server reads.
        bytes: Vec<u8>,
    },
    /// All of a node was told.
    Done {
        /// The node.
        node: u32,
    },
    /// A job that was spawned cannot be started.
    JobFailed {
        /// The number of its first process in the launcher.
        first: u32,
        /// Why.
        text: String,
    },
    /// A node has told all of a job, and has forgotten it.
    Forgotten {
        /// The node.
        node: u32,
        /// The number of the job's first process in the launcher.
        first: u32,
    },
    /// A node, or all of a part of the tree, answers a question.
    Surveyed {
        /// The number of the question.
        number: u32,
        /// What [`Question::merge`](crate::Question::merge) merges.
        answer: Vec<u8>,
    },
}

/// How many ranks and nodes a job has: numbers beyond are refused.
struct Bounds {
    ranks: u32,
    nodes: u32,
}

fn below(n: u32, most: u32) -> Result<u32, Malformed> {
    match n < most {
        true => Ok(n),
        false => Err(Malformed("a number beyond what the job has")),
    }
}

impl Bounds {
    fn rank(&self, r: &mut Reader<'_>) -> Result<u32, Malformed> {
        below(r.u32()?, self.ranks)
    }

    fn node(&self, r: &mut Reader<'_>) -> Result<u32, Malformed> {
        below(r.u32()?, self.nodes)
    }

    /// A node that asks: that of mpirun may have no ranks, and no number among the others.
    fn asker(&self, r: &mut Reader<'_>) -> Result<u32, Malformed> {
        match r.u32()? {
            u32::MAX => Ok(u32::MAX),
            node => below(node, self.nodes),
        }
    }
}

/// A frame that begins with these numbers.
fn numbers(kind: MessageKind, numbers: &[u32]) -> Writer {
    let mut w = Writer::new(kind);
    numbers.iter().for_each(|&n| w.u32(n));
    w
}

/// A frame of numbers and then bytes.
fn with_bytes(kind: MessageKind, of: &[u32], bytes: &[u8]) -> Writer {
    let mut w = numbers(kind, of);
    w.bytes(bytes);
    w
}

/// A frame of numbers and then all that is left of it.
fn with_rest(kind: MessageKind, of: &[u32], rest: &[u8]) -> Writer {
    let mut w = numbers(kind, of);
    w.raw(rest);
    w
}

/// What was told a server, as a frame.
fn write_said(event: &Event) -> Writer {
    use MessageKind as Kind;
    match event {
        Event::Fencing => numbers(Kind::Fencing, &[]),
        Event::Fenced { parts } => with_rest(Kind::Fenced, &[], parts),
        Event::Ask { node, rank, key } => with_bytes(Kind::Ask, &[*node, *rank], key.as_bytes()),
        Event::Answer {
            node,
            rank,
            key,
            value,
        } => {
            let mut w = with_bytes(Kind::Answer, &[*node, *rank], key.as_bytes());
            w.bytes(value);
            w
        }
        Event::JobFenced { node, first, parts } => {
            with_rest(Kind::JobFence, &[*node, *first], parts)
        }
        Event::Call { rank, kind, body } => {
            with_bytes(Kind::Call, &[*rank, u32::from(*kind)], body)
        }
        Event::Tell { rank, frame } => with_bytes(Kind::Tell, &[*rank], frame),
        Event::Joined { rank, pid } => numbers(Kind::Joined, &[*rank, *pid]),
        Event::Finalized { rank } => numbers(Kind::Finalized, &[*rank]),
        Event::Resumed { rank } => numbers(Kind::Resumed, &[*rank]),
        Event::Abort {
            rank,
            code,
            message,
        } => with_bytes(Kind::Abort, &[*rank, *code as u32], message.as_bytes()),
        Event::Fault { rank, message } => with_bytes(Kind::Fault, &[*rank], message.as_bytes()),
        Event::Left { rank, pid } => numbers(Kind::Left, &[*rank, *pid]),
        Event::Broken { rank, pid, cause } => {
            with_bytes(Kind::Broken, &[*rank, *pid], cause.as_bytes())
        }
    }
}

/// What was told a server, from a frame; none if the frame is of another kind.
fn read_said(kind: MessageKind, body: &[u8], of: &Bounds) -> Result<Option<Event>, Malformed> {
    let r = &mut Reader::new(body);
    Ok(Some(match kind {
        MessageKind::Fencing => Event::Fencing,
        MessageKind::Fenced => Event::Fenced {
            parts: body.to_vec(),
        },
        MessageKind::Ask => Event::Ask {
            node: of.asker(r)?,
            rank: of.rank(r)?,
            key: r.text()?,
        },
        MessageKind::Answer => Event::Answer {
            node: of.asker(r)?,
            rank: of.rank(r)?,
            key: r.text()?,
            value: r.bytes()?.to_vec(),
        },
        MessageKind::JobFence => {
            let (node, first) = (of.node(r)?, of.rank(r)?);
            let parts = body[8..].to_vec();
            Event::JobFenced { node, first, parts }
        }
        MessageKind::Call => Event::Call {
            rank: of.rank(r)?,
            kind: below(r.u32()?, 256)? as u8,
            body: r.bytes()?.to_vec(),
        },
        MessageKind::Tell => Event::Tell {
            rank: of.rank(r)?,
            frame: r.bytes()?.to_vec(),
        },
        MessageKind::Joined => Event::Joined {
            rank: of.rank(r)?,
            pid: r.u32()?,
        },
        MessageKind::Finalized => Event::Finalized { rank: of.rank(r)? },
        MessageKind::Resumed => Event::Resumed { rank: of.rank(r)? },
        MessageKind::Abort => Event::Abort {
            rank: of.rank(r)?,
            code: r.u32()? as i32,
            message: r.text()?,
        },
        MessageKind::Fault => Event::Fault {
            rank: of.rank(r)?,
            message: r.text()?,
        },
        MessageKind::Left => Event::Left {
            rank: of.rank(r)?,
            pid: r.u32()?,
        },
        MessageKind::Broken => Event::Broken {
            rank: of.rank(r)?,
            pid: r.u32()?,
            cause: r.text()?,
        },
        _ => return Ok(None),
    }))
}

impl NodeEvent {
    /// As a frame.
    pub fn encode(&self) -> Vec<u8> {
        use MessageKind as Kind;
        let w = match self {
            NodeEvent::Placed { text } => with_bytes(Kind::Placed, &[], text.as_bytes()),
            NodeEvent::Started { rank, pid, cpus } => {
                with_bytes(Kind::Started, &[*rank, *pid], cpus.as_bytes())
            }
            NodeEvent::Output { rank, which, bytes } => {
                with_bytes(Kind::Output, &[*rank, *which as u32], bytes)
            }
            NodeEvent::Said(event) => write_said(event),
            NodeEvent::NotStarted { rank, stage, error } => {
                numbers(Kind::NotStarted, &[*rank, *stage as u32, *error as u32])
            }
            NodeEvent::Ended { rank, exit } => {
                let (killed, number) = match exit {
                    Exit::Code(code) => (0, *code),
                    Exit::Signal(signal) => (1, *signal),
                };
                numbers(Kind::Ended, &[*rank, killed, number as u32])
            }
            NodeEvent::Missing { rank } => numbers(Kind::Missing, &[*rank]),
            NodeEvent::Foreign {
                rank,
                library,
                served,
            } => with_bytes(
                Kind::Foreign,
                &[*rank, u32::from(*served)],
                library.as_bytes(),
            ),
            NodeEvent::Note { text, matters } => {
                with_bytes(Kind::Note, &[u32::from(*matters)], text.as_bytes())
            }
            NodeEvent::Fed {
                node,
                slowest,
                fastest,
                more,
            } => numbers(Kind::Fed, &[*node, *slowest, *fastest, u32::from(*more)]),
            NodeEvent::Failed { status, text } => {
                with_bytes(Kind::Failed, &[*status as u32], text.as_bytes())
            }
            NodeEvent::Lost { node, text } => {
                let why = text.as_deref().unwrap_or_default();
                let is_failure = u32::from(text.is_some());
                with_bytes(Kind::Lost, &[*node, is_failure], why.as_bytes())
            }
            NodeEvent::ServerMessage { node, bytes } => {
                with_bytes(Kind::ServerMessage, &[*node], bytes)
            }
            NodeEvent::Done { node } => numbers(Kind::Done, &[*node]),
            NodeEvent::JobFailed { first, text } => {
                with_bytes(Kind::JobFailed, &[*first], text.as_bytes())
            }
            NodeEvent::Forgotten { node, first } => numbers(Kind::ForgetJob, &[*node, *first]),
            NodeEvent::Surveyed { number, answer } => with_bytes(Kind::Survey, &[*number], answer),
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
        let of = &Bounds { ranks, nodes };
        if let Some(event) = read_said(kind, body, of)? {
            return Ok(NodeEvent::Said(event));
        }
        let r = &mut Reader::new(body);
        Ok(match kind {
            MessageKind::Placed => NodeEvent::Placed { text: r.text()? },
            MessageKind::Started => NodeEvent::Started {
                rank: of.rank(r)?,
                pid: r.u32()?,
                cpus: r.text()?,
            },
            MessageKind::Output => NodeEvent::Output {
                rank: of.rank(r)?,
                which: below(r.u32()?, 2)? as usize,
                bytes: r.bytes()?.to_vec(),
            },
            MessageKind::NotStarted => NodeEvent::NotStarted {
                rank: of.rank(r)?,
                stage: Stage::from_number(r.u32()?),
                error: r.u32()? as i32,
            },
            MessageKind::Ended => NodeEvent::Ended {
                rank: of.rank(r)?,
                exit: match (r.u32()?, r.u32()? as i32) {
                    (0, code) => Exit::Code(code),
                    (_, signal) => Exit::Signal(signal),
                },
            },
            MessageKind::Missing => NodeEvent::Missing { rank: of.rank(r)? },
            MessageKind::Foreign => NodeEvent::Foreign {
                rank: of.rank(r)?,
                served: r.u32()? != 0,
                library: r.text()?,
            },
            MessageKind::Note => NodeEvent::Note {
                matters: r.u32()? != 0,
                text: r.text()?,
            },
            MessageKind::Fed => NodeEvent::Fed {
                node: of.node(r)?,
                slowest: r.u32()?,
                fastest: r.u32()?,
                more: r.u32()? != 0,
            },
            MessageKind::Failed => NodeEvent::Failed {
                status: r.u32()? as i32,
                text: r.text()?,
            },
            MessageKind::Lost => {
                let (node, failure) = (of.node(r)?, r.u32()? != 0);
                let text = r.text()?;
                let text = failure.then_some(text);
                NodeEvent::Lost { node, text }
            }
            MessageKind::ServerMessage => NodeEvent::ServerMessage {
                node: of.node(r)?,
                bytes: r.bytes()?.to_vec(),
            },
            MessageKind::Done => NodeEvent::Done { node: of.node(r)? },
            MessageKind::JobFailed => NodeEvent::JobFailed {
                first: of.rank(r)?,
                text: r.text()?,
            },
            MessageKind::ForgetJob => NodeEvent::Forgotten {
                node: of.node(r)?,
                first: of.rank(r)?,
            },
            MessageKind::Survey => NodeEvent::Surveyed {
                number: r.u32()?,
                answer: r.bytes()?.to_vec(),
            },
            _ => return Err(Malformed("a command where an event is expected")),
        })
    }
}
