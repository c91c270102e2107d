//! What the launcher tells of processes that have died.
//!
//! Every process is told of every death, and keeps it as a fact ([`Failures`]). Where the
//! job goes on without the dead, which `CATENA_FAULT_TOLERANCE` asks for, a peer that died
//! is lost: what waits for it ends with an error. Else the launcher ends the job, and
//! nothing here does anything about it.
//!
//! [`Failures`]: catena_net::Failures

use std::collections::HashSet;

use catena_boot::{Death, Ended, FAULT_TOLERANCE};
use catena_fabric::{Peer, PeerLost, ProcessName};
use catena_link::{Sink, Source};
use catena_net::{DeadProcess, HowEnded};
use catena_objects::error::{Error, Kind};
use catena_shm::Shm;
use catena_trace::{is_asked_for_counters, tell_counters};

use crate::engine::{LinkOf, ProgressEngine};

/// The launcher's word for how a process ended.
fn ended(how: HowEnded) -> Ended {
    match how {
        HowEnded::Code(code) => Ended::Code(code),
        HowEnded::Signal(signal) => Ended::Signal(signal),
        HowEnded::Lost => Ended::Lost,
    }
}

impl<P, S, R> ProgressEngine<P, S, R>
where
    S: Source,
    R: Sink,
{
    /// Hears what the launcher has told this process, if it has; true if that gives it
    /// something to do. Cost if not: one load. Without shared memory nobody says that there is
    /// something to hear, so where that matters it asks now and then, and after each sleep.
    #[inline]
    pub(crate) fn notices(&self) -> bool {
        let is_told = |link: &mut LinkOf<S, R>| match link.net().shm_mut() {
            Some(shm) => shm.take_notice(),
            None => {
                (FAULT_TOLERANCE.get() || is_asked_for_counters()) && link.net().is_time_to_look()
            }
        };
        self.link(is_told) && self.hear()
    }

    /// Whether some process is known to have died.
    #[inline]
    pub fn knows_deaths(&self) -> bool {
        self.link(|link| link.net().failures().epoch() != 0)
    }

    /// The error of whatever waits for a peer that is known to have died. None where the
    /// launcher ends the whole job for it. Cost: O(deaths).
    #[cold]
    pub fn death(&self, peer: Peer) -> Option<Error> {
        if !FAULT_TOLERANCE.get() {
            return None;
        }
        let how = self.link(|link| {
            let routes = link.net();
            let name = routes.peers().name(peer)?;
            Some(routes.failures().of(name)?.how)
        })?;
        let how = ended(how);
        Some(Error::new(
            Kind::ProcFailed,
            format!("process {} is gone: {how}", peer.0),
        ))
    }

    /// Has this process, which comes up, ask once what the launcher has told it: nobody wakes it
    /// before. It asks once it has taken in what the dead had sent.
    pub fn ask_once(&self) {
        self.link(|link| link.net().shm_mut().map(Shm::keep_notice));
    }

    /// Tells the launcher of peers that a network has lost, although it has told of no death: it
    /// says who of the two is to go on. `told` are those that it was told of. False if it has to be
    /// told later.
    #[cold]
    pub fn tell_losses(&self, told: &mut HashSet<ProcessName>) -> bool {
        let Ok(mut boot) = self.boot.try_borrow_mut() else {
            return false;
        };
        let Some(jobs) = boot.jobs().filter(|_| FAULT_TOLERANCE.get()) else {
            return true;
        };
        let lost: Vec<ProcessName> = self.link(|link| {
            let lost: Vec<Peer> = link.lost_peers().collect();
            let routes = link.net();
            let named = lost
                .into_iter()
                .filter_map(|peer| routes.peers().name(peer));
            let is_news = |name: &ProcessName| routes.failures().of(*name).is_none();
            named.filter(is_news).collect()
        });
        for name in lost {
            if told.insert(name) {
                // A launcher that is gone ends this process without a word.
                let _ = jobs.unreachable(name.job, name.rank);
            }
        }
        true
    }

    /// Hears of deaths, and tells what the library has counted if somebody asks.
    #[cold]
    #[inline(never)]
    pub(crate) fn hear(&self) -> bool {
        if is_asked_for_counters() {
            tell_counters();
        }
        let Ok(mut boot) = self.boot.try_borrow_mut() else {
            // Somebody is talking to the launcher: the next look hears it.
            self.link(|link| link.net().shm_mut().map(Shm::keep_notice));
            return false;
        };
        // A launcher that is gone ends this process without a word.
        let deaths = boot.jobs().and_then(|jobs| jobs.deaths().ok());
        drop(boot);
        let mut some = false;
        for death in deaths.unwrap_or_default() {
            some |= self.note_death(death);
        }
        some | self.note_early_deaths()
    }

    /// A process may have died before this one took its job in: then its death was a fact about
    /// nobody known here. Cost: O(deaths).
    fn note_early_deaths(&self) -> bool {
        if !FAULT_TOLERANCE.get() {
            return false;
        }
        let early: Vec<(Peer, HowEnded)> = self.link(|link| {
            let died: HashSet<Peer> = link.lost_peers().collect();
            let routes = link.net();
            let known = routes.failures().dead().iter().filter_map(|dead| {
                let peer = routes.peers().peer(dead.name)?;
                Some((peer, dead.how))
            });
            known.filter(|(peer, _)| !died.contains(peer)).collect()
        });
        for &(peer, how) in &early {
            self.lose(peer, &ended(how).to_string());
        }
        !early.is_empty()
    }

    /// A peer has died: what waits for it ends. All that it had sent has been taken in, as the last
    /// poll found nothing.
    fn lose(&self, peer: Peer, cause: &str) {
        self.link(|link| {
            link.net().mark_lost(peer, cause);
            link.peer_lost(PeerLost {
                peer,
                cause: cause.to_owned(),
            });
        });
    }

    /// Keeps a death as a fact; true if that ends what somebody may wait for.
    fn note_death(&self, death: Death) -> bool {
        let Death {
            job, rank, epoch, ..
        } = death;
        let name = ProcessName { job, rank };
        let how = match death.how {
            Ended::Code(code) => HowEnded::Code(code),
            Ended::Signal(signal) => HowEnded::Signal(signal),
            Ended::Lost => HowEnded::Lost,
        };
        let dead = DeadProcess { name, epoch, how };
        let peer = self.link(|link| {
            let routes = link.net();
            let peer = routes.peers().peer(name);
            let is_news = routes.failures_mut().add(dead) && FAULT_TOLERANCE.get();
            peer.filter(|_| is_news)
        });
        if let Some(peer) = peer {
            self.lose(peer, &death.how.to_string());
        }
        peer.is_some()
    }
}
