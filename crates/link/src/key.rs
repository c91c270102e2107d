//! What messages are matched by. The engine is generic over it: [`MpiKey`](crate::MpiKey) is
//! (context, source, tag) as MPI has it, [`TagKey`](crate::TagKey) a tag of 64 bits of which
//! receives may ignore some, and a source that they may leave open.
//!
//! A **key** is what a message has, and what a posted receive is kept under: then it says which
//! parts the receive leaves open, too, its **class**. A message matches a receive of a class if its
//! own key, [masked](MatchKey::masked) by that class, is the key of the receive. So each class is
//! one look into a hash, however many receives there are.

use std::fmt::{Debug, Display};

use catena_fabric::{Header, Peer};

use crate::entry::Link;
use crate::types::Context;

/// The engine relies on what keys say.
#[doc(hidden)]
pub trait Sealed {}

/// What messages are matched by.
///
/// Its methods are the engine's; users name the types that it leads to.
pub trait MatchKey: Copy + Debug + Default + PartialEq + Eq + Sealed + 'static {
    /// What senders say beside where a message goes.
    type Tag: Copy + Debug + Default + Display + PartialEq + Eq;
    /// What a receive or a probe accepts.
    type Selector: Copy + Debug + PartialEq + Eq;
    /// Whether messages that leave at once may have [seals](crate::Source::seal): elsewhere those
    /// that have one take the long way, and others pay nothing for it.
    #[doc(hidden)]
    const SEALS_AT_ONCE: bool = false;
    /// Which parts of a key receives leave open.
    #[doc(hidden)]
    type Class: Copy + Debug + PartialEq + Eq;
    /// The classes of which receives are posted.
    #[doc(hidden)]
    type Classes: Classes<Self>;
    /// The classes by which messages are indexed.
    #[doc(hidden)]
    type Places: Places<Self>;

    /// The key of a message.
    #[doc(hidden)]
    fn new(context: Context, source: u32, tag: Self::Tag) -> Self;

    /// The key that a receive is kept under.
    #[doc(hidden)]
    fn posted(context: Context, selector: Self::Selector) -> Self;

    /// The selector that accepts messages with this key alone.
    #[doc(hidden)]
    fn selector(self) -> Self::Selector;

    /// Where the message belongs.
    #[doc(hidden)]
    fn context(self) -> Context;

    /// The rank that it comes from, in its context; any number of a receive that leaves it open.
    #[doc(hidden)]
    fn source(self) -> u32;

    /// The rank that a selector names, if it names one.
    #[doc(hidden)]
    fn named(selector: Self::Selector) -> Option<u32>;

    /// Its tag; of a receive, what it says of it.
    #[doc(hidden)]
    fn tag(self) -> Self::Tag;

    /// Whether a selector leaves nothing open.
    #[doc(hidden)]
    fn is_specific(selector: Self::Selector) -> bool;

    /// Of a receive: what it leaves open.
    #[doc(hidden)]
    fn class(self) -> Self::Class;

    /// The class of selectors that name a source and nothing else.
    #[doc(hidden)]
    fn class_from_source() -> Self::Class;

    /// Of a receive: whether it takes every message of its context.
    #[doc(hidden)]
    fn takes_all(self) -> bool;

    /// The key under which receives of a class are kept that take a message with this one.
    #[doc(hidden)]
    fn masked(self, class: Self::Class) -> Self;

    /// Whether a receive that is kept under `posted` takes a message with this key, of the same
    /// context.
    #[doc(hidden)]
    fn matches(self, posted: Self) -> bool;

    /// A number that differs between different keys, mostly in its high bits.
    #[doc(hidden)]
    fn hash(self) -> u64;

    /// A header with where a message goes, as the receiver calls it, from whom, and its tag.
    #[doc(hidden)]
    fn header(context: Context, me: u32, tag: Self::Tag) -> Header;

    /// Where a packet belongs.
    #[doc(hidden)]
    fn context_of(header: &Header) -> Context;

    /// The rank that a packet comes from.
    #[doc(hidden)]
    fn source_of(header: &Header, from: Peer) -> u32;

    /// The tag of a message whose first packet has that header.
    #[doc(hidden)]
    fn tag_of(header: &Header) -> Self::Tag;
}

/// The classes of which receives are posted in one queue.
#[doc(hidden)]
pub trait Classes<K: MatchKey>: Debug + Default {
    /// One more receive of a class is there.
    fn enter(&mut self, class: impl FnOnce() -> K::Class);

    /// One is gone.
    fn leave(&mut self, class: impl FnOnce() -> K::Class);

    /// Gives the classes of which there may be receives.
    fn each(&self) -> impl Iterator<Item = K::Class> + '_;
}

/// The classes by which the messages of one queue are indexed, each in a place of its own.
#[doc(hidden)]
pub trait Places<K: MatchKey>: Debug + Default {
    /// Links of a message: that by its key, that by arrival, and one for each place.
    type Links: Debug + AsRef<[Link<K>]> + AsMut<[Link<K>]>;

    /// No links.
    fn links() -> Self::Links;

    /// Whether there are none.
    fn is_empty(&self) -> bool;

    /// The place of a class by which messages are indexed.
    fn find(&mut self, class: K::Class) -> Option<usize>;

    /// Gives a class a place, which another one may have to leave.
    fn assign(&mut self, class: K::Class) -> (usize, Option<K::Class>);

    /// The classes, with their places.
    fn each(&self) -> impl Iterator<Item = (usize, K::Class)> + use<K, Self>;

    /// There are no messages any more.
    fn clear(&mut self);
}
