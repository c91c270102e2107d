//! The protocols, as functions from (state, event) to (state, action). They do
//! no I/O and know neither peers nor buffers.

mod coverage;
mod recv;
mod send;

pub(crate) use coverage::Coverage;
pub(crate) use recv::{Recv, RecvAction, RecvEvent};
pub(crate) use send::{Send, SendAction, SendEvent, Style};

/// An event that has no place in the present state: the peer broke the
/// protocol, or the packet is not for this request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProtoError;
