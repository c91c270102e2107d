//! Receiving: UCX calls back for every message, with its bytes in a buffer of
//! its own.

use std::ffi::c_void;

use catena_base::PeerBytes;
use catena_fabric::{Header, Peer, frame};
use catena_ucx_sys::{AmHandlerParam, AmReceive, AmRecvParam, Status, consts};

use crate::added::open_of_added;
use crate::error::UcxError;
use crate::inbox::{Inbox, Shared, Word};
use crate::objects::Objects;

/// Number of the handler for packets.
pub(crate) const PACKET: u32 = 0;
/// Number of the handler for words about rights to memory.
pub(crate) const WORD: u32 = 1;

/// Has UCX call back.
pub(crate) fn listen(objects: &Objects, inbox: &Shared) -> Result<(), UcxError> {
    let handlers: [(u32, AmReceive); 2] = [(PACKET, packet), (WORD, word)];
    for (id, cb) in handlers {
        let handler = AmHandlerParam {
            field_mask: consts::AM_HANDLER_PARAM_ID
                | consts::AM_HANDLER_PARAM_FLAGS
                | consts::AM_HANDLER_PARAM_CB
                | consts::AM_HANDLER_PARAM_ARG,
            id,
            flags: consts::AM_FLAG_WHOLE_MSG,
            cb,
            arg: inbox.at().cast(),
        };
        // SAFETY: the inbox stays until the worker is gone.
        let set = unsafe { objects.library.set_handler(objects.worker, &handler) };
        set.map_err(|status| objects.failure("ucp_worker_set_am_recv_handler", status))?;
    }
    Ok(())
}

/// Gives `take` what the frame that has arrived carries, if it is one of this job, or of a process
/// that was added.
///
/// # Safety
/// Called with what UCX gave to a handler.
unsafe fn open(
    inbox: *mut Inbox,
    data: *mut c_void,
    len: usize,
    param: *const AmRecvParam,
    take: impl FnMut(Peer, Header, PeerBytes<'_>) + Copy,
) {
    // SAFETY: as promised; nobody else looks into the inbox now.
    unsafe {
        // We let no message wait at its sender.
        let here = (*param).recv_attr & consts::AM_RECV_ATTR_FLAG_RNDV == 0 && !data.is_null();
        let bytes = if here {
            PeerBytes::new(data.cast(), len)
        } else {
            PeerBytes::EMPTY
        };
        let of_job = frame::open(bytes, (*inbox).job, (*inbox).processes, take);
        let is_sound = of_job || open_of_added(inbox, bytes, take);
        (*inbox).strays += u64::from(!is_sound);
    }
}

/// A packet has arrived.
unsafe extern "C" fn packet(
    inbox: *mut c_void,
    _header: *const c_void,
    _header_len: usize,
    data: *mut c_void,
    len: usize,
    param: *const AmRecvParam,
) -> Status {
    let inbox: *mut Inbox = inbox.cast();
    // SAFETY: called by UCX as `listen` said; the taker is lent while there is
    // one, and calls neither UCX nor the transport.
    unsafe {
        open(inbox, data, len, param, move |from, header, payload| {
            if let Some(taker) = (*inbox).taker {
                (*inbox).received += 1;
                taker.take(from, header, payload);
            }
        });
    }
    consts::OK
}

/// A word about a right to memory has arrived.
unsafe extern "C" fn word(
    inbox: *mut c_void,
    _header: *const c_void,
    _header_len: usize,
    data: *mut c_void,
    len: usize,
    param: *const AmRecvParam,
) -> Status {
    let inbox: *mut Inbox = inbox.cast();
    // SAFETY: called by UCX as `listen` said.
    unsafe {
        open(inbox, data, len, param, move |from, header, packed| {
            (*inbox).words.push(Word {
                from,
                kind: header.kind,
                number: header.len,
                packed: packed.to_vec(),
            });
        });
    }
    consts::OK
}
