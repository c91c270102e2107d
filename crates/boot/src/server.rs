//! The built-in backend, in the launcher: serves the processes of its jobs.
//!
//! A state machine behind one descriptor: the launcher waits until
//! [`Server::as_fd`] can be read, then calls [`Server::step`]. A rank finds the
//! abstract socket (a name without a file, so nothing is left behind) in its
//! environment, and is taken in if it has the launcher's user and cookie.
//!
//! The launcher numbers the processes of all its jobs: those of a job have numbers in a
//! row, in the order of their ranks, and those of its first job come first. What it is
//! told calls this number `rank`, as it is the rank in the first job.

mod connection;
pub mod far;
mod meeting;
mod met;
pub mod names;
pub mod ports;
mod questions;
mod remote;
mod served;
mod tables;
#[cfg(test)]
mod tests;
mod ties;

use std::io;
use std::net::Shutdown;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
#[cfg(any(test, fuzzing))]
use std::os::unix::net::UnixStream;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::sync::Arc;
use std::time::Duration;

use crate::client::LauncherAddress;
use connection::Client;
use far::RemoteJobs;
use met::Meetings;
pub use served::Event;
pub(crate) use served::SEGMENT;
use served::{Member, NOBODY, Served, no_parts};
use tables::{Ports, Questions, Ties};

use crate::wire::{self, FrameKind, Malformed, Reader, Writer};
use crate::{Interest, Job, Poller, sys};

/// Most callers that are taken in at once.
const CALLERS: u32 = 256;

/// Longest body of a message from somebody who is not taken in yet.
const MAX_HELLO: usize = 64 << 10;

const LISTENER: u64 = u64::MAX;

/// Serves the ranks on one node of the jobs of a launcher.
#[derive(Debug)]
pub struct Server {
    poller: Poller,
    listener: UnixListener,
    socket: String,
    cookie: [u8; wire::COOKIE],
    /// The first one is there from the start, and stays.
    jobs: Vec<Served>,
    node: u32,
    clients: Vec<Option<Client>>,
    /// By number, also those of other nodes.
    members: Vec<Member>,
    /// The deaths of members, as they are told, in the order in which they became known.
    deaths: Vec<(u32, Arc<[u8]>)>,
    /// Numbers that no process has, and that lie below those of others.
    free: Vec<Range<u32>>,
    questions: Questions,
    ports: Ports,
    ties: Ties,
    meetings: Meetings,
    remote: RemoteJobs,
    /// Where services are published for other launchers' jobs, if they are.
    names: Option<names::Directory>,
    /// Whether there are ways to other launchers.
    has_ways: bool,
    /// Whether the processes of the first job have memory that another launcher has made, which
    /// this server does not know: they and those of other jobs reach each other over networks.
    is_apart: bool,
    /// Whether another server of the launcher keeps ports and ties, and says what numbers jobs
    /// have.
    is_branch: bool,
    /// Processes that do not reach others any more, and whom, by number.
    unreachable: Vec<(u32, u32)>,
    /// What is to be sent to processes once none is being served.
    later: Vec<(u32, Arc<[u8]>)>,
    /// What is to be sent to processes of other nodes.
    outward: Vec<(u32, Arc<[u8]>)>,
    /// Processes that were told what they had not asked for just now.
    told: Vec<u32>,
    /// Fences of later jobs that all have come to, and what they have brought.
    fenced: Vec<(usize, Vec<u8>)>,
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
        let mut cookie = [0; wire::COOKIE];
        sys::random(&mut cookie)?;
        let socket = format!("catena-{}-{:016x}", std::process::id(), job_id()?);
        Server::open_at(socket, cookie, job, node, appnums)
    }

    /// As [`Server::open`], for a first job that another launcher has started, whose processes know
    /// where the server is to be found.
    ///
    /// # Errors
    /// As [`Server::open`]; `AddrInUse` if it is there already.
    ///
    /// # Panics
    /// As [`Server::open`]; if the job has no secret.
    pub fn open_for_guests(job: Job, node: u32, appnums: Vec<u32>) -> io::Result<Server> {
        let secret = job.secret.as_ref().expect("a job of several processes");
        let LauncherAddress { socket, cookie, .. } =
            LauncherAddress::of_guests(job.job_id, 0, secret);
        let mut server = Server::open_at(socket, cookie, job, node, appnums)?;
        server.is_apart = true;
        Ok(server)
    }

    fn open_at(
        socket: String,
        cookie: [u8; wire::COOKIE],
        job: Job,
        node: u32,
        appnums: Vec<u32>,
    ) -> io::Result<Server> {
        let first = Served::new(job, 0, node, appnums)?;
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
            members: vec![Member::default(); first.job.size as usize],
            jobs: vec![first],
            node,
            clients: Vec::new(),
            deaths: Vec::new(),
            free: Vec::new(),
            questions: Questions::default(),
            ports: Ports::default(),
            ties: Ties::default(),
            meetings: Meetings::default(),
            remote: RemoteJobs::default(),
            names: None,
            has_ways: false,
            unreachable: Vec::new(),
            is_apart: false,
            is_branch: false,
            later: Vec::new(),
            outward: Vec::new(),
            told: Vec::new(),
            fenced: Vec::new(),
        })
    }

    /// Leaves ports, and what else all nodes have in common, to the launcher's first server.
    pub fn set_branch(&mut self) {
        self.is_branch = true;
    }

    /// Whether another server keeps ports and ties.
    pub fn is_branch(&self) -> bool {
        self.is_branch
    }

    /// Has services published in a directory, too, for the jobs of other launchers.
    pub fn set_names(&mut self, names: Option<names::Directory>) {
        (self.names, self.has_ways) = (names, true);
    }

    /// Takes in one more job, and makes its segment if it has ranks on this node; `first` is
    /// the number of its rank 0, which [`Server::reserve`] of the first server has given.
    /// `job` and `appnums` as in [`Server::open`].
    ///
    /// # Errors
    /// If descriptors or memory are short.
    ///
    /// # Panics
    /// As [`Server::open`].
    pub fn add(&mut self, first: u32, job: Job, appnums: Vec<u32>) -> io::Result<()> {
        let served = Served::new(job, first, self.node, appnums)?;
        let end = served.numbers().end as usize;
        if self.members.len() < end {
            self.members.resize(end, Member::default());
        }
        self.jobs.push(served);
        Ok(())
    }

    /// What to put into the environment of a process as `CATENA_BOOT`; of no use if there
    /// is no process with that number.
    pub fn place(&self, number: u32) -> String {
        let of = self.job_of(number).unwrap_or(&self.jobs[0]);
        LauncherAddress {
            socket: self.socket.clone(),
            job: of.job.job_id,
            rank: number - of.first,
            cookie: self.cookie,
        }
        .to_text()
    }

    /// The segment that the job of the process with that number has on this node, and the
    /// numbers of the job's processes.
    ///
    /// # Errors
    /// If descriptors are short.
    pub fn segment_of(&self, number: u32) -> io::Result<Option<(OwnedFd, Range<u32>)>> {
        let Some(of) = self.job_of(number) else {
            return Ok(None);
        };
        let segment = of.segment.as_ref().map(OwnedFd::try_clone).transpose()?;
        Ok(segment.map(|segment| (segment, of.numbers())))
    }

    /// The number that a process has among those of its job on this node.
    pub fn local_number(&self, number: u32) -> Option<u32> {
        let of = self.job_of(number)?;
        let before = &of.job.node_of[..(number - of.first) as usize];
        Some(before.iter().filter(|&&node| node == self.node).count() as u32)
    }

    /// A process that is about to end waits for no word of the launcher's any more.
    pub fn dismiss(&self, number: u32) {
        let mut clients = self.clients.iter().flatten();
        if let Some(client) = clients.find(|client| client.rank == Some(number)) {
            // One that is gone has not waited.
            let _ = client.socket.shutdown(Shutdown::Write);
        }
    }

    /// The job of the process with that number.
    fn job_of(&self, number: u32) -> Option<&Served> {
        self.jobs.iter().find(|of| of.numbers().contains(&number))
    }

    /// The number of a rank of a job.
    fn number(&self, job: u64, rank: u32) -> Option<u32> {
        let of = self.jobs.iter().find(|of| of.job.job_id == job)?;
        (rank < of.job.size).then(|| of.first + rank)
    }

    /// Ends the fence that the ranks of the first job on this node wait in. `parts` is what all
    /// nodes have brought, one after the other. If some of them do not wait,
    /// nothing happens.
    pub fn end_fence(&mut self, parts: &[u8]) {
        self.end_fence_at(0, parts);
    }

    /// As [`Server::end_fence`], of the job whose rank 0 has the number `first`.
    pub fn end_fence_of(&mut self, first: u32, parts: &[u8]) {
        let job = self.jobs.iter().position(|of| of.first == first);
        job.into_iter()
            .for_each(|job| self.end_fence_at(job, parts));
    }

    fn end_fence_at(&mut self, job: usize, parts: &[u8]) {
        let of = &mut self.jobs[job];
        if of.fencing < of.local {
            return;
        }
        of.fencing = 0;
        let numbers = of.numbers();
        let members = &mut self.members[numbers.start as usize..numbers.end as usize];
        // Those that came before they died come no more.
        of.local -= members.iter().filter(|m| m.dead && m.in_fence).count();
        members.iter_mut().for_each(|m| m.in_fence = false);
        let mut frame = Writer::new(FrameKind::Fenced);
        frame.raw(parts);
        let frame: Arc<[u8]> = frame.finish().into();
        for (index, client) in (0..).zip(&mut self.clients) {
            let is_member = |rank: u32| numbers.contains(&rank);
            if let Some(client) = client.as_mut().filter(|it| it.rank.is_some_and(is_member)) {
                client.push(Arc::clone(&frame), None);
                // One that cannot be written to will be reported as closed.
                client.flush(&self.poller, index);
            }
        }
    }

    /// Does all that can be done without waiting, and tells what has happened.
    /// What a process sent before it ended has been taken in when this returns.
    pub fn step(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        // The number of rounds is bounded: a rank that talks without end shall
        // not keep the launcher from its other work.
        let mut room = CALLERS;
        for _ in 0..1000 {
            let ready = self.poller.wait(Some(Duration::ZERO)).unwrap_or_default();
            // Those that are too many come next time.
            if ready.iter().all(|&token| token == LISTENER && room == 0) {
                break;
            }
            for token in ready {
                match token {
                    LISTENER => self.accept(&mut room),
                    index => self.serve(index as usize, &mut events),
                }
                self.send_later();
                for (job, parts) in std::mem::take(&mut self.fenced) {
                    self.end_fence_at(job, &parts);
                }
            }
        }
        events
    }

    /// Takes in as many callers as there is room for: one who calls again and again shall not keep
    /// the launcher from its other work either.
    fn accept(&mut self, room: &mut u32) {
        // A process that gives up at once, or is short of descriptors, will
        // learn it from its own end.
        while *room > 0
            && let Ok((socket, _)) = self.listener.accept()
        {
            *room -= 1;
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
        if stays && client.flush(&self.poller, index as u64) {
            self.clients[index] = Some(client);
            return;
        }
        let _ = self.poller.remove(&client.socket);
        if let Some(rank) = client.rank {
            self.left(rank);
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
                    let (job, rank) = (body.u64()?, body.u32()?);
                    let key = body.text()?;
                    check_pair(&key, &[])?;
                    match self.number(job, rank) {
                        Some(number) => self.question(client, me, number, key, events)?,
                        // It has ended, or is another launcher's.
                        None if self.is_branch => {
                            let mut w = Writer::new(FrameKind::Ask);
                            w.u64(job);
                            w.u32(rank);
                            w.bytes(key.as_bytes());
                            events.push(Event::Call {
                                rank: me,
                                kind: FrameKind::Ask.into(),
                                body: w.into_body(),
                            });
                        }
                        None => self.ask_abroad(me, job, rank, key),
                    }
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
                (kind, Some(rank)) if kind.is_about_jobs() => match self.is_branch {
                    true => events.push(Event::Call {
                        rank,
                        kind: kind.into(),
                        body: body.rest().to_vec(),
                    }),
                    false => self.take_job_frame(rank, kind, &mut body)?,
                },
                _ => return Err(Malformed("a message at the wrong time")),
            }
            if client.closing {
                return Ok(());
            }
        }
        client.inbox = inbox;
        Ok(())
    }

    /// Whether the settings of a rank are those of its job, and of the job that has grown by it.
    fn agrees(&mut self, of: usize, rank: u32, settings: String) -> Result<(), String> {
        if self.jobs[of].is_growth() {
            self.jobs[0].agrees_with_newcomer(rank, &settings)?;
        }
        self.jobs[of].agrees(rank, settings)
    }

    fn hello(
        &mut self,
        client: &mut Client,
        body: &mut Reader<'_>,
        events: &mut Vec<Event>,
    ) -> Result<(), Malformed> {
        let version = body.u32()?;
        let cookie = body.raw(wire::COOKIE)?;
        let (job, rank, settings) = match version {
            wire::VERSION => (body.u64()?, body.u32()?, body.text()?),
            _ => Default::default(),
        };
        let pid = client.pid;
        let of = self.jobs.iter().position(|of| of.job.job_id == job);
        let of = of.filter(|&of| self.jobs[of].job.node_of.get(rank as usize) == Some(&self.node));
        let member = of.map(|of| {
            let number = self.jobs[of].first + rank;
            (of, number, self.members[number as usize])
        });
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
                Some((
                    ..,
                    Member {
                        pid: Some(other), ..
                    },
                )) => Some(format!(
                    "process {other} has already taken part in this job as rank {rank}, so \
                     process {pid} cannot: a rank is one process that calls MPI_Init once; to run \
                     an MPI program from within another, use mpirun, or set CATENA_SINGLETON=1 \
                     to run it alone"
                )),
                Some((of, ..)) => self.agrees(of, rank, settings).err(),
            }
        };
        let (None, Some((of, number, _))) = (&refusal, member) else {
            let words = refusal.unwrap_or_default();
            let mut w = Writer::new(FrameKind::Refused);
            w.bytes(words.as_bytes());
            client.push(w.finish().into(), None);
            client.closing = true;
            return Ok(());
        };
        self.members[number as usize].pid = Some(pid);
        client.rank = Some(number);
        // First, so that it knows who is dead before it can wait for anybody.
        for (_, death) in &self.deaths {
            client.push(Arc::clone(death), None);
        }
        let of = &mut self.jobs[of];
        of.job.rank = rank;
        of.job.appnum = of.appnums[rank as usize];
        let mut w = Writer::new(FrameKind::Welcome);
        of.job.write(&mut w);
        client.push(w.finish().into(), of.segment());
        events.push(Event::Joined { rank: number, pid });
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
        let job = self.jobs.iter().position(|of| of.numbers().contains(&rank));
        let job = job.ok_or(NOBODY)?;
        let of = &mut self.jobs[job];
        while !body.is_empty() {
            let (key, value) = (body.text()?, body.bytes()?);
            check_pair(&key, value)?;
            of.parts.u32(rank - of.first);
            of.parts.bytes(key.as_bytes());
            of.parts.bytes(value);
            if of.parts.body_len() > wire::MAX_BODY {
                return Err(Malformed("more than 256 MiB in one fence"));
            }
        }
        if of.fencing == 0 && job == 0 {
            events.push(Event::Fencing);
        }
        of.fencing += 1;
        events.extend(self.complete_fence(job));
        Ok(())
    }

    /// A fence to which all ranks here have come ends, or is an event.
    fn complete_fence(&mut self, job: usize) -> Option<Event> {
        let of = &mut self.jobs[job];
        if of.fencing == 0 || of.fencing < of.local {
            return None;
        }
        let parts = std::mem::replace(&mut of.parts, no_parts()).into_body();
        if job == 0 {
            return Some(Event::Fenced { parts });
        }
        if !self.jobs[job].is_within(self.node) {
            let (node, first) = (self.node, self.jobs[job].first);
            return Some(Event::JobFenced { node, first, parts });
        }
        // All its ranks are here, where the rank that speaks is not among the clients.
        self.fenced.push((job, parts));
        None
    }

    /// No fence waits for the process with that number any more.
    fn fence_without(&mut self, number: u32) -> Option<Event> {
        let job = self
            .jobs
            .iter()
            .position(|of| of.numbers().contains(&number))?;
        let of = &mut self.jobs[job];
        let is_here = of.job.node_of[(number - of.first) as usize] == self.node;
        let member = &mut self.members[number as usize];
        if !is_here || std::mem::replace(&mut member.dead, true) || member.in_fence {
            return None;
        }
        of.local -= 1;
        let ended = self.complete_fence(job);
        for (job, parts) in std::mem::take(&mut self.fenced) {
            self.end_fence_at(job, &parts);
        }
        ended
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
        let of = &mut self.jobs[0];
        let kept = of.parts.body_len();
        (of.fencing, of.parts, self.questions) = (0, no_parts(), Questions::default());
        self.remote = RemoteJobs::default();
        self.later.clear();
        self.members.fill(Member::default());
        kept
    }
}

impl AsFd for Server {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.poller.as_fd()
    }
}
