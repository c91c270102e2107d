//! The built-in backend, in the launcher: serves the ranks of one job.
//!
//! A state machine behind one descriptor: the launcher waits until
//! [`Server::as_fd`] can be read, then calls [`Server::step`]. A rank finds the
//! abstract socket (a name without a file, so nothing is left behind) in its
//! environment, and is taken in if it has the launcher's user and cookie.

mod connection;
mod questions;
#[cfg(test)]
mod tests;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
#[cfg(any(test, fuzzing))]
use std::os::unix::net::UnixStream;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::sync::Arc;
use std::time::Duration;

use crate::client::LauncherAddress;
use connection::Client;
use questions::Questions;

use crate::wire::{self, FrameKind, Malformed, Reader, Writer};
use crate::{Interest, Job, Poller, sys};

/// Size of the segment that the ranks share. All holes: it costs nothing until
/// it is written to.
pub(crate) const SEGMENT: u64 = 64 << 30;

/// Longest body of a message from somebody who is not taken in yet.
const MAX_HELLO: usize = 64;

const LISTENER: u64 = u64::MAX;

/// What a rank did, or all of this node together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The first rank waits in a fence.
    Fencing,
    /// All ranks of this node wait in a fence, which [`Server::end_fence`] ends.
    Fenced {
        /// What they have brought.
        parts: Vec<u8>,
    },
    /// A rank of this node asks for what another node's has published, which
    /// [`Server::answer`] tells.
    Ask {
        /// This node.
        node: u32,
        /// Who has or will have published it.
        rank: u32,
        /// Under which key.
        key: String,
    },
    /// The answer to [`Server::ask`], at once or later.
    Answer {
        /// The node that asked.
        node: u32,
        /// Who has published it.
        rank: u32,
        /// Under which key.
        key: String,
        /// What it is.
        value: Vec<u8>,
    },
    /// It has connected.
    Joined {
        /// Its rank.
        rank: u32,
        /// Its process, which may be a child of the one that was started.
        pid: u32,
    },
    /// It needs the others no more.
    Finalized {
        /// Its rank.
        rank: u32,
    },
    /// It does again.
    Resumed {
        /// Its rank.
        rank: u32,
    },
    /// It wants the job to end.
    Abort {
        /// Its rank.
        rank: u32,
        /// Status that the job shall end with.
        code: i32,
        /// Why.
        message: String,
    },
    /// The job has failed, though its ranks may go on.
    Fault {
        /// Who says so.
        rank: u32,
        /// Why.
        message: String,
    },
    /// It has closed its connection, finalized or not, or ended.
    Left {
        /// Its rank.
        rank: u32,
        /// Its process.
        pid: u32,
    },
    /// It sent nonsense and was disconnected.
    Broken {
        /// Its rank.
        rank: u32,
        /// Its process.
        pid: u32,
        /// What is wrong.
        cause: String,
    },
}

/// What is known of a rank.
#[derive(Clone, Copy, Debug, Default)]
struct Member {
    /// Process that has joined as this rank.
    pid: Option<u32>,
    in_fence: bool,
}

/// Serves the ranks of one job on one node.
#[derive(Debug)]
pub struct Server {
    poller: Poller,
    listener: UnixListener,
    socket: String,
    cookie: [u8; wire::COOKIE],
    job: Job,
    appnums: Vec<u32>,
    node: u32,
    segment: OwnedFd,
    clients: Vec<Option<Client>>,
    /// By rank of the job, also those of other nodes.
    members: Vec<Member>,
    /// How many ranks wait in the fence, and how many there are.
    fencing: usize,
    local: usize,
    /// What they have brought.
    parts: Writer,
    questions: Questions,
}

fn no_parts() -> Writer {
    Writer::new(FrameKind::Fenced)
}

/// A random number for a job.
///
/// # Errors
/// If the system has no random numbers.
pub fn job_id() -> io::Result<u64> {
    let mut random = [0; 8];
    sys::random(&mut random)?;
    Ok(u64::from_le_bytes(random))
}

impl Server {
    /// Opens the socket and makes the segment of `node`. `job` is what all ranks
    /// are told, but for rank and program; `appnums` has the program of each
    /// rank.
    ///
    /// # Errors
    /// If descriptors or memory are short, or anonymous files are forbidden.
    ///
    /// # Panics
    /// If `appnums` and `job.node_of` do not have `job.size` elements.
    pub fn open(job: Job, node: u32, appnums: Vec<u32>) -> io::Result<Server> {
        assert_eq!(
            appnums.len(),
            job.size as usize,
            "one program number per rank"
        );
        assert_eq!(job.node_of.len(), job.size as usize, "one node per rank");
        let mut cookie = [0; wire::COOKIE];
        sys::random(&mut cookie)?;
        let socket = format!("catena-{}-{:016x}", std::process::id(), job_id()?);
        let address = SocketAddr::from_abstract_name(socket.as_bytes())?;
        let listener = UnixListener::bind_addr(&address)?;
        listener.set_nonblocking(true)?;
        let poller = Poller::new()?;
        poller.add(&listener, LISTENER, Interest::Read)?;
        Ok(Server {
            poller,
            listener,
            socket,
            cookie,
            members: vec![Member::default(); job.size as usize],
            local: job.node_of.iter().filter(|&&n| n == node).count(),
            job,
            node,
            appnums,
            segment: sys::memfd(SEGMENT)?,
            clients: Vec::new(),
            fencing: 0,
            parts: no_parts(),
            questions: Questions::default(),
        })
    }

    /// What to put into the environment of a rank as `CATENA_BOOT`.
    pub fn place(&self, rank: u32) -> String {
        LauncherAddress {
            socket: self.socket.clone(),
            rank,
            cookie: self.cookie,
        }
        .to_text()
    }

    /// Ends the fence that the ranks of this node wait in. `parts` is what all
    /// nodes have brought, one after the other. If some of them do not wait,
    /// nothing happens.
    pub fn end_fence(&mut self, parts: &[u8]) {
        if self.fencing < self.local {
            return;
        }
        self.fencing = 0;
        self.members.iter_mut().for_each(|m| m.in_fence = false);
        let mut frame = Writer::new(FrameKind::Fenced);
        frame.raw(parts);
        let frame: Arc<[u8]> = frame.finish().into();
        for (index, client) in (0..).zip(&mut self.clients) {
            if let Some(client) = client.as_mut().filter(|client| client.rank.is_some()) {
                client.push(Arc::clone(&frame), false);
                // One that cannot be written to will be reported as closed.
                client.flush(&self.poller, index, self.segment.as_fd());
            }
        }
    }

    /// Does all that can be done without waiting, and tells what has happened.
    /// What a process sent before it ended has been taken in when this returns.
    pub fn step(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        // The number of rounds is bounded: a rank that talks without end shall
        // not keep the launcher from its other work.
        for _ in 0..1000 {
            let ready = self.poller.wait(Some(Duration::ZERO)).unwrap_or_default();
            if ready.is_empty() {
                break;
            }
            for token in ready {
                match token {
                    LISTENER => self.accept(),
                    index => self.serve(index as usize, &mut events),
                }
            }
        }
        events
    }

    fn accept(&mut self) {
        // A process that gives up at once, or is short of descriptors, will
        // learn it from its own end.
        while let Ok((socket, _)) = self.listener.accept() {
            let known = sys::peer(&socket);
            let Ok((pid, user)) = known else { continue };
            if !sys::is_trusted(user) || socket.set_nonblocking(true).is_err() {
                continue;
            }
            let index = self
                .clients
                .iter()
                .position(Option::is_none)
                .unwrap_or_else(|| {
                    self.clients.push(None);
                    self.clients.len() - 1
                });
            if self
                .poller
                .add(&socket, index as u64, Interest::Read)
                .is_ok()
            {
                self.clients[index] = Some(Client::new(socket, pid));
            }
        }
    }

    /// Reads from and writes to a client that is ready.
    fn serve(&mut self, index: usize, events: &mut Vec<Event>) {
        // It may have gone since the poller reported it.
        let Some(mut client) = self.clients.get_mut(index).and_then(Option::take) else {
            return;
        };
        let stays = self.talk(&mut client, events);
        if stays && client.flush(&self.poller, index as u64, self.segment.as_fd()) {
            self.clients[index] = Some(client);
            return;
        }
        let _ = self.poller.remove(&client.socket);
        if let Some(rank) = client.rank {
            events.push(Event::Left {
                rank,
                pid: client.pid,
            });
        }
    }

    /// Takes in what the client sent; gives whether it stays connected.
    fn talk(&mut self, client: &mut Client, events: &mut Vec<Event>) -> bool {
        let mut buffer = [0; 64 << 10];
        match sys::receive(&client.socket, &mut buffer, false) {
            Ok((0, _)) => return false,
            Ok((n, _)) if !client.closing => client.inbox.push(&buffer[..n]),
            Ok(_) => return true,
            Err(error) => {
                return matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                );
            }
        }
        match self.take_frames(client, events) {
            Ok(()) => true,
            Err(Malformed(cause)) => {
                if let Some(rank) = client.rank {
                    let (pid, cause) = (client.pid, cause.to_string());
                    events.push(Event::Broken { rank, pid, cause });
                }
                false
            }
        }
    }

    fn take_frames(
        &mut self,
        client: &mut Client,
        events: &mut Vec<Event>,
    ) -> Result<(), Malformed> {
        let mut inbox = std::mem::take(&mut client.inbox);
        let limit = |client: &Client| {
            if client.rank.is_some() {
                wire::MAX_BODY
            } else {
                MAX_HELLO
            }
        };
        while let Some((kind, body)) = inbox.next(limit(client))? {
            let mut body = Reader::new(body);
            match (FrameKind::from_byte(kind)?, client.rank) {
                (FrameKind::Hello, None) => self.hello(client, &mut body, events)?,
                (FrameKind::Fence, Some(rank)) => self.fence(rank, &mut body, events)?,
                (FrameKind::Publish, Some(rank)) => {
                    let key = body.text()?;
                    let value = body.bytes()?;
                    check_pair(&key, value)?;
                    self.tell(client, rank, key, value.into(), events);
                }
                (FrameKind::Ask, Some(me)) => {
                    let rank = body.u32()?;
                    let key = body.text()?;
                    check_pair(&key, &[])?;
                    self.question(client, me, rank, key, events)?;
                }
                (FrameKind::Abort, Some(rank)) => {
                    let code = body.u32()? as i32;
                    let message = String::from_utf8_lossy(body.bytes()?).into_owned();
                    events.push(Event::Abort {
                        rank,
                        code,
                        message,
                    });
                }
                (FrameKind::Fault, Some(rank)) => {
                    let message = String::from_utf8_lossy(body.bytes()?).into_owned();
                    events.push(Event::Fault { rank, message });
                }
                (FrameKind::Finalize, Some(rank)) => events.push(Event::Finalized { rank }),
                (FrameKind::Resume, Some(rank)) => events.push(Event::Resumed { rank }),
                _ => return Err(Malformed("a message at the wrong time")),
            }
            if client.closing {
                return Ok(());
            }
        }
        client.inbox = inbox;
        Ok(())
    }

    fn hello(
        &mut self,
        client: &mut Client,
        body: &mut Reader<'_>,
        events: &mut Vec<Event>,
    ) -> Result<(), Malformed> {
        let version = body.u32()?;
        let cookie = body.raw(wire::COOKIE)?;
        let rank = body.u32()?;
        let pid = client.pid;
        let here = self.job.node_of.get(rank as usize) == Some(&self.node);
        let member = self.members.get(rank as usize).filter(|_| here).copied();
        let refusal = if version != wire::VERSION {
            Some(format!(
                "this library speaks version {version} of the start protocol, its mpirun version \
                 {}; use the mpirun that belongs to the library",
                wire::VERSION
            ))
        } else if cookie != self.cookie {
            Some("the cookie in CATENA_BOOT is wrong; start the program with mpirun".to_string())
        } else {
            match member {
                None => Some(format!(
                    "rank {rank} is not in this job on this host; CATENA_BOOT was changed"
                )),
                Some(Member {
                    pid: Some(other), ..
                }) => Some(format!(
                    "process {other} has already taken part in this job as rank {rank}, so \
                     process {pid} cannot: a rank is one process that calls MPI_Init once; to run \
                     an MPI program from within another, use mpirun, or set CATENA_SINGLETON=1 \
                     to run it alone"
                )),
                Some(_) => None,
            }
        };
        if let Some(words) = refusal {
            let mut w = Writer::new(FrameKind::Refused);
            w.bytes(words.as_bytes());
            client.push(w.finish().into(), false);
            client.closing = true;
            return Ok(());
        }
        self.members[rank as usize].pid = Some(pid);
        client.rank = Some(rank);
        self.job.rank = rank;
        self.job.appnum = self.appnums[rank as usize];
        let mut w = Writer::new(FrameKind::Welcome);
        self.job.write(&mut w);
        client.push(w.finish().into(), true);
        events.push(Event::Joined { rank, pid });
        Ok(())
    }

    fn fence(
        &mut self,
        rank: u32,
        body: &mut Reader<'_>,
        events: &mut Vec<Event>,
    ) -> Result<(), Malformed> {
        let member = &mut self.members[rank as usize];
        if std::mem::replace(&mut member.in_fence, true) {
            return Err(Malformed("a fence within a fence"));
        }
        while !body.is_empty() {
            let (key, value) = (body.text()?, body.bytes()?);
            check_pair(&key, value)?;
            self.parts.u32(rank);
            self.parts.bytes(key.as_bytes());
            self.parts.bytes(value);
            if self.parts.body_len() > wire::MAX_BODY {
                return Err(Malformed("more than 256 MiB in one fence"));
            }
        }
        if self.fencing == 0 {
            events.push(Event::Fencing);
        }
        self.fencing += 1;
        if self.fencing == self.local {
            let parts = std::mem::replace(&mut self.parts, no_parts()).into_body();
            events.push(Event::Fenced { parts });
        }
        Ok(())
    }
}

/// Whether key and value have a length that is allowed.
fn check_pair(key: &str, value: &[u8]) -> Result<(), Malformed> {
    match key.len() <= wire::MAX_KEY && value.len() <= wire::MAX_VALUE {
        true => Ok(()),
        false => Err(Malformed("a key or value that is too long")),
    }
}

#[cfg(any(test, fuzzing))]
impl Server {
    /// A target for fuzzing: takes in `data` from a process that is connected by
    /// `socket`, as `rank` or not yet, and forgets all of it. Returns how many
    /// bytes are kept for ranks that have not got them.
    pub(crate) fn hear(&mut self, socket: UnixStream, rank: Option<u32>, data: &[u8]) -> usize {
        let mut client = Client::new(socket, 1);
        client.rank = rank;
        client.inbox.push(data);
        let mut events = Vec::new();
        let _ = self.take_frames(&mut client, &mut events);
        let kept = self.parts.body_len();
        self.members.fill(Member::default());
        (self.fencing, self.parts, self.questions) = (0, no_parts(), Questions::default());
        kept
    }
}

impl AsFd for Server {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.poller.as_fd()
    }
}
