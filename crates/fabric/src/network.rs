//! What a transport crate for a network exports, so that `net` can list it and drive it.
//!
//! | role                              | where                                             |
//! |-----------------------------------|---------------------------------------------------|
//! | its words in the chain            | [`Network::NAME`], [`Network::parse`]             |
//! | its settings                      | [`Network::settings`]                             |
//! | opening its rails                 | [`Network::open`]                                 |
//! | packets, operations on memory     | [`Transport`](crate::Transport), [`Rma`]          |
//! | its part of an address record     | [`Rail::address`], [`Rail::connect`]              |
//! | peers that come and go            | [`Rail::ADDS_PEERS`], [`Rail::add_peer`], [`Rail::remove_peer`] |
//! | describing itself                 | [`Rail::about`], [`Rail::way`], [`Rail::protocol_name`], [`Rail::counters`] |
//! | watching its peers                | [`Rail::watches`], [`Rail::listens_at`], [`Rail::PROBE_PORT`] |
//! | having nothing to do, and leaving | [`Rail::sleeper`], [`Rail::is_quiet`], [`Rail::tells_arrival`] |
//!
//! A network of one rail is the usual case; one of several has a rail for each interface or domain.

use std::fmt::{self, Debug};
use std::net::SocketAddr;

use catena_proof::Secret;
use catena_settings::Setting;

use crate::name::ProcessName;
use crate::peer::{LocalPeer, Peer};
use crate::rma::Rma;
use crate::sleep::Sleeper;

/// Rails that one network may have.
pub const RAILS: usize = 4;

/// What a network is opened with.
#[derive(Clone, Copy)]
pub struct Opening<'a> {
    /// Who opens it.
    pub place: LocalPeer,
    /// What only the processes of the job know, if anything is. Libraries have no use for it within
    /// a job; processes that [add each other](Rail::add_peer) prove by it who they are.
    pub secret: Option<&'a Secret>,
    /// In which order this process is to use what has these names, as indices: the nearest first,
    /// and of those equally near another one than its neighbours.
    pub order: &'a dyn Fn(&[&str]) -> Vec<usize>,
}

impl Debug for Opening<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opening")
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

/// A network as the chain of transports (`CATENA_LINK`) names it: its words, and how it is opened.
///
/// Errors are texts that say what failed and what to do.
///
/// # Examples
/// [`names`] reads what most networks have behind the colon:
/// ```
/// use catena_fabric::network::names;
///
/// assert_eq!(names("tcp", "eth0,eth1")?, ["eth0", "eth1"]);
/// assert!(names("tcp", "eth0,").is_err());
/// # Ok::<(), String>(())
/// ```
pub trait Network: Clone + Debug + PartialEq {
    /// What drives one rail of it.
    type Rail: Rail;

    /// The word in the chain that names it.
    const NAME: &'static str;

    /// Its settings.
    fn settings() -> &'static [&'static dyn Setting] {
        &[]
    }

    /// Reads what stands behind its name and a colon, if anything does.
    ///
    /// # Errors
    /// What is wrong with it, and what to write instead.
    fn parse(rest: Option<&str>) -> Result<Self, String>;

    /// Reads a part of a chain whose first word is the name of no transport, if it may mean this
    /// network all the same. `near` is the name of a transport that the word resembles.
    ///
    /// # Errors
    /// What is wrong with it, and what to write instead.
    fn parse_unnamed(_part: &str, _near: Option<&str>) -> Option<Result<Self, String>> {
        None
    }

    /// What of it stands in a chain that nobody has written.
    fn unasked() -> Option<Self> {
        None
    }

    /// Opens all its rails, at most [`RAILS`]; none if it need not be there and is not.
    ///
    /// # Errors
    /// What failed and what to do.
    fn open(&self, opening: &Opening<'_>) -> Result<Vec<Self::Rail>, String>;
}

/// How others reach this process over a rail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RailAddress {
    /// What is spoken there: ends of one network with the same number understand each other.
    pub protocol: u64,
    /// For the other end's [`Rail::connect`]; at most 65,000 bytes.
    pub bytes: Vec<u8>,
}

/// What happened on a rail so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RailCounters {
    /// Packets sent.
    pub packets: u64,
    /// Packets, of those sent, that left together with others.
    pub together: u64,
    /// Sends that found no room.
    pub full: u64,
    /// Remote reads.
    pub reads: u64,
    /// What arrived and is no packet of this job.
    pub strays: u64,
}

impl std::iter::Sum for RailCounters {
    fn sum<I: Iterator<Item = RailCounters>>(all: I) -> RailCounters {
        all.fold(RailCounters::default(), |sum, one| RailCounters {
            packets: sum.packets + one.packets,
            together: sum.together + one.together,
            full: sum.full + one.full,
            reads: sum.reads + one.reads,
            strays: sum.strays + one.strays,
        })
    }
}

/// What drives one rail of a network, from when it was opened on.
///
/// # Examples
/// What joins two ends of a network, and says how:
/// ```
/// use catena_fabric::{Peer, Rail};
///
/// /// Joins processes 0 and 1, whose ends these are.
/// fn join<R: Rail>(zero: &mut R, one: &mut R) -> Result<String, String> {
///     let (at_zero, at_one) = (zero.address()?, one.address()?);
///     if at_zero.protocol != at_one.protocol {
///         let spoken = [&at_zero, &at_one].map(|it| zero.protocol_name(it.protocol));
///         return Err(format!("one speaks {}, and the other one {}", spoken[0], spoken[1]));
///     }
///     zero.connect(Peer(1), &at_one.bytes)?;
///     one.connect(Peer(0), &at_zero.bytes)?;
///     Ok(zero.about())
/// }
/// ```
pub trait Rail: Rma + Debug {
    /// Whether the loss of a host does not show while something is under way to it, so that each
    /// process has a **probe port** beside its end: a port that nobody listens at, where the host's
    /// kernel answers all the same. Its address then stands in front of that of the end.
    const PROBE_PORT: bool = false;

    /// Whether processes can be [added](Rail::add_peer) that are not of the job it was opened for.
    const ADDS_PEERS: bool = false;

    /// How others reach this process over it.
    ///
    /// # Errors
    /// What failed and what to do.
    fn address(&self) -> Result<RailAddress, String>;

    /// Learns how a peer is reached: the bytes of its [`Rail::address`]. Until then its route is
    /// full.
    ///
    /// # Errors
    /// If the address is of no use here.
    fn connect(&mut self, peer: Peer, address: &[u8]) -> Result<(), String>;

    /// Adds a process of another job, which has a number of its own here: from now on it is as one
    /// of the job. One that calls before it was added waits; nothing that it sends is lost, and
    /// what it costs here is bounded.
    ///
    /// # Errors
    /// If it is known already, or not [`Rail::ADDS_PEERS`].
    fn add_peer(&mut self, _peer: Peer, _name: ProcessName) -> Result<(), String> {
        Err("it joins the processes of one job only".to_string())
    }

    /// The processes that have called, have proven that they belong here, and wait to be
    /// [added](Rail::add_peer): one that is added needs no address, as its call is the way to it.
    fn callers(&self) -> Vec<ProcessName> {
        Vec::new()
    }

    /// [Adds](Rail::add_peer) a process that has [called](Rail::callers), here or on another rail
    /// of the network.
    ///
    /// # Errors
    /// As [`Rail::add_peer`], or if it cannot be reached.
    fn add_caller(&mut self, peer: Peer, name: ProcessName) -> Result<(), String> {
        self.add_peer(peer, name)
    }

    /// Removes a process that was [added](Rail::add_peer), whether it is lost or not; to be called
    /// between two polls. It is told as one that ends in good order
    /// ([`Deliver::left`](crate::Deliver::left)), once it has got what had left for it. Nothing of
    /// it is delivered any more, and sends to it fail, as do operations on its memory: those under
    /// way end with an error, which a poll tells. What waits here to be sent is dropped where the
    /// library lets it be.
    ///
    /// Its number may be given to another process, or to the same one, once the rail
    /// [has let go of it](Rail::has_let_go). The other end has to remove this process, too, before
    /// the two can add each other again: in which order they do so does not matter.
    ///
    /// # Errors
    /// If it was not added.
    fn remove_peer(&mut self, _peer: Peer) -> Result<(), String> {
        Err("it joins the processes of one job only".to_string())
    }

    /// Whether nothing is under way any more to a process that was [removed](Rail::remove_peer). To
    /// be asked again after a poll.
    fn has_let_go(&self, _peer: Peer) -> bool {
        true
    }

    /// Name of what is spoken, for messages.
    fn protocol_name(&self, protocol: u64) -> String;

    /// What it is and what it goes through, in words.
    fn about(&self) -> String;

    /// How it reaches a peer, in words; `None` before it does.
    fn way(&self, _peer: Peer) -> Option<String> {
        Some(self.about())
    }

    /// Whether the loss of a peer is noticed although nothing is sent to it.
    fn watches(&self, _peer: Peer) -> bool {
        false
    }

    /// Whether a peer that this process has talked with can be told something without making a
    /// connection first, as far as that is known.
    fn is_joined(&self, _peer: Peer) -> bool {
        true
    }

    /// Where the kernel of a peer's host takes connections for an end with that address, if that
    /// tells whether the host lives, and this rail does not.
    fn listens_at(&self, _address: &[u8]) -> Option<SocketAddr> {
        None
    }

    /// Whether a [probe port](Rail::PROBE_PORT) is worth while here.
    fn needs_probe_port(&self) -> bool {
        Self::PROBE_PORT
    }

    /// Whether it may go through a device of that name.
    fn may_use(&self, _device: &str) -> bool {
        true
    }

    /// A peer is lost, as was found out elsewhere: sends to it fail, and no poll tells it.
    fn mark_lost(&mut self, peer: Peer, cause: String);

    /// What a process with nothing to do may sleep on, or `None` if there may be something to do.
    fn sleeper(&mut self) -> Option<Sleeper>;

    /// Whether nothing of what was posted is left here: it has arrived where
    /// [`Rail::tells_arrival`], else the library has handed it on. To be asked again after a poll.
    fn is_quiet(&mut self) -> bool;

    /// Whether it is known here what has arrived. Libraries say at best that it has left.
    fn tells_arrival(&self) -> bool {
        false
    }

    /// What happened so far.
    fn counters(&self) -> RailCounters;
}

/// Reads names of interfaces or domains separated by commas, which stand behind that of a network:
/// one for each rail.
///
/// # Errors
/// What is wrong with them.
pub fn names(network: &str, text: &str) -> Result<Vec<String>, String> {
    let names: Vec<_> = text.split(',').map(str::to_string).collect();
    if names.iter().any(String::is_empty) {
        return Err(format!(
            "the name of an interface is missing, as in {network}:eth0"
        ));
    }
    if names.len() > RAILS {
        return Err(format!("at most {RAILS} interfaces can be used together"));
    }
    if let Some(at) = (1..names.len()).find(|&at| names[..at].contains(&names[at])) {
        return Err(format!("{} is named twice", names[at]));
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_few_and_all_different() {
        assert_eq!(names("tcp", "lo"), Ok(vec!["lo".to_string()]));
        for (text, why) in [
            ("", "interface is missing, as in tcp:eth0"),
            ("eth0,", "interface is missing"),
            ("a,b,c,d,e", "at most 4"),
            ("a,b,a", "a is named twice"),
        ] {
            let error = names("tcp", text).expect_err(text);
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn counters_are_summed_up() {
        let one = RailCounters {
            packets: 1,
            together: 2,
            full: 3,
            reads: 4,
            strays: 5,
        };
        let sum: RailCounters = [one, one].into_iter().sum();
        assert_eq!((sum.packets, sum.together, sum.full), (2, 4, 6));
        assert_eq!((sum.reads, sum.strays), (8, 10));
    }
}
