//! Processes that nobody started together: each is alone in its job, and adds others by what they tell of themselves, at
//! any time. There is no launcher, no rank and no fence.
//!
//! What a process tells is its address record (see [`record`](crate::record)); how it comes to the others is theirs to say.
//! Through shared memory each process has a segment of its own, which those on its host open at the descriptor that the
//! record names; whether that succeeds tells whether the two are neighbours, not the name of the host. All others are
//! reached over networks.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::rc::Rc;

use catena_fabric::{Peer, PeerLost, Place, ProcessName};
use catena_proof::Secret;
use catena_shm::{Shm, create_segment};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::chain::Chain;
use crate::exchange::Exchange;
use crate::networks::Networks;
use crate::peer_table::PeerTable;
use crate::record::{Address, Record, SegmentAt};
use crate::routes::{Route, Routes};

/// This process, as it calls itself.
const ME: Peer = Peer(0);

/// What a process that is alone keeps.
#[derive(Debug)]
pub(crate) struct Alone {
    address: Address,
    /// What it tells of itself.
    record: Record,
    /// Its segment.
    segment: Option<File>,
    hosts: Hosts,
    /// The peers that share memory with it, and what tells that they have ended.
    neighbours: Vec<(Peer, OwnedFd)>,
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

    fn begin_fence(&mut self) -> Result<(), String> {
        Ok(())
    }

    fn fence_done(&mut self) -> Result<bool, String> {
        Ok(true)
    }
}

impl<S, R> Routes<S, R> {
    /// The routes of a process that is in no job with others: as the transports of `chain` lead, to those that it
    /// [adds](Routes::add_peer). Over networks it talks only with processes that know the same `secret`; through shared
    /// memory, only with those of the same user.
    ///
    /// # Errors
    /// What failed and what to do.
    ///
    /// # Examples
    /// Two processes, played by one, meet through shared memory:
    /// ```
    /// use catena_net::{Chain, Route, Routes};
    ///
    /// # use catena_base::PeerBytes;
    /// # #[derive(Debug)]
    /// # enum Message {}
    /// # impl catena_link::Source for Message {
    /// #     type Part<'a> = &'a [u8];
    /// #     fn len(&self) -> u64 { match *self {} }
    /// #     fn part(&self, _: u64, _: usize) -> &[u8] { match *self {} }
    /// # }
    /// # impl catena_link::Sink for Message {
    /// #     fn capacity(&self) -> u64 { match *self {} }
    /// #     fn place(&mut self, _: u64, _: PeerBytes<'_>) { match *self {} }
    /// # }
    /// let chain = Chain::parse("shm")?;
    /// let mut one = Routes::<Message, Message>::alone(&chain, None)?;
    /// let mut two = Routes::<Message, Message>::alone(&chain, None)?;
    /// let there = one.add_peer(&two.address().expect("it is alone"))?;
    /// assert_eq!(one.route(there), Route::Shm);
    /// two.add_peer(&one.address().expect("it is alone"))?;
    /// # Ok::<(), String>(())
    /// ```
    pub fn alone(chain: &Chain, secret: Option<&Secret>) -> Result<Self, String> {
        let mut random = [0; 8];
        catena_proof::random(&mut random).map_err(|e| format!("no random numbers: {e}"))?;
        let name = ProcessName {
            job: u64::from_le_bytes(random),
            rank: 0,
        };
        let place = Place {
            me: ME,
            processes: 1,
            job: name.job,
        };
        let (shm, segment) = match chain.shm {
            true => open_segment()?,
            false => (None, None),
        };
        let hosts = Hosts::default();
        let exchange = Box::new(NoLauncher(Rc::clone(&hosts)));
        let networks = Networks::open_all(chain, place, &[ME], secret, exchange)?;
        if networks.is_none() && shm.is_none() {
            let setting = &chain.setting;
            return Err(format!(
                "{setting:?} names no transport that joins processes of no job: shm and tcp do"
            ));
        }
        let address = Address {
            name,
            boot: boot(),
            segment: segment.as_ref().map(place_of).transpose()?,
            host: host_name(),
        };
        let networks_record = networks.as_ref().map(|it| it.record().clone());
        let record = Record {
            setting: chain.setting.clone(),
            shm: chain.shm,
            address: Some(address.clone()),
            ..networks_record.unwrap_or_default()
        };
        let peers = PeerTable::new(name.job, [0]);
        let mut routes = Routes::new(ME, peers, &[ME], shm, networks);
        routes.alone = Some(Box::new(Alone {
            address,
            record,
            segment,
            hosts,
            neighbours: Vec::new(),
        }));
        Ok(routes)
    }

    /// What others are to be told of this process, so that they can [add](Routes::add_peer) it; `None` if it is one of a
    /// job. A few hundred bytes. Whoever has them can reach nothing without the secret, or this process's user.
    pub fn address(&self) -> Option<Vec<u8>> {
        self.alone.as_ref()?.record.encode()
    }

    /// Adds a process by what it tells of itself, [`Routes::address`]; the number that it has here from now on. It may have
    /// been added before, or be this process. The two are to add each other, in any order: what one sends before the other
    /// has added it waits.
    ///
    /// # Errors
    /// Why it cannot be reached.
    pub fn add_peer(&mut self, address: &[u8]) -> Result<Peer, String> {
        let theirs = Record::decode(address);
        let theirs = theirs.ok_or("what it tells is damaged, or of another version of Catena")?;
        let (Some(alone), Some(at)) = (&self.alone, &theirs.address) else {
            return Err("only processes of no job add each other".to_string());
        };
        let name = at.name;
        if let Some(known) = self.peers.peer(name) {
            return match self.route(known) {
                Route::None => Err("it could not be reached when it was added".to_string()),
                _ => Ok(known),
            };
        }
        if name.rank != 0 {
            return Err("what it tells is damaged".to_string());
        }
        let leads = alone.address.name < name;
        let segment = alone.open(&theirs, at);
        let node = match segment.is_some() {
            true => 0,
            false => self.peers.len() as u32,
        };
        // Whether it can be reached is asked before it gets a number.
        if segment.is_none() {
            match self.networks.as_ref() {
                Some(networks) => networks.joins(&theirs, leads)?,
                None => {
                    return Err(format!(
                        "it does not share memory with this process, which has no network: it is on {}",
                        at.host
                    ));
                }
            }
        }
        let process = at.segment.map(|it| it.process);
        let is_near = segment.is_some();
        let added = self.add_job(name.job, &[node], segment, None);
        added.map_err(|error| error.to_string())?;
        let peer = self.peers.peer(name).expect("it was just added");
        if let Some(alone) = &mut self.alone {
            alone.hosts.borrow_mut().insert(peer, at.host.clone());
            let ending = process.filter(|_| is_near).and_then(ending_of);
            alone.neighbours.extend(ending.map(|it| (peer, it)));
        }
        if !is_near && let Some(networks) = &mut self.networks {
            networks.add_peer(peer, &theirs, (name, leads))?;
            self.set_route(peer, Route::Network);
        }
        Ok(peer)
    }

    /// The neighbours that have ended since this was last asked: what they sent may still arrive. Those that are reached
    /// over networks are looked after by these. To be asked now and then by those who wait; costs a system call if there are
    /// neighbours.
    pub fn ended_neighbours(&mut self) -> Vec<PeerLost> {
        let Some(alone) = self.alone.as_mut().filter(|it| !it.neighbours.is_empty()) else {
            return Vec::new();
        };
        let endings = alone.neighbours.iter();
        let mut endings: Vec<PollFd<'_>> = endings
            .map(|(_, ending)| PollFd::new(ending, PollFlags::IN))
            .collect();
        // If the kernel cannot tell now it can later.
        let _ = retry_on_intr(|| poll(&mut endings, Some(&Timespec::default())));
        let has_ended: Vec<bool> = endings.iter().map(|it| !it.revents().is_empty()).collect();
        let mut at = has_ended.iter();
        let (mut ended, host) = (Vec::new(), alone.address.host.clone());
        alone.neighbours.retain(|(peer, _)| {
            let is_over = *at.next().expect("one for each");
            ended.extend(is_over.then_some(*peer));
            !is_over
        });
        let lost = ended.into_iter().map(|peer| PeerLost {
            peer,
            cause: format!("its process has ended; it was on host {host}"),
        });
        lost.collect()
    }
}

impl Alone {
    /// Opens the segment of another process, if the two are neighbours.
    fn open(&self, theirs: &Record, at: &Address) -> Option<OwnedFd> {
        let own = self.segment.as_ref()?.metadata().ok()?;
        let segment = at
            .segment
            .filter(|_| theirs.shm && at.boot == self.address.boot)?;
        let SegmentAt {
            process,
            descriptor,
            file,
        } = segment;
        let path = format!("/proc/{process}/fd/{descriptor}");
        let opened = OpenOptions::new().read(true).write(true).open(path).ok()?;
        // In another space of process numbers that may be any file.
        let found = opened.metadata().ok()?;
        (found.ino() == file && found.dev() == own.dev()).then(|| opened.into())
    }
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

/// What tells a host from others until the next start of its kernel; 0 if it does not say.
fn boot() -> u128 {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    u128::from_str_radix(&digits, 16).unwrap_or(0)
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
