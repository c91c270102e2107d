//! Started by a launcher that is not Catena's, over its process manager.
//!
//! | module    | what                                                          |
//! |-----------|---------------------------------------------------------------|
//! | `pmi1`    | the process manager behind `PMI_FD` or `PMI_PORT`             |
//! | `pmi2`    | that of Slurm behind `PMI_FD`                                 |
//! | `pmix`    | that behind libpmix, for a PMIx server                        |
//! | `manager` | what a process manager is                                     |
//! | `mapping` | which rank is on which node, as PMI tells                     |
//! | `card`    | what the ranks tell each other, and which of them share a node|
//! | `segment` | the node's shared memory, made by one rank, opened by others  |
//! | `stream`  | a connection as bytes                                         |
//! | `parts`   | values as short texts                                         |
//! | `at_exit`| the end of the process                                        |
//!
//! Opening is collective: each rank publishes its card, and a fence waits for
//! those of the others. Two ranks share a node if the launcher says so, or says
//! nothing, and they run on the same kernel and see the same process ids; host
//! names prove nothing.
//!
//! Process managers take a goodbye for good, and count a process that ends
//! without one as failed. So it is said at the end of the world model, or when
//! the process ends while no session is open: a session may follow another. Hydra does not
//! always notice that a process ended without one, so there such a process ends the job itself.
//!
//! Process managers know one job. Once a process spawns or connects it and the others on its host
//! have a launcher of Catena's (`own_server`), which knows the other jobs; their memory it does not
//! know, so networks lead to them.

mod at_exit;
mod card;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
mod manager;
mod mapping;
mod parts;
mod pmi1;
mod pmi2;
mod pmix;
mod segment;
mod stream;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::os::fd::{BorrowedFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use catena_abi::consts::ERR_PROC_ABORTED;

use crate::client::Client;
use crate::job::is_pair_key;
use crate::wire::{Reader, Writer};
use crate::{Boot, BootError, Job, Jobs, alias, lineage, own_server, sys};
use at_exit::LastWord;
use card::Card;
use manager::{About, Manager, Shared, lock};
use segment::Segment;

/// How long Catena's launcher may take to say why a process is gone that another one has lost.
const HEARSAY: Duration = Duration::from_secs(1);

/// How a process can reach its process manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Through libpmix.
    Pmix,
    /// The messages of Slurm.
    Pmi2,
    /// The lines of MPICH's Hydra.
    Pmi1,
}

/// The protocols that the environment offers to one of several processes, best
/// first. One that is alone needs none.
pub fn offers(env: impl Fn(&str) -> Option<String> + Copy) -> Vec<Protocol> {
    let has = |name| env(name).is_some();
    let others = alias::without(env);
    let alone = |name| others(name).is_some_and(|size| size.trim() == "1");
    let mut offers = Vec::new();
    if has("PMIX_NAMESPACE") && has("PMIX_RANK") && !alone("OMPI_COMM_WORLD_SIZE") {
        offers.push(Protocol::Pmix);
    }
    let by_socket =
        others("PMI_FD").is_some() && has("PMI_RANK") && has("PMI_SIZE") && !alone("PMI_SIZE");
    let by_port = has("PMI_PORT") && has("PMI_ID");
    if by_socket && has("SLURM_STEP_ID") && has("PMI_JOBID") {
        offers.push(Protocol::Pmi2);
    } else if by_socket || by_port {
        offers.push(Protocol::Pmi1);
    }
    offers
}

/// Name and version of the libpmix that would be used.
///
/// # Errors
/// [`BootError::NoPmix`].
pub fn pmix_library() -> Result<(String, String), BootError> {
    let library = pmix::open()?;
    Ok((library.name().to_string(), library.version()))
}

/// The backend of a process that another launcher has started.
pub struct Direct {
    manager: Shared,
    /// Of the ranks of this node.
    processes: Vec<u32>,
    job: Job,
    segment: Arc<Segment>,
    /// What this rank has put. Every fence publishes all of it as one value, so
    /// none is ever missing: some launchers can only wait for such.
    puts: BTreeMap<String, Vec<u8>>,
    /// How many fences have ended.
    fences: u32,
    in_fence: bool,
    /// Whether that fence publishes.
    publishing: bool,
    /// See [`Manager::misses_silent_ends`].
    misses_silent_ends: bool,
    /// The connection to the launcher of Catena's that knows other jobs.
    client: Option<Client>,
    /// Whether the process needs the others no more.
    finalized: bool,
}

impl Direct {
    /// Connects by the first of `offers` that works, and learns who the others
    /// are. Collective over the job.
    ///
    /// # Errors
    /// If no process manager can be reached, or it talks nonsense.
    pub fn open(
        offers: &[Protocol],
        env: impl Fn(&str) -> Option<String>,
    ) -> Result<Direct, BootError> {
        let connect = |protocol: &Protocol| -> Result<Box<dyn Manager>, BootError> {
            Ok(match protocol {
                Protocol::Pmix => Box::new(pmix::Pmix::connect()?),
                Protocol::Pmi2 => Box::new(pmi2::Pmi2::connect(&env)?),
                Protocol::Pmi1 => Box::new(pmi1::Pmi1::connect(&env)?),
            })
        };
        let mut first = None;
        for protocol in offers {
            match connect(protocol) {
                Ok(manager) => return Direct::join(manager),
                Err(error) => first = first.or(Some(error)),
            }
        }
        Err(first.unwrap_or(BootError::Manager("it offers nothing".to_string())))
    }

    /// Exchanges cards with the others.
    fn join(mut manager: Box<dyn Manager>) -> Result<Direct, BootError> {
        let about = manager.about().clone();
        let me = about.rank;
        let (made, place) = Segment::make()?;
        let card = Card::mine(me, about.appnum, place)?;
        manager.put(&Direct::key(0, me), card.to_text().as_bytes())?;
        manager.begin_fence()?;
        manager.fence_done(true)?;
        let mut read = |rank| {
            let text = manager.get(rank, &Direct::key(0, rank))?;
            Card::parse(&text.unwrap_or_default()).ok_or_else(|| {
                let cause = format!("rank {rank} runs no Catena, or another version of it");
                BootError::Manager(cause)
            })
        };
        let cards = (0..about.size).map(&mut read);
        let cards = cards.collect::<Result<Vec<_>, _>>()?;
        let job = card::job(&about, &cards);
        card::agree(&job, &cards)?;
        let maker = job.local[0];
        let number = job.local.iter().position(|&r| r == me).unwrap_or(0) as u64;
        let segment = match number {
            0 => made.shared_with(job.local.len() as u64 - 1),
            _ => Segment::open(&cards[maker as usize].place, maker, number),
        };
        let misses_silent_ends = manager.misses_silent_ends();
        let direct = Direct {
            manager: Arc::new(Mutex::new(manager)),
            processes: job
                .local
                .iter()
                .map(|&r| cards[r as usize].place.pid)
                .collect(),
            job,
            segment: Arc::new(segment),
            puts: BTreeMap::new(),
            fences: 1,
            in_fence: false,
            publishing: false,
            misses_silent_ends,
            client: None,
            finalized: false,
        };
        direct.begin_life();
        Ok(direct)
    }

    /// From now on an end of the process is one without MPI_Finalize.
    fn begin_life(&self) {
        at_exit::put_off();
        if self.misses_silent_ends {
            at_exit::expect(LastWord::Aborts, &self.manager, &self.segment);
        }
    }

    /// Key of the process manager for what `rank` puts before the fence `fence`.
    fn key(fence: u32, rank: u32) -> String {
        format!("catena-{fence:x}-{rank:x}")
    }
}

impl Boot for Direct {
    fn job(&self) -> &Job {
        &self.job
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        let mut lines = vec![("wire-up", "another launcher's process manager".to_string())];
        lines.extend(lock(&self.manager).describe());
        lines
    }

    fn ancestor(&self) -> Option<u32> {
        lineage::common(&self.processes)
    }

    fn segment(&self) -> Option<BorrowedFd<'_>> {
        match (self.job.local.len(), &self.client) {
            (1, Some(client)) if self.job.size == 1 => client.segment(),
            (1, _) => None,
            _ => self.segment.shown(),
        }
    }

    fn take_segment(&mut self) -> Result<Option<OwnedFd>, BootError> {
        match (self.job.local.len(), &mut self.client) {
            // What a process that is the whole job shares with those that it spawns.
            (1, Some(client)) if self.job.size == 1 => client.take_segment(),
            (1, _) => Ok(None),
            _ => self.segment.take().map(Some),
        }
    }

    fn jobs(&mut self) -> Option<&mut dyn Jobs> {
        self.client.as_mut().map(|client| client as &mut dyn Jobs)
    }

    fn begin_jobs(&mut self) -> Result<(), BootError> {
        if self.client.is_some() || self.job.hosts.len() > 1 {
            return Ok(());
        }
        let mut client = match self.job.size {
            1 => own_server::start(self.job.job_id)?,
            _ => own_server::share(&self.job)?,
        };
        if self.finalized {
            client.finalize()?;
        }
        self.client = Some(client);
        Ok(())
    }

    fn put(&mut self, key: &str, value: &[u8]) -> Result<(), BootError> {
        crate::client::check_length(key, value)?;
        self.puts.insert(key.to_string(), value.to_vec());
        Ok(())
    }

    fn begin_fence(&mut self) -> Result<(), BootError> {
        if std::mem::replace(&mut self.in_fence, true) {
            return Err(BootError::Fence);
        }
        let mut all = Writer::new(0);
        for (key, value) in &self.puts {
            all.bytes(key.as_bytes());
            all.bytes(value);
        }
        let mut manager = lock(&self.manager);
        let key = Direct::key(self.fences, self.job.rank);
        manager.put(&key, &all.into_body())?;
        manager.begin_fence()
    }

    fn fence_done(&mut self) -> Result<bool, BootError> {
        self.finish_fence(false)
    }

    fn end_fence(&mut self) -> Result<(), BootError> {
        self.finish_fence(true).map(drop)
    }

    fn get(&mut self, rank: u32, key: &str) -> Result<Option<Vec<u8>>, BootError> {
        let size = self.job.size;
        if rank >= size {
            return Err(BootError::NoSuchRank { rank, size });
        }
        // The first fence had the cards.
        let last = self.fences - 1;
        if last == 0 {
            return Ok(None);
        }
        let all = lock(&self.manager).get(rank, &Direct::key(last, rank))?;
        let all = all.ok_or_else(|| {
            BootError::Manager(format!("it has lost what rank {rank} told the others"))
        })?;
        let mut all = Reader::new(&all);
        while !all.is_empty() {
            let (name, value) = (all.bytes()?, all.bytes()?);
            if name == key.as_bytes() {
                return Ok(Some(value.to_vec()));
            }
        }
        Ok(None)
    }

    fn publish(&mut self, key: &str, value: &[u8]) -> Result<(), BootError> {
        if let Some(client) = self.client.as_mut().filter(|_| is_pair_key(key)) {
            return client.publish(key, value);
        }
        self.put(key, value)?;
        self.begin_fence()?;
        self.publishing = true;
        Ok(())
    }

    fn ask(&mut self, job: u64, rank: u32, key: &str) -> Result<Option<Vec<u8>>, BootError> {
        if let Some(client) = self.client.as_mut().filter(|_| job != self.job.job_id) {
            return client.ask(job, rank, key);
        }
        self.job.check_own(job)?;
        // The end of another fence is for who began it.
        match self.in_fence && (!self.publishing || !self.fence_done()?) {
            true => Ok(None),
            false => self.get(rank, key),
        }
    }

    fn descriptor(&self) -> Option<RawFd> {
        lock(&self.manager).descriptor()
    }

    fn abort(&mut self, code: i32, message: &str) {
        at_exit::put_off();
        // The process manager kills at once.
        sys::flush_streams();
        catena_base::tell!("{message}");
        if let Some(client) = &mut self.client {
            client.abort(code, message);
            if code == ERR_PROC_ABORTED {
                // Catena's launcher may know why the other one is gone. The manager lets nobody say
                // it any more.
                client.await_end(HEARSAY);
            }
        }
        sys::let_stderr_be_read();
        if let Ok(mut manager) = self.manager.try_lock() {
            manager.abort(code, message);
        }
    }

    fn finalize(&mut self) -> Result<(), BootError> {
        at_exit::expect(LastWord::Departs, &self.manager, &self.segment);
        self.finalized = true;
        self.client.as_mut().map_or(Ok(()), Client::finalize)
    }

    fn resume(&mut self) -> Result<(), BootError> {
        self.begin_life();
        self.finalized = false;
        self.client.as_mut().map_or(Ok(()), Client::resume)
    }

    fn end(&mut self) -> Result<(), BootError> {
        at_exit::put_off();
        self.finalized = true;
        self.client.as_mut().map_or(Ok(()), Client::finalize)?;
        lock(&self.manager).depart()
    }
}

impl Direct {
    fn finish_fence(&mut self, wait: bool) -> Result<bool, BootError> {
        if !self.in_fence {
            return Err(BootError::Fence);
        }
        let done = lock(&self.manager).fence_done(wait)?;
        if done {
            (self.in_fence, self.publishing) = (false, false);
            self.fences += 1;
        }
        Ok(done)
    }
}
