//! Which processes an end of a network knows, by the names that all call them.

use std::collections::HashMap;

use crate::{LocalPeer, Peer, ProcessName};

/// The processes that an end of a network knows: those of the job that it was opened for, and
/// others that were added later. On the wire they go by their names, as each process gives them
/// numbers of its own.
///
/// # Examples
/// ```
/// use catena_fabric::{LocalPeer, Members, Peer, ProcessName};
///
/// // A process that is alone in its job adds two others, which are alone, too.
/// let mut members = Members::of(LocalPeer { me: Peer(0), processes: 1, job: 5 });
/// let other = |job| ProcessName { job, rank: 0 };
/// members.add(Peer(1), other(9))?;
/// members.add(Peer(2), other(3))?;
/// assert_eq!(members.peer(other(3)), Some(Peer(2)));
/// assert_eq!(members.name(Peer(1)), Some(other(9)));
/// assert!(members.add(Peer(3), other(9)).is_err(), "it is 1 already");
/// assert_eq!(members.remove(Peer(1))?, other(9));
/// members.add(Peer(1), other(4))?;
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug)]
pub struct Members {
    place: LocalPeer,
    /// Those that were added, by their numbers less those of the job.
    others: Vec<Option<ProcessName>>,
    by_name: HashMap<ProcessName, Peer>,
}

impl Members {
    /// The members of a job, as a place in it names them.
    pub fn of(place: LocalPeer) -> Members {
        Members {
            place,
            others: Vec::new(),
            by_name: HashMap::new(),
        }
    }

    /// What this process is called.
    pub fn me(&self) -> ProcessName {
        ProcessName {
            job: self.place.job,
            rank: self.place.me.0,
        }
    }

    /// How many numbers of processes there may be.
    pub fn numbers(&self) -> usize {
        self.place.processes as usize + self.others.len()
    }

    /// Whether this process is alone in its job: whoever means it may be added later.
    pub fn is_alone(&self) -> bool {
        self.place.processes == 1
    }

    /// The number here of a process, if it is known.
    #[inline]
    pub fn peer(&self, name: ProcessName) -> Option<Peer> {
        match name.job == self.place.job && name.rank < self.place.processes {
            true => Some(Peer(name.rank)),
            false => self.by_name.get(&name).copied(),
        }
    }

    /// What a process is called, if it is known.
    pub fn name(&self, peer: Peer) -> Option<ProcessName> {
        match peer.0.checked_sub(self.place.processes) {
            None => Some(ProcessName {
                job: self.place.job,
                rank: peer.0,
            }),
            Some(at) => *self.others.get(at as usize)?,
        }
    }

    /// Adds a process of another job.
    ///
    /// # Errors
    /// If it is known already, or its number is another one's.
    pub fn add(&mut self, peer: Peer, name: ProcessName) -> Result<(), String> {
        let taken = self.peer(name).is_some() || self.name(peer).is_some();
        let at = peer.0.checked_sub(self.place.processes);
        let Some(at) = at.filter(|_| !taken) else {
            return Err("a process was added twice, or two have one number".to_string());
        };
        if self.others.len() <= at as usize {
            self.others.resize(at as usize + 1, None);
        }
        self.others[at as usize] = Some(name);
        self.by_name.insert(name, peer);
        Ok(())
    }

    /// Removes a process that was added: its number may be another one's. Its name.
    ///
    /// # Errors
    /// If it was not added.
    pub fn remove(&mut self, peer: Peer) -> Result<ProcessName, String> {
        let at = peer.0.checked_sub(self.place.processes);
        let added = at.and_then(|at| self.others.get_mut(at as usize)?.take());
        let name = added.ok_or("only a process that was added is removed")?;
        self.by_name.remove(&name);
        while self.others.pop_if(|last| last.is_none()).is_some() {}
        Ok(name)
    }
}
