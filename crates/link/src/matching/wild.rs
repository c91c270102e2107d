//! Posted receives with wildcards.

use super::unexpected::FEW;
use super::{Index, List, Nodes};
use crate::key::{Classes, MatchKey};
use crate::slab::NIL;

/// The receives with wildcards of one context and plane, in order of posting.
#[derive(Debug)]
pub(crate) struct Wild<K: MatchKey> {
    list: List,
    /// Whether they are in the index. They enter it together, when a message has passed by many of
    /// them; they leave it when all are gone.
    indexed: bool,
    classes: K::Classes,
}

impl<K: MatchKey> Default for Wild<K> {
    fn default() -> Self {
        Wild {
            list: List::default(),
            indexed: false,
            classes: K::Classes::default(),
        }
    }
}

impl<K: MatchKey> Wild<K> {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

/// All of them. Link 0 of a receive is its place in the list, link 1 that in the index.
#[derive(Debug)]
pub(crate) struct Wilds {
    index: Index<1>,
}

/// What the engine keeps receives in.
pub(crate) trait Posted<K>: Nodes<K, 0> + Nodes<K, 1> {
    /// Order of posting.
    fn number(&self, at: u32) -> u64;
}

fn key<K: MatchKey>(nodes: &impl Nodes<K, 0>, at: u32) -> K {
    nodes.link(at).key
}

impl Wilds {
    pub fn new() -> Self {
        Wilds {
            index: Index::new(),
        }
    }

    /// Adds a receive, whose link 0 holds what it names.
    #[inline(always)]
    pub fn push<K: MatchKey>(&mut self, nodes: &mut impl Posted<K>, wild: &mut Wild<K>, at: u32) {
        wild.classes.enter(|| key(nodes, at).class());
        wild.list.push::<K, 0>(nodes, at);
        if wild.indexed {
            self.enter(nodes, at);
        }
    }

    #[cold]
    #[inline(never)]
    fn enter<K: MatchKey, P: Posted<K>>(&mut self, nodes: &mut P, at: u32) {
        let key = key(nodes, at);
        Nodes::<K, 1>::link_mut(nodes, at).key = key;
        self.index.push(nodes, at);
    }

    /// Takes a receive out.
    #[inline(always)]
    pub fn remove<K: MatchKey>(&mut self, nodes: &mut impl Posted<K>, wild: &mut Wild<K>, at: u32) {
        wild.classes.leave(|| key(nodes, at).class());
        wild.list.remove::<K, 0>(nodes, at);
        if wild.indexed {
            self.leave(nodes, at);
            wild.indexed = !wild.list.is_empty();
        }
    }

    #[cold]
    #[inline(never)]
    fn leave<K: MatchKey>(&mut self, nodes: &mut impl Posted<K>, at: u32) {
        self.index.remove(nodes, at);
    }

    /// The first receive posted that a message matches, or `NIL`.
    #[inline(always)]
    pub fn first<K: MatchKey, P: Posted<K>>(
        &mut self,
        nodes: &mut P,
        wild: &mut Wild<K>,
        message: &K,
    ) -> u32 {
        let (mut at, mut few) = (wild.list.first(), FEW);
        while at != NIL {
            if message.matches(key(nodes, at)) {
                break;
            }
            at = Nodes::<K, 0>::link(nodes, at).next;
            few -= 1;
            if few == 0 {
                return self.first_indexed(nodes, wild, message);
            }
        }
        at
    }

    #[cold]
    #[inline(never)]
    fn first_indexed<K: MatchKey, P: Posted<K>>(
        &mut self,
        nodes: &mut P,
        wild: &mut Wild<K>,
        message: &K,
    ) -> u32 {
        if !wild.indexed {
            wild.indexed = true;
            let mut at = wild.list.first();
            while at != NIL {
                self.enter(nodes, at);
                at = Nodes::<K, 0>::link(nodes, at).next;
            }
        }
        let classes = wild.classes.each();
        let found = classes.map(|class| self.index.first(nodes, message.masked(class)));
        let found = found.filter(|&at| at != NIL);
        found.min_by_key(|&at| nodes.number(at)).unwrap_or(NIL)
    }
}
