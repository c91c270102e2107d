//! What a process keeps that is in no job with others, and adds them one by one.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::rc::Rc;

use catena_fabric::{LocalPeer, Peer, PeerLost, ProcessName};
use catena_proof::Secret;
use catena_shm::{Shm, create_segment};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::chain::Chain;
use crate::exchange::Exchange;
use crate::networks::Networks;
use crate::record::{Address, Record, SegmentAt};

/// This process, as it calls itself.
pub(crate) const ME: Peer = Peer(0);

/// A process that is alone.
#[derive(Debug)]
pub(crate) struct Alone {
    /// Where it is.
    pub address: Address,
    /// What it tells of itself.
    pub record: Record,
    /// Its segment.
    segment: Option<File>,
    hosts: Hosts,
    /// The peers that share memory with it, and what tells that they have ended.
    neighbours: Vec<(Peer, OwnedFd)>,
    /// What tells of the ends of those that were removed, by their jobs.
    former: Vec<(u64, OwnedFd)>,
    /// Numbers of peers that were removed, of which something is still under way.
    pub held: Vec<Peer>,
    /// The jobs of neighbours that have called, and whose segments cannot be opened.
    pub refused: HashSet<u64>,
}

/// What leads from it to others, too.
pub(crate) struct Opened {
    pub alone: Alone,
    pub shm: Option<Shm>,
    pub networks: Option<Box<Networks>>,
}

/// A process whose memory is shared: its segment, and what can be read once it has ended, if the
/// kernel has that.
#[derive(Debug)]
pub(crate) struct Neighbour {
    pub segment: OwnedFd,
    pub ending: Option<OwnedFd>,
}

/// The names of the hosts of those that were added, for messages.
type Hosts = Rc<RefCell<HashMap<Peer, String>>>;

/// What stands where others have a launcher.
struct NoLauncher(Hosts);

impl Exchange for NoLauncher {
    fn host_of(&self, process: Peer) -> String {
        let hosts = self.0.borrow();
        hosts.get(&process).cloned().unwrap_or_default()
    }

    fn node_of(&self, process: Peer) -> u32 {
        process.0
    }

    fn publish(&mut self, _record: &[u8]) -> Result<(), String> {
        Ok(())
    }

    fn ask(&mut self, _process: Peer) -> Result<Option<Vec<u8>>, String> {
        Ok(None)
    }

    fn is_nobody(&self) -> bool {
        true
    }

    fn begin_fence(&mut self) -> Result<(), String> {
        Ok(())
    }

    fn fence_done(&mut self) -> Result<bool, String> {
        Ok(true)
    }
}

impl Alone {
    /// Opens what the transports of `chain` need.
    ///
    /// # Errors
    /// What failed and what to do.
    pub fn open(chain: &Chain, secret: Option<&Secret>) -> Result<Opened, String> {
        let mut random = [0; 8];
        catena_proof::random(&mut random).map_err(|e| format!("no random numbers: {e}"))?;
        let place = LocalPeer {
            me: ME,
            processes: 1,
            job: u64::from_le_bytes(random),
        };
        let (mut shm, segment) = match chain.shm {
            true => open_segment()?,
            false => (None, None),
        };
        let hosts = Hosts::default();
        let exchange = Box::new(NoLauncher(Rc::clone(&hosts)));
        let networks = Networks::open_all(chain, place, &[ME], secret, exchange)?;
        if networks.is_none() && shm.is_none() {
            let setting = &chain.setting;
            return Err(format!(
                "{setting:?} names no transport that joins processes of no job: shm, tcp, ofi \
                 and ucx do"
            ));
        }
        let realm = realm();
        let shown = segment.as_ref().filter(|_| realm.is_some());
        let address = Address {
            name: ProcessName {
                job: place.job,
                rank: 0,
            },
            realm: realm.unwrap_or(0),
            segment: shown.map(place_of).transpose()?,
            host: host_name(),
        };
        if let (Some(shm), Some(at)) = (&mut shm, address.segment) {
            shm.show_segment(at.words());
        }
        let over_networks = networks.as_ref().map(|it| it.record().clone());
        let record = Record {
            setting: chain.setting.clone(),
            shm: chain.shm,
            address: Some(address.clone()),
            ..over_networks.unwrap_or_default()
        };
        let alone = Alone {
            address,
            record,
            segment,
            hosts,
            neighbours: Vec::new(),
            former: Vec::new(),
            held: Vec::new(),
            refused: HashSet::new(),
        };
        Ok(Opened {
            alone,
            shm,
            networks,
        })
    }

    /// A peer was added, which is at `at`; `ending`: see [`Neighbour`].
    pub fn added(&mut self, peer: Peer, at: &Address, ending: Option<OwnedFd>) {
        self.hosts.borrow_mut().insert(peer, at.host.clone());
        self.neighbours.extend(ending.map(|it| (peer, it)));
    }

    /// A peer was removed, which is the only process of its job.
    pub fn removed(&mut self, peer: Peer, job: u64) {
        self.hosts.borrow_mut().remove(&peer);
        let ending = self.neighbours.extract_if(.., |it| it.0 == peer);
        let ending = ending.map(|(_, ending)| (job, ending));
        self.former.extend(ending.collect::<Vec<_>>());
    }

    /// Forgets the neighbours that were removed and have ended since: what they had in `shm` is for
    /// others.
    pub fn forget_ended(&mut self, shm: &mut Shm) {
        if self.former.is_empty() {
            return;
        }
        // Of those that have let go of this process nothing is left to wait for.
        self.former.retain(|(job, _)| shm.has_parting(*job));
        let mut over = are_over(self.former.iter().map(|it| &it.1)).into_iter();
        let ended = self
            .former
            .extract_if(.., |_| over.next().expect("one for each"));
        ended.for_each(|(job, _)| shm.forget_removed(job));
    }

    /// The neighbours that have ended since this was last asked, and of which nothing is left in
    /// `shm` that was not taken.
    pub fn ended_neighbours(&mut self, shm: &Shm) -> Vec<PeerLost> {
        if self.neighbours.is_empty() {
            return Vec::new();
        }
        let mut at = are_over(self.neighbours.iter().map(|it| &it.1)).into_iter();
        let is_over = |(peer, _): &mut (Peer, OwnedFd)| {
            at.next().expect("one for each") && shm.has_taken_all_of(*peer)
        };
        let ended = self.neighbours.extract_if(.., is_over);
        let host = &self.address.host;
        let lost = ended.map(|(peer, _)| PeerLost {
            peer,
            cause: format!("its process has ended; it was on host {host}"),
        });
        lost.collect()
    }

    /// Where a neighbour is that has called, by its job and what it [shows](Shm::show_segment).
    pub fn caller(&self, (job, words): (u64, [u64; 2])) -> Address {
        Address {
            name: ProcessName { job, rank: 0 },
            segment: Some(SegmentAt::of_words(words)),
            ..self.address.clone()
        }
    }

    /// Opens the segment of another process; `None` if the two share no memory, which both find
    /// alike.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn neighbour(&self, at: &Address) -> Option<Result<Neighbour, String>> {
        let own = self
            .segment
            .as_ref()
            .filter(|_| self.address.segment.is_some())?;
        let segment = at.segment.filter(|_| at.realm == self.address.realm)?;
        let opened = open_at(segment, own);
        Some(opened.map_err(|error| format!("its shared memory cannot be opened: {error}")))
    }
}

/// Which of these processes have ended.
fn are_over<'a>(endings: impl Iterator<Item = &'a OwnedFd>) -> Vec<bool> {
    let mut endings: Vec<PollFd<'_>> = endings
        .map(|ending| PollFd::new(ending, PollFlags::IN))
        .collect();
    // If the kernel cannot tell now it can later.
    let _ = retry_on_intr(|| poll(&mut endings, Some(&Timespec::default())));
    endings.iter().map(|it| !it.revents().is_empty()).collect()
}

/// Opens the segment at a place, on the file system of `own`.
fn open_at(segment: SegmentAt, own: &File) -> io::Result<Neighbour> {
    let SegmentAt {
        process,
        descriptor,
        file,
    } = segment;
    let path = format!("/proc/{process}/fd/{descriptor}");
    let device = own.metadata()?.dev();
    let check = |found: Metadata| match found.ino() == file && found.dev() == device {
        true => Ok(()),
        false => Err(io::Error::other("its process has ended")),
    };
    // If the process has ended another one may have its number: its files are not opened, and it is
    // not the one that is watched.
    let ending = ending_of(process);
    check(fs::metadata(&path)?)?;
    let segment = OpenOptions::new().read(true).write(true).open(path)?;
    check(segment.metadata()?)?;
    Ok(Neighbour {
        segment: segment.into(),
        ending,
    })
}

/// A segment of this process's own, and a descriptor at which others find it.
fn open_segment() -> Result<(Option<Shm>, Option<File>), String> {
    let failed = |error: io::Error| format!("no shared memory: {error}");
    let segment = create_segment().map_err(failed)?;
    let shown = segment.try_clone().map_err(failed)?;
    let cpus = std::thread::available_parallelism().map_or(1, |it| it.get() as u32);
    let shm = Shm::attach(segment, ME.0, &[ME], cpus).map_err(|error| error.to_string())?;
    Ok((Some(shm), Some(shown.into())))
}

/// Where others find a segment.
fn place_of(segment: &File) -> Result<SegmentAt, String> {
    let file = segment.metadata();
    let file = file.map_err(|error| format!("no shared memory: {error}"))?;
    Ok(SegmentAt {
        process: std::process::id(),
        descriptor: segment.as_raw_fd() as u32,
        file: file.ino(),
    })
}

/// A number that is equal for processes that can open each other's segments: of one start of a
/// kernel, one space of process numbers, one user there, in one space of users, and with the same
/// rights. Its upper half is 0, which the short form of a record leaves out. `None` where this
/// cannot be found out: then nobody opens it.
fn realm() -> Option<u128> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let digits: String = boot.chars().filter(char::is_ascii_hexdigit).collect();
    let boot = u128::from_str_radix(&digits, 16).ok()?;
    let space = |of: &str| Some(fs::metadata(format!("/proc/self/ns/{of}")).ok()?.ino());
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let mut lines = status.lines();
    let rights = lines.find_map(|line| line.strip_prefix("CapPrm:"))?;
    let rights = u64::from_str_radix(rights.trim(), 16).ok()?;
    let user = u64::from(rustix::process::geteuid().as_raw());
    // FNV-1a over words.
    let mix = |hash: u128, word: u64| {
        (hash ^ u128::from(word)).wrapping_mul(0x0100_0000_0000_0000_0000_013b)
    };
    let words = [space("pid")?, space("user")?, user, rights];
    let hash = words.into_iter().fold(boot, mix);
    Some(u128::from((hash ^ hash >> 64) as u64))
}

fn host_name() -> String {
    let system = rustix::system::uname();
    system.nodename().to_string_lossy().into_owned()
}

/// What can be read once a process has ended.
fn ending_of(process: u32) -> Option<OwnedFd> {
    let process = Pid::from_raw(i32::try_from(process).ok()?)?;
    pidfd_open(process, PidfdFlags::empty()).ok()
}
