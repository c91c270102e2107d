//! Operations on a peer's memory. A put is complete here when UCX needs its buffer no more; a flush
//! is UCX's own.

use catena_fabric::operations::{self, Posting};
use catena_fabric::{
    Atomic, AtomicSet, AtomicType, Buf, OpId, Peer, RemoteKey, Rma, RmaCaps, RmaError, Started,
};
use catena_ucx_sys::{Request, RequestParam, Rkey, Status, consts};

use crate::atomics::atomics;
use crate::init::Ucx;
use crate::send::call_back;

impl Ucx {
    /// Whether the way to a peer is open.
    fn is_open(&mut self, peer: Peer) -> Result<bool, RmaError> {
        self.endpoint.losses.check(peer)?;
        Ok(!self.targets[peer.0 as usize].ep.is_null() || self.reach(peer)?)
    }

    /// The right to a peer's memory, or `None` if it did not tell of it yet.
    pub(crate) fn right_to(
        &mut self,
        peer: Peer,
        target: RemoteKey,
    ) -> Result<Option<*mut Rkey>, RmaError> {
        if !self.is_open(peer)? {
            return Ok(None);
        }
        match self.right(peer, target.key) {
            Ok(rkey) => Ok((!rkey.is_null()).then_some(rkey)),
            Err(()) => Err(RmaError::NoRegion),
        }
    }

    /// Starts an operation by a call of UCX's, which is given its slot. One that fetches a word of
    /// a type must not be complete when the call returns.
    pub(crate) fn start(
        &mut self,
        op: Option<OpId>,
        peer: Peer,
        fetches: Option<AtomicType>,
        call: impl FnOnce(&Ucx, usize, RequestParam) -> Result<*mut Request, Status>,
    ) -> Result<Started, RmaError> {
        // The table is apart while the call looks at the rest.
        let none = operations::Operations::new(0, 0);
        let mut rma = std::mem::replace(&mut self.rma, none);
        let started = rma.start(op, peer, |slot| {
            let param = call_back(self.operations.of(self.first_rma + slot));
            match call(self, slot, param) {
                Ok(request) if request.is_null() => Ok(Posting::Complete),
                Ok(_) => Ok(Posting::UnderWay(fetches)),
                Err(consts::ERR_NO_RESOURCE | consts::ERR_NO_MEMORY) => Ok(Posting::Full),
                Err(status) => Err(RmaError::Refused(self.objects.library.words(status))),
            }
        });
        self.rma = rma;
        started
    }

    /// The operation in a slot has ended.
    pub(crate) fn ended(&mut self, slot: usize, status: Status) {
        let words = self.objects.library.words(status);
        let lost = |peer: Peer| self.endpoint.losses.get(peer).cloned();
        let result = match status {
            consts::OK => Ok(self.fetched(slot)),
            _ => Err(match self.rma.peer(slot).and_then(lost) {
                Some(lost) => RmaError::Lost(lost),
                None => RmaError::Refused(words),
            }),
        };
        self.rma.end(slot, result);
    }
}

impl Rma for Ucx {
    fn rma_caps(&self, _peer: Peer) -> RmaCaps {
        RmaCaps {
            put: true,
            get: true,
            atomics: match self.objects.has_atomics() {
                true => atomics(),
                false => AtomicSet::NONE,
            },
            max_len: usize::MAX,
            piece: self.piece,
        }
    }

    unsafe fn put(
        &mut self,
        op: OpId,
        peer: Peer,
        from: Buf,
        target: RemoteKey,
    ) -> Result<Started, RmaError> {
        let from = from.in_host()?;
        let Some(rkey) = self.right_to(peer, target)? else {
            return Ok(Started::Full);
        };
        self.start(Some(op), peer, None, |ucx, _, param| {
            let ep = ucx.targets[peer.0 as usize].ep;
            // SAFETY: the memory is lent until the operation has ended.
            unsafe {
                ucx.objects
                    .library
                    .put(ep, from.at, from.len, target.addr, rkey, &param)
            }
        })
    }

    unsafe fn get(
        &mut self,
        op: OpId,
        peer: Peer,
        into: Buf,
        target: RemoteKey,
    ) -> Result<Started, RmaError> {
        let into = into.in_host()?;
        let Some(rkey) = self.right_to(peer, target)? else {
            return Ok(Started::Full);
        };
        let started = self.start(Some(op), peer, None, |ucx, _, param| {
            let ep = ucx.targets[peer.0 as usize].ep;
            // SAFETY: the memory is lent until the operation has ended.
            unsafe {
                ucx.objects
                    .library
                    .get(ep, into.at, into.len, target.addr, rkey, &param)
            }
        })?;
        if started != Started::Full {
            self.endpoint.count_read(into.len);
        }
        Ok(started)
    }

    fn atomic(
        &mut self,
        op: OpId,
        peer: Peer,
        atomic: Atomic,
        target: RemoteKey,
    ) -> Result<Started, RmaError> {
        self.start_atomic(op, peer, atomic, target)
    }

    fn flush(&mut self, op: OpId, peer: Peer) -> Result<Started, RmaError> {
        if !self.is_open(peer)? {
            // Nothing was ever started to it.
            return Ok(Started::Complete(0));
        }
        let step = self.start(None, peer, None, |ucx, _, param| {
            let ep = ucx.targets[peer.0 as usize].ep;
            // SAFETY: the endpoint is open.
            unsafe { ucx.objects.library.flush(ep, &param) }
        })?;
        match step {
            Started::Full => Ok(Started::Full),
            Started::UnderWay | Started::Complete(_) => Ok(self.rma.flush(op, peer)),
        }
    }
}
