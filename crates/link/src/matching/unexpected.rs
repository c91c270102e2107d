//! Messages that arrived before their receive.

use catena_fabric::Peer;

use super::{Index, Key, Link, List, Nodes};
use crate::chunks::Chunks;
use crate::engine::assemblies::First;
use crate::net::RemoteKeys;
use crate::pool::Pool;
use crate::protocol::Coverage;
use crate::slab::NIL;
use crate::types::{ANY_SOURCE, ANY_TAG, Context, Envelope, ReqId, Selector};
use crate::wire::SyncToken;

/// What the sender waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Reply {
    /// Nothing: an eager message.
    #[default]
    None,
    /// An `Ack` when it is matched.
    Ack(SyncToken),
    /// To be asked for the data.
    Data {
        request: ReqId,
        registered: Option<RemoteKeys>,
    },
}

/// Longest message that is kept without a buffer of its own, bytes.
const SHORT: usize = 32;

/// Links: 0 by (context, source, tag), 1 by (context, source), 2 by arrival in
/// the context, 3 by (context, tag).
#[derive(Debug)]
pub(crate) struct Unexpected {
    links: [Link; 4],
    pub peer: Peer,
    pub seq: u16,
    /// Length of the message.
    pub len: u64,
    pub reply: Reply,
    /// A short message.
    short: [u8; SHORT],
    /// A longer one, if it is eager.
    long: Box<[u8]>,
    /// Which bytes of it are there.
    pub coverage: Coverage,
}

impl Default for Unexpected {
    fn default() -> Self {
        Unexpected {
            links: [Link::default(); 4],
            peer: Peer(NIL),
            seq: 0,
            len: 0,
            reply: Reply::None,
            short: [0; SHORT],
            long: Box::default(),
            coverage: Coverage::default(),
        }
    }
}

impl Unexpected {
    pub fn key(&self) -> Key {
        self.links[0].key
    }

    pub fn envelope(&self) -> Envelope {
        let Key { source, tag, .. } = self.key();
        Envelope {
            source,
            tag,
            len: self.len,
        }
    }

    /// Makes room for an eager message of `self.len` bytes.
    #[inline]
    pub fn reserve(&mut self, pool: &mut Pool) {
        if self.len > SHORT as u64 {
            self.long = pool.take(self.len as usize);
        }
    }

    /// Gives back what [`Unexpected::reserve`] took.
    #[inline]
    pub fn release(&mut self, pool: &mut Pool) {
        if !self.long.is_empty() {
            pool.give(std::mem::take(&mut self.long));
        }
    }

    /// The room of an eager message, at least `len` bytes.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        if self.len <= SHORT as u64 {
            &self.short
        } else {
            &self.long
        }
    }

    /// See [`Unexpected::bytes`].
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        if self.len <= SHORT as u64 {
            &mut self.short
        } else {
            &mut self.long
        }
    }

    /// Bytes for which there is room here.
    pub fn kept(&self) -> u64 {
        match self.reply {
            Reply::Data { .. } => 0,
            Reply::None | Reply::Ack(_) => self.len,
        }
    }

    /// What names the packets that are missing, if some are.
    pub fn first(&self) -> First {
        let key = self.key();
        (key.context, key.source, self.seq)
    }

    /// Whether all of an eager message is there.
    pub fn is_whole(&self) -> bool {
        self.coverage.is_whole(self.len)
    }
}

impl<const L: usize> Nodes<L> for Chunks<Unexpected> {
    #[inline]
    fn link(&self, at: u32) -> &Link {
        &self.get(at).links[L]
    }

    #[inline]
    fn link_mut(&mut self, at: u32) -> &mut Link {
        &mut self.get_mut(at).links[L]
    }
}

/// The messages of one context and plane, in order of arrival.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    list: List,
    /// In which indices they are: [`BY_SOURCE`], [`BY_TAG`]. They enter one together, and leave it when there are
    /// none; most programs need neither.
    indexed: u8,
}

/// The index by source, which is made when somebody first asks for a message with any tag.
const BY_SOURCE: u8 = 1;
/// The index by tag, which is made when one with some tag is not among the first [`FEW`].
const BY_TAG: u8 = 2;

/// Messages or receives that are looked at one by one.
pub(crate) const FEW: usize = 8;

impl Arrivals {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Earliest message, or `NIL`.
    pub fn first(&self) -> u32 {
        self.list.first()
    }
}

/// All unexpected messages. What is in order per context lives in the communicators.
#[derive(Debug)]
pub(crate) struct Store {
    pub entries: Chunks<Unexpected>,
    by_key: Index<0>,
    by_source: Index<1>,
    by_tag: Index<3>,
    /// Messages in the queues, and the most that were since somebody asked.
    length: u64,
    peak: u64,
}

impl Store {
    pub fn new() -> Self {
        Store {
            entries: Chunks::new(),
            by_key: Index::new(),
            by_source: Index::new(),
            by_tag: Index::new(),
            length: 0,
            peak: 0,
        }
    }

    /// The messages of one context and plane, in order of arrival.
    pub fn iter(&self, arrivals: &Arrivals) -> impl Iterator<Item = &Unexpected> {
        let entry = |at: u32| (at != NIL).then(|| self.entries.get(at));
        let next = move |e: &&Unexpected| entry(e.links[2].next);
        std::iter::successors(entry(arrivals.first()), next)
    }

    /// Adds a message at the end of all its queues.
    #[inline]
    pub fn push(&mut self, arrivals: &mut Arrivals, key: Key) -> u32 {
        let at = self.entries.take_slot();
        self.entries.get_mut(at).links[0].key = key;
        self.by_key.push(&mut self.entries, at);
        if arrivals.indexed != 0 {
            self.push_indexed(arrivals, at);
        }
        arrivals.list.push::<2>(&mut self.entries, at);
        self.length += 1;
        self.peak = self.peak.max(self.length);
        at
    }

    /// Messages in the queues.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Messages in one queue. Cost: all of them.
    pub fn count(&self, arrivals: &Arrivals) -> u64 {
        let (mut at, mut n) = (arrivals.first(), 0);
        while at != NIL {
            (at, n) = (self.entries.get(at).links[2].next, n + 1);
        }
        n
    }

    /// The most messages in the queues since this was last called.
    pub fn take_peak(&mut self) -> u64 {
        std::mem::replace(&mut self.peak, self.length)
    }

    /// Takes a message out of all queues. Its slot stays taken.
    #[inline]
    pub fn unlink(&mut self, arrivals: &mut Arrivals, at: u32) {
        self.length -= 1;
        self.by_key.remove(&mut self.entries, at);
        arrivals.list.remove::<2>(&mut self.entries, at);
        if arrivals.indexed != 0 {
            self.remove_indexed(arrivals, at);
        }
    }

    #[inline(never)]
    fn push_indexed(&mut self, arrivals: &Arrivals, at: u32) {
        if arrivals.indexed & BY_SOURCE != 0 {
            self.push_by_source(at);
        }
        if arrivals.indexed & BY_TAG != 0 {
            self.push_by_tag(at);
        }
    }

    #[inline(never)]
    fn remove_indexed(&mut self, arrivals: &mut Arrivals, at: u32) {
        if arrivals.indexed & BY_SOURCE != 0 {
            self.by_source.remove(&mut self.entries, at);
        }
        if arrivals.indexed & BY_TAG != 0 {
            self.by_tag.remove(&mut self.entries, at);
        }
        if arrivals.list.is_empty() {
            arrivals.indexed = 0;
        }
    }

    fn push_by_tag(&mut self, at: u32) {
        let links = &mut self.entries.get_mut(at).links;
        links[3].key = Key {
            source: NIL,
            ..links[0].key
        };
        self.by_tag.push(&mut self.entries, at);
    }

    /// The earliest message with a tag, from anybody, or `NIL`.
    fn first_with(&mut self, arrivals: &mut Arrivals, context: Context, tag: i32) -> u32 {
        if arrivals.indexed & BY_TAG == 0 {
            let (mut at, mut few) = (arrivals.first(), FEW);
            while at != NIL && few > 0 {
                if self.entries.get(at).key().tag == tag {
                    return at;
                }
                (at, few) = (self.entries.get(at).links[2].next, few - 1);
            }
            if at == NIL {
                return NIL;
            }
            self.index_by_tag(arrivals);
        }
        let source = NIL;
        let key = Key {
            context,
            source,
            tag,
        };
        self.by_tag.first(&self.entries, key)
    }

    #[cold]
    #[inline(never)]
    fn index_by_tag(&mut self, arrivals: &mut Arrivals) {
        arrivals.indexed |= BY_TAG;
        let mut at = arrivals.first();
        while at != NIL {
            self.push_by_tag(at);
            at = self.entries.get(at).links[2].next;
        }
    }

    fn push_by_source(&mut self, at: u32) {
        let links = &mut self.entries.get_mut(at).links;
        links[1].key = Key {
            tag: 0,
            ..links[0].key
        };
        self.by_source.push(&mut self.entries, at);
    }

    /// The earliest message of one source, or `NIL`.
    fn first_from(&mut self, arrivals: &mut Arrivals, context: Context, source: u32) -> u32 {
        if arrivals.indexed & BY_SOURCE == 0 && !arrivals.list.is_empty() {
            arrivals.indexed |= BY_SOURCE;
            let mut at = arrivals.list.first();
            while at != NIL {
                self.push_by_source(at);
                at = self.entries.get(at).links[2].next;
            }
        }
        self.by_source.first(
            &self.entries,
            Key {
                context,
                source,
                tag: 0,
            },
        )
    }

    /// The earliest message of a context that the selector accepts, or `NIL`.
    pub fn find(&mut self, arrivals: &mut Arrivals, context: Context, selector: Selector) -> u32 {
        let Selector { source, tag } = selector;
        match (source, tag) {
            (ANY_SOURCE, ANY_TAG) => arrivals.first(),
            (ANY_SOURCE, tag) => self.first_with(arrivals, context, tag),
            (_, ANY_TAG) => self.first_from(arrivals, context, source as u32),
            _ => {
                let source = source as u32;
                self.by_key.first(
                    &self.entries,
                    Key {
                        context,
                        source,
                        tag,
                    },
                )
            }
        }
    }

    /// The message of one source that the test accepts, or `NIL`.
    pub fn find_from(
        &mut self,
        arrivals: &mut Arrivals,
        context: Context,
        source: u32,
        test: impl Fn(&Unexpected) -> bool,
    ) -> u32 {
        let mut at = self.first_from(arrivals, context, source);
        while at != NIL && !test(self.entries.get(at)) {
            at = self.entries.get(at).links[1].next;
        }
        at
    }
}
