//! The matching queues (MPI-5.0 section 3.5, order).
//!
//! Everything is linked through indices of slab entries, so nothing is
//! allocated while messages flow, and finding a match costs one hash unless
//! wildcards are posted.
//!
//! * Posted receives without wildcards: an [`Index`] on (context, source, tag).
//! * Posted receives with wildcards: one [`List`] per context and plane in
//!   order of posting, and an [`Index`] on what they name once some message has passed by
//!   more than a few of them ([`Wild`]). Post numbers decide between the kinds.
//! * Unexpected messages: an [`Index`] on (context, source, tag), one [`List`]
//!   per context and plane in order of arrival, and, once somebody asks for it,
//!   an [`Index`] on (context, source) or (context, tag), so that every selector finds its
//!   earliest message.

mod index;
mod list;
mod unexpected;
mod wild;

pub(crate) use index::{Index, Key, Link, Nodes};
pub(crate) use list::List;
pub(crate) use unexpected::{Arrivals, Reply, Store};
pub(crate) use wild::{Posted, Wild, Wilds};
