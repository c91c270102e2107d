//! Liveness probes: connections that carry nothing and tell whether hosts live, for
//! networks that do not tell it themselves. The kernel of the other host answers,
//! whatever the process does that listens there. Where no listening port of the
//! network is known, a **probe port** stands in for it: nobody listens there, and the
//! kernel answers all the same.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::{self, Error, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use catena_fabric::Peer;

use crate::addr;
use crate::settings::Config;
use crate::socket::{Options, Socket, is_silence, reserve};

/// A port whose only use is that this host's kernel answers there.
#[derive(Debug)]
pub struct ProbePort {
    port: u16,
    _open: OwnedFd,
}

impl ProbePort {
    /// Opens one at a port that the kernel chooses.
    ///
    /// # Errors
    /// The kernel's.
    pub fn open() -> io::Result<ProbePort> {
        let (open, port) = reserve()?;
        Ok(ProbePort { port, _open: open })
    }

    /// What others need to find it: its addresses on all interfaces whose names `wanted`
    /// accepts.
    pub fn address(&self, wanted: impl Fn(&str) -> bool) -> Vec<u8> {
        let all = addr::interfaces().usable.into_iter();
        let wanted = all.filter(|it| wanted(&it.name));
        addr::encode(self.port, wanted.map(|it| it.address))
    }

    /// Where the probe port is whose [`ProbePort::address`] these bytes are; nowhere if they
    /// are damaged. Addresses that this host has, too, are left out: they do not tell it from
    /// others.
    pub fn at(bytes: &[u8]) -> Vec<SocketAddr> {
        let (port, all) = addr::decode(bytes).unwrap_or_default();
        let ours = addr::interfaces().usable;
        let own = |it: &IpAddr| ours.iter().any(|one| one.address == *it);
        let others = all.into_iter().filter(|it| !own(it));
        others.map(|it| SocketAddr::from((it, port))).collect()
    }
}

/// A connection to an address, or why there is none.
#[derive(Debug)]
pub(crate) struct Probe {
    socket: Result<Socket, ErrorKind>,
    /// When the first attempt began of those that were not answered.
    since: Instant,
    /// Whether the address has ever answered.
    answered: bool,
}

impl Probe {
    /// Begins to ask whether an address answers.
    pub fn call(at: SocketAddr, timeout: Duration) -> Probe {
        let options = Options {
            timeout,
            kernel: None,
        };
        Probe {
            socket: Socket::connect(at, options).map_err(|error| error.kind()),
            since: Instant::now(),
            answered: false,
        }
    }

    /// What has become of it.
    fn state(&self) -> ErrorKind {
        let heard = self.socket.as_ref().map(|it| it.receive(&mut [0]));
        match heard {
            // It has hung up: it wants nothing of one that says nothing.
            Ok(Ok(_)) => ErrorKind::ConnectionReset,
            Ok(Err(error)) => error.kind(),
            Err(kind) => *kind,
        }
    }

    /// Whether the address `at` answers, or may yet. Asks again where that is needed.
    ///
    /// # Errors
    /// The cause, once it has been silent for `timeout`; if `before`, only if it had answered
    /// before.
    pub fn look(&mut self, at: SocketAddr, timeout: Duration, before: bool) -> Result<(), String> {
        let (mut since, mut answered) = (Instant::now(), self.answered);
        match self.state() {
            ErrorKind::WouldBlock => {
                self.answered |= self.socket.as_ref().is_ok_and(Socket::is_connected);
                return Ok(());
            }
            kind if is_silence(kind) => {
                since = self.since;
                if since.elapsed() >= timeout && (answered || !before) {
                    let seconds = timeout.as_secs();
                    let why = Error::from(kind);
                    return Err(format!("{at} has not answered for {seconds} s: {why}"));
                }
            }
            // It has answered, unless nobody was asked.
            _ => answered |= self.socket.is_ok(),
        }
        *self = Probe {
            since,
            answered,
            ..Probe::call(at, timeout)
        };
        Ok(())
    }
}

/// The probes of the hosts of all peers that are watched.
#[derive(Debug)]
pub struct LivenessProbes {
    /// How long a host may be silent.
    timeout: Duration,
    at: HashMap<Peer, Vec<SocketAddr>>,
    probes: HashMap<SocketAddr, Probe>,
}

impl LivenessProbes {
    /// None yet.
    pub fn new(config: Config) -> LivenessProbes {
        LivenessProbes {
            timeout: config.timeout,
            at: HashMap::new(),
            probes: HashMap::new(),
        }
    }

    /// The kernel of a peer's host answers at these addresses, or at some of them.
    pub fn learn(&mut self, peer: Peer, at: Vec<SocketAddr>) {
        self.at.insert(peer, at);
    }

    /// A peer was removed: its host is asked nothing any more, unless for others.
    pub fn forget(&mut self, peer: Peer) {
        let gone = self.at.remove(&peer).unwrap_or_default();
        let others: Vec<SocketAddr> = self.at.values().flatten().copied().collect();
        for at in gone.iter().filter(|at| !others.contains(at)) {
            self.probes.remove(at);
        }
    }

    /// Whether it is known where a peer's host answers, so that its loss is noticed.
    /// The first look begins to find out, so it is asked now and then. Never blocks.
    ///
    /// # Errors
    /// The cause, if the host is lost: no address of it answers.
    pub fn look(&mut self, peer: Peer) -> Result<bool, String> {
        let mut all = self.at.get(&peer).cloned().unwrap_or_default().into_iter();
        let Some(first) = all.next() else {
            return Ok(false);
        };
        // All are asked, whichever answers.
        let rest = all.map(|at| self.ask(at)).collect::<Vec<_>>();
        let answers = rest.into_iter().fold(self.ask(first), Result::or);
        answers.map(|()| true)
    }

    /// Whether the host answers that nobody listens at an address of a peer, as far as the last
    /// look has found out.
    pub fn is_refused(&self, peer: Peer) -> bool {
        let mut all = self.at.get(&peer).into_iter().flatten();
        all.any(|at| {
            let state = self.probes.get(at).map(Probe::state);
            state == Some(ErrorKind::ConnectionRefused)
        })
    }

    /// Whether an address answers, or may yet.
    fn ask(&mut self, at: SocketAddr) -> Result<(), String> {
        match self.probes.entry(at) {
            Entry::Occupied(mut probe) => probe.get_mut().look(at, self.timeout, false),
            Entry::Vacant(none) => {
                none.insert(Probe::call(at, self.timeout));
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, TcpListener};

    const PEER: Peer = Peer(3);

    fn probes(timeout: Duration) -> LivenessProbes {
        LivenessProbes::new(Config {
            timeout,
            ..Config::tiny()
        })
    }

    #[test]
    fn a_host_that_answers_lives_whoever_listens() {
        let mut probes = probes(Duration::ZERO);
        assert_eq!(probes.look(PEER), Ok(false), "nobody knows where it is");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let at = listener.local_addr().expect("its address");
        probes.learn(PEER, vec![at]);
        for _ in 0..3 {
            assert_eq!(probes.look(PEER), Ok(true));
        }
        assert_eq!(probes.probes[&at].state(), ErrorKind::WouldBlock);
        drop(listener.accept().expect("a connection"));
        assert_eq!(probes.look(PEER), Ok(true), "it has hung up");
        drop(listener);
        for _ in 0..3 {
            assert_eq!(probes.look(PEER), Ok(true), "its kernel answers for it");
        }
    }

    #[test]
    fn a_host_that_nothing_leads_to_is_lost_after_the_timeout() {
        // Nobody can be called at a multicast address.
        let nowhere = SocketAddr::from((Ipv4Addr::new(224, 0, 0, 1), 9));
        for (timeout, lost) in [(Duration::ZERO, true), (Duration::MAX, false)] {
            let mut probes = probes(timeout);
            probes.learn(PEER, vec![nowhere]);
            assert_eq!(probes.look(PEER), Ok(true), "the first look only asks");
            match probes.look(PEER) {
                Err(cause) if lost => assert!(cause.starts_with("224.0.0.1:9 has not answered")),
                other => assert_eq!((other, lost), (Ok(true), false)),
            }
        }
    }

    #[test]
    fn nobody_is_let_in_at_a_probe_port() {
        let ours = ProbePort::open().expect("a port");
        let at = SocketAddr::from((Ipv4Addr::LOCALHOST, ours.port));
        let error = std::net::TcpStream::connect(at).expect_err("nobody listens");
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    }

    /// What the other end of a probe sends is not even looked at.
    #[test]
    fn a_probe_carries_nothing() {
        use std::io::Write;
        let mut probes = probes(Duration::ZERO);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let at = listener.local_addr().expect("its address");
        probes.learn(PEER, vec![at]);
        assert_eq!(probes.look(PEER), Ok(true));
        let (mut other, _) = listener.accept().expect("a connection");
        other.write_all(&[0xff; 1000]).expect("sent");
        assert_eq!(probes.look(PEER), Ok(true));
        drop(other);
        assert_eq!(probes.look(PEER), Ok(true), "it has only answered");
    }

    #[test]
    fn a_host_lives_if_one_address_answers() {
        let ours = ProbePort::open().expect("a port");
        let at = SocketAddr::from((Ipv4Addr::LOCALHOST, ours.port));
        let nowhere = SocketAddr::from((Ipv4Addr::new(224, 0, 0, 1), 9));
        for all in [vec![nowhere, at], vec![at, nowhere]] {
            let mut probes = probes(Duration::ZERO);
            probes.learn(PEER, all);
            for _ in 0..5 {
                assert_eq!(probes.look(PEER), Ok(true));
            }
        }
    }

    #[test]
    fn a_probe_port_is_looked_for_elsewhere_only() {
        let ours = ProbePort::open().expect("a port");
        let here = ours.address(|_| true);
        assert!(addr::decode(&here).is_some_and(|(port, _)| port == ours.port));
        assert!(
            ProbePort::at(&here).is_empty(),
            "these addresses are this host's"
        );
        assert_eq!(addr::decode(&ours.address(|_| false)), None);
        let there = addr::encode(7, [IpAddr::from([192, 0, 2, 1])].into_iter());
        assert_eq!(
            ProbePort::at(&there),
            [SocketAddr::from(([192, 0, 2, 1], 7))]
        );
        assert!(ProbePort::at(&there[1..]).is_empty());
    }
}
