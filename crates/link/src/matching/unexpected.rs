//! Messages that arrived before their receive.

use catena_fabric::Peer;

use super::{Index, List, Nodes};
use crate::chunks::Chunks;
use crate::engine::assemblies::First;
use crate::entry::Link;
use crate::key::{MatchKey, Places};
use crate::net::RemoteKeys;
use crate::pool::Pool;
use crate::protocol::Coverage;
use crate::slab::NIL;
use crate::types::{Context, Envelope, ReqId};
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
        /// The sender may take it back, and send it in packets.
        is_lent: bool,
    },
}

/// Longest message that is kept without a buffer of its own, bytes.
const SHORT: usize = 32;

/// Link of a message by its key.
const BY_KEY: usize = 0;
/// Link by arrival in the context.
const BY_ARRIVAL: usize = 1;
/// The first of the links by what a class of selectors names.
const BY_CLASS: usize = 2;

/// A message without a receive.
#[derive(Debug)]
pub(crate) struct Unexpected<K: MatchKey> {
    links: <K::Places as Places<K>>::Links,
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

impl<K: MatchKey> Default for Unexpected<K> {
    fn default() -> Self {
        Unexpected {
            links: K::Places::links(),
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

impl<K: MatchKey> Unexpected<K> {
    pub fn key(&self) -> K {
        self.link(BY_KEY).key
    }

    #[inline(always)]
    fn link(&self, number: usize) -> &Link<K> {
        &self.links.as_ref()[number]
    }

    #[inline(always)]
    fn link_mut(&mut self, number: usize) -> &mut Link<K> {
        &mut self.links.as_mut()[number]
    }

    pub fn envelope(&self) -> Envelope<K::Tag> {
        let key = self.key();
        Envelope {
            source: key.source(),
            tag: key.tag(),
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
        (key.context(), key.source(), self.seq)
    }

    /// Whether all of an eager message is there.
    pub fn is_whole(&self) -> bool {
        self.coverage.is_whole(self.len)
    }
}

impl<K: MatchKey, const L: usize> Nodes<K, L> for Chunks<Unexpected<K>> {
    #[inline]
    fn link(&self, at: u32) -> &Link<K> {
        self.get(at).link(L)
    }

    #[inline]
    fn link_mut(&mut self, at: u32) -> &mut Link<K> {
        self.get_mut(at).link_mut(L)
    }
}

/// Messages with their links in one place of those by class.
struct InPlace<'a, K: MatchKey> {
    entries: &'a mut Chunks<Unexpected<K>>,
    place: usize,
}

/// Whichever place it is.
const ANY: usize = usize::MAX;

impl<K: MatchKey> Nodes<K, ANY> for InPlace<'_, K> {
    fn link(&self, at: u32) -> &Link<K> {
        self.entries.get(at).link(BY_CLASS + self.place)
    }

    fn link_mut(&mut self, at: u32) -> &mut Link<K> {
        self.entries.get_mut(at).link_mut(BY_CLASS + self.place)
    }
}

/// The messages of one context and plane, in order of arrival.
#[derive(Debug)]
pub(crate) struct Arrivals<K: MatchKey> {
    list: List,
    /// By which classes they are indexed. They enter an index together, when a selector has passed
    /// by more than [`FEW`] of them, and leave it when there are none; most programs need none.
    places: K::Places,
}

impl<K: MatchKey> Default for Arrivals<K> {
    fn default() -> Self {
        Arrivals {
            list: List::default(),
            places: K::Places::default(),
        }
    }
}

/// Messages or receives that are looked at one by one.
pub(crate) const FEW: usize = 8;

impl<K: MatchKey> Arrivals<K> {
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
pub(crate) struct Store<K: MatchKey> {
    pub entries: Chunks<Unexpected<K>>,
    by_key: Index<BY_KEY>,
    /// By what classes of selectors name, one for each place.
    by_class: Vec<Index<ANY>>,
    /// Messages in the queues, and the most that were since somebody asked.
    length: u64,
    peak: u64,
}

impl<K: MatchKey> Store<K> {
    pub fn new() -> Self {
        let places = K::Places::links().as_ref().len() - BY_CLASS;
        Store {
            entries: Chunks::new(),
            by_key: Index::new(),
            by_class: (0..places).map(|_| Index::new()).collect(),
            length: 0,
            peak: 0,
        }
    }

    /// The message that arrived after another one, or `NIL`.
    fn after(&self, at: u32) -> u32 {
        self.entries.get(at).link(BY_ARRIVAL).next
    }

    /// The messages of one context and plane, in order of arrival.
    pub fn iter(&self, arrivals: &Arrivals<K>) -> impl Iterator<Item = &Unexpected<K>> {
        let entry = |at: u32| (at != NIL).then(|| self.entries.get(at));
        let next = move |e: &&Unexpected<K>| entry(e.link(BY_ARRIVAL).next);
        std::iter::successors(entry(arrivals.first()), next)
    }

    /// The messages of one context and plane that came from a peer. Cost: all of them.
    pub fn of_peer(&self, arrivals: &Arrivals<K>, peer: Peer) -> Vec<u32> {
        let (mut at, mut all) = (arrivals.first(), Vec::new());
        while at != NIL {
            if self.entries.get(at).peer == peer {
                all.push(at);
            }
            at = self.after(at);
        }
        all
    }

    /// Adds a message at the end of all its queues.
    #[inline]
    pub fn push(&mut self, arrivals: &mut Arrivals<K>, key: K) -> u32 {
        let at = self.entries.take_slot();
        self.entries.get_mut(at).link_mut(BY_KEY).key = key;
        self.by_key.push(&mut self.entries, at);
        if !arrivals.places.is_empty() {
            self.push_indexed(arrivals, at);
        }
        arrivals.list.push::<K, BY_ARRIVAL>(&mut self.entries, at);
        self.length += 1;
        self.peak = self.peak.max(self.length);
        at
    }

    /// Messages in the queues.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Messages in one queue. Cost: all of them.
    pub fn count(&self, arrivals: &Arrivals<K>) -> u64 {
        let (mut at, mut n) = (arrivals.first(), 0);
        while at != NIL {
            (at, n) = (self.after(at), n + 1);
        }
        n
    }

    /// The most messages in the queues since this was last called.
    pub fn take_peak(&mut self) -> u64 {
        std::mem::replace(&mut self.peak, self.length)
    }

    /// Takes a message out of all queues. Its slot stays taken.
    #[inline]
    pub fn unlink(&mut self, arrivals: &mut Arrivals<K>, at: u32) {
        self.length -= 1;
        self.by_key.remove(&mut self.entries, at);
        arrivals.list.remove::<K, BY_ARRIVAL>(&mut self.entries, at);
        if !arrivals.places.is_empty() {
            self.remove_indexed(arrivals, at);
        }
    }

    #[inline(never)]
    fn push_indexed(&mut self, arrivals: &Arrivals<K>, at: u32) {
        for (place, class) in arrivals.places.each() {
            self.push_by_class(at, place, class);
        }
    }

    #[inline(never)]
    fn remove_indexed(&mut self, arrivals: &mut Arrivals<K>, at: u32) {
        for (place, _) in arrivals.places.each() {
            self.remove_by_class(at, place);
        }
        if arrivals.list.is_empty() {
            arrivals.places.clear();
        }
    }

    fn push_by_class(&mut self, at: u32, place: usize, class: K::Class) {
        let entry = self.entries.get_mut(at);
        entry.link_mut(BY_CLASS + place).key = entry.key().masked(class);
        let entries = &mut self.entries;
        self.by_class[place].push(&mut InPlace { entries, place }, at);
    }

    fn remove_by_class(&mut self, at: u32, place: usize) {
        let entries = &mut self.entries;
        self.by_class[place].remove(&mut InPlace { entries, place }, at);
    }

    /// Indexes the messages of a queue by a class; its place.
    #[cold]
    #[inline(never)]
    fn index_by_class(&mut self, arrivals: &mut Arrivals<K>, class: K::Class) -> usize {
        let (place, left) = arrivals.places.assign(class);
        let mut at = arrivals.first();
        while at != NIL {
            if left.is_some() {
                self.remove_by_class(at, place);
            }
            self.push_by_class(at, place, class);
            at = self.after(at);
        }
        place
    }

    /// The earliest message of a context and plane that a selector with wildcards accepts, or
    /// `NIL`.
    #[cold]
    #[inline(never)]
    fn first_of_class(
        &mut self,
        arrivals: &mut Arrivals<K>,
        context: Context,
        selector: K::Selector,
    ) -> u32 {
        let wanted = K::posted(context, selector);
        if wanted.takes_all() {
            return arrivals.first();
        }
        let class = wanted.class();
        let place = match arrivals.places.find(class) {
            Some(place) => place,
            None => {
                let (mut at, mut few) = (arrivals.first(), FEW);
                while at != NIL && few > 0 {
                    if self.entries.get(at).key().matches(wanted) {
                        return at;
                    }
                    (at, few) = (self.after(at), few - 1);
                }
                if at == NIL {
                    return NIL;
                }
                self.index_by_class(arrivals, class)
            }
        };
        let entries = &mut self.entries;
        self.by_class[place].first(&InPlace { entries, place }, wanted)
    }

    /// The earliest message of a context and plane that the selector accepts, or `NIL`.
    pub fn find(
        &mut self,
        arrivals: &mut Arrivals<K>,
        context: Context,
        selector: K::Selector,
    ) -> u32 {
        if K::is_specific(selector) {
            let key = K::posted(context, selector);
            return self.by_key.first(&self.entries, key);
        }
        self.first_of_class(arrivals, context, selector)
    }

    /// The message of a queue from the source of `like` that the test accepts, or `NIL`. Cost:
    /// those of that source, once they are indexed.
    pub fn find_from(
        &mut self,
        arrivals: &mut Arrivals<K>,
        like: K,
        test: impl Fn(&Unexpected<K>) -> bool,
    ) -> u32 {
        if arrivals.is_empty() {
            return NIL;
        }
        let class = K::class_from_source();
        let place = match arrivals.places.find(class) {
            Some(place) => place,
            None => self.index_by_class(arrivals, class),
        };
        let entries = &mut self.entries;
        let nodes = InPlace { entries, place };
        let mut at = self.by_class[place].first(&nodes, like.masked(class));
        while at != NIL && !test(nodes.entries.get(at)) {
            at = nodes.link(at).next;
        }
        at
    }
}
