//! What the fields of a [`Header`] mean.
//!
//! | kind        | context, source   | seq      | tag     | len            | payload          |
//! |-------------|-------------------|----------|---------|----------------|------------------|
//! | `Eager`     | receiver's, mine  | next     | tag     | message        | its first bytes  |
//! | `EagerSync` | receiver's, mine  | next     | tag     | [`SyncLen`]    | its first bytes  |
//! | `Rts`       | receiver's, mine  | next     | tag     | message        | [`Announce`]     |
//! | `Lent`      | receiver's, mine  | next     | tag     | message        | [`Announce`]     |
//! | `CancelReq` | receiver's, mine  | next     | old seq | send request   | –                |
//! | `Skip`      | receiver's, mine  | next     | –       | –              | –                |
//! | `Mark`      | receiver's, mine  | next     | –       | –              | –                |
//! | `Marked`    | receiver's, mine  | mark's   | –       | –              | –                |
//! | `More`      | receiver's, mine  | first's  | –       | offset         | bytes            |
//! | `Cts`       | receive request   | –        | codec   | send request   | from, upto       |
//! | `Data`      | offset            | –        | –       | receive request| bytes            |
//! | `Packed`    | offset            | –        | –       | receive request| a piece, compressed |
//! | `Fin`       | –                 | –        | –       | send request   | –                |
//! | `Ack`       | –                 | first's  | –       | sync token     | –                |
//! | `Dropped`   | –                 | –        | –       | send request   | –                |
//! | `SyncDropped`| –                | first's  | –       | sync token     | –                |
//! | `Share`     | receive request   | –        | number  | send request   | [`Offer`]        |
//! | `Put`       | part              | –        | –       | receive request| –                |
//! | `Refuse`    | –                 | –        | –       | receive request| –                |
//! | `Ping`      | –                 | –        | –       | –              | –                |
//! | `Active`    | its user's, class | –        | user's  | its user's     | its user's       |
//!
//! An `Eager`, `Rts` or `Lent` with a seal (`SealedEager`, `SealedRts`, `SealedLent`) has that in
//! the upper half of `len`.
//!
//! A message that is `Lent` is short: its receiver reads it where it lies if it is the first to
//! take the claim on it, and else its sender has, and sends it in packets, all of which are `More`.
//!
//! Those up to `Mark`, and those with a seal, are sequenced: the receiver handles them in order of
//! `seq` per (peer, communicator). The others name a request or a message and may arrive at any
//! time. A receiver that has handled all before a `Mark` says `Marked` (`engine/window.rs`).
//! Whoever throws a message away whose sender waits for the match says `Dropped` or `SyncDropped`:
//! as `CancelReq` asks for it, or as the communicator is closed. `Ping` says nothing: that it can
//! be sent shows that there is a way. Kinds from [`WORDS`](catena_fabric::WORDS) on are words of
//! the networks (`networks/receipts.rs` of `net`), which this crate never sees. No payload but
//! message bytes, [`Announce`] and [`Offer`] exceeds 16 bytes, the least that a route must carry.

use std::ops::Range;

use catena_base::{Parts, PeerBytes};
use catena_fabric::{Header, RemoteKey};

use crate::net::{RAILS, RemoteKeys};
use crate::types::ReqId;

/// Messages above this are never eager, and an arriving one that claims to be
/// is dropped: no peer can make us reserve more for one packet.
pub(crate) const EAGER_CEILING: u64 = 16 << 20;

/// The least packet payload that a route must carry, bytes.
pub(crate) const MIN_PACKET: usize = 16;

/// Kinds of packets.
pub(crate) mod kind {
    pub const EAGER: u8 = 1;
    pub const EAGER_SYNC: u8 = 2;
    pub const RTS: u8 = 3;
    pub const CANCEL_REQ: u8 = 4;
    pub const SKIP: u8 = 5;
    pub const MORE: u8 = 6;
    pub const CTS: u8 = 7;
    pub const DATA: u8 = 8;
    pub const FIN: u8 = 9;
    pub const ACK: u8 = 10;
    pub const DROPPED: u8 = 11;
    pub const SHARE: u8 = 12;
    pub const PUT: u8 = 13;
    pub const REFUSE: u8 = 14;
    pub const PING: u8 = 15;
    pub const ACTIVE: u8 = 16;
    pub const MARK: u8 = 17;
    pub const MARKED: u8 = 18;
    pub const SYNC_DROPPED: u8 = 19;
    pub const SEALED_EAGER: u8 = 20;
    pub const SEALED_RTS: u8 = 21;
    pub const LENT: u8 = 22;
    pub const SEALED_LENT: u8 = 23;
    pub const PACKED: u8 = 24;
}

/// Whether packets of that kind are handled in order of their number.
pub(crate) fn is_sequenced(kind: u8) -> bool {
    matches!(
        kind,
        kind::EAGER..=kind::SKIP | kind::MARK | kind::SEALED_EAGER..=kind::SEALED_LENT
    )
}

/// The length of the message that a packet is the first of, if it is one.
pub fn begins(header: &Header) -> Option<u64> {
    match header.kind {
        kind::EAGER | kind::RTS | kind::LENT => Some(header.len),
        kind::EAGER_SYNC => Some(SyncLen::decode(header.len).len),
        kind::SEALED_EAGER | kind::SEALED_RTS | kind::SEALED_LENT => {
            Some(header.len & u64::from(u32::MAX))
        }
        _ => None,
    }
}

/// Puts a seal on the first packet of a message, if there is room for it, and it is none of those
/// whose sender waits for the match of what it has sent ahead.
#[inline]
pub(crate) fn seal(header: &mut Header, seal: u32) {
    let kind = match header.kind {
        kind::EAGER => kind::SEALED_EAGER,
        kind::RTS => kind::SEALED_RTS,
        kind::LENT => kind::SEALED_LENT,
        _ => return,
    };
    if seal != 0 && header.len <= u64::from(u32::MAX) {
        (header.kind, header.len) = (kind, u64::from(seal) << 32 | header.len);
    }
}

/// Takes the seal of the first packet of a message off; 0 if it has none.
#[inline]
pub(crate) fn unseal(header: &mut Header) -> u32 {
    header.kind = match header.kind {
        kind::SEALED_EAGER => kind::EAGER,
        kind::SEALED_RTS => kind::RTS,
        kind::SEALED_LENT => kind::LENT,
        _ => return 0,
    };
    let seal = (header.len >> 32) as u32;
    header.len &= u64::from(u32::MAX);
    seal
}

/// Whether a packet means nothing: nobody misses it where it does not arrive.
#[inline]
pub fn means_nothing(header: &Header) -> bool {
    header.kind == kind::PING
}

/// Whether a packet is a part of a stream, which may arrive in any order.
pub fn is_streamed(header: &Header) -> bool {
    header.kind == kind::DATA
}

/// Names a synchronous eager send within 32 bits: 20 of the slot, 12 of the
/// generation. The sender checks peer and sequence number besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SyncToken(pub u32);

impl SyncToken {
    const SLOT_BITS: u32 = 20;

    /// The token of a request; `None` if its slot does not fit.
    pub fn of(id: ReqId) -> Option<Self> {
        (id.index >> Self::SLOT_BITS == 0)
            .then_some(SyncToken(id.generation << Self::SLOT_BITS | id.index))
    }

    /// Slot that the token names.
    pub fn index(self) -> u32 {
        self.0 & ((1 << Self::SLOT_BITS) - 1)
    }
}

/// Length of a synchronous eager message together with its token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SyncLen {
    pub len: u64,
    pub token: SyncToken,
}

impl SyncLen {
    pub fn encode(self) -> u64 {
        debug_assert!(self.len <= EAGER_CEILING);
        u64::from(self.token.0) << 32 | self.len
    }

    pub fn decode(bits: u64) -> Self {
        SyncLen {
            len: bits & 0xffff_ffff,
            token: SyncToken((bits >> 32) as u32),
        }
    }
}

/// Payload of an `Rts`: 8 bytes, or 24 if the receiver may read the message out
/// of the sender's memory, and 8 for each further rail that may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Announce {
    pub request: ReqId,
    pub registered: Option<RemoteKeys>,
}

impl Announce {
    /// With one rail.
    pub const ONE: usize = 24;
    const MAX: usize = Self::ONE + 8 * (RAILS - 1);

    /// The bytes, and how many of them count.
    pub fn encode(self) -> ([u8; Self::MAX], usize) {
        let mut out = [0; Self::MAX];
        out[..8].copy_from_slice(&self.request.to_bits().to_le_bytes());
        let Some(registered) = self.registered else {
            return (out, 8);
        };
        out[8..16].copy_from_slice(&registered.addr.to_le_bytes());
        out[16..24].copy_from_slice(&registered.key.to_le_bytes());
        let last = registered.more.iter().rposition(|&key| key != 0);
        let more = last.map_or(0, |at| at + 1);
        for (to, key) in out[24..].chunks_exact_mut(8).zip(&registered.more[..more]) {
            to.copy_from_slice(&key.to_le_bytes());
        }
        (out, Self::ONE + 8 * more)
    }

    pub fn decode(payload: PeerBytes<'_>) -> Option<Self> {
        let mut bytes = [0; Self::MAX];
        let len = payload.len();
        if len != 8 && !(Self::ONE..=Self::MAX).contains(&len) || !len.is_multiple_of(8) {
            return None;
        }
        payload.read(&mut bytes);
        let word = |at: usize| u64_at(&bytes, at);
        let registered = (len > 8).then(|| RemoteKeys {
            addr: word(8),
            key: word(16),
            more: std::array::from_fn(|other| word(24 + 8 * other)),
        });
        Some(Announce {
            request: ReqId::from_bits(word(0)),
            registered,
        })
    }
}

/// Payload of a `Cts`: which bytes of the message the receiver wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub from: u64,
    pub upto: u64,
}

impl Wanted {
    pub const LEN: usize = 16;

    pub fn encode(self) -> [u8; Self::LEN] {
        let mut out = [0; Self::LEN];
        out[..8].copy_from_slice(&self.from.to_le_bytes());
        out[8..].copy_from_slice(&self.upto.to_le_bytes());
        out
    }

    pub fn decode(payload: PeerBytes<'_>) -> Option<Self> {
        let mut bytes = [0; Self::LEN];
        if payload.len() != Self::LEN {
            return None;
        }
        payload.read(&mut bytes);
        Some(Wanted {
            from: u64_at(&bytes, 0),
            upto: u64_at(&bytes, 8),
        })
    }
}

/// Payload of a `Share`: where the receiver wants the message, which both ends
/// copy there in parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Offer {
    pub target: RemoteKey,
    /// Bytes that are wanted.
    pub upto: u64,
    /// Bytes of a part.
    pub part: u64,
}

impl Offer {
    pub const LEN: usize = 32;

    pub fn encode(self) -> [u8; Self::LEN] {
        let mut out = [0; Self::LEN];
        let words = [self.target.addr, self.target.key, self.upto, self.part];
        for (to, word) in out.chunks_exact_mut(8).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        out
    }

    pub fn decode(payload: PeerBytes<'_>) -> Option<Self> {
        let mut bytes = [0; Self::LEN];
        if payload.len() != Self::LEN {
            return None;
        }
        payload.read(&mut bytes);
        let [addr, key, upto, part] = [0, 8, 16, 24].map(|at| u64_at(&bytes, at));
        Some(Offer {
            target: RemoteKey { addr, key },
            upto,
            part,
        })
    }

    /// Into how many parts the message is cut; `None` if that makes no sense.
    pub fn parts(&self) -> Option<u32> {
        let parts = self.upto.checked_add(self.part)?.checked_sub(1)?;
        let parts = u32::try_from(parts.checked_div(self.part)?).ok()?;
        (0 < parts && parts <= Parts::MOST).then_some(parts)
    }

    /// The bytes of a part.
    pub fn range(&self, part: u32) -> Range<u64> {
        let from = u64::from(part).saturating_mul(self.part).min(self.upto);
        from..self.upto.min(from.saturating_add(self.part))
    }
}

/// The payload of a packet that carries no bytes of a message and has no
/// request of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    Empty,
    Wanted(Wanted),
    Offer(Offer),
}

impl Note {
    /// The bytes, and how many of them count.
    pub fn encode(self) -> ([u8; Offer::LEN], usize) {
        let mut out = [0; Offer::LEN];
        match self {
            Note::Empty => (out, 0),
            Note::Wanted(wanted) => {
                out[..Wanted::LEN].copy_from_slice(&wanted.encode());
                (out, Wanted::LEN)
            }
            Note::Offer(offer) => (offer.encode(), Offer::LEN),
        }
    }
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

/// A header whose context and source fields carry one 64-bit number.
pub(crate) fn with_number(kind: u8, number: u64, len: u64) -> Header {
    Header {
        kind,
        context: number as u32,
        source: (number >> 32) as u32,
        len,
        ..Header::default()
    }
}

/// The number that [`with_number`] put in.
pub(crate) fn number(header: &Header) -> u64 {
    u64::from(header.source) << 32 | u64::from(header.context)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded() {
        let request = ReqId {
            index: 0xf_fffe,
            generation: 0xdead_beef,
        };
        let one = RemoteKeys {
            addr: 1 << 63,
            key: 7,
            ..RemoteKeys::default()
        };
        let three = RemoteKeys {
            more: [0, u64::MAX, 0],
            ..one
        };
        for (registered, len) in [(None, 8), (Some(one), Announce::ONE), (Some(three), 40)] {
            let (bytes, n) = Announce {
                request,
                registered,
            }
            .encode();
            assert_eq!(n, len);
            let back = Announce::decode(PeerBytes::from(&bytes[..n]));
            assert_eq!(
                back,
                Some(Announce {
                    request,
                    registered
                })
            );
        }
        let wanted = Wanted {
            from: 3,
            upto: u64::MAX,
        };
        assert_eq!(
            Wanted::decode(PeerBytes::from(&wanted.encode()[..])),
            Some(wanted)
        );
        let offer = Offer {
            target: RemoteKey { addr: 5, key: 6 },
            upto: 1 << 40,
            part: 1 << 20,
        };
        assert_eq!(
            Offer::decode(PeerBytes::from(&offer.encode()[..])),
            Some(offer)
        );
        let token = SyncToken::of(request).expect("slot fits");
        assert_eq!(token.index(), request.index);
        let len = SyncLen {
            len: EAGER_CEILING,
            token,
        };
        assert_eq!(SyncLen::decode(len.encode()), len);
        assert_eq!(
            SyncToken::of(ReqId {
                index: 1 << 20,
                generation: 1
            }),
            None
        );
        assert_eq!(
            number(&with_number(kind::DATA, u64::MAX - 5, 0)),
            u64::MAX - 5
        );
    }

    #[test]
    fn a_seal_is_taken_off_as_it_was_put_on() {
        for (kind, len, sealed) in [
            (kind::EAGER, 7, true),
            (kind::RTS, u64::from(u32::MAX), true),
            (kind::LENT, 1 << 16, true),
            (kind::RTS, 1 << 32, false),
            (kind::EAGER_SYNC, 7, false),
        ] {
            let plain = Header {
                kind,
                len,
                tag: 3,
                ..Header::default()
            };
            let mut header = plain;
            seal(&mut header, 0xdead_beef);
            assert_eq!(header != plain, sealed);
            assert_eq!(begins(&header), begins(&plain));
            assert!(is_sequenced(header.kind));
            assert_eq!(unseal(&mut header), if sealed { 0xdead_beef } else { 0 });
            assert_eq!(header, plain);
        }
    }

    #[test]
    fn odd_lengths_are_refused() {
        for odd in [0, 9, 16, 25, 56] {
            assert_eq!(Announce::decode(PeerBytes::from(&[0; 64][..odd])), None);
        }
        assert_eq!(Wanted::decode(PeerBytes::EMPTY), None);
        assert_eq!(Offer::decode(PeerBytes::from(&[0; 31][..])), None);
    }

    #[test]
    fn the_parts_of_an_offer_are_its_bytes() {
        let offer = |upto, part| Offer {
            upto,
            part,
            ..Offer::default()
        };
        let ten = offer(10, 4);
        let parts = ten.parts().expect("sensible");
        let ranges: Vec<_> = (0..parts).map(|part| ten.range(part)).collect();
        assert_eq!(ranges, [0..4, 4..8, 8..10]);
        assert!(ten.range(3).is_empty() && ten.range(u32::MAX).is_empty());
        for odd in [
            offer(10, 0),
            offer(0, 4),
            offer(1 << 60, 1),
            offer(u64::MAX, 2),
        ] {
            assert_eq!(odd.parts(), None, "{odd:?}");
        }
    }
}
