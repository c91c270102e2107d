//! A doubly linked list through the entries themselves.

use super::index::Nodes;
use crate::slab::NIL;

#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    head: u32,
    tail: u32,
}

impl Default for List {
    fn default() -> Self {
        List {
            head: NIL,
            tail: NIL,
        }
    }
}

impl List {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head == NIL
    }

    /// First entry, or `NIL`.
    #[inline]
    pub fn first(&self) -> u32 {
        self.head
    }

    #[inline]
    pub fn push<K, const L: usize>(&mut self, nodes: &mut impl Nodes<K, L>, at: u32) {
        let link = nodes.link_mut(at);
        (link.prev, link.next) = (self.tail, NIL);
        if self.tail == NIL {
            self.head = at;
        } else {
            nodes.link_mut(self.tail).next = at;
        }
        self.tail = at;
    }

    #[inline]
    pub fn remove<K, const L: usize>(&mut self, nodes: &mut impl Nodes<K, L>, at: u32) {
        let (prev, next) = (nodes.link(at).prev, nodes.link(at).next);
        if prev == NIL {
            self.head = next;
        } else {
            nodes.link_mut(prev).next = next;
        }
        if next == NIL {
            self.tail = prev;
        } else {
            nodes.link_mut(next).prev = prev;
        }
    }
}
