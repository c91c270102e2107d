//! The built-in backend, in a rank: a connection to the launcher.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::time::Duration;

use catena_proof::Secret;

use crate::jobs::{Death, ElasticSet, Outcome, SpawnRequest, Visit, read_outcome};
use crate::sys::Descriptor;
use crate::wire::{self, FrameKind, Inbox, Malformed, Reader, Writer};
use crate::{Boot, BootError, Interest, Job, Jobs, OtherJob, Poller, equal, lineage, sys};

/// Bytes that are read from the launcher at once.
const ROOM: usize = 16 << 10;

/// Where the launcher is, and who I am: what `CATENA_BOOT` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LauncherAddress {
    /// Name of the abstract socket.
    pub socket: String,
    /// My job.
    pub job: u64,
    /// My rank in it.
    pub rank: u32,
    /// Proof that the launcher has told me.
    pub cookie: [u8; wire::COOKIE],
}

impl LauncherAddress {
    /// Where the processes of a job that another launcher has started find the one of Catena's that
    /// they have in common on a host: it follows from what they know of their job.
    pub(crate) fn of_guests(job: u64, rank: u32, secret: &Secret) -> LauncherAddress {
        let derived = secret.derive("a launcher for guests");
        let mut cookie = [0; wire::COOKIE];
        cookie.copy_from_slice(&derived.bytes()[..wire::COOKIE]);
        LauncherAddress {
            socket: format!("catena-of-{job:016x}"),
            job,
            rank,
            cookie,
        }
    }

    /// As the value of `CATENA_BOOT`.
    pub fn to_text(&self) -> String {
        let (version, job) = (wire::VERSION, self.job);
        let mut text = format!("{version}:{}:{job:x}:{}:", self.socket, self.rank);
        for byte in self.cookie {
            text += &format!("{byte:02x}");
        }
        text
    }

    /// Reads what [`LauncherAddress::to_text`] wrote.
    pub fn parse(text: &str) -> Option<LauncherAddress> {
        let mut parts = text.split(':');
        let version = parts.next()?.parse::<u32>().ok()?;
        let socket = parts.next()?.to_string();
        let job = u64::from_str_radix(parts.next()?, 16).ok()?;
        let rank = parts.next()?.parse().ok()?;
        let hex = parts.next()?;
        let sound = version == wire::VERSION
            && parts.next().is_none()
            && hex.len() == 2 * wire::COOKIE
            && hex.bytes().all(|b| b.is_ascii_hexdigit());
        if !sound {
            return None;
        }
        let mut cookie = [0; wire::COOKIE];
        for (byte, at) in cookie.iter_mut().zip((0..).step_by(2)) {
            *byte = u8::from_str_radix(&hex[at..at + 2], 16).ok()?;
        }
        Some(LauncherAddress {
            socket,
            job,
            rank,
            cookie,
        })
    }
}

/// Where a rank stands between two fences. Its end may arrive while the rank asks for something
/// else: it is told by the next look at the fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fence {
    None,
    Begun,
    Over,
}

/// A connection to the launcher.
#[derive(Debug)]
pub struct Client {
    socket: UnixStream,
    /// Its process; 0 if that cannot be seen from here.
    launcher: u32,
    inbox: Inbox,
    job: Job,
    segment: Option<OwnedFd>,
    /// What the next fence sends.
    puts: BTreeMap<String, Vec<u8>>,
    /// What fences have brought.
    fenced: BTreeMap<String, BTreeMap<u32, Vec<u8>>>,
    fence: Fence,
    /// What was asked for, and the answers that have come.
    asked: BTreeMap<String, BTreeMap<Name, Option<Vec<u8>>>>,
    /// Descriptors that came along and belong to frames that were not taken yet, in their order.
    /// One that the process had no room for has its place.
    descriptors: VecDeque<Descriptor>,
    /// Other jobs that were asked for, and the answers that have come.
    others: BTreeMap<u64, Option<OtherJob>>,
    /// The questions whose answer came without the memory that belongs to it, by number, and what
    /// is told of that.
    lost: BTreeMap<u64, BootError>,
    /// What has been told of deaths and was not taken yet.
    pub(crate) deaths: Vec<Death>,
    /// Jobs that have ended, as far as that was not taken yet.
    gone: Vec<u64>,
    /// Versions of the process set of an elastic job, likewise.
    sets: Vec<ElasticSet>,
    /// The last ticket.
    ticket: u32,
    /// What has become of tickets.
    outcomes: BTreeMap<u32, Outcome>,
}

/// A process: its job and its rank there.
type Name = (u64, u32);

impl Client {
    /// Connects as `place`, the value of `CATENA_BOOT`, says. One round trip.
    pub fn connect(place: &str) -> Result<Client, BootError> {
        let place = LauncherAddress::parse(place)
            .ok_or_else(|| BootError::BadVariable(place.to_string()))?;
        let address = SocketAddr::from_abstract_name(place.socket.as_bytes())
            .map_err(BootError::Unreachable)?;
        let socket =
            UnixStream::connect_addr(&address).map_err(|error| match error.raw_os_error() {
                Some(libc::EMFILE) => BootError::Descriptors,
                _ => BootError::Unreachable(error),
            })?;
        // Abstract names belong to nobody: if the launcher has ended, any user
        // can take the name of its socket, and would be told the cookie.
        let (launcher, user) = sys::peer(&socket)?;
        if !sys::is_trusted(user) {
            return Err(BootError::Stranger { user });
        }

        let mut hello = Writer::new(FrameKind::Hello);
        hello.u32(wire::VERSION);
        hello.raw(&place.cookie);
        hello.u64(place.job);
        hello.u32(place.rank);
        hello.bytes(equal::on_node().as_bytes());
        let mut inbox = Inbox::default();
        send(&socket, &mut inbox, &hello.finish())?;

        let (mut segment, mut deaths) = (None, Vec::new());
        let job = loop {
            let Some((kind, body)) = inbox.next(wire::MAX_BODY)? else {
                let (more, fd) = read_some(&socket, &mut inbox, true)?;
                debug_assert!(more, "a waiting read returns bytes");
                segment = segment.or(fd);
                continue;
            };
            let mut body = Reader::new(body);
            match FrameKind::from_byte(kind)? {
                // Of those that died before this process came.
                FrameKind::Died => deaths.push(Death::read(&mut body)?),
                FrameKind::Welcome => break Job::read(&mut body)?,
                FrameKind::Refused => return Err(BootError::Refused(body.text()?)),
                _ => return Err(Malformed("not an answer to hello").into()),
            }
        };
        if (job.job_id, job.rank) != (place.job, place.rank) {
            return Err(Malformed("the answer is for another rank").into());
        }
        let segment = segment.map(check_segment).transpose()?;
        let (puts, fenced, asked, descriptors, others) = Default::default();
        let (lost, gone, sets, ticket, outcomes) = Default::default();
        Ok(Client {
            socket,
            launcher,
            inbox,
            job,
            segment,
            puts,
            fenced,
            fence: Fence::None,
            asked,
            descriptors,
            others,
            lost,
            deaths,
            gone,
            sets,
            ticket,
            outcomes,
        })
    }

    /// Sends a frame that its kind says all of.
    fn say(&mut self, kind: FrameKind) -> Result<(), BootError> {
        self.send(Writer::new(kind))
    }

    /// Takes what has arrived from the inbox.
    fn take(&mut self) -> Result<(), BootError> {
        while let Some((kind, body)) = self.inbox.next(wire::MAX_BODY)? {
            let mut r = Reader::new(body);
            match FrameKind::from_byte(kind)? {
                FrameKind::Fenced if self.fence == Fence::Begun => {
                    while !r.is_empty() {
                        let rank = r.u32()?;
                        let key = r.text()?;
                        let value = r.bytes()?.to_vec();
                        self.fenced.entry(key).or_default().insert(rank, value);
                    }
                    self.fence = Fence::Over;
                }
                FrameKind::Answer => {
                    let name = (r.u64()?, r.u32()?);
                    let key = r.text()?;
                    let asked = self.asked.get_mut(&key);
                    let asked = asked.and_then(|of| of.get_mut(&name));
                    if asked.is_none() && crate::job::is_pair_key(&key) {
                        // One that has come after the end of the job that it was about.
                        continue;
                    }
                    *asked.ok_or(Malformed("an answer to no question"))? =
                        Some(r.bytes()?.to_vec());
                }
                FrameKind::Told => {
                    let job = r.u64()?;
                    let asked = self.others.get_mut(&job);
                    let asked = asked.ok_or(Malformed("an answer to no question"))?;
                    let mut other = OtherJob::read(&mut r)?;
                    if other.has_segment {
                        let fd = self.descriptors.pop_front();
                        let fd = fd.ok_or(Malformed("a segment did not come along"))?;
                        match check_segment(fd) {
                            Ok(fd) => other.segment = Some(fd),
                            // It may be asked for again.
                            Err(error) => {
                                self.others.remove(&job);
                                self.lost.insert(job, error);
                                continue;
                            }
                        }
                    }
                    *asked = Some(other);
                }
                FrameKind::Died => self.deaths.push(Death::read(&mut r)?),
                FrameKind::Gone => {
                    let job = r.u64()?;
                    // What was said between the two jobs alone goes with it.
                    let of_it = crate::job::pair_key("", self.job.job_id, job);
                    self.asked.retain(|key, _| !key.ends_with(&of_it));
                    self.lost.remove(&job);
                    self.gone.push(job);
                }
                FrameKind::Elastic => self.sets.push(ElasticSet::read(&mut r)?),
                FrameKind::Spawned | FrameKind::Met => {
                    let ticket = r.u32()?;
                    self.outcomes.insert(ticket, read_outcome(&mut r)?);
                }
                _ => return Err(Malformed("not an answer to a fence or question").into()),
            }
        }
        Ok(())
    }

    /// Takes all that has arrived; never waits.
    fn catch_up(&mut self) -> Result<(), BootError> {
        self.take()?;
        while self.read(false)? {
            self.take()?;
        }
        Ok(())
    }

    /// Reads what is there, or waits for the first bytes; whether anything came.
    fn read(&mut self, wait: bool) -> Result<bool, BootError> {
        let (some, fd) = read_some(&self.socket, &mut self.inbox, wait)?;
        self.descriptors.extend(fd);
        Ok(some)
    }

    /// Waits until the launcher has ended the connection, but no longer than `limit`. What both are
    /// stopped for does not count.
    pub(crate) fn await_end(&mut self, limit: Duration) {
        const TURNS: u32 = 10;
        let Ok(mut poller) = Poller::new() else {
            return;
        };
        if poller.add(&self.socket, 0, Interest::Read).is_err() {
            return;
        }
        let mut turns = 0;
        while turns < TURNS && self.read(false).is_ok() {
            match poller.wait(Some(limit / TURNS)) {
                Ok(ready) => turns += u32::from(ready.is_empty()),
                Err(_) => return,
            }
        }
    }

    /// What becomes readable once the launcher has ended, and the connection to it; none if its
    /// process cannot be seen from here.
    pub(crate) fn watch(&self) -> Option<(OwnedFd, UnixStream)> {
        let launcher = sys::watch_process(self.launcher)?;
        Some((launcher, self.socket.try_clone().ok()?))
    }

    /// Sends a whole frame.
    fn send(&mut self, frame: Writer) -> Result<(), BootError> {
        let fds = send(&self.socket, &mut self.inbox, &frame.finish())?;
        self.descriptors.extend(fds);
        Ok(())
    }

    /// A frame that begins with a new ticket.
    fn with_ticket(&mut self, kind: FrameKind) -> (u32, Writer) {
        self.ticket = self.ticket.wrapping_add(1);
        let mut frame = Writer::new(kind);
        frame.u32(self.ticket);
        (self.ticket, frame)
    }

    fn check_rank(&self, rank: u32) -> Result<(), BootError> {
        let size = self.job.size;
        match rank < size {
            true => Ok(()),
            false => Err(BootError::NoSuchRank { rank, size }),
        }
    }
}

#[cfg(any(test, fuzzing))]
impl Client {
    /// A target for fuzzing: one that has been taken in.
    pub(crate) fn over(socket: UnixStream, job: Job) -> Client {
        let (puts, fenced, asked, descriptors, others) = Default::default();
        let (lost, deaths, gone, sets, ticket, outcomes) = Default::default();
        Client {
            socket,
            launcher: 0,
            inbox: Inbox::default(),
            job,
            segment: None,
            puts,
            fenced,
            fence: Fence::None,
            asked,
            descriptors,
            others,
            lost,
            deaths,
            gone,
            sets,
            ticket,
            outcomes,
        }
    }
}

impl Boot for Client {
    fn is_watched(&self) -> bool {
        true
    }

    fn job(&self) -> &Job {
        &self.job
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        let version = format!("Catena's, version {}", wire::VERSION);
        vec![
            ("wire-up", "Catena's mpirun".to_string()),
            ("protocol", version),
        ]
    }

    fn ancestor(&self) -> Option<u32> {
        let mut ancestors = lineage::ancestors(std::process::id());
        ancestors.find(|&pid| pid == self.launcher)
    }

    fn segment(&self) -> Option<BorrowedFd<'_>> {
        self.segment.as_ref().map(AsFd::as_fd)
    }

    fn take_segment(&mut self) -> Result<Option<OwnedFd>, BootError> {
        Ok(self.segment.take())
    }

    fn put(&mut self, key: &str, value: &[u8]) -> Result<(), BootError> {
        check_length(key, value)?;
        self.puts.insert(key.to_string(), value.to_vec());
        Ok(())
    }

    fn begin_fence(&mut self) -> Result<(), BootError> {
        if self.fence != Fence::None {
            return Err(BootError::Fence);
        }
        let mut frame = Writer::new(FrameKind::Fence);
        for (key, value) in std::mem::take(&mut self.puts) {
            frame.bytes(key.as_bytes());
            frame.bytes(&value);
        }
        self.fence = Fence::Begun;
        self.send(frame)
    }

    fn fence_done(&mut self) -> Result<bool, BootError> {
        self.catch_up()?;
        Ok(match self.fence {
            Fence::None => return Err(BootError::Fence),
            Fence::Begun => false,
            Fence::Over => {
                self.fence = Fence::None;
                true
            }
        })
    }

    fn end_fence(&mut self) -> Result<(), BootError> {
        while !self.fence_done()? {
            self.read(true)?;
        }
        Ok(())
    }

    fn get(&mut self, rank: u32, key: &str) -> Result<Option<Vec<u8>>, BootError> {
        self.check_rank(rank)?;
        Ok(self.fenced.get(key).and_then(|of| of.get(&rank)).cloned())
    }

    fn publish(&mut self, key: &str, value: &[u8]) -> Result<(), BootError> {
        check_length(key, value)?;
        let mut frame = Writer::new(FrameKind::Publish);
        frame.bytes(key.as_bytes());
        frame.bytes(value);
        self.send(frame)
    }

    fn ask(&mut self, job: u64, rank: u32, key: &str) -> Result<Option<Vec<u8>>, BootError> {
        if job == self.job.job_id {
            self.check_rank(rank)?;
        }
        check_length(key, &[])?;
        let name = (job, rank);
        let known = |asked: &BTreeMap<String, BTreeMap<Name, Option<Vec<u8>>>>| {
            asked.get(key).and_then(|of| of.get(&name)).cloned()
        };
        match known(&self.asked) {
            Some(Some(value)) => return Ok(Some(value)),
            Some(None) => {}
            None => {
                let of = self.asked.entry(key.to_string()).or_default();
                of.insert(name, None);
                let mut frame = Writer::new(FrameKind::Ask);
                frame.u64(job);
                frame.u32(rank);
                frame.bytes(key.as_bytes());
                self.send(frame)?;
            }
        }
        self.catch_up()?;
        let answer = known(&self.asked).flatten();
        // That a job has ended is told once: nothing else would clear what is kept of it.
        if answer.as_ref().is_some_and(Vec::is_empty)
            && crate::job::is_pair_key(key)
            && let Some(of) = self.asked.get_mut(key)
        {
            of.remove(&name);
            if of.is_empty() {
                self.asked.remove(key);
            }
        }
        Ok(answer)
    }

    fn descriptor(&self) -> Option<RawFd> {
        Some(self.socket.as_raw_fd())
    }

    fn jobs(&mut self) -> Option<&mut dyn Jobs> {
        Some(self)
    }

    fn abort(&mut self, code: i32, message: &str) {
        let mut frame = Writer::new(FrameKind::Abort);
        frame.u32(code as u32);
        frame.bytes(message.as_bytes());
        if self.send(frame).is_err() {
            catena_base::tell!("{message}");
        }
        // The launcher leaves this rank a moment for it.
        sys::flush_streams();
    }

    fn fault(&mut self, message: &str) {
        let mut frame = Writer::new(FrameKind::Fault);
        frame.bytes(message.as_bytes());
        // A launcher that is gone needs no status.
        let _ = self.send(frame);
    }

    fn finalize(&mut self) -> Result<(), BootError> {
        self.say(FrameKind::Finalize)
    }

    fn resume(&mut self) -> Result<(), BootError> {
        self.say(FrameKind::Resume)
    }
}

impl Jobs for Client {
    fn learn(&mut self, job: u64) -> Result<Option<OtherJob>, BootError> {
        if let Some(error) = self.lost.remove(&job) {
            return Err(error);
        }
        if let Entry::Vacant(new) = self.others.entry(job) {
            new.insert(None);
            let mut frame = Writer::new(FrameKind::Learn);
            frame.u64(job);
            self.send(frame)?;
        }
        self.catch_up()?;
        match self.others.get_mut(&job).and_then(Option::take) {
            None => self.lost.remove(&job).map_or(Ok(None), Err),
            Some(other) => {
                self.others.remove(&job);
                match other.size {
                    0 => Err(BootError::NoSuchJob(job)),
                    _ => Ok(Some(other)),
                }
            }
        }
    }

    fn join(&mut self, job: u64) -> Result<(), BootError> {
        let mut frame = Writer::new(FrameKind::Join);
        frame.u64(job);
        self.send(frame)
    }

    fn leave_job(&mut self, job: u64) -> Result<(), BootError> {
        let mut frame = Writer::new(FrameKind::Part);
        frame.u64(job);
        self.send(frame)
    }

    fn gone(&mut self) -> Result<Vec<u64>, BootError> {
        self.catch_up()?;
        Ok(std::mem::take(&mut self.gone))
    }

    fn sets(&mut self) -> Result<Vec<ElasticSet>, BootError> {
        self.catch_up()?;
        Ok(std::mem::take(&mut self.sets))
    }

    fn deaths(&mut self) -> Result<Vec<Death>, BootError> {
        self.catch_up()?;
        Ok(std::mem::take(&mut self.deaths))
    }

    fn unreachable(&mut self, job: u64, rank: u32) -> Result<(), BootError> {
        let mut frame = Writer::new(FrameKind::Unreachable);
        frame.u64(job);
        frame.u32(rank);
        self.send(frame)
    }

    fn tell_world(&mut self) -> Result<(), BootError> {
        self.send(Writer::new(FrameKind::World))
    }

    fn ready(&mut self) -> Result<(), BootError> {
        self.send(Writer::new(FrameKind::Ready))
    }

    fn spawn(&mut self, request: &SpawnRequest) -> Result<u32, BootError> {
        let (ticket, mut frame) = self.with_ticket(FrameKind::Spawn);
        request.write(&mut frame);
        self.send(frame)?;
        Ok(ticket)
    }

    fn open_port(&mut self, port: &str) -> Result<u32, BootError> {
        let (ticket, mut frame) = self.with_ticket(FrameKind::OpenPort);
        frame.bytes(port.as_bytes());
        self.send(frame)?;
        Ok(ticket)
    }

    fn close_port(&mut self, port: &str) -> Result<(), BootError> {
        let mut frame = Writer::new(FrameKind::ClosePort);
        frame.bytes(port.as_bytes());
        self.send(frame)
    }

    fn meet(&mut self, visit: &Visit<'_>) -> Result<u32, BootError> {
        let (ticket, mut frame) = self.with_ticket(FrameKind::Meet);
        frame.bytes(visit.port.as_bytes());
        frame.u32(visit.side.index() as u32);
        frame.bytes(visit.value);
        frame.u32(visit.group.len() as u32);
        for &(job, rank) in visit.group {
            frame.u64(job);
            frame.u32(rank);
        }
        let timeout = visit.timeout.map_or(0, |it| it.as_millis().max(1));
        frame.u64(timeout as u64);
        self.send(frame)?;
        Ok(ticket)
    }

    fn confirm(&mut self, ticket: u32, outcome: Result<(), &str>) -> Result<(), BootError> {
        let mut frame = Writer::new(FrameKind::Confirm);
        frame.u32(ticket);
        frame.bytes(outcome.err().unwrap_or_default().as_bytes());
        self.send(frame)
    }

    fn publish_service(&mut self, service: &str, port: &str) -> Result<u32, BootError> {
        let (ticket, mut frame) = self.with_ticket(FrameKind::Publicize);
        frame.bytes(service.as_bytes());
        frame.bytes(port.as_bytes());
        self.send(frame)?;
        Ok(ticket)
    }

    fn look_up_service(&mut self, service: &str) -> Result<u32, BootError> {
        let (ticket, mut frame) = self.with_ticket(FrameKind::LookUp);
        frame.bytes(service.as_bytes());
        self.send(frame)?;
        Ok(ticket)
    }

    fn withdraw_service(&mut self, service: &str, port: &str) -> Result<u32, BootError> {
        let (ticket, mut frame) = self.with_ticket(FrameKind::Withdraw);
        frame.bytes(service.as_bytes());
        frame.bytes(port.as_bytes());
        self.send(frame)?;
        Ok(ticket)
    }

    fn outcome(&mut self, ticket: u32) -> Result<Option<Outcome>, BootError> {
        self.catch_up()?;
        Ok(self.outcomes.remove(&ticket))
    }
}

/// Whether key and value may be put.
pub fn check_length(key: &str, value: &[u8]) -> Result<(), BootError> {
    if key.len() > wire::MAX_KEY || value.len() > wire::MAX_VALUE {
        return Err(BootError::TooLong {
            key: key.len(),
            value: value.len(),
        });
    }
    Ok(())
}

/// Memory of processes of a node, for which a descriptor has come, or should have.
///
/// # Errors
/// `Descriptors` if there was no room for it, `Unsound` if it is nothing of the kind.
fn check_segment(fd: Descriptor) -> Result<OwnedFd, BootError> {
    let Some(fd) = fd.0 else {
        return Err(BootError::Descriptors);
    };
    let file = File::from(fd);
    sys::check_shared(&file).map_err(|e| BootError::Unsound(e.to_string()))?;
    Ok(file.into())
}

/// Sends a whole frame. What arrives meanwhile is read, lest launcher and rank
/// wait for each other with full sockets.
/// Gives the descriptors that came along.
fn send(
    socket: &UnixStream,
    inbox: &mut Inbox,
    frame: &[u8],
) -> Result<Vec<Descriptor>, BootError> {
    let mut descriptors = Vec::new();
    let mut rest = frame;
    while !rest.is_empty() {
        match sys::send(socket, rest, None) {
            Ok(n) => rest = &rest[n..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let mut poller = Poller::new()?;
                poller.add(socket, 0, Interest::ReadWrite)?;
                poller.wait(None)?;
                descriptors.extend(read_some(socket, inbox, false)?.1);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(descriptors)
}

/// Reads what is there, or waits for the first bytes. Gives whether anything
/// came, and the descriptor that came with it.
fn read_some(
    socket: &UnixStream,
    inbox: &mut Inbox,
    wait: bool,
) -> Result<(bool, Option<Descriptor>), BootError> {
    loop {
        match sys::receive(socket, inbox.room(ROOM), wait) {
            Ok((0, _)) => return Err(BootError::LauncherGone),
            Ok((n, fd)) => {
                inbox.filled(n);
                return Ok((true, fd));
            }
            Err(error) => match error.kind() {
                io::ErrorKind::Interrupted => {}
                io::ErrorKind::WouldBlock => return Ok((false, None)),
                _ => return Err(error.into()),
            },
        }
    }
}

#[cfg(test)]
mod tests;
