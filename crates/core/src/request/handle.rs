//! The handles of plain transfers, which name their slots in `link`.

use catena_abi as abi;
use catena_base::slab::Key;
use catena_link::ReqId;
use catena_objects::error::{Error, Kind};
use catena_objects::table::{ObjectKind, decode, encode};

/// The slot that no transfer has.
pub(crate) const NO_SLOT: u32 = (1 << 27) - 1;

/// A send that was complete when it returned; never freed.
pub const SENT: abi::Request = abi::Request(encode(
    ObjectKind::Transfer,
    Key {
        index: NO_SLOT,
        generation: 0,
    },
));
/// A transfer with `MPI_PROC_NULL`; never freed.
pub const NOWHERE: abi::Request = abi::Request(encode(
    ObjectKind::Transfer,
    Key {
        index: NO_SLOT - 1,
        generation: 0,
    },
));

/// The handle of a transfer.
#[inline]
pub const fn transfer(id: ReqId) -> abi::Request {
    let key = Key {
        index: id.index,
        generation: id.generation,
    };
    abi::Request(encode(ObjectKind::Transfer, key))
}

#[inline]
pub(crate) fn as_transfer(r: abi::Request) -> Option<ReqId> {
    let key = decode(ObjectKind::Transfer, r.0)?;
    Some(ReqId {
        index: key.index,
        generation: key.generation,
    })
}

#[cold]
pub(crate) fn bad_request(r: abi::Request) -> Error {
    Error::new(
        Kind::Request,
        format!("{:#x} is not a request, or was completed or freed", r.0),
    )
}
