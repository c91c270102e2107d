//! The matching queues (MPI-5.0 section 3.5, order), for any [`MatchKey`](crate::MatchKey).
//!
//! Everything is linked through indices of slab entries, so nothing is
//! allocated while messages flow, and finding a match costs one hash unless
//! wildcards are posted. A receive from `MPI_ANY_SOURCE` is a posted receive like any other.
//!
//! * Posted receives without wildcards: an [`Index`] on their keys.
//! * Posted receives with wildcards: one [`List`] per context and plane in
//!   order of posting, and an [`Index`] on what they name once some message has passed by
//!   more than a few of them ([`Wild`]): one look for each class of them. Post numbers decide
//!   between the kinds.
//! * Unexpected messages: an [`Index`] on their keys, one [`List`]
//!   per context and plane in order of arrival, and, once a class of selectors has passed by more
//!   than a few of them, an [`Index`] on what such selectors name, so that every selector finds its
//!   earliest message.

mod index;
mod list;
mod unexpected;
mod wild;

pub(crate) use index::{Index, Nodes};
pub(crate) use list::List;
pub(crate) use unexpected::{Arrivals, Reply, Store};
pub(crate) use wild::{Posted, Wild, Wilds};
