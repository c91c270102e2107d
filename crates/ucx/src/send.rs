//! Sending: every frame is written into a buffer of ours and leaves eagerly; short packets in a row
//! share one.
//! UCX mostly has it copied or sent when the call returns; else the buffer is
//! occupied until UCX calls back. As there are few, a peer that does not
//! receive is noticed.

use catena_fabric::endpoint::{Endpoint, FrameSender};
use catena_fabric::frame::Front;
use catena_fabric::{Header, Payload, Peer, PeerLost, Posted};
use catena_ucx_sys::{RequestParam, Status, consts};

use crate::inbox::done;
use crate::init::Ucx;
use crate::objects::NO_PARAM;
use crate::recv::PACKET;

/// What UCX is told of operation `given`.
pub(crate) fn call_back(given: *mut std::ffi::c_void) -> RequestParam {
    RequestParam {
        op_attr_mask: consts::OP_ATTR_CALLBACK | consts::OP_ATTR_USER_DATA,
        cb: Some(done),
        user_data: given,
        ..NO_PARAM
    }
}

impl FrameSender for Ucx {
    #[inline]
    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    #[inline]
    fn endpoint_mut(&mut self) -> &mut Endpoint {
        &mut self.endpoint
    }

    fn put_frame<P: Payload>(
        &mut self,
        peer: Peer,
        header: Header,
        payload: P,
    ) -> Result<Posted, PeerLost> {
        self.send_to(PACKET, peer, header, payload)
    }
}

impl Ucx {
    /// Sends a frame to a handler of `peer`.
    pub(crate) fn send_to<P: Payload>(
        &mut self,
        handler: u32,
        peer: Peer,
        header: Header,
        payload: P,
    ) -> Result<Posted, PeerLost> {
        let target = &mut self.targets[peer.0 as usize];
        if target.ep.is_null() && !self.reach(peer)? {
            return Ok(Posted::Full);
        }
        let target = &mut self.targets[peer.0 as usize];
        // No peer gets more than half of what there is.
        let most = self.sends.count() / 2;
        if target.buffers >= most {
            return Ok(Posted::Full);
        }
        let Some(operation) = self.sends.free.pop() else {
            return Ok(Posted::Full);
        };
        let sign = target.sign;
        let front = Front { sign, header };
        let at = self.memory.at(operation * self.sends.stride);
        let mut param = call_back(self.operations.of(operation));
        param.op_attr_mask |= consts::OP_ATTR_FLAGS;
        param.flags = consts::AM_SEND_FLAG_EAGER;
        // SAFETY: a buffer that no operation uses, of at least that length; it
        // stays as it is until the callback.
        let sent = unsafe {
            let len = front.write(at, &payload);
            self.objects
                .library
                .am_send(target.ep, handler, at, len, &param)
        };
        match sent {
            Ok(request) if request.is_null() => {
                self.endpoint.counters.injected += 1;
                self.sends.free.push(operation);
            }
            Ok(_) => {
                target.buffers += 1;
                self.sends.to[operation] = peer;
                self.endpoint.counters.buffered += 1;
            }
            Err(status) => {
                self.sends.free.push(operation);
                return self.refused(peer, status);
            }
        }
        Ok(Posted::Done)
    }

    /// Opens the way to a peer; whether it is there. It is not while the
    /// address is not known.
    #[cold]
    pub(crate) fn reach(&mut self, peer: Peer) -> Result<bool, PeerLost> {
        self.endpoint.losses.check(peer)?;
        let target = &mut self.targets[peer.0 as usize];
        if target.address.is_empty() {
            return Ok(false);
        }
        match self
            .objects
            .connect(&target.address, self.witnesses.of(peer))
        {
            Ok(ep) => {
                (target.ep, target.sign) = (ep, self.endpoint.sign());
                Ok(true)
            }
            Err(status) => {
                let words = self.objects.library.words(status);
                let cause = format!("UCX cannot connect to it: {words}");
                Err(self.lose(peer, cause))
            }
        }
    }

    /// Whether UCX has sent, or copied to where it will be sent from, all that was posted. A flush
    /// would say more, but may wait for the other end to make progress (1.13), which it need not
    /// do.
    pub fn is_quiet(&self) -> bool {
        let has_said = self.added.as_ref().is_none_or(|it| it.has_said_goodbye());
        self.endpoint.rows.is_empty() && self.sends.free.len() == self.sends.count() && has_said
    }

    /// What a send that UCX did not take means.
    #[cold]
    fn refused(&mut self, peer: Peer, status: Status) -> Result<Posted, PeerLost> {
        if matches!(status, consts::ERR_NO_RESOURCE | consts::ERR_NO_MEMORY) {
            return Ok(Posted::Full);
        }
        let words = self.objects.library.words(status);
        Err(self.lose(peer, format!("nothing can be sent to it: {words}")))
    }

    /// A frame has left its buffer; to whom.
    pub(crate) fn sent(&mut self, operation: usize) -> Peer {
        let peer = self.sends.to[operation];
        self.targets[peer.0 as usize].buffers -= 1;
        self.sends.free.push(operation);
        peer
    }
}
