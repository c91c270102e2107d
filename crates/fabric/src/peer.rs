//! Who is reached, and where its memory is.

/// A process this one can talk to: an index into this process's table of peers, which
/// gives its [`ProcessName`](crate::ProcessName). The processes of its own job come first, in the
/// order of their ranks there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Peer(pub u32);

/// Who opens a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalPeer {
    /// This process.
    pub me: Peer,
    /// Processes of the job.
    pub processes: u32,
    /// A number that tells jobs apart.
    pub job: u64,
}

/// The peer is gone, and so is every message to it from now on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerLost {
    /// Who.
    pub peer: Peer,
    /// Cause, in words, for the user.
    pub cause: String,
}

/// Where registered memory lies, for the peer that it was registered for. Byte *n* of the region is
/// at `addr + n` under the same key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RemoteKey {
    /// Address in the owner's address space (or offset within its region).
    pub addr: u64,
    /// Key of the registered region; 0 where none is needed.
    pub key: u64,
}
