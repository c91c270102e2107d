//! Messages that are shorter on the way.
//!
//! An announced message crosses a network in packets, each of which may be a piece of its own that
//! is compressed ([`catena_compress`]). The receiver says in its CTS by which codec, as it sees how
//! long messages take ([`Choice`]); the sender, who alone knows what the message consists of, does
//! so as long as pieces become shorter, and sends others as they are.

use std::collections::HashMap;
use std::ops::Range;

use catena_base::{PeerBytes, PlainFloats, clock};
use catena_compress::{Bound, Choice, Codec, Decoder, Element, Encoder, Error, HEAD, PIECE};
use catena_fabric::{Payload, Peer};

use crate::mix::BuildMix;
use crate::net::{Numbers, Source};
use crate::types::{Cid, Context, ReqId};

/// Classes that are known at once, at most.
const CLASSES: usize = 1 << 12;
/// Pieces in a row that did not become shorter, after which the rest of a message is sent as it is.
const IN_VAIN: u32 = 3;

/// Messages that are alike: from one peer, in one context, of about one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Class {
    peer: u32,
    context: u32,
    /// The logarithm of the length.
    bits: u32,
}

impl Class {
    pub fn new(peer: Peer, context: Context, len: u64) -> Self {
        Class {
            peer: peer.0,
            context: context.bits(),
            bits: len.max(1).ilog2(),
        }
    }
}

/// Which messages a receiver asks to be compressed, and how.
#[derive(Debug, Default)]
pub(crate) struct Compression {
    pub is_on: bool,
    choices: HashMap<Class, Choice, BuildMix>,
    /// When the last message of a peer had come, ticks.
    ended: HashMap<u32, u64, BuildMix>,
}

impl Compression {
    /// The codec by which the next message of that class is asked for.
    pub fn choose(&mut self, class: Class) -> Codec {
        if self.choices.len() >= CLASSES
            && !self.choices.contains_key(&class)
            && let Some(&any) = self.choices.keys().next()
        {
            self.choices.remove(&any);
        }
        self.choices.entry(class).or_default().next()
    }

    /// A message of that class has come whole, which was asked for at the tick `since`.
    pub fn record(&mut self, class: Class, codec: Codec, since: u64, len: u64, came: u64) {
        let now = clock::ticks();
        // The two ends have to do with one message after the other.
        let before = self.ended.insert(class.peer, now).unwrap_or_default();
        if let Some(choice) = self.choices.get_mut(&class) {
            // What was read by the network has not come in packets.
            let came = if codec == Codec::Stored { len } else { came };
            choice.record(codec, now.saturating_sub(since.max(before)), len, came);
        }
    }

    pub fn forget_peers(&mut self, peers: &Range<u32>) {
        self.choices.retain(|class, _| !peers.contains(&class.peer));
    }

    /// A communicator of that number is another one from now on.
    pub fn forget(&mut self, cid: Cid) {
        self.choices
            .retain(|class, _| Context::from_bits(class.context).cid().index() != cid.index());
    }
}

/// The piece that leaves next.
#[derive(Debug)]
struct Ready {
    id: ReqId,
    at: u64,
    /// Bytes of the message, and of the piece.
    of: usize,
    len: usize,
}

/// Packs pieces of messages. One is kept until the route takes it.
#[derive(Debug, Default)]
pub(crate) struct Packing {
    encoder: Encoder,
    /// Bytes of the message, and what becomes of them.
    raw: Vec<u8>,
    piece: Vec<u8>,
    ready: Option<Ready>,
}

/// The bytes `[at, at + len)` of a message, and how many pieces before did not become shorter.
#[derive(Debug)]
pub(crate) struct Stretch<'a, S> {
    pub source: &'a S,
    pub at: u64,
    pub len: usize,
    pub in_vain: &'a mut u32,
}

impl Packing {
    /// A stretch of a message as a piece that is shorter; nothing if there is none.
    pub fn encode<S: Source>(
        &mut self,
        id: ReqId,
        codec: Codec,
        Stretch {
            source,
            at,
            len,
            in_vain,
        }: Stretch<'_, S>,
    ) -> Option<&[u8]> {
        let numbers = source.numbers()?;
        let same = |it: &Ready| (it.id, it.at, it.of) == (id, at, len);
        if !self.ready.as_ref().is_some_and(same) {
            // Of what hardly becomes shorter, no more is tried.
            if *in_vain >= IN_VAIN || len > PIECE {
                return None;
            }
            let short = self.shorten(codec, numbers, source, at, len).unwrap_or(len);
            *in_vain = match short < len - len / 32 {
                true => 0,
                false => *in_vain + 1,
            };
            let of = len;
            self.ready = Some(Ready {
                id,
                at,
                of,
                len: short,
            });
        }
        let ready = self.ready.as_ref()?;
        (ready.len < len).then(|| &self.piece[..ready.len])
    }

    fn shorten<S: Source>(
        &mut self,
        codec: Codec,
        Numbers { element, bound }: Numbers,
        source: &S,
        at: u64,
        len: usize,
    ) -> Option<usize> {
        grow(&mut self.raw, len).ok()?;
        grow(&mut self.piece, len + HEAD).ok()?;
        let raw = &mut self.raw[..len];
        source.part(at, len).write(raw.into());
        // A piece that begins within a number is none of numbers.
        let (element, bound) = match at.is_multiple_of(element.size() as u64) {
            true => (element, bound),
            false => (Element::Bytes, Bound::Exact),
        };
        let _floats = PlainFloats::hold();
        self.encoder
            .encode(codec, element, bound, raw, &mut self.piece)
            .ok()
    }
}

/// Restores pieces.
#[derive(Debug, Default)]
pub(crate) struct Unpacking {
    decoder: Decoder,
    piece: Vec<u8>,
    raw: Vec<u8>,
}

impl Unpacking {
    /// The bytes that a piece was.
    ///
    /// # Errors
    /// See [`Decoder::decode`].
    pub fn decode(&mut self, piece: PeerBytes<'_>) -> Result<&[u8], Error> {
        grow(&mut self.piece, piece.len())?;
        let bytes = &mut self.piece[..piece.len()];
        piece.read(bytes);
        let len = catena_compress::length(bytes).ok_or(Error::Malformed)?;
        grow(&mut self.raw, len)?;
        let raw = &mut self.raw[..len];
        let _floats = PlainFloats::hold();
        self.decoder.decode(bytes, raw)?;
        Ok(raw)
    }
}

/// Has a buffer have at least `len` bytes.
fn grow(buffer: &mut Vec<u8>, len: usize) -> Result<(), Error> {
    if buffer.len() < len {
        let more = len - buffer.len();
        buffer.try_reserve_exact(more).map_err(|_| Error::Memory)?;
        buffer.resize(len, 0);
    }
    Ok(())
}
