//! The launcher as the exchange of address records that the networks need.

use std::cell::RefCell;
use std::os::fd::RawFd;
use std::rc::Rc;

use catena_boot::{Boot, FAULT_TOLERANCE, OtherJob, told_settings};
use catena_fabric::Peer;
use catena_net::{Exchange, Pair};
use catena_settings::difference;

/// The connection to the launcher, which the process and its networks share.
pub type SharedBoot = Rc<RefCell<Box<dyn Boot>>>;

/// Under which key the launcher keeps the address records.
const KEY: &str = "link";

/// An address record with the settings that must be equal before it, behind their length in bytes.
fn with_settings(record: &[u8]) -> Vec<u8> {
    let settings = told_settings();
    let len = (settings.len() as u32).to_le_bytes();
    [&len, settings.as_bytes(), record].concat()
}

/// The address record of another rank, whose settings are compared with those of this one, `me`.
/// That of a process that has ended is empty.
///
/// # Errors
/// What differs, in words.
fn without_settings(me: u32, rank: u32, bytes: &[u8]) -> Result<Vec<u8>, String> {
    let Some((len, rest)) = bytes.split_first_chunk::<4>() else {
        return Ok(Vec::new());
    };
    let len = u32::from_le_bytes(*len) as usize;
    let parts = rest.split_at_checked(len);
    let (settings, record) = parts.ok_or("its address record ends early")?;
    let settings = String::from_utf8_lossy(settings);
    let (mine, theirs) = (format!("rank {me}"), format!("rank {rank}"));
    match difference((&mine, &told_settings()), (&theirs, &settings)) {
        Some(differs) => Err(differs),
        None => Ok(record.to_vec()),
    }
}

/// Address records are exchanged through the launcher. Networks join the processes of
/// one job, whose peers are their ranks.
pub(crate) struct ThroughLauncher(pub SharedBoot);

impl Exchange for ThroughLauncher {
    fn host_of(&self, process: Peer) -> String {
        self.0.borrow().job().host_of(process.0).to_string()
    }

    fn node_of(&self, process: Peer) -> u32 {
        self.0.borrow().job().node_of[process.0 as usize]
    }

    fn publish(&mut self, record: &[u8]) -> Result<(), String> {
        let mut boot = self.0.borrow_mut();
        boot.publish(KEY, &with_settings(record))
            .map_err(|e| e.to_string())
    }

    fn ask(&mut self, process: Peer) -> Result<Option<Vec<u8>>, String> {
        // Somebody may be looking at the job: the networks ask again.
        let Ok(mut boot) = self.0.try_borrow_mut() else {
            return Ok(None);
        };
        let (job, me) = (boot.job().job_id, boot.job().rank);
        let record = boot.ask(job, process.0, KEY).map_err(|e| e.to_string())?;
        let record = record.map(|bytes| without_settings(me, process.0, &bytes));
        record.transpose()
    }

    fn descriptor(&self) -> Option<RawFd> {
        self.0.borrow().descriptor()
    }

    fn tells_of_deaths(&self) -> bool {
        FAULT_TOLERANCE.get() && self.0.borrow().descriptor().is_some()
    }

    fn begin_fence(&mut self) -> Result<(), String> {
        self.0.borrow_mut().begin_fence().map_err(|e| e.to_string())
    }

    fn fence_done(&mut self) -> Result<bool, String> {
        self.0.borrow_mut().fence_done().map_err(|e| e.to_string())
    }
}

/// The exchange between the processes of two jobs, which meet over networks of their own.
/// Their records have a key of their own, too.
pub(crate) struct BetweenJobs {
    boot: SharedBoot,
    pair: Pair,
    /// The other job: its random number, and the node of each rank.
    job: u64,
    node_of: Box<[u32]>,
    hosts: Box<[String]>,
    key: String,
    /// What this process has published.
    record: Vec<u8>,
}

impl BetweenJobs {
    /// Of this process's job and `job`, which it has learnt of.
    pub fn new(boot: SharedBoot, pair: Pair, job: u64, other: &OtherJob) -> BetweenJobs {
        let own = boot.borrow().job().job_id;
        BetweenJobs {
            pair,
            job,
            node_of: other.node_of.clone(),
            hosts: other.hosts.clone(),
            key: catena_boot::pair_key(KEY, own, job),
            record: Vec::new(),
            boot,
        }
    }
}

impl Exchange for BetweenJobs {
    fn host_of(&self, number: Peer) -> String {
        match self.pair.other_rank(number) {
            Some(_) => {
                let host = self.hosts.get(self.node_of(number) as usize);
                host.cloned().unwrap_or_default()
            }
            None => self.boot.borrow().job().host().to_string(),
        }
    }

    fn node_of(&self, number: Peer) -> u32 {
        match self.pair.other_rank(number) {
            Some(rank) => self.node_of[rank as usize],
            None => u32::MAX,
        }
    }

    fn publish(&mut self, record: &[u8]) -> Result<(), String> {
        self.record = record.to_vec();
        let mut boot = self.boot.borrow_mut();
        boot.publish(&self.key, record).map_err(|e| e.to_string())
    }

    fn ask(&mut self, number: Peer) -> Result<Option<Vec<u8>>, String> {
        // The launcher forgets this process's own once the other job has ended.
        let Some(rank) = self.pair.other_rank(number) else {
            return Ok(Some(self.record.clone()));
        };
        let Ok(mut boot) = self.boot.try_borrow_mut() else {
            return Ok(None);
        };
        // It is empty once that job has ended.
        let record = boot.ask(self.job, rank, &self.key);
        record.map_err(|e| e.to_string())
    }

    /// Only Catena's launcher knows other jobs, and it ends those that one is connected to which
    /// has failed, or tells who died.
    fn judges_ends(&self) -> bool {
        true
    }

    fn descriptor(&self) -> Option<RawFd> {
        self.boot.borrow().descriptor()
    }

    /// Jobs that have parted need nothing of each other but what is on its way: see
    /// [`Networks::is_delivered`](catena_net::Networks::is_delivered).
    fn begin_fence(&mut self) -> Result<(), String> {
        Ok(())
    }

    fn fence_done(&mut self) -> Result<bool, String> {
        Ok(true)
    }
}
