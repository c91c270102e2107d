//! Targets for fuzzing (`fuzz/` at the root of the repository). Not a part of
//! the library.

#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use catena_base::PeerBytes;
use catena_fabric::{
    Caps, Deliver, Header, Kinds, Load, OpId, Payload, Peer, PeerLost, Posted, RemoteKey,
    Rendezvous, RmaError, Started,
};

use crate::wire::{Announce, EAGER_CEILING, Offer, SyncLen, Wanted};
use crate::{
    Cid, Context, Endpoint, MessageId, Mode, Net, Plane, RemoteKeys, ReqId, Selector, Sent, Sink,
    Source,
};

/// The name of a folder in `fuzz/corpus`, and what takes its files.
type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: &[Target] = &[("link_engine", engine), ("link_wire", wire)];

/// The payloads of packets that are no bytes of messages.
pub fn wire(data: &[u8]) {
    let bytes = PeerBytes::from(data);
    if let Some(announce) = Announce::decode(bytes) {
        // Keys of no rail may be left out.
        let (again, len) = announce.encode();
        assert!(len <= data.len());
        assert_eq!(
            Announce::decode(PeerBytes::from(&again[..len])),
            Some(announce)
        );
    }
    if let Some(wanted) = Wanted::decode(bytes) {
        assert_eq!(wanted.encode()[..], *data);
    }
    if let Some(offer) = Offer::decode(bytes) {
        assert_eq!(offer.encode()[..], *data);
        if let Some(parts) = offer.parts() {
            let mut end = 0;
            for part in 0..parts {
                let range = offer.range(part);
                assert!(range.start == end && range.end > end);
                end = range.end;
            }
            assert_eq!(end, offer.upto);
        }
    }
    if let Some(&bits) = data.first_chunk() {
        let len = SyncLen::decode(u64::from_le_bytes(bits));
        assert!(len.len > EAGER_CEILING || len.encode() == u64::from_le_bytes(bits));
    }
}

/// A message.
#[derive(Clone, Debug)]
struct Bytes(Rc<[u8]>);

impl Source for Bytes {
    type Part<'a> = &'a [u8];

    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn part(&self, from: u64, len: usize) -> &[u8] {
        &self.0[from as usize..from as usize + len]
    }
}

/// Room for a message.
#[derive(Clone, Debug)]
struct Into(Rc<RefCell<Vec<u8>>>);

impl Sink for Into {
    fn capacity(&self) -> u64 {
        self.0.borrow().len() as u64
    }

    fn place(&mut self, at: u64, bytes: PeerBytes<'_>) {
        let mut room = self.0.borrow_mut();
        let from = usize::try_from(at).unwrap_or(usize::MAX).min(room.len());
        let to = from.saturating_add(bytes.len()).min(room.len());
        bytes.read(&mut room[from..to]);
    }
}

/// What is read of the input, from its front.
#[derive(Debug)]
struct Script<'a>(&'a [u8]);

impl Script<'_> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    /// A small number mostly, any seldom.
    fn number(&mut self) -> u64 {
        match self.byte() {
            255 => {
                let (word, rest) = self.0.split_first_chunk().unwrap_or((&[0xff; 8], &[]));
                self.0 = rest;
                u64::from_le_bytes(*word)
            }
            small => small.into(),
        }
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        let (some, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        some.to_vec()
    }
}

/// Routes that deliver what they are told, and lose what is sent.
#[derive(Debug, Default)]
struct Crafted {
    arriving: VecDeque<(Peer, Header, Vec<u8>)>,
    /// How the next calls end.
    moods: VecDeque<u8>,
    lent: i64,
    under_way: Vec<OpId>,
}

impl Crafted {
    fn mood(&mut self) -> u8 {
        self.moods.pop_front().unwrap_or_default()
    }

    fn start(&mut self, op: OpId) -> Result<Started, RmaError> {
        match self.mood() {
            0 | 1 => Ok(Started::Complete(0)),
            2 => Ok(Started::Full),
            3 => Err(RmaError::NoRegion),
            _ => {
                self.under_way.push(op);
                Ok(Started::UnderWay)
            }
        }
    }
}

impl Net for Crafted {
    type Source = Bytes;
    type Sink = Into;

    fn caps(&self, _: Peer) -> Caps {
        Caps {
            max_packet: 64,
            whole: 64,
            eager_max: 128,
            ordered: false,
            kinds: Kinds::HOST,
        }
    }

    fn try_send<P: Payload>(&mut self, _: Peer, _: Header, _: P) -> Result<Posted, PeerLost> {
        Ok(if self.mood() == 1 {
            Posted::Full
        } else {
            Posted::Done
        })
    }

    fn poll<D: Deliver>(&mut self, deliver: &mut D) -> usize {
        let count = self.arriving.len();
        for (from, header, payload) in self.arriving.drain(..) {
            deliver.deliver(from, header, PeerBytes::from(payload.as_slice()));
        }
        if self.mood() != 1 {
            for op in std::mem::take(&mut self.under_way) {
                let result = match self.mood() {
                    3 => Err(RmaError::NoRegion),
                    _ => Ok(0),
                };
                deliver.completed(op, result);
            }
        }
        count
    }

    fn rendezvous(&self, _: Peer, len: u64, _: Load) -> Rendezvous {
        match len % 3 {
            0 => Rendezvous::Get,
            1 => Rendezvous::Stream,
            _ => Rendezvous::Share { part: 50 },
        }
    }

    fn streams(&mut self, _: Peer, _: u64) -> bool {
        self.mood() == 1
    }

    fn register(&mut self, _: Peer, source: &Bytes) -> Option<RemoteKeys> {
        let shown = RemoteKey {
            addr: source.0.as_ptr() as u64,
            key: 1,
        };
        (self.mood() != 1).then(|| {
            self.lent += 1;
            shown.into()
        })
    }

    fn deregister(&mut self, _: Peer, _: RemoteKeys) {
        self.lent -= 1;
        assert!(self.lent >= 0, "deregistered twice");
    }

    fn piece(&self, _: Peer) -> u64 {
        40
    }

    fn get(
        &mut self,
        op: OpId,
        _: Peer,
        _: RemoteKeys,
        sink: &mut Into,
        at: u64,
        len: u64,
    ) -> Result<Started, RmaError> {
        assert!(
            at.checked_add(len)
                .is_some_and(|end| end <= sink.capacity())
        );
        self.start(op)
    }

    fn register_writable(&mut self, _: Peer, sink: &mut Into, _: u64) -> Option<RemoteKey> {
        let addr = sink.0.borrow_mut().as_mut_ptr() as u64;
        (self.mood() != 1).then(|| {
            self.lent += 1;
            RemoteKey { addr, key: 2 }
        })
    }

    fn put(
        &mut self,
        op: OpId,
        _: Peer,
        source: &Bytes,
        _: RemoteKey,
        at: u64,
        len: u64,
    ) -> Result<Started, RmaError> {
        assert!(at.checked_add(len).is_some_and(|end| end <= source.len()));
        self.start(op)
    }

    fn flush(&mut self, op: OpId, _: Peer) -> Result<Started, RmaError> {
        self.start(op)
    }
}

/// The communicator, which both peers have.
const CID: Cid = Cid(3);

/// Any packets from two peers, between any calls of this process.
pub fn engine(data: &[u8]) {
    let mut script = Script(data);
    let mut link = Endpoint::new(Crafted::default());
    link.open(CID, 0, vec![(Peer(0), CID), (Peer(1), CID), (Peer(2), CID)]);
    let (mut requests, mut messages): (Vec<ReqId>, Vec<MessageId>) = Default::default();
    let mut arrived = 0;
    while !script.0.is_empty() {
        let what = script.byte();
        let plane = Plane::ALL[usize::from(what >> 7)];
        let selector = |script: &mut Script<'_>| Selector {
            source: i32::from(script.byte() % 4) - 1,
            tag: i32::from(script.byte() % 4) - 1,
        };
        match what & 0x7f {
            0..64 => {
                let from = Peer(1 + u32::from(script.byte() % 2));
                let header = Header {
                    stamp: 0,
                    kind: what % 23,
                    seq: script.number() as u16,
                    context: match script.byte() {
                        0..200 => Context::new(CID, plane).bits(),
                        _ => script.number() as u32,
                    },
                    source: match script.byte() {
                        0..200 => from.0,
                        _ => script.number() as u32,
                    },
                    tag: script.number() as i32,
                    len: script.number(),
                };
                let len = script.byte();
                let payload = script.bytes(len.into());
                arrived += payload.len() as u64;
                link.net().arriving.push_back((from, header, payload));
            }
            64..80 => {
                let (to, tag) = (1 + u32::from(script.byte() % 2), script.byte() % 3);
                let message = Bytes(vec![7; script.byte().into()].into());
                let mode = [Mode::Standard, Mode::Synchronous][usize::from(what & 1)];
                if let Sent::Pending(id) = link.send(CID, plane, to, tag.into(), mode, message) {
                    requests.push(id);
                }
            }
            80..100 => {
                let selector = selector(&mut script);
                let room = Into(Rc::new(RefCell::new(vec![0; script.byte().into()])));
                requests.push(link.recv(CID, plane, selector, room));
            }
            100..106 => {
                let selector = selector(&mut script);
                if let Some((id, _)) = link.mprobe(CID, plane, selector) {
                    messages.push(id);
                }
            }
            106..110 => {
                if let Some(id) = messages.pop() {
                    let room = Into(Rc::new(RefCell::new(vec![0; script.byte().into()])));
                    requests.push(link.mrecv(id, room));
                }
            }
            110..114 => {
                let at = usize::from(script.byte());
                if let Some(&id) = requests.get(at % requests.len().max(1)) {
                    link.cancel(id);
                }
            }
            114..118 => link.net().moods.extend(script.bytes(8)),
            118 => {
                let peer = Peer(1 + u32::from(script.byte() % 2));
                let cause = "it is gone".to_string();
                link.peer_lost(PeerLost { peer, cause });
            }
            _ => {
                link.progress();
            }
        }
        requests.retain(|&id| {
            let done = link.is_done(id);
            if done {
                link.take(id);
            }
            !done
        });
    }
    for _ in 0..4 {
        link.progress();
    }
    // A message of which some has come may have room for all of it.
    assert!(link.unexpected_bytes() <= arrived * EAGER_CEILING);
}
