//! Posted receives with wildcards.

use super::unexpected::FEW;
use super::{Index, Key, List, Nodes};
use crate::slab::NIL;
use crate::types::{ANY_SOURCE, ANY_TAG};

/// The receives with wildcards of one context and plane, in order of posting.
#[derive(Debug, Default)]
pub(crate) struct Wild {
    list: List,
    /// Whether they are in the index. They enter it together, when a message has passed by many of them; they
    /// leave it when all are gone.
    indexed: bool,
}

impl Wild {
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
pub(crate) trait Posted: Nodes<0> + Nodes<1> {
    /// Order of posting.
    fn number(&self, at: u32) -> u64;
}

fn key(nodes: &impl Nodes<0>, at: u32) -> Key {
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
    pub fn push(&mut self, nodes: &mut impl Posted, wild: &mut Wild, at: u32) {
        wild.list.push::<0>(nodes, at);
        if wild.indexed {
            self.enter(nodes, at);
        }
    }

    #[cold]
    #[inline(never)]
    fn enter<P: Posted>(&mut self, nodes: &mut P, at: u32) {
        let key = key(nodes, at);
        Nodes::<1>::link_mut(nodes, at).key = key;
        self.index.push(nodes, at);
    }

    /// Takes a receive out.
    #[inline(always)]
    pub fn remove(&mut self, nodes: &mut impl Posted, wild: &mut Wild, at: u32) {
        wild.list.remove::<0>(nodes, at);
        if wild.indexed {
            self.leave(nodes, at);
            wild.indexed = !wild.list.is_empty();
        }
    }

    #[cold]
    #[inline(never)]
    fn leave(&mut self, nodes: &mut impl Posted, at: u32) {
        self.index.remove(nodes, at);
    }

    /// The first receive posted that a message matches, or `NIL`.
    #[inline(always)]
    pub fn first<P: Posted>(&mut self, nodes: &mut P, wild: &mut Wild, message: Key) -> u32 {
        let (mut at, mut few) = (wild.list.first(), FEW);
        while at != NIL {
            let Key { source, tag, .. } = key(nodes, at);
            let takes_source = source == ANY_SOURCE as u32 || source == message.source;
            if takes_source && (tag == ANY_TAG || tag == message.tag) {
                break;
            }
            at = Nodes::<0>::link(nodes, at).next;
            few -= 1;
            if few == 0 {
                return self.first_indexed(nodes, wild, message);
            }
        }
        at
    }

    #[cold]
    #[inline(never)]
    fn first_indexed<P: Posted>(&mut self, nodes: &mut P, wild: &mut Wild, message: Key) -> u32 {
        if !wild.indexed {
            wild.indexed = true;
            let mut at = wild.list.first();
            while at != NIL {
                self.enter(nodes, at);
                at = Nodes::<0>::link(nodes, at).next;
            }
        }
        let any_source = Key {
            source: ANY_SOURCE as u32,
            ..message
        };
        let any_tag = Key {
            tag: ANY_TAG,
            ..message
        };
        let any = Key {
            tag: ANY_TAG,
            ..any_source
        };
        let found = [any_source, any_tag, any].map(|key| self.index.first(nodes, key));
        let found = found.into_iter().filter(|&at| at != NIL);
        found.min_by_key(|&at| nodes.number(at)).unwrap_or(NIL)
    }
}
