//! Matching by a tag of 64 bits, of which receives may ignore some, and by the peer.

use catena_fabric::{Header, Peer};

use crate::entry::Link;
use crate::key::{Classes, MatchKey, Places, Sealed};
use crate::slab::NIL;
use crate::types::Context;

/// A tag of 64 bits, and the peer that a message comes from, for those who match without ranks.
///
/// On the wire the two halves of the tag stand where MPI's context and tag do, and the context
/// where its source does: whom a packet comes from, its transport says.
///
/// # Examples
/// ```
/// use catena_fabric::Peer;
/// use catena_link::{Endpoint, Mode, Net, Sent, TagKey};
///
/// /// An endpoint that knows these peers, and what begins to leave to each.
/// fn greet<N: Net>(net: N, peers: &[Peer], greeting: impl Fn() -> N::Source) -> Vec<Sent> {
///     let mut link = Endpoint::<N, TagKey>::tagged(net);
///     peers.iter().for_each(|peer| link.add_peer(*peer));
///     let send = |peer: &Peer| link.send_tagged(*peer, 1 << 40, Mode::Standard, greeting());
///     peers.iter().map(send).collect()
/// }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TagKey {
    tag: u64,
    /// Of a receive: the bits of the tag that it ignores, which are 0 in `tag`.
    ignore: u64,
    /// A peer, or `NIL` of a receive from anybody.
    source: u32,
    context: Context,
}

/// Which messages a receive or a probe with a tag of 64 bits accepts.
///
/// # Examples
/// ```
/// use catena_fabric::Peer;
/// use catena_link::TagSelector;
///
/// let low_byte = TagSelector { source: None, tag: 0x1200, ignore: 0xff };
/// assert!(low_byte.accepts(Peer(3), 0x12ab));
/// assert!(!low_byte.accepts(Peer(3), 0x13ab));
/// let of_one = TagSelector { source: Some(Peer(4)), ..low_byte };
/// assert!(!of_one.accepts(Peer(3), 0x12ab));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagSelector {
    /// From this peer, or from anybody.
    pub source: Option<Peer>,
    /// The tag.
    pub tag: u64,
    /// The bits of it that do not count.
    pub ignore: u64,
}

impl TagSelector {
    /// Whether a message from `source` with `tag` is accepted.
    #[inline]
    pub fn accepts(self, source: Peer, tag: u64) -> bool {
        self.source.is_none_or(|it| it == source) && (self.tag ^ tag) & !self.ignore == 0
    }
}

impl Sealed for TagKey {}

impl MatchKey for TagKey {
    const SEALS_AT_ONCE: bool = true;
    type Tag = u64;
    type Selector = TagSelector;
    /// The bits that are ignored, and whether the source is.
    type Class = (u64, bool);
    type Classes = TagClasses;
    type Places = TagPlaces;

    #[inline]
    fn new(context: Context, source: u32, tag: u64) -> TagKey {
        TagKey {
            tag,
            ignore: 0,
            source,
            context,
        }
    }

    #[inline]
    fn posted(context: Context, selector: TagSelector) -> TagKey {
        let TagSelector {
            source,
            tag,
            ignore,
        } = selector;
        TagKey {
            tag: tag & !ignore,
            ignore,
            source: source.map_or(NIL, |peer| peer.0),
            context,
        }
    }

    #[inline]
    fn selector(self) -> TagSelector {
        TagSelector {
            source: (self.source != NIL).then_some(Peer(self.source)),
            tag: self.tag,
            ignore: self.ignore,
        }
    }

    #[inline]
    fn context(self) -> Context {
        self.context
    }

    #[inline]
    fn source(self) -> u32 {
        self.source
    }

    #[inline]
    fn named(selector: TagSelector) -> Option<u32> {
        selector.source.map(|peer| peer.0)
    }

    #[inline]
    fn tag(self) -> u64 {
        self.tag
    }

    #[inline]
    fn is_specific(selector: TagSelector) -> bool {
        selector.ignore == 0 && selector.source.is_some()
    }

    #[inline]
    fn class(self) -> (u64, bool) {
        (self.ignore, self.source == NIL)
    }

    fn class_from_source() -> (u64, bool) {
        (u64::MAX, false)
    }

    #[inline]
    fn takes_all(self) -> bool {
        self.class() == (u64::MAX, true)
    }

    #[inline]
    fn masked(self, (ignore, from_any): (u64, bool)) -> TagKey {
        TagKey {
            tag: self.tag & !ignore,
            ignore,
            source: if from_any { NIL } else { self.source },
            context: self.context,
        }
    }

    #[inline]
    fn matches(self, posted: TagKey) -> bool {
        let takes_source = posted.source == NIL || posted.source == self.source;
        takes_source && self.tag & !posted.ignore == posted.tag
    }

    #[inline]
    fn hash(self) -> u64 {
        let place = u64::from(self.context.bits()) << 32 | u64::from(self.source);
        let place = place ^ self.ignore.rotate_left(17);
        let mixed = place.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(20) ^ self.tag;
        // High halves of tags count as much as low ones.
        mixed ^ mixed >> 32
    }

    #[inline]
    fn header(context: Context, _me: u32, tag: u64) -> Header {
        Header {
            context: (tag >> 32) as u32,
            source: context.bits(),
            tag: tag as u32 as i32,
            ..Header::default()
        }
    }

    #[inline]
    fn context_of(header: &Header) -> Context {
        Context::from_bits(header.source)
    }

    #[inline]
    fn source_of(_header: &Header, from: Peer) -> u32 {
        from.0
    }

    #[inline]
    fn tag_of(header: &Header) -> u64 {
        u64::from(header.context) << 32 | u64::from(header.tag as u32)
    }
}

/// Of which classes there are how many receives: programs have a few.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct TagClasses(Vec<(<TagKey as MatchKey>::Class, usize)>);

impl Classes<TagKey> for TagClasses {
    #[inline]
    fn enter(&mut self, class: impl FnOnce() -> (u64, bool)) {
        let class = class();
        match self.0.iter_mut().find(|(it, _)| *it == class) {
            Some((_, count)) => *count += 1,
            None => self.0.push((class, 1)),
        }
    }

    #[inline]
    fn leave(&mut self, class: impl FnOnce() -> (u64, bool)) {
        let class = class();
        if let Some(at) = self.0.iter().position(|(it, _)| *it == class) {
            self.0[at].1 -= 1;
            if self.0[at].1 == 0 {
                self.0.swap_remove(at);
            }
        }
    }

    fn each(&self) -> impl Iterator<Item = (u64, bool)> + '_ {
        self.0.iter().map(|(class, _)| *class)
    }
}

/// How many classes the messages of a queue are indexed by at once: those that were asked for last.
const TAG_PLACES: usize = 4;

/// The classes by which messages with long tags are indexed, with when each was asked for last.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct TagPlaces {
    classes: [Option<((u64, bool), u64)>; TAG_PLACES],
    asked: u64,
}

impl Places<TagKey> for TagPlaces {
    type Links = [Link<TagKey>; 2 + TAG_PLACES];

    fn links() -> Self::Links {
        [Link::default(); 2 + TAG_PLACES]
    }

    fn is_empty(&self) -> bool {
        self.classes.iter().all(Option::is_none)
    }

    fn find(&mut self, class: (u64, bool)) -> Option<usize> {
        self.asked += 1;
        let mut places = self.classes.iter_mut();
        let place = places.position(|it| it.is_some_and(|(of, _)| of == class))?;
        self.classes[place] = Some((class, self.asked));
        Some(place)
    }

    fn assign(&mut self, class: (u64, bool)) -> (usize, Option<(u64, bool)>) {
        let places = 0..TAG_PLACES;
        let oldest = places.min_by_key(|&at| self.classes[at].map_or(0, |(_, asked)| asked));
        let place = oldest.unwrap_or(0);
        self.asked += 1;
        let left = self.classes[place].replace((class, self.asked));
        (place, left.map(|(class, _)| class))
    }

    fn each(&self) -> impl Iterator<Item = (usize, (u64, bool))> + use<> {
        let all = self.classes.into_iter().enumerate();
        all.filter_map(|(place, class)| Some((place, class?.0)))
    }

    fn clear(&mut self) {
        self.classes = Default::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Cid, Plane};
    use proptest::prelude::*;

    const CONTEXT: Context = Context::new(Cid(5), Plane::Collective);

    proptest! {
        #[test]
        fn a_masked_key_is_that_of_the_receives_that_take_it(
            tag in any::<u64>(), other in any::<u64>(), ignore in any::<u64>(),
            source in 0..3u32, named in prop::option::of(0..3u32), alike in any::<bool>(),
        ) {
            let wanted = if alike { tag ^ (other & ignore) } else { other };
            let selector = TagSelector { source: named.map(Peer), tag: wanted, ignore };
            let (posted, message) = (TagKey::posted(CONTEXT, selector), TagKey::new(CONTEXT, source,
                tag));
            let takes = message.masked(posted.class()) == posted;
            prop_assert_eq!(takes, selector.accepts(Peer(source), tag));
            prop_assert_eq!(takes, message.matches(posted));
            prop_assert_eq!(TagKey::posted(CONTEXT, posted.selector()), posted);
            let header = TagKey::header(CONTEXT, 9, tag);
            prop_assert_eq!((TagKey::context_of(&header), TagKey::tag_of(&header)), (CONTEXT, tag));
            prop_assert_eq!(TagKey::source_of(&header, Peer(source)), source);
        }
    }
}
