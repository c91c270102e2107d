//! What the endpoints of networks keep alike, whichever library drives them: which peers are gone,
//! and, for those that send frames, the packets of a row and what happened so far.

use catena_memory::Kinds;

use crate::frame::{FRAME, Sign};
use crate::row::{Framed, Rows};
use crate::{Caps, Deliver, Header, Payload, Peer, PeerLost, Posted, RailCounters};

/// The peers that are gone.
///
/// # Examples
/// ```
/// use catena_fabric::Peer;
/// use catena_fabric::endpoint::Losses;
///
/// let mut losses = Losses::new(2);
/// assert!(losses.check(Peer(1)).is_ok());
/// let lost = losses.add(Peer(1), "its host is down".to_string());
/// assert!(lost.is_ok(), "that is new");
/// assert_eq!(losses.check(Peer(1)), Err(lost?));
/// # Ok::<(), catena_fabric::PeerLost>(())
/// ```
#[derive(Debug)]
pub struct Losses {
    by_peer: Vec<Option<Box<PeerLost>>>,
    /// Those that no poll has told yet.
    untold: Vec<(PeerLost, How)>,
}

/// How a peer is told to be gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// [`Deliver::lost`].
    Lost,
    /// [`Deliver::ended`].
    Ended,
    /// [`Deliver::left`].
    Left,
}

impl Losses {
    /// None of so many peers.
    pub fn new(peers: usize) -> Losses {
        Losses {
            by_peer: (0..peers).map(|_| None).collect(),
            untold: Vec::new(),
        }
    }

    /// Makes room for the peers below number `peers`; those that are there stay.
    pub fn grow(&mut self, peers: usize) {
        if self.by_peer.len() < peers {
            self.by_peer.resize_with(peers, || None);
        }
    }

    /// Whether a peer is there.
    ///
    /// # Errors
    /// [`PeerLost`] if it is gone; every later call repeats it.
    #[inline]
    pub fn check(&self, peer: Peer) -> Result<(), PeerLost> {
        match self.get(peer) {
            Some(lost) => Err(lost.clone()),
            None => Ok(()),
        }
    }

    /// The loss of a peer, if it is gone.
    #[inline]
    pub fn get(&self, peer: Peer) -> Option<&PeerLost> {
        self.by_peer[peer.0 as usize].as_deref()
    }

    /// A peer is gone, which the next poll tells.
    ///
    /// # Errors
    /// The loss that is known already, if one is: the first cause stays.
    #[cold]
    pub fn add(&mut self, peer: Peer, cause: String) -> Result<PeerLost, PeerLost> {
        self.note(peer, cause, How::Lost)
    }

    /// A peer has ended ([`Deliver::ended`]), which the next poll tells; to this transport it is
    /// gone.
    ///
    /// # Errors
    /// The loss that is known already, if one is: the first cause stays.
    #[cold]
    pub fn add_end(&mut self, peer: Peer, cause: String) -> Result<PeerLost, PeerLost> {
        self.note(peer, cause, How::Ended)
    }

    /// A peer has removed this process ([`Deliver::left`]), which the next poll tells; to this
    /// transport it is gone.
    ///
    /// # Errors
    /// The loss that is known already, if one is: the first cause stays.
    #[cold]
    pub fn add_left(&mut self, peer: Peer, cause: String) -> Result<PeerLost, PeerLost> {
        self.note(peer, cause, How::Left)
    }

    /// A peer was removed: nothing of it is told, and it is there again once it is added again.
    pub fn forget(&mut self, peer: Peer) {
        self.by_peer[peer.0 as usize] = None;
        self.set_known(peer);
    }

    fn note(&mut self, peer: Peer, cause: String, how: How) -> Result<PeerLost, PeerLost> {
        self.check(peer)?;
        let lost = PeerLost { peer, cause };
        self.by_peer[peer.0 as usize] = Some(Box::new(lost.clone()));
        self.untold.push((lost.clone(), how));
        Ok(lost)
    }

    /// The loss of a peer is known above: no poll tells it.
    pub fn set_known(&mut self, peer: Peer) {
        self.untold.retain(|(lost, _)| lost.peer != peer);
    }

    /// Tells of the losses that no poll has told yet.
    #[inline]
    pub fn deliver<D: Deliver>(&mut self, deliver: &mut D) {
        for (lost, how) in self.untold.drain(..) {
            match how {
                How::Lost => deliver.lost(lost),
                How::Ended => deliver.ended(lost),
                How::Left => deliver.left(lost),
            }
        }
    }
}

/// What happened at an endpoint so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets sent.
    pub sent: u64,
    /// Those among them that waited to leave with others.
    pub held: u64,
    /// Frames that the library copied or sent at once.
    pub injected: u64,
    /// Frames that occupied a buffer of ours until the library told that they were sent.
    pub buffered: u64,
    /// Sends that found no room.
    pub full: u64,
    /// Packets delivered.
    pub received: u64,
    /// Messages that are no packets of this job, thrown away.
    pub strays: u64,
    /// Remote reads.
    pub reads: u64,
    /// Bytes that they brought.
    pub read_bytes: u64,
    /// Times this process was about to sleep on the network.
    pub sleeps: u64,
}

impl From<Counters> for RailCounters {
    fn from(of: Counters) -> RailCounters {
        RailCounters {
            packets: of.sent,
            together: of.held,
            full: of.full,
            reads: of.reads,
            strays: of.strays,
        }
    }
}

/// An endpoint that sends frames.
#[derive(Debug)]
pub struct Endpoint {
    /// This process and its job, as frames name them.
    pub me: u32,
    /// See [`frame::job_number`](crate::frame::job_number).
    pub job: u32,
    /// Largest frame, bytes.
    pub frame: usize,
    /// See [`Caps::eager_max`].
    pub eager_max: u64,
    /// The packets that wait to leave together.
    pub rows: Rows,
    /// The peers that are gone.
    pub losses: Losses,
    /// What happened so far, but for the packets held.
    pub counters: Counters,
}

impl Endpoint {
    /// Longest payload of a packet, bytes.
    #[inline]
    pub fn max_packet(&self) -> usize {
        self.frame - FRAME
    }

    /// What routes from here can do.
    #[inline]
    pub fn caps(&self) -> Caps {
        Caps {
            max_packet: self.max_packet(),
            whole: self.max_packet(),
            eager_max: self.eager_max,
            ordered: false,
            kinds: Kinds::HOST,
        }
    }

    /// What its frames bear by which the other processes of its job know it.
    pub fn sign(&self) -> Sign {
        Sign::of_rank(self.job, self.me)
    }

    /// What happened so far.
    pub fn counters(&self) -> Counters {
        Counters {
            held: self.rows.held(),
            ..self.counters
        }
    }

    /// A process was added that has this number from now on: there is room for it, and what was
    /// lost before is no matter of its. How many numbers there are now.
    pub fn add(&mut self, peer: Peer) -> usize {
        let numbers = self.losses.by_peer.len().max(peer.0 as usize + 1);
        self.rows.grow(numbers);
        self.losses.grow(numbers);
        self.losses.forget(peer);
        numbers
    }

    /// A peer is gone, as [`Losses::add`]; what waits for it never leaves.
    ///
    /// # Errors
    /// The loss that is known already, if one is.
    pub fn lose(&mut self, peer: Peer, cause: String) -> Result<PeerLost, PeerLost> {
        let lost = self.losses.add(peer, cause)?;
        self.rows.forget(peer);
        Ok(lost)
    }

    /// A peer has removed this process, as [`Losses::add_left`]; what waits for it never leaves.
    ///
    /// # Errors
    /// The loss that is known already, if one is.
    pub fn leave(&mut self, peer: Peer, cause: String) -> Result<PeerLost, PeerLost> {
        let end = self.losses.add_left(peer, cause)?;
        self.rows.forget(peer);
        Ok(end)
    }

    /// Counts a read of so many bytes.
    pub fn count_read(&mut self, bytes: usize) {
        self.counters.reads += 1;
        self.counters.read_bytes += bytes as u64;
    }
}

/// A transport whose endpoint sends frames.
pub trait FrameSender: Sized {
    /// Its endpoint.
    fn endpoint(&self) -> &Endpoint;

    /// Its endpoint, to change it.
    fn endpoint_mut(&mut self) -> &mut Endpoint;

    /// Sends a frame; `header` as in [`Framed::send_frame`].
    ///
    /// # Errors
    /// [`PeerLost`] if the peer is gone.
    fn put_frame<P: Payload>(
        &mut self,
        peer: Peer,
        header: Header,
        payload: P,
    ) -> Result<Posted, PeerLost>;

    /// Posts a packet, alone or with others in one frame; see
    /// [`Transport::try_send`](crate::Transport::try_send).
    ///
    /// # Errors
    /// [`PeerLost`] if the peer is gone.
    ///
    /// # Panics
    /// If the packet is too long.
    #[inline]
    fn post<P: Payload>(
        &mut self,
        peer: Peer,
        header: Header,
        payload: P,
    ) -> Result<Posted, PeerLost> {
        let (len, most) = (payload.len(), self.endpoint().max_packet());
        assert!(len <= most, "a packet of {len} bytes is too long");
        self.endpoint().losses.check(peer)?;
        let posted = self.send_packet(peer, header, payload)?;
        let counters = &mut self.endpoint_mut().counters;
        match posted {
            Posted::Done => counters.sent += 1,
            Posted::Full => counters.full += 1,
        }
        Ok(posted)
    }
}

impl<N: FrameSender> Framed for N {
    #[inline]
    fn rows(&mut self) -> &mut Rows {
        &mut self.endpoint_mut().rows
    }

    #[inline]
    fn send_frame<P: Payload>(
        &mut self,
        peer: Peer,
        header: Header,
        payload: P,
    ) -> Result<Posted, PeerLost> {
        self.put_frame(peer, header, payload)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use catena_base::PeerBytes;

    /// Keeps the losses, and the ends.
    #[derive(Default)]
    struct ToldLosses(Vec<PeerLost>, Vec<PeerLost>);

    impl Deliver for ToldLosses {
        fn deliver(&mut self, _: Peer, _: Header, _: PeerBytes<'_>) {}

        fn lost(&mut self, lost: PeerLost) {
            self.0.push(lost);
        }

        fn ended(&mut self, lost: PeerLost) {
            self.1.push(lost);
        }

        fn completed(&mut self, _: crate::OpId, _: Result<u64, crate::RmaError>) {}
    }

    #[test]
    fn a_loss_is_told_once_and_its_first_cause_stays() {
        let mut losses = Losses::new(4);
        let ended = losses.add_end(Peer(3), "it has left".into()).expect("new");
        let lost = losses.add(Peer(1), "first".into()).expect("a new loss");
        assert_eq!(losses.add(Peer(1), "second".into()), Err(lost.clone()));
        assert_eq!(losses.check(Peer(1)), Err(lost.clone()));
        assert_eq!((losses.check(Peer(2)), losses.get(Peer(0))), (Ok(()), None));
        let known = losses.add(Peer(0), "the launcher said so".into());
        losses.set_known(known.expect("a new loss").peer);
        let mut told = ToldLosses::default();
        losses.deliver(&mut told);
        losses.deliver(&mut told);
        assert_eq!((told.0, told.1), (vec![lost], vec![ended]));
    }
}
