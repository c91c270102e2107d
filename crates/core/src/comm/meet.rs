//! Groups that meet at a port, as no communicator joins them (MPI-5, chapters 11.8.4 and
//! 11.9): those that connect and accept, and those that spawn and were spawned.
//!
//! They agree as the groups of `MPI_Intercomm_create` do, but for their leaders, who
//! exchange what their groups tell through the launcher. Jobs of which a process hears
//! there for the first time come into its table of peers.

use crate::needs;
use std::ops::Range;
use std::sync::Arc;

use catena_abi as abi;
use catena_boot::Visit;
use catena_fabric::ProcessName;
use catena_net::Chain;
use catena_objects::error::{Error, Kind, Result};
use catena_objects::fail;
use catena_settings::difference;
use catena_shm::Shm;

use super::agreement::Bridge;
use super::port::{MetJobs, OtherJobs, PortEndpoint};
use super::{Comm, Inherited};
use crate::process::{Process, show_presence};
use crate::settings::registry;

/// Jobs that this process has parted from, from which on it asks which of them have ended.
const PARTED: usize = 8;

/// What a leader brings to a port: the settings that must be equal, behind their length in bytes,
/// then the words.
fn with_settings(settings: &str, words: &[u32]) -> Vec<u8> {
    let mut bytes = (settings.len() as u32).to_le_bytes().to_vec();
    bytes.extend_from_slice(settings.as_bytes());
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    bytes
}

/// Takes apart what [`with_settings`] has made.
fn without_settings(bytes: &[u8]) -> Option<(&str, Vec<u32>)> {
    let (len, rest) = bytes.split_first_chunk::<4>()?;
    let (settings, words) = rest.split_at_checked(u32::from_le_bytes(*len) as usize)?;
    let (words, []) = words.as_chunks::<4>() else {
        return None;
    };
    let words = words.iter().map(|word| u32::from_le_bytes(*word));
    Some((std::str::from_utf8(settings).ok()?, words.collect()))
}

fn other(e: &dyn std::fmt::Display) -> Error {
    Error::new(Kind::Other, e.to_string())
}

/// What the error begins with of groups whose settings differ, whichever of both has found that.
const DIFFER: &str = "the two groups cannot go on together: ";

/// What the other side has said, or the launcher, in place of coming.
fn unmet(text: String) -> Error {
    let kind = match text.starts_with(DIFFER) {
        true => Kind::Settings,
        false => Kind::Other,
    };
    Error::new(kind, text)
}

impl Comm {
    /// Makes the intercommunicator of this one's group and the group that its leader, rank `root`,
    /// meets: `meeting` counts there only. Collective. An error whose cause
    /// is elsewhere is one of `kind`.
    ///
    /// # Errors
    /// `Comm` for an intercommunicator; those of `meeting` at all members; `kind` if nobody
    /// is met.
    pub fn connect(
        self: &Arc<Self>,
        process: &Process,
        root: u32,
        meeting: Result<Option<PortEndpoint>>,
        kind: Kind,
    ) -> Result<abi::Comm> {
        self.check_intra()?;
        let bridge = process
            .other_jobs
            .tell_parting(process)
            .and_then(|()| process.other_jobs.open_home(process));
        let bridge = bridge.and(meeting);
        let bridge = bridge.map(|it| it.map(Bridge::Port));
        let made =
            self.circle()
                .join_groups(process, root, bridge, &self.group, Inherited::plain(self));
        made.map_err(|e| match e.kind() {
            Kind::Other | Kind::Unsupported => e.reworded(kind, e.text()),
            // Nothing is wrong with a port.
            Kind::Settings if kind != Kind::Port => e.reworded(kind, e.text()),
            _ => e,
        })
    }
}

impl PortEndpoint {
    /// Brings words for the other side to a port: a row of `width` words for each member of the
    /// group, which begins with the member's name. Gives a ticket.
    pub(super) fn come(&self, process: &Process, words: &[u32], width: usize) -> Result<u32> {
        let names = words.chunks_exact(width).map(ProcessName::from_words);
        let group: Vec<_> = names.map(|name| (name.job, name.rank)).collect();
        let bytes = with_settings(&registry().equal(), words);
        let visit = Visit {
            port: &self.port,
            side: self.side,
            value: &bytes,
            group: &group,
            timeout: self.timeout,
        };
        process.with_jobs(|jobs| jobs.meet(&visit))
    }

    /// The words of the other side, once it has come.
    pub(super) fn met(&self, process: &Process, ticket: u32) -> Result<Option<Vec<u32>>> {
        let Some(outcome) = process.with_jobs(|jobs| jobs.outcome(ticket))? else {
            return Ok(None);
        };
        let bytes = outcome.map_err(unmet)?;
        let Some((settings, words)) = without_settings(&bytes) else {
            fail!(
                Other,
                "what came to the port {} is not from an MPI process",
                self.port
            );
        };
        let mine = registry().equal();
        // Either group may be told what the other one has found.
        let shown = |name: ProcessName| format!("rank {} of job {:016x}", name.rank, name.job);
        let here = shown(process.name_of(process.me));
        let leader = words.get(..ProcessName::WORDS);
        let there = leader.map_or_else(String::new, |it| shown(ProcessName::from_words(it)));
        match difference((&here, &mine), (&there, settings)) {
            Some(differs) => fail!(Settings, "{DIFFER}{differs}"),
            None => Ok(Some(words)),
        }
    }

    /// Says that this group can go on with the one that it has met at a port, or why it cannot.
    pub(super) fn confirm(
        process: &Process,
        ticket: u32,
        outcome: Result<(), String>,
    ) -> Result<()> {
        let outcome = outcome.as_ref().map(|_| ()).map_err(|why| &**why);
        process.with_jobs(|jobs| jobs.confirm(ticket, outcome))
    }

    /// Whether both groups have said that they can go on with each other; an error if one of them
    /// cannot.
    pub(super) fn confirmed(process: &Process, ticket: u32) -> Result<bool> {
        match process.with_jobs(|jobs| jobs.outcome(ticket))? {
            None => Ok(false),
            Some(Ok(_)) => Ok(true),
            Some(Err(why)) => Err(other(&why)),
        }
    }

    /// This group does not go on with the one that it has met at a port, if it has.
    #[cold]
    pub(super) fn break_off(process: &Process, ticket: u32, error: &Error) {
        // A launcher that is gone ends this process without a word.
        let _ = PortEndpoint::confirm(process, ticket, Err(error.text().to_string()));
    }
}

impl OtherJobs {
    /// Attaches the memory in which processes of other jobs reach this one, if that is not
    /// done: a process that is alone on its node does without until then.
    pub fn open_home(&self, process: &Process) -> Result<()> {
        if process.link(|link| link.net().shm().is_some()) {
            return Ok(());
        }
        process.with_jobs(|_| Ok(()))?;
        let chain = Chain::from_settings().map_err(|e| other(&e))?;
        let mut boot = process.engine.boot.borrow_mut();
        let (local, cpus) = (boot.job().local.len(), boot.job().local_cpus);
        let segment = match chain.shm && local == 1 {
            true => boot.take_segment().map_err(|e| other(&e))?,
            false => None,
        };
        // Without it networks lead to all others.
        let Some(segment) = segment else {
            return Ok(());
        };
        catena_shm::admit(boot.ancestor());
        drop(boot);
        let shm = Shm::attach(segment, 0, &[process.me], cpus).map_err(|e| other(&e))?;
        // SAFETY: the transport lives in the process, which is never dropped.
        process
            .engine
            .bell
            .set(Some(unsafe { shm.bell(process.me) }));
        process.link(|link| link.net().adopt(shm));
        show_presence(process);
        Ok(())
    }

    /// Parts from other jobs that nothing here leads to any more, neither a communicator nor a
    /// group. The memory of one that lives stays attached: the two may meet again. That of one
    /// that has ended is let go when others are met, or once there are `PARTED` of them.
    pub fn part_from_idle(&self, process: &Process) {
        if process.link(|link| link.net().peers().other_jobs().next().is_none()) {
            return;
        }
        let connected: Vec<_> = process.link(|link| link.net().peers().connected().collect());
        for (job, peers) in connected {
            // A launcher that is gone ends this process without a word.
            let is_met = self.met.borrow().contains(&job);
            if !is_met
                && !process.other_jobs.leads_to(process, &peers)
                && process.other_jobs.part_from(process, job).is_ok()
            {
                process.link(|link| link.net().set_connected(job, false));
            }
        }
        let parted = process.link(|link| {
            let peers = link.net().peers();
            peers.other_jobs().count() - peers.connected().count()
        });
        if parted >= PARTED {
            process.other_jobs.let_go_of_gone(process);
        }
    }

    /// Says that this process has parted from a job: where the launcher looks when it matters, or
    /// by a message.
    fn part_from(&self, process: &Process, job: u64) -> Result<()> {
        let is_abroad = self.remote.borrow().contains(&job);
        let is_said = !is_abroad
            && process.link(|link| link.net().shm().is_some_and(|shm| shm.say_parted(job)));
        match is_said {
            true => Ok(()),
            false => process.with_jobs(|jobs| jobs.leave_job(job)),
        }
    }

    /// Tells the launcher by messages which jobs this process has parted from: those may be met
    /// again, and it is to learn in order what came first.
    fn tell_parting(&self, process: &Process) -> Result<()> {
        let parted = || process.link(|link| link.net().shm().and_then(|shm| shm.parted().next()));
        if parted().is_some() {
            process.other_jobs.let_go_of_gone(process);
        }
        while let Some(job) = parted() {
            process.with_jobs(|jobs| jobs.leave_job(job))?;
            process.other_jobs.unsay_parted(process, job);
        }
        Ok(())
    }

    fn unsay_parted(&self, process: &Process, job: u64) {
        process.link(|link| link.net().shm().map(|shm| shm.unsay_parted(job)));
    }

    /// Lets go of the jobs that have ended, as far as nothing here leads to them.
    fn let_go_of_gone(&self, process: &Process) {
        if process.link(|link| link.net().peers().other_jobs().next().is_none()) {
            return;
        }
        let gone = process.with_jobs(|jobs| jobs.gone()).unwrap_or_default();
        for &job in &gone {
            process.other_jobs.unsay_parted(process, job);
            self.remote.borrow_mut().retain(|it| *it != job);
        }
        let mut left = self.gone.borrow_mut();
        left.extend(gone);
        left.retain(|&job| {
            if self.met.borrow().contains(&job) {
                return true;
            }
            let peers = process.link(|link| link.net().peers().peers_of(job));
            let busy = peers.is_some_and(|peers| process.other_jobs.leads_to(process, &peers));
            if !busy {
                process.other_jobs.remove(process, job);
            }
            busy
        });
    }

    /// Forgets a job to which nothing leads: its peers are other processes from now on, so whatever
    /// is kept by peer goes.
    fn remove(&self, process: &Process, job: u64) {
        let peers = process.link(|link| {
            let peers = link.net().remove_job(job)?;
            link.forget_peers(&peers);
            Some(peers)
        });
        if let Some(peers) = peers {
            process.engine.hooks.forget(process, &peers);
        }
    }

    /// Whether a communicator, a group, a window or a file has one of these peers.
    fn leads_to(&self, process: &Process, peers: &Range<u32>) -> bool {
        process.link(|link| link.leads_to(peers))
            || process.engine.hooks.lead_to(process, peers)
            || process.objects.groups.table.all().iter().any(|(_, group)| {
                let mut members = group.members();
                members.any(|peer| peers.contains(&peer.0))
            })
    }

    /// Takes the jobs of these processes into the table of peers, and is connected to them:
    /// as long as what is given lives, then as long as a communicator leads there.
    ///
    /// # Errors
    /// `Other` if a job is gone, or its memory cannot be attached.
    pub(super) fn meet(
        &self,
        process: &Process,
        names: impl Iterator<Item = ProcessName> + Clone,
    ) -> Result<MetJobs<'_>> {
        let mut jobs: Vec<u64> = names.clone().map(|name| name.job).collect();
        jobs.sort_unstable();
        jobs.dedup();
        self.met.borrow_mut().extend(&jobs);
        let met = MetJobs(self, jobs);
        // What has ended makes room for what comes.
        process.other_jobs.part_from_idle(process);
        process.other_jobs.let_go_of_gone(process);
        for name in names {
            if process.link(|link| link.net().peers().peers_of(name.job).is_some()) {
                if process.link(|link| link.net().set_connected(name.job, true)) {
                    process.other_jobs.unsay_parted(process, name.job);
                    process.with_jobs(|jobs| jobs.join(name.job))?;
                }
                continue;
            }
            let mut told = Ok(None);
            process.block(needs::answer_of_launcher, |process| {
                told = process.with_jobs(|jobs| jobs.learn(name.job));
                !matches!(told, Ok(None))
            });
            let job = told?.expect("block returns when it is known");
            if job.remote {
                self.remote.borrow_mut().push(name.job);
            }
            process.engine.add_job(name.job, job)?;
        }
        Ok(met)
    }
}
