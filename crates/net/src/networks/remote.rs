//! Operations on peers' memory, as [`Rma`](catena_fabric::Rma) has them: with the method of the
//! same name.

use catena_fabric::{Access, Atomic, Buf, OpId, Peer, RmaCaps, RmaError, Started};
use catena_link::RemoteKeys;

use super::{Networks, with_host};
use crate::rails::Rails;
use crate::ways::Via;

impl Networks {
    /// The operations of the network to a peer; `None` while it is not known which one leads there,
    /// and then it is asked for.
    pub(crate) fn rma_caps(&mut self, peer: Peer) -> Option<RmaCaps> {
        match self.ways.via(peer) {
            Via::Network(number) => Some(self.members[number as usize].rails.rma_caps(peer)),
            Via::Nowhere => Some(RmaCaps::NONE),
            Via::Unknown | Via::Wanted => {
                self.ways.want(peer);
                None
            }
        }
    }

    /// The number that a peer gives to the network that leads to it, if any does.
    pub(crate) fn number_there(&self, peer: Peer) -> Option<usize> {
        match self.ways.via(peer) {
            Via::Network(_) => Some(self.ways.number_there(peer)),
            Via::Unknown | Via::Wanted | Via::Nowhere => None,
        }
    }

    /// Registers memory in each network, for as many of these accesses as it has: those, and the
    /// keys, by the number of the network.
    pub(crate) fn register_for_all(
        &mut self,
        buf: Buf,
        access: Access,
    ) -> Vec<Option<(Access, RemoteKeys)>> {
        let register = |rails: &mut Rails, access| {
            let keys = rails.register_for_all(buf, access)?;
            Some((access, keys))
        };
        let members = self.members.iter_mut();
        let each = members.map(|it| {
            let plain = access.without(Access::ATOMIC);
            register(&mut it.rails, access).or_else(|| register(&mut it.rails, plain))
        });
        each.collect()
    }

    /// Ends what [`Networks::register_for_all`] began in one network.
    pub(crate) fn deregister_from(&mut self, number: usize, keys: RemoteKeys) {
        self.members[number].rails.deregister(keys);
    }

    /// # Safety
    /// As [`Rma::put`](catena_fabric::Rma::put).
    pub(crate) unsafe fn put(
        &mut self,
        op: OpId,
        peer: Peer,
        memory: Buf,
        target: RemoteKeys,
    ) -> Result<Started, RmaError> {
        // SAFETY: as the caller promised.
        self.start(peer, |rails| unsafe { rails.put(op, peer, memory, target) })
    }

    /// # Safety
    /// As [`Rma::get`](catena_fabric::Rma::get).
    pub(crate) unsafe fn get(
        &mut self,
        op: OpId,
        peer: Peer,
        memory: Buf,
        target: RemoteKeys,
    ) -> Result<Started, RmaError> {
        // SAFETY: as the caller promised.
        self.start(peer, |rails| unsafe { rails.get(op, peer, memory, target) })
    }

    pub(crate) fn atomic(
        &mut self,
        op: OpId,
        peer: Peer,
        atomic: Atomic,
        target: RemoteKeys,
    ) -> Result<Started, RmaError> {
        self.start(peer, |rails| rails.atomic(op, peer, atomic, target))
    }

    pub(crate) fn flush_to(&mut self, op: OpId, peer: Peer) -> Result<Started, RmaError> {
        self.start(peer, |rails| rails.flush(op, peer))
    }

    /// Starts an operation over the network that leads to a peer.
    fn start(
        &mut self,
        peer: Peer,
        start: impl FnOnce(&mut Rails) -> Result<Started, RmaError>,
    ) -> Result<Started, RmaError> {
        match self.ways.via(peer) {
            Via::Network(number) => {
                let started = start(&mut self.members[number as usize].rails);
                started.map_err(|error| match error {
                    RmaError::Lost(lost) => with_host(&*self.exchange, lost).into(),
                    other => other,
                })
            }
            Via::Unknown | Via::Wanted => {
                self.ways.want(peer);
                Ok(Started::Full)
            }
            Via::Nowhere => Err(self.lost(peer).into()),
        }
    }
}
