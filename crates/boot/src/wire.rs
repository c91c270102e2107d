//! Messages between the launcher and its ranks, and the form that all messages
//! of the launcher have.
//!
//! A message is a frame: length of the body (4 bytes), kind (1 byte), body.
//! Numbers are little-endian; strings and arrays are preceded by their number
//! of elements (4 bytes). Nothing that arrives is trusted: every length is
//! checked against what is there before anything is allocated.

use std::fmt;

/// Version of everything in this file; both sides must have the same.
pub const VERSION: u32 = 11;

/// Longest body of a frame, bytes.
pub const MAX_BODY: usize = 256 << 20;
/// Longest key, bytes.
pub const MAX_KEY: usize = 64 << 10;
/// Longest value, bytes.
pub const MAX_VALUE: usize = 16 << 20;

/// Length of the random number by which a rank proves that it was started by
/// the launcher, bytes.
pub const COOKIE: usize = 16;

/// Length of what precedes the body of a frame, bytes.
pub(crate) const HEAD: usize = 5;

/// Kinds of frames between launcher and ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FrameKind {
    /// To the launcher: version, cookie, job, rank, and its settings that must be equal.
    Hello = 1,
    /// To the launcher: pairs of key and value.
    Fence = 2,
    /// To the launcher: code, text.
    Abort = 3,
    /// To the launcher: nothing more.
    Finalize = 4,
    /// To a rank: its [`Job`](crate::Job); the segment comes along.
    Welcome = 5,
    /// To a rank: text.
    Refused = 6,
    /// To a rank: triples of rank, key and value.
    Fenced = 7,
    /// To the launcher: nothing is finalized yet, after all.
    Resume = 8,
    /// To the launcher: key and value, to be known at once.
    Publish = 9,
    /// To the launcher: job, rank and key.
    Ask = 10,
    /// To a rank: job, rank, key and value.
    Answer = 11,
    /// To the launcher: text.
    Fault = 12,
    /// To the launcher: job.
    Learn = 13,
    /// To a rank: a job, and its [`OtherJob`](crate::OtherJob) if there is such a job; the
    /// segment that its ranks on this node share comes along, if it has any.
    Told = 14,
    /// To a rank: job, rank, epoch, and how that process ended: [`Death`](crate::Death).
    Died = 15,
    /// To the launcher: ticket, and a [`SpawnRequest`](crate::SpawnRequest).
    Spawn = 16,
    /// To a rank: ticket, and the new job or why there is none.
    Spawned = 17,
    /// To the launcher: ticket, port, side, value, job and rank of each member of the group, and
    /// for how many milliseconds to wait, or 0.
    Meet = 18,
    /// To a rank: ticket, and the value of the other side or why there is none.
    Met = 19,
    /// To the launcher: ticket, and how the name of a port begins at which others can be met from
    /// now on; its name is answered as [`FrameKind::Met`].
    OpenPort = 20,
    /// To the launcher: port, at which nobody is met any more.
    ClosePort = 21,
    /// To the launcher: ticket, service, and the port that it is published with; what is
    /// answered is [`FrameKind::Met`], as to the next two.
    Publicize = 22,
    /// To the launcher: ticket and service.
    LookUp = 23,
    /// To the launcher: ticket, service, and the port that it was published with.
    Withdraw = 24,
    /// To the launcher: a job that this process is connected to again.
    Join = 25,
    /// To the launcher: a job that this process is connected to no more.
    Part = 26,
    /// To a rank: a job that has ended, and whose memory nobody needs.
    Gone = 27,
    /// To a rank: an [`ElasticSet`](crate::ElasticSet), which there is from now on.
    Elastic = 28,
    /// To the launcher: processes of other jobs can meet this one from now on.
    Ready = 29,
    /// To the launcher: job and rank of a process that this one does not reach any more.
    Unreachable = 30,
    /// To the launcher: the ticket of a [`FrameKind::Meet`] that has met somebody, and why this
    /// group cannot go on with the other, or nothing; what both say is answered as
    /// [`FrameKind::Met`].
    Confirm = 31,
    /// To the launcher: this process has called MPI_Init, whose world never changes.
    World = 32,
}

impl FrameKind {
    pub(crate) fn from_byte(byte: u8) -> Result<FrameKind, Malformed> {
        use FrameKind::*;
        [
            Hello,
            Fence,
            Abort,
            Finalize,
            Welcome,
            Refused,
            Fenced,
            Resume,
            Publish,
            Ask,
            Answer,
            Fault,
            Learn,
            Told,
            Died,
            Spawn,
            Spawned,
            Meet,
            Met,
            OpenPort,
            ClosePort,
            Publicize,
            LookUp,
            Withdraw,
            Join,
            Part,
            Gone,
            Elastic,
            Ready,
            Unreachable,
            Confirm,
            World,
        ]
        .into_iter()
        .find(|kind| *kind as u8 == byte)
        .ok_or(UNKNOWN)
    }
}

impl FrameKind {
    /// Whether the launcher as a whole answers it: what is about jobs and ports.
    pub(crate) fn is_about_jobs(self) -> bool {
        use FrameKind::*;
        matches!(
            self,
            Learn
                | Ask
                | Join
                | Part
                | Spawn
                | Meet
                | OpenPort
                | ClosePort
                | Publicize
                | LookUp
                | Withdraw
                | Ready
                | Unreachable
                | Confirm
                | World
        )
    }
}

impl From<FrameKind> for u8 {
    fn from(kind: FrameKind) -> u8 {
        kind as u8
    }
}

/// What a kind is that nobody knows.
pub const UNKNOWN: Malformed = Malformed("a message of an unknown kind");

/// What arrived breaks the rules of this file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Malformed {}

/// Builds one frame.
#[derive(Debug)]
pub struct Writer(Vec<u8>);

impl Writer {
    /// An empty frame.
    pub fn new(kind: impl Into<u8>) -> Writer {
        Writer(vec![0, 0, 0, 0, kind.into()])
    }

    /// A number of 4 bytes.
    pub fn u32(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// A number of 8 bytes.
    pub fn u64(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// Bytes of a fixed number.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// A string or value.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.u32(bytes.len() as u32);
        self.raw(bytes);
    }

    /// An array.
    pub fn u32s(&mut self, values: &[u32]) {
        self.u32(values.len() as u32);
        for value in values {
            self.u32(*value);
        }
    }

    /// Number of bytes in the body so far.
    pub fn body_len(&self) -> usize {
        self.0.len() - HEAD
    }

    /// The body alone.
    pub fn into_body(mut self) -> Vec<u8> {
        self.0.split_off(HEAD)
    }

    /// The frame.
    pub fn finish(mut self) -> Vec<u8> {
        let len = (self.0.len() - HEAD) as u32;
        self.0[..4].copy_from_slice(&len.to_le_bytes());
        self.0
    }
}

/// Reads the body of one frame.
#[derive(Debug)]
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// From a body.
    pub fn new(body: &'a [u8]) -> Reader<'a> {
        Reader(body)
    }

    /// Whether all was read.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All that was not read yet.
    pub fn rest(self) -> &'a [u8] {
        self.0
    }

    /// Bytes of a fixed number.
    ///
    /// # Errors
    /// As those of all methods here: if the body is not long enough.
    pub fn raw(&mut self, len: usize) -> Result<&'a [u8], Malformed> {
        let (head, rest) = self
            .0
            .split_at_checked(len)
            .ok_or(Malformed("a message ends early"))?;
        self.0 = rest;
        Ok(head)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let raw = self.raw(N)?;
        raw.try_into()
            .map_err(|_| Malformed("a message ends early"))
    }

    /// A number of 4 bytes.
    pub fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_le_bytes)
    }

    /// A number of 8 bytes.
    pub fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_le_bytes)
    }

    /// How many elements follow, each of at least `least` bytes.
    pub fn count(&mut self, least: usize) -> Result<usize, Malformed> {
        let count = self.u32()? as usize;
        match count.checked_mul(least) {
            Some(bytes) if bytes <= self.0.len() => Ok(count),
            _ => Err(Malformed("a message ends early")),
        }
    }

    /// A string or value.
    pub fn bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let len = self.count(1)?;
        self.raw(len)
    }

    /// A string.
    pub fn text(&mut self) -> Result<String, Malformed> {
        let bytes = self.bytes()?;
        String::from_utf8(bytes.to_vec()).map_err(|_| Malformed("a text is not UTF-8"))
    }

    /// An array.
    pub fn u32s(&mut self) -> Result<Vec<u32>, Malformed> {
        (0..self.count(4)?).map(|_| self.u32()).collect()
    }
}

/// Cuts a stream of bytes into frames.
#[derive(Debug, Default)]
pub struct Inbox {
    /// Bytes that have arrived and room for more, which is cleared once.
    bytes: Vec<u8>,
    /// Where the next frame begins.
    start: usize,
    /// Where the room begins.
    end: usize,
}

impl Inbox {
    /// Adds what has arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        self.room(bytes.len())[..bytes.len()].copy_from_slice(bytes);
        self.filled(bytes.len());
    }

    /// Gives room for at least `bytes` bytes that arrive; the caller then tells [`Inbox::filled`]
    /// how many have.
    pub fn room(&mut self, bytes: usize) -> &mut [u8] {
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.bytes.len() < self.end + bytes {
            self.bytes.resize(self.end + bytes, 0);
        }
        &mut self.bytes[self.end..]
    }

    /// So many bytes have arrived in the [room](Inbox::room).
    pub fn filled(&mut self, bytes: usize) {
        self.end += bytes;
    }

    /// Takes the next frame if it is complete: its kind and its body, which is
    /// at most `limit` bytes long.
    ///
    /// # Errors
    /// If it is longer.
    pub fn next(&mut self, limit: usize) -> Result<Option<(u8, &[u8])>, Malformed> {
        let mut r = Reader(&self.bytes[self.start..self.end]);
        if r.0.len() < HEAD {
            return Ok(None);
        }
        let len = r.u32()? as usize;
        let [kind] = r.array()?;
        if len > limit {
            return Err(Malformed("a message is too long"));
        }
        if r.0.len() < len {
            return Ok(None);
        }
        let body = self.start + HEAD;
        self.start = body + len;
        Ok(Some((kind, &self.bytes[body..body + len])))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Job;

    fn job() -> Job {
        Job {
            rank: 2,
            size: 3,
            appnum: 1,
            universe_size: 8,
            job_id: 0x0123_4567_89ab_cdef,
            secret: Some(catena_proof::Secret::from_bytes([7; 32])),
            node_of: Box::new([0, 1, 1]),
            hosts: Box::new(["one".to_string(), "two".to_string()]),
            local: Box::new([1, 2]),
            local_cpus: 4,
            psets: vec![("app://0".to_string(), vec![0, 2]), (String::new(), vec![])],
            parent: Some("port".to_string()),
        }
    }

    fn frame() -> Vec<u8> {
        let mut w = Writer::new(FrameKind::Welcome);
        job().write(&mut w);
        w.finish()
    }

    #[test]
    fn a_job_survives_the_journey_byte_by_byte() {
        let mut inbox = Inbox::default();
        let bytes = frame();
        for byte in &bytes[..bytes.len() - 1] {
            inbox.push(&[*byte]);
            assert_eq!(inbox.next(MAX_BODY), Ok(None));
        }
        inbox.push(&bytes[bytes.len() - 1..]);
        let (kind, body) = inbox.next(MAX_BODY).unwrap().unwrap();
        assert_eq!(FrameKind::from_byte(kind), Ok(FrameKind::Welcome));
        let mut r = Reader::new(body);
        assert_eq!(Job::read(&mut r), Ok(job()));
        assert!(r.is_empty());
        assert_eq!(inbox.next(MAX_BODY), Ok(None));
    }

    #[test]
    fn two_frames_in_one_read_are_two() {
        let mut inbox = Inbox::default();
        let mut both = Writer::new(FrameKind::Finalize).finish();
        both.extend(Writer::new(FrameKind::Fence).finish());
        inbox.push(&both);
        assert_eq!(
            inbox.next(0),
            Ok(Some((FrameKind::Finalize.into(), &[][..])))
        );
        assert_eq!(inbox.next(0), Ok(Some((FrameKind::Fence.into(), &[][..]))));
        assert_eq!(inbox.next(0), Ok(None));
    }

    #[test]
    fn long_frames_are_refused_before_they_arrive() {
        let mut inbox = Inbox::default();
        inbox.push(&[0xff, 0xff, 0xff, 0xff, FrameKind::Hello.into()]);
        assert_eq!(inbox.next(64), Err(Malformed("a message is too long")));
    }

    #[test]
    fn jobs_that_contradict_themselves_are_refused() {
        for spoil in [
            (|j: &mut Job| j.rank = 3) as fn(&mut Job),
            |j| j.node_of = Box::new([0, 1]),
            |j| j.node_of = Box::new([0, 1, 2]),
            |j| j.psets[0].1 = vec![3],
            |j| j.psets[0].1 = vec![1, 0],
        ] {
            let mut spoilt = job();
            spoil(&mut spoilt);
            let mut w = Writer::new(FrameKind::Welcome);
            spoilt.write(&mut w);
            let bytes = w.finish();
            assert!(Job::read(&mut Reader::new(&bytes[HEAD..])).is_err());
        }
    }

    proptest! {
        #[test]
        fn garbage_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Job::read(&mut Reader::new(&bytes));
            let mut inbox = Inbox::default();
            inbox.push(&bytes);
            while let Ok(Some(_)) = inbox.next(1 << 10) {}
        }

        #[test]
        fn damaged_jobs_never_panic(at in 0usize..90, byte: u8, cut in 0usize..90) {
            let mut body = frame().split_off(HEAD);
            let at = at % body.len();
            body[at] = byte;
            body.truncate(body.len().saturating_sub(cut % 7));
            if let Ok(job) = Job::read(&mut Reader::new(&body)) {
                prop_assert!(job.local.contains(&job.rank));
                prop_assert!(!job.host().contains('\0') || job.hosts.len() > 1 || at > 0);
            }
        }
    }
}
