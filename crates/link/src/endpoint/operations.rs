//! The operations on peers' memory by which messages move: one at once for each request. Their ids
//! name the request, so what they do when they end is found without a search. A request ends when
//! no operation uses its buffer any more, also when its peer is lost: the network tells the end of
//! each.

use catena_fabric::{RmaError, Started};

use super::Endpoint;
use crate::key::MatchKey;
use crate::net::Net;
use crate::protocol::Send;
use crate::request::{Buffer, Operation, Phase};
use crate::types::ReqId;

/// What became of one read or write of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moved {
    /// That many bytes were copied.
    Bytes(u64),
    /// They will be.
    UnderWay,
    /// The route is busy.
    Full,
    /// The route cannot copy them.
    Unable,
    /// The peer is gone, and the request has failed.
    Lost,
}

impl<N: Net, K: MatchKey> Endpoint<N, K> {
    /// Reads bytes `[at, upto)` of a message, or the first of them.
    pub(super) fn read_some(&mut self, id: ReqId, at: u64, upto: u64) -> Moved {
        let op = self.engine.operation_id(id.index);
        let is_whole = self.is_elsewhere(id.index);
        let request = self.engine.requests.get_mut(id.index);
        let (Buffer::Sink(sink), Some(registered)) = (&mut request.buffer, request.rare.registered)
        else {
            return Moved::Unable;
        };
        let peer = request.rare.peer;
        let len = match is_whole {
            true => upto - at,
            false => (upto - at).min(self.net.piece(peer)).max(1),
        };
        let started = self.net.get(op, peer, registered, sink, at, len);
        let moved = self.started(id, Operation::Get(len), len, started);
        if let Moved::Bytes(n) = moved {
            self.engine.counters.got.bytes += n;
        }
        moved
    }

    /// Writes bytes `[at, upto)` of a message, or the first of them. They count when they are at
    /// the receiver.
    pub(super) fn write_some(&mut self, id: ReqId, at: u64, upto: u64) -> Moved {
        let op = self.engine.operation_id(id.index);
        let request = self.engine.requests.get(id.index);
        let Buffer::Source(source) = &request.buffer else {
            return Moved::Unable;
        };
        let (peer, target) = (request.rare.peer, request.rare.share.offer.target);
        let len = (upto - at).min(self.net.piece(peer)).max(1);
        let started = self.net.put(op, peer, source, target, at, len);
        match self.started(id, Operation::Put(len), len, started) {
            Moved::Bytes(n) => self.flush_written(id, n),
            other => other,
        }
    }

    /// Sees to it that bytes which were written are at the receiver.
    pub(super) fn flush_written(&mut self, id: ReqId, n: u64) -> Moved {
        let peer = self.engine.requests.get(id.index).rare.peer;
        let started = self.net.flush(self.engine.operation_id(id.index), peer);
        let moved = self.started(id, Operation::Flush(n), n, started);
        let rare = &mut self.engine.requests.get_mut(id.index).rare;
        match moved {
            Moved::Full => rare.operation = Operation::Written(n),
            Moved::Bytes(_) | Moved::Unable => rare.operation = Operation::None,
            Moved::UnderWay | Moved::Lost => {}
        }
        moved
    }

    /// Notes what became of an operation on `len` bytes that was to be started.
    fn started(
        &mut self,
        id: ReqId,
        operation: Operation,
        len: u64,
        started: Result<Started, RmaError>,
    ) -> Moved {
        match started {
            Ok(Started::Complete(_)) => Moved::Bytes(len),
            Ok(Started::UnderWay) => {
                self.engine.requests.get_mut(id.index).rare.operation = operation;
                self.engine.operations += 1;
                Moved::UnderWay
            }
            Ok(Started::Full) => Moved::Full,
            Err(RmaError::Lost(lost)) => {
                self.engine.peer_lost(lost);
                Moved::Lost
            }
            Err(_) => {
                self.engine.counters.fallbacks += 1;
                Moved::Unable
            }
        }
    }

    /// Does what follows from operations that have ended.
    #[inline]
    pub(super) fn end_operations(&mut self) -> bool {
        let any = !self.engine.ended.is_empty();
        while let Some((number, result)) = self.engine.ended.pop_front() {
            self.engine.operations -= 1;
            if let Some(at) = self.engine.by_operation(number) {
                self.end_operation(self.engine.id(at), result);
            }
        }
        any
    }

    #[inline(never)]
    fn end_operation(&mut self, id: ReqId, result: Result<u64, RmaError>) {
        let request = self.engine.requests.get_mut(id.index);
        let operation = std::mem::take(&mut request.rare.operation);
        if std::mem::take(&mut request.rare.ends) {
            return self.engine.complete(id.index);
        }
        // Its receiver has asked for packets meanwhile.
        if matches!(request.phase, Phase::Send(Send::Streaming { .. })) {
            let peer = request.rare.peer;
            return self.engine.send_queues.push_stream(peer, id);
        }
        if let Err(RmaError::Lost(lost)) = result {
            return self.engine.peer_lost(lost);
        }
        let succeeded = result.is_ok();
        self.engine.counters.fallbacks += u64::from(!succeeded);
        match operation {
            Operation::Get(n) => {
                self.engine.counters.got.bytes += if succeeded { n } else { 0 };
                self.end_read(id, n, succeeded);
            }
            Operation::Put(n) if succeeded => {
                self.engine.requests.get_mut(id.index).rare.operation = Operation::Written(n);
            }
            Operation::Flush(n) if succeeded => self.have_written(id, n),
            Operation::Put(_) | Operation::Flush(_) => self.refuse_to_write(id),
            Operation::None | Operation::Written(_) => {}
        }
    }
}
