//! Reading and writing a peer's memory (cross-memory attach,
//! `process_vm_readv(2)`).
//!
//! Whether the kernel allows it depends on users, containers and security
//! modules, so the first read of a peer is a trial: of a word whose value is
//! known. That also notices when process ids mean different things on the two
//! sides. Who may read may write, unless system calls are filtered: a write of
//! nothing shows that.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::{io, ptr};

use catena_base::Parts;
use catena_fabric::{Load, NEVER_LENT, Peer, PeerLost, RemoteKey, Rendezvous, RmaError};

use crate::calls::{read_process, write_process};
use crate::init::Shm;
use crate::peer_state::{Reader, probe_value};
use crate::segment::SEGMENT;
use crate::settings::SingleCopy;
use crate::trials::By;

/// Bytes read by one system call: short enough to look at the rings between
/// two, long enough for the 1.5 µs that a call costs not to matter.
const CHUNK: usize = 1 << 20;

/// Shortest message with which a busy sender may help.
const WORTH_HELPING: u64 = 256 << 10;

/// Bytes of the parts in which two ranks copy a message together: a fourth of
/// it within these limits, or half of a shorter one. Measured here, 1 MiB takes 33 µs in four
/// parts, 40 in 16 and 60 in one.
const PART: (u64, u64) = (32 << 10, 256 << 10);

/// What became of a copy by the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Copied {
    /// That many bytes from the start were copied.
    Bytes(usize),
    /// None, for a reason that passes.
    Again,
    /// The kernel does not reach that memory.
    Unable,
}

/// Moves `len` bytes by calls that move some of the bytes from a position on.
fn in_chunks(
    len: usize,
    mut some: impl FnMut(usize, usize) -> io::Result<usize>,
) -> io::Result<()> {
    let mut at = 0;
    while at < len {
        match some(at, (len - at).min(CHUNK)) {
            // It ends early where memory ends.
            Ok(0) => return Err(io::Error::from_raw_os_error(libc::EFAULT)),
            Ok(n) => at += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// A process of the node whose memory can be reached.
#[derive(Clone, Copy, Debug)]
pub struct Neighbour {
    pid: i32,
}

impl Neighbour {
    /// Its number for the kernel.
    pub(crate) fn pid(&self) -> i32 {
        self.pid
    }

    /// Reads `len` bytes at `addr` of its memory.
    ///
    /// # Errors
    /// What the kernel says; `EFAULT` if there is no such memory.
    ///
    /// # Safety
    /// `into` must be valid for `len` bytes.
    pub unsafe fn read(&self, addr: u64, into: *mut u8, len: usize) -> io::Result<()> {
        // SAFETY: within `into`.
        in_chunks(len, |at, n| unsafe {
            read_process(self.pid, addr + at as u64, into.add(at), n)
        })
    }

    /// Writes `len` bytes at `addr` of its memory.
    ///
    /// # Errors
    /// As [`Neighbour::read`].
    ///
    /// # Safety
    /// `from` must be valid for `len` bytes, and the process must let those at
    /// `addr` change.
    pub unsafe fn write(&self, addr: u64, from: *const u8, len: usize) -> io::Result<()> {
        // SAFETY: within `from`, and within what the process lends.
        in_chunks(len, |at, n| unsafe {
            write_process(self.pid, addr + at as u64, from.add(at), n)
        })
    }
}

impl Shm {
    /// The process of a peer, if its memory can be read and written. It has
    /// attached.
    pub fn neighbour(&mut self, peer: Peer) -> Option<Neighbour> {
        let pid = self.process(self.number(peer))?;
        // SAFETY: nothing is written.
        let writes = unsafe { write_process(pid, 0, ptr::null(), 0) };
        writes.is_ok().then_some(Neighbour { pid })
    }

    /// The process with that number, if its memory can be read.
    fn process(&mut self, number: usize) -> Option<i32> {
        if self.peer_states[number].reader == Reader::Unknown {
            self.peer_states[number].reader = self.try_reader(number as u32);
        }
        match self.peer_states[number].reader {
            Reader::Allowed(pid) => Some(pid),
            Reader::Unknown | Reader::Denied => None,
        }
    }

    /// Lets peers try to read `probe`.
    pub(crate) fn show_probe(&self, probe: &u64) {
        if self.config.single_copy == SingleCopy::Never {
            return;
        }
        let who = &self.own().who;
        who.pid.store(std::process::id(), Relaxed);
        who.probe.store(std::ptr::from_ref(probe) as u64, Relaxed);
        who.ready.store(1, Release);
    }

    /// Whether reading `peer` (and, as the rules are the same, being read by
    /// it) may work.
    pub(crate) fn may_read(&self, peer: Peer) -> bool {
        self.config.single_copy != SingleCopy::Never
            && self.peer_states[self.number(peer)].reader != Reader::Denied
    }

    pub(crate) fn best_rendezvous(&self, peer: Peer, len: u64, load: Load) -> Rendezvous {
        let worth = match self.config.single_copy {
            SingleCopy::Never => false,
            SingleCopy::Always => true,
            // Senders that wait for the match announce what could be sent ahead, too.
            SingleCopy::Auto => len > self.config.eager_max.min(NEVER_LENT),
        };
        if !worth || !self.may_read(peer) {
            return Rendezvous::Stream;
        }
        // On one core two ranks take turns. Who has messages of its own to read
        // does that first, and may help with a long one then.
        let alone = match load {
            Load::Light => false,
            Load::Heavy => len < WORTH_HELPING,
            Load::Exchange => true,
        };
        if self.config.oversubscribed || alone {
            return Rendezvous::Get;
        }
        let least = len.div_ceil(Parts::MOST.into());
        let part = (len / 4)
            .clamp(PART.0, PART.1)
            .min(len.div_ceil(2))
            .max(least);
        Rendezvous::Share { part }
    }

    /// Tries whether a peer can be read.
    #[cold]
    #[inline(never)]
    fn try_reader(&self, number: u32) -> Reader {
        if self.config.single_copy == SingleCopy::Never {
            return Reader::Denied;
        }
        let peer_state = &self.peer_states[number as usize];
        let who = &peer_state.block().who;
        if who.ready.load(Acquire) != 1 {
            return Reader::Unknown;
        }
        let (pid, addr) = (who.pid.load(Relaxed) as i32, who.probe.load(Relaxed));
        let mut word = 0u64;
        // SAFETY: eight bytes of our own.
        let read = unsafe { read_process(pid, addr, (&raw mut word).cast(), 8) };
        match read {
            Ok(8) if word == probe_value(peer_state.home.number) => Reader::Allowed(pid),
            _ => Reader::Denied,
        }
    }

    /// Reads up to `len` bytes of a peer's private memory.
    ///
    /// # Safety
    /// `into` must be valid for `len` bytes that nobody else uses.
    pub(crate) unsafe fn read(
        &mut self,
        peer: Peer,
        remote: RemoteKey,
        into: *mut u8,
        len: usize,
    ) -> Result<Copied, PeerLost> {
        let Some(pid) = self.reachable(peer)? else {
            return Ok(Copied::Unable);
        };
        // SAFETY: as the caller promised.
        let read = unsafe { read_process(pid, remote.addr, into, len.min(CHUNK)) };
        if let Ok(n) = read {
            self.counters.reads += 1;
            self.counters.read_bytes += n as u64;
        }
        self.outcome(peer, pid, read)
    }

    /// Whether a message of `len` bytes from a peer, which could be read, is streamed.
    pub(crate) fn prefers_stream(&mut self, peer: Peer, len: u64) -> bool {
        if self.config.single_copy != SingleCopy::Auto {
            return false;
        }
        let number = self.number(peer);
        let by = match self.config.oversubscribed {
            true => self.segment.front().shared_cores.next(len),
            false => self.peer_states[number].pace.next(len),
        };
        by == By::Ring
    }

    /// Writes up to `len` bytes of a peer's private memory.
    ///
    /// # Safety
    /// `from` must be valid for `len` bytes, and the peer must let those at
    /// `remote` change.
    pub(crate) unsafe fn write(
        &mut self,
        peer: Peer,
        from: *const u8,
        remote: RemoteKey,
        len: usize,
    ) -> Result<Copied, PeerLost> {
        let Some(pid) = self.reachable(peer)? else {
            return Ok(Copied::Unable);
        };
        // SAFETY: as the caller promised.
        let written = unsafe { write_process(pid, remote.addr, from, len.min(CHUNK)) };
        self.counters.writes += u64::from(written.is_ok());
        self.outcome(peer, pid, written)
    }

    /// Where `len` bytes of the segment lie that a peer is at home in, which `target` says.
    pub(crate) fn in_segment(
        &self,
        peer: Peer,
        target: RemoteKey,
        len: usize,
        align: usize,
    ) -> Result<*mut u8, RmaError> {
        if target.key != SEGMENT {
            return Err(RmaError::NoRegion);
        }
        let range = self
            .segment_of(self.number(peer))
            .range(target.addr, len, align);
        range.ok_or(RmaError::OutOfBounds)
    }

    /// The process of a peer, if the kernel lets us at its memory.
    fn reachable(&mut self, peer: Peer) -> Result<Option<i32>, PeerLost> {
        let number = self.number(peer);
        match self.peer_states[number].lost() {
            Some(lost) => Err(lost.clone()),
            None => Ok(self.process(number)),
        }
    }

    /// What a system call on the memory of a peer means.
    fn outcome(
        &mut self,
        peer: Peer,
        pid: i32,
        done: io::Result<usize>,
    ) -> Result<Copied, PeerLost> {
        let peer_state = self.number(peer);
        match done {
            Ok(n) => Ok(Copied::Bytes(n)),
            Err(error) => match error.raw_os_error() {
                Some(libc::ESRCH) => {
                    Err(self.peer_states[peer_state].lose(format!("process {pid} has ended")))
                }
                Some(libc::EINTR | libc::ENOMEM | libc::EAGAIN) => Ok(Copied::Again),
                // Memory of a device, say: its owner itself can reach it.
                Some(libc::EFAULT) => Ok(Copied::Unable),
                _ => {
                    self.peer_states[peer_state].reader = Reader::Denied;
                    Ok(Copied::Unable)
                }
            },
        }
    }
}
