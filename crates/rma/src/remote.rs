//! Put and get by a network's remote access, for targets on other hosts whose memory a network
//! reads and writes without the target's help (decision 29).
//!
//! Whoever makes a window with members on several hosts registers its memory once for all networks,
//! and all tell each other the keys. An operation on one run of bytes that is long enough goes this
//! way; all others go by messages, accumulates always. Such an operation waits among those that
//! wait for answers, so whatever waits for them waits for it as well. What has ended at its origin
//! may still be under way to the target: a flush of the network comes before whatever tells the
//! target, or another process, that it is complete.

use catena_core::Process;
use catena_fabric::{Access, Buf, OpId, RmaError, Started};
use catena_link::{RemoteKeys, Sink, Source};
use catena_objects::error::{Error, Kind, Result};

use crate::exposed::{Area, NetworkPath};
use crate::message::carry;
use crate::message::exchange::{self, Pending, WINDOWS};
use crate::message::token::Token;
use crate::operation::{At, Operation};
use crate::settings::RMA_REMOTE_MIN;
use crate::window::{Flavor, Window};

/// What moves.
#[derive(Clone, Copy, Debug)]
enum Move {
    Put(*const u8),
    Get(*mut u8),
}

/// Which of some areas an address lies in, and the bytes there from it on.
fn lies_in(areas: &[Area], addr: u64) -> Option<(usize, u64)> {
    let at = areas.partition_point(|it| it.addr <= addr).checked_sub(1)?;
    let room = areas[at].len.checked_sub(addr - areas[at].addr)?;
    (room != 0).then_some((at, room))
}

impl Window {
    /// Has a network carry an operation out at an address of a target, if it is a put or get of a
    /// run of bytes that is long enough. False if it did not; then nothing has happened.
    ///
    /// # Errors
    /// `ProcAborted` if the target is gone.
    #[inline(never)]
    pub(crate) fn by_network(
        &self,
        process: &Process,
        operation: &mut Operation<'_>,
        at: At<'_>,
        addr: u64,
    ) -> Result<bool> {
        let len = at.len();
        if len < RMA_REMOTE_MIN.get().get() || !at.ty.is_contiguous() {
            return Ok(false);
        }
        let wanted = match operation {
            Operation::Put(origin) if origin.len() == len => origin.contiguous().map(Move::Put),
            Operation::Get(into) if into.capacity() == len => into.contiguous().map(Move::Get),
            _ => None,
        };
        match wanted {
            Some(wanted) => self.start_remote(process, wanted, at, addr),
            None => Ok(false),
        }
    }

    /// The keys of a target for a move of some bytes there, if it goes by remote access.
    fn remote_keys(
        &self,
        process: &Process,
        rank: u32,
        wanted: Move,
        (addr, len): (u64, u64),
    ) -> Option<RemoteKeys> {
        let mut areas = self.far(rank).areas.borrow_mut();
        let Some((at, room)) = lies_in(&areas, addr) else {
            drop(areas);
            self.ask_where(process, rank, addr);
            return None;
        };
        if room < len {
            return None;
        }
        let Area {
            addr: base, way, ..
        } = &mut areas[at];
        if let NetworkPath::Keys(keys) = &*way {
            let peer = self.group.member(rank as usize);
            *way = process.link(|link| {
                let reach = link.net().reach(peer)?;
                let (can, target) = (reach.operations, link.net().target(peer, keys));
                Some(
                    target.map_or(NetworkPath::None, |target| NetworkPath::Open {
                        keys: target.keys,
                        puts: can.put && target.access.allows(Access::WRITE),
                        gets: can.get && target.access.allows(Access::READ),
                    }),
                )
            })?;
        }
        match (&*way, wanted) {
            (
                NetworkPath::Open {
                    keys, puts: true, ..
                },
                Move::Put(_),
            )
            | (
                NetworkPath::Open {
                    keys, gets: true, ..
                },
                Move::Get(_),
            ) => Some(keys.at(addr - *base)),
            _ => None,
        }
    }

    fn start_remote(&self, process: &Process, what: Move, at: At<'_>, addr: u64) -> Result<bool> {
        let len = at.len();
        let Some(keys) = self.remote_keys(process, at.rank, what, (addr, len)) else {
            return Ok(false);
        };
        let peer = self.group.member(at.rank as usize);
        self.check_there(peer)?;
        let len = len as usize;
        let part = Pending {
            token: Token::take(peer),
            ..self.remote(at.rank)
        };
        let outcome = self.begin(process, part, |process, op| {
            // SAFETY: the program lends the bytes until the operation has ended.
            process.link(|link| unsafe {
                match what {
                    Move::Put(from) => link.net().put(op, peer, Buf::host(from, len), keys),
                    Move::Get(into) => link.net().get(op, peer, Buf::host(into, len), keys),
                }
            })
        });
        match outcome {
            Ok(()) => {
                self.far(at.rank).moved.set(true);
                Ok(true)
            }
            Err(RmaError::Lost(_)) => {
                self.check_there(peer)?;
                Ok(false)
            }
            Err(_) => {
                // Messages do what the network refuses, from now on.
                let target = &self.targets[at.rank as usize];
                target.by_network.set(self.flavor == Flavor::Dynamic);
                let mut areas = self.far(at.rank).areas.borrow_mut();
                if let Some((at, _)) = lies_in(&areas, addr) {
                    areas[at].way = NetworkPath::None;
                }
                Ok(false)
            }
        }
    }

    /// Something that a network carries out on a target.
    fn remote(&self, rank: u32) -> Pending {
        Pending {
            is_remote: true,
            ..Pending::new(self.group.member(rank as usize), self.number, rank)
        }
    }

    /// Starts something that ends with the answer of a network, once there is room for it.
    fn begin(
        &self,
        process: &Process,
        pending: Pending,
        mut start: impl FnMut(&Process, OpId) -> std::result::Result<Started, RmaError>,
    ) -> std::result::Result<(), RmaError> {
        let far = self.far(pending.rank);
        far.outstanding.set(far.outstanding.get() + 1);
        far.remote.set(far.remote.get() + 1);
        let id = exchange::with(|exchange| exchange.expect(pending));
        let op = OpId::new(WINDOWS.0, id.into());
        let mut started = start(process, op);
        if started == Ok(Started::Full) {
            carry::wait_for_room(process, || {
                started = start(process, op);
                started != Ok(Started::Full)
            });
        }
        let is_over = !matches!(started, Ok(Started::UnderWay));
        if is_over {
            exchange::with(|exchange| exchange.settle_remote(id, started.is_ok()));
        }
        started.map(|_| ())
    }

    /// Has what has moved by remote access to a target be complete there, once all answers have
    /// come.
    pub(crate) fn flush_remote(&self, process: &Process, rank: u32) {
        let far = self.fars.known(rank);
        if far.is_some_and(|far| far.moved.replace(false)) {
            self.start_flush(process, self.remote(rank));
        }
    }

    /// Has a counter of a target count up once what has moved there by remote access has arrived.
    pub(crate) fn notify_when_there(&self, process: &Process, rank: u32, index: u32) {
        let pending = Pending {
            notice: Some(index),
            ..self.remote(rank)
        };
        self.start_flush(process, pending);
    }

    fn start_flush(&self, process: &Process, pending: Pending) {
        let (rank, peer) = (pending.rank, pending.peer);
        let flush = |process: &Process, op| process.link(|link| link.net().flush(op, peer));
        if let Err(error) = self.begin(process, pending, flush) {
            self.note_failure(rank, &error);
        }
    }

    /// Has all that moves by remote access to a target, or to all, be complete there.
    ///
    /// # Errors
    /// What the network has refused since the last time; `ProcAborted` if a target is gone.
    pub(crate) fn complete_remote(&self, process: &Process, rank: Option<u32>) -> Result<()> {
        let ranks = match rank {
            Some(rank) => rank..rank + 1,
            None => 0..self.size(),
        };
        let moves = |rank: &u32| self.fars.known(*rank).is_some_and(|far| far.is_moving());
        let moving: Vec<u32> = ranks.filter(moves).collect();
        moving
            .iter()
            .for_each(|&rank| self.flush_remote(process, rank));
        let mut outcome = Ok(());
        for rank in moving {
            outcome = outcome.and(self.await_operations(process, rank));
        }
        outcome
    }

    /// Notes why a network did not carry out an operation on a target.
    pub(crate) fn note_failure(&self, rank: u32, error: &RmaError) {
        let mut failure = self.failure.borrow_mut();
        failure.get_or_insert_with(|| (rank, error.to_string()));
    }

    /// Takes that.
    pub(crate) fn take_failure(&self) -> Option<Error> {
        let (rank, cause) = self.failure.take()?;
        if let Err(gone) = self.check_there(self.group.member(rank as usize)) {
            return Some(gone);
        }
        let text = format!(
            "an operation on the memory of rank {rank} failed, {cause}: CATENA_RMA_REMOTE=false \
             has messages carry such operations"
        );
        Some(Error::new(Kind::Other, text))
    }
}
