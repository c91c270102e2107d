//! What really happened, counted.

/// Counts since the endpoint was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Messages sent, of any protocol.
    pub sent: u64,
    /// Bytes of those.
    pub sent_bytes: u64,
    /// Messages that arrived, or whose announcement did.
    pub received: u64,
    /// Bytes of those.
    pub received_bytes: u64,
    /// Messages among the received that found no receive posted.
    pub unexpected: u64,
    /// Messages sent by rendezvous.
    pub rendezvous: u64,
    /// Bytes read out of peers' memory.
    pub got_bytes: u64,
    /// Bytes that peers streamed after they were asked to.
    pub streamed_bytes: u64,
    /// Remote reads that the route refused, so that the message was streamed.
    pub fallbacks: u64,
    /// Sends that had to queue because a route was full.
    pub queued: u64,
    /// Packets kept because an earlier one, or their communicator, was missing.
    pub parked: u64,
    /// Packets thrown away: duplicate, foreign, stale or garbage.
    pub dropped: u64,
}
