//! Matching as MPI has it: by context, source and tag.

use catena_fabric::{Header, Peer};

use crate::entry::Link;
use crate::key::{Classes, MatchKey, Places, Sealed};
use crate::types::{ANY_SOURCE, ANY_TAG, Context, Selector};

/// What MPI matches by: context, source, tag (MPI-5.0 section 3.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MpiKey {
    context: Context,
    source: u32,
    tag: i32,
}

/// What a receive of MPI leaves open.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MpiClass {
    None,
    Source,
    Tag,
    Both,
}

impl Sealed for MpiKey {}

impl MatchKey for MpiKey {
    type Tag = i32;
    type Selector = Selector;
    type Class = MpiClass;
    type Classes = MpiClasses;
    type Places = MpiPlaces;

    #[inline(always)]
    fn new(context: Context, source: u32, tag: i32) -> MpiKey {
        MpiKey {
            context,
            source,
            tag,
        }
    }

    #[inline(always)]
    fn posted(context: Context, Selector { source, tag }: Selector) -> MpiKey {
        MpiKey {
            context,
            source: source as u32,
            tag,
        }
    }

    fn selector(self) -> Selector {
        Selector {
            source: self.source as i32,
            tag: self.tag,
        }
    }

    #[inline(always)]
    fn context(self) -> Context {
        self.context
    }

    #[inline(always)]
    fn source(self) -> u32 {
        self.source
    }

    #[inline]
    fn named(selector: Selector) -> Option<u32> {
        (selector.source != ANY_SOURCE).then_some(selector.source as u32)
    }

    #[inline(always)]
    fn tag(self) -> i32 {
        self.tag
    }

    #[inline(always)]
    fn is_specific(selector: Selector) -> bool {
        selector.source != ANY_SOURCE && selector.tag != ANY_TAG
    }

    #[inline]
    fn class(self) -> MpiClass {
        match (self.source == ANY_SOURCE as u32, self.tag == ANY_TAG) {
            (false, false) => MpiClass::None,
            (true, false) => MpiClass::Source,
            (false, true) => MpiClass::Tag,
            (true, true) => MpiClass::Both,
        }
    }

    fn class_from_source() -> MpiClass {
        MpiClass::Tag
    }

    fn takes_all(self) -> bool {
        self.class() == MpiClass::Both
    }

    #[inline]
    fn masked(self, class: MpiClass) -> MpiKey {
        let source = ANY_SOURCE as u32;
        match class {
            MpiClass::None => self,
            MpiClass::Source => MpiKey { source, ..self },
            MpiClass::Tag => MpiKey {
                tag: ANY_TAG,
                ..self
            },
            MpiClass::Both => MpiKey {
                source,
                tag: ANY_TAG,
                ..self
            },
        }
    }

    #[inline(always)]
    fn matches(self, posted: MpiKey) -> bool {
        let takes_source = posted.source == ANY_SOURCE as u32 || posted.source == self.source;
        takes_source && (posted.tag == ANY_TAG || posted.tag == self.tag)
    }

    #[inline(always)]
    fn hash(self) -> u64 {
        let place = u64::from(self.context.bits()) << 32 | u64::from(self.source);
        place.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(20) ^ u64::from(self.tag as u32)
    }

    #[inline(always)]
    fn header(context: Context, me: u32, tag: i32) -> Header {
        Header {
            context: context.bits(),
            source: me,
            tag,
            ..Header::default()
        }
    }

    #[inline(always)]
    fn context_of(header: &Header) -> Context {
        Context::from_bits(header.context)
    }

    #[inline(always)]
    fn source_of(header: &Header, _from: Peer) -> u32 {
        header.source
    }

    #[inline(always)]
    fn tag_of(header: &Header) -> i32 {
        header.tag
    }
}

/// Of MPI's three classes with wildcards each is looked at.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct MpiClasses;

impl Classes<MpiKey> for MpiClasses {
    #[inline(always)]
    fn enter(&mut self, _class: impl FnOnce() -> MpiClass) {}

    #[inline(always)]
    fn leave(&mut self, _class: impl FnOnce() -> MpiClass) {}

    fn each(&self) -> impl Iterator<Item = MpiClass> + '_ {
        [MpiClass::Source, MpiClass::Tag, MpiClass::Both].into_iter()
    }
}

/// A message of MPI has a place in an index by source, and in one by tag, each once somebody has
/// asked for that.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct MpiPlaces(u8);

impl MpiPlaces {
    /// Receives that leave the tag open ask by source, those that leave the source open by tag.
    const CLASSES: [MpiClass; 2] = [MpiClass::Tag, MpiClass::Source];

    fn place(class: MpiClass) -> usize {
        usize::from(class == MpiClass::Source)
    }
}

impl Places<MpiKey> for MpiPlaces {
    type Links = [Link<MpiKey>; 4];

    fn links() -> Self::Links {
        [Link::default(); 4]
    }

    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.0 == 0
    }

    fn find(&mut self, class: MpiClass) -> Option<usize> {
        let place = MpiPlaces::place(class);
        (self.0 & (1 << place) != 0).then_some(place)
    }

    fn assign(&mut self, class: MpiClass) -> (usize, Option<MpiClass>) {
        let place = MpiPlaces::place(class);
        self.0 |= 1 << place;
        (place, None)
    }

    fn each(&self) -> impl Iterator<Item = (usize, MpiClass)> + use<> {
        let taken = self.0;
        let all = MpiPlaces::CLASSES.into_iter().enumerate();
        all.filter(move |(place, _)| taken & (1 << place) != 0)
    }

    fn clear(&mut self) {
        self.0 = 0;
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
            source in 0..3u32, tag in 0..3i32, from in -1..3i32, with in prop_oneof![Just(ANY_TAG),
                0..3i32],
        ) {
            let selector = Selector { source: from, tag: with };
            let (posted, message) = (MpiKey::posted(CONTEXT, selector), MpiKey::new(CONTEXT, source,
                tag));
            let takes = message.masked(posted.class()) == posted;
            prop_assert_eq!(takes, selector.accepts(source, tag));
            prop_assert_eq!(takes, message.matches(posted));
            prop_assert_eq!(MpiKey::is_specific(selector), posted.class() == MpiClass::None);
            prop_assert_eq!(posted.selector(), selector);
            let header = MpiKey::header(CONTEXT, source, tag);
            prop_assert_eq!(MpiKey::context_of(&header), CONTEXT);
            prop_assert_eq!((MpiKey::source_of(&header, Peer(9)), MpiKey::tag_of(&header)), (source,
                tag));
        }
    }
}
