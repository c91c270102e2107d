//! A hash of first-in-first-out queues, linked through the entries themselves.

use crate::entry::Link;
use crate::key::MatchKey;
use crate::slab::NIL;

/// Entries that have their `L`-th place at an index.
pub(crate) trait Nodes<K, const L: usize> {
    fn link(&self, at: u32) -> &Link<K>;
    fn link_mut(&mut self, at: u32) -> &mut Link<K>;
}

/// Buckets hold the heads of queues only, so that a long queue does not slow
/// down its neighbours. An entry that is alone is in no bucket: a process that
/// waits for one message at a time never hashes.
#[derive(Debug)]
pub(crate) struct Index<const L: usize> {
    /// The only entry, or `NIL`; then the buckets are empty.
    only: u32,
    buckets: Vec<u32>,
    shift: u32,
    heads: usize,
}

const START_BITS: u32 = 6;

impl<const L: usize> Index<L> {
    pub fn new() -> Self {
        Index {
            only: NIL,
            buckets: vec![NIL; 1 << START_BITS],
            shift: 64 - START_BITS,
            heads: 0,
        }
    }

    #[inline]
    fn bucket<K: MatchKey>(&self, key: K) -> usize {
        (key.hash().wrapping_mul(0xd6e8_feb8_6659_fd93) >> self.shift) as usize
    }

    /// Finds the head of a queue: (bucket, head before it in the bucket, head).
    #[inline]
    fn find<K: MatchKey>(&self, nodes: &impl Nodes<K, L>, key: K) -> (usize, u32, u32) {
        let bucket = self.bucket(key);
        let (mut before, mut at) = (NIL, self.buckets[bucket]);
        while at != NIL {
            let link = nodes.link(at);
            if link.key == key {
                break;
            }
            (before, at) = (at, link.chain);
        }
        (bucket, before, at)
    }

    /// The earliest entry with that key, or `NIL`.
    #[inline(always)]
    pub fn first<K: MatchKey>(&self, nodes: &impl Nodes<K, L>, key: K) -> u32 {
        if self.only != NIL {
            return if nodes.link(self.only).key == key {
                self.only
            } else {
                NIL
            };
        }
        self.find(nodes, key).2
    }

    /// Appends an entry, whose link holds the key, to its queue.
    #[inline]
    pub fn push<K: MatchKey>(&mut self, nodes: &mut impl Nodes<K, L>, at: u32) {
        if self.heads == 0 {
            if self.only == NIL {
                let link = nodes.link_mut(at);
                (link.prev, link.next) = (NIL, NIL);
                self.only = at;
                return;
            }
            let only = std::mem::replace(&mut self.only, NIL);
            self.hang(nodes, only);
        }
        self.hang(nodes, at);
    }

    /// Appends an entry to its queue in the buckets.
    #[inline]
    fn hang<K: MatchKey>(&mut self, nodes: &mut impl Nodes<K, L>, at: u32) {
        let (bucket, _, head) = self.find(nodes, nodes.link(at).key);
        if head == NIL {
            let link = nodes.link_mut(at);
            (link.prev, link.next, link.tail) = (NIL, NIL, at);
            link.chain = self.buckets[bucket];
            self.buckets[bucket] = at;
            self.heads += 1;
            if self.heads > self.buckets.len() {
                self.grow(nodes);
            }
            return;
        }
        let tail = nodes.link(head).tail;
        nodes.link_mut(head).tail = at;
        nodes.link_mut(tail).next = at;
        let link = nodes.link_mut(at);
        (link.prev, link.next) = (tail, NIL);
    }

    /// Takes the earliest entry with that key; `NIL` if there is none.
    #[inline(always)]
    pub fn pop<K: MatchKey>(&mut self, nodes: &mut impl Nodes<K, L>, key: K) -> u32 {
        if self.only != NIL {
            let found = self.first(nodes, key);
            if found != NIL {
                self.only = NIL;
            }
            return found;
        }
        self.pop_hung(nodes, key)
    }

    fn pop_hung<K: MatchKey>(&mut self, nodes: &mut impl Nodes<K, L>, key: K) -> u32 {
        let (bucket, before, head) = self.find(nodes, key);
        if head != NIL {
            self.unlink_head(nodes, bucket, before, head);
        }
        head
    }

    #[inline]
    fn unlink_head<K: MatchKey>(
        &mut self,
        nodes: &mut impl Nodes<K, L>,
        bucket: usize,
        before: u32,
        head: u32,
    ) {
        let Link {
            next, chain, tail, ..
        } = *nodes.link(head);
        let heir = if next == NIL {
            self.heads -= 1;
            chain
        } else {
            let link = nodes.link_mut(next);
            (link.prev, link.chain, link.tail) = (NIL, chain, tail);
            next
        };
        if before == NIL {
            self.buckets[bucket] = heir;
        } else {
            nodes.link_mut(before).chain = heir;
        }
    }

    /// Takes an entry out of the middle of its queue.
    pub fn remove<K: MatchKey>(&mut self, nodes: &mut impl Nodes<K, L>, at: u32) {
        if self.only == at {
            self.only = NIL;
            return;
        }
        let Link {
            key, prev, next, ..
        } = *nodes.link(at);
        if prev == NIL {
            let (bucket, before, head) = self.find(nodes, key);
            debug_assert_eq!(head, at);
            self.unlink_head(nodes, bucket, before, at);
            return;
        }
        nodes.link_mut(prev).next = next;
        if next == NIL {
            let head = self.first(nodes, key);
            nodes.link_mut(head).tail = prev;
        } else {
            nodes.link_mut(next).prev = prev;
        }
    }

    #[cold]
    #[inline(never)]
    fn grow<K: MatchKey>(&mut self, nodes: &mut impl Nodes<K, L>) {
        let size = self.buckets.len() * 2;
        let old = std::mem::replace(&mut self.buckets, vec![NIL; size]);
        self.shift -= 1;
        for mut at in old {
            while at != NIL {
                let Link { key, chain, .. } = *nodes.link(at);
                let bucket = self.bucket(key);
                nodes.link_mut(at).chain = self.buckets[bucket];
                self.buckets[bucket] = at;
                at = chain;
            }
        }
    }
}
