//! Connections that carry nothing and tell whether hosts live, for networks that
//! do not tell it themselves. The kernel of the other host answers, whatever the
//! process does that listens there.

use std::collections::HashMap;
use std::io::{Error, ErrorKind};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use catena_fabric::Peer;

use crate::settings::Config;
use crate::socket::{Options, Socket};

/// What a host that does not answer leads to.
const SILENT: [ErrorKind; 3] = [
    ErrorKind::TimedOut,
    ErrorKind::HostUnreachable,
    ErrorKind::NetworkUnreachable,
];

/// A connection, or why there is none.
#[derive(Debug)]
struct Line {
    socket: Result<Socket, ErrorKind>,
    /// When the first attempt began of those that were not answered.
    since: Instant,
}

impl Line {
    /// What has become of it.
    fn state(&self) -> ErrorKind {
        let heard = self.socket.as_ref().map(|it| it.receive(&mut [0]));
        match heard {
            // Who listens wants nothing of who says nothing.
            Ok(Ok(_)) => ErrorKind::ConnectionReset,
            Ok(Err(error)) => error.kind(),
            Err(kind) => *kind,
        }
    }
}

/// The connections to all peers that are watched.
#[derive(Debug)]
pub struct Lifelines {
    /// How long a host may be silent.
    timeout: Duration,
    at: HashMap<Peer, SocketAddr>,
    lines: HashMap<Peer, Line>,
}

impl Lifelines {
    /// To nobody yet.
    pub fn new(config: Config) -> Lifelines {
        Lifelines {
            timeout: config.timeout,
            at: HashMap::new(),
            lines: HashMap::new(),
        }
    }

    /// A peer listens at that address.
    pub fn learn(&mut self, peer: Peer, at: SocketAddr) {
        self.at.insert(peer, at);
    }

    /// Whether it is known where a peer listens, so that the loss of its host is
    /// noticed. The first look begins to find out, so it is asked now and then.
    /// Never blocks.
    ///
    /// # Errors
    /// The cause, if the host is lost.
    pub fn look(&mut self, peer: Peer) -> Result<bool, String> {
        let Some(&at) = self.at.get(&peer) else {
            return Ok(false);
        };
        let mut since = Instant::now();
        if let Some(line) = self.lines.get(&peer) {
            match line.state() {
                ErrorKind::WouldBlock => return Ok(true),
                kind if SILENT.contains(&kind) => {
                    since = line.since;
                    if since.elapsed() >= self.timeout {
                        let seconds = self.timeout.as_secs();
                        let why = Error::from(kind);
                        return Err(format!("{at} has not answered for {seconds} s: {why}"));
                    }
                }
                // It has answered.
                _ => {}
            }
        }
        let options = Options {
            timeout: self.timeout,
            kernel: None,
        };
        let socket = Socket::connect(at, options).map_err(|error| error.kind());
        self.lines.insert(peer, Line { socket, since });
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, TcpListener};

    const PEER: Peer = Peer(3);

    fn lifelines(timeout: Duration) -> Lifelines {
        Lifelines::new(Config {
            timeout,
            ..Config::tiny()
        })
    }

    #[test]
    fn a_host_that_answers_lives_whoever_listens() {
        let mut lines = lifelines(Duration::ZERO);
        assert_eq!(lines.look(PEER), Ok(false), "nobody knows where it is");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        lines.learn(PEER, listener.local_addr().expect("its address"));
        for _ in 0..3 {
            assert_eq!(lines.look(PEER), Ok(true));
        }
        assert_eq!(lines.lines[&PEER].state(), ErrorKind::WouldBlock);
        drop(listener.accept().expect("a connection"));
        assert_eq!(lines.look(PEER), Ok(true), "it has hung up");
        drop(listener);
        for _ in 0..3 {
            assert_eq!(lines.look(PEER), Ok(true), "its kernel answers for it");
        }
    }

    #[test]
    fn a_host_that_nothing_leads_to_is_lost_after_the_timeout() {
        // Nobody can be called at a multicast address.
        let nowhere = SocketAddr::from((Ipv4Addr::new(224, 0, 0, 1), 9));
        for (timeout, lost) in [(Duration::ZERO, true), (Duration::MAX, false)] {
            let mut lines = lifelines(timeout);
            lines.learn(PEER, nowhere);
            assert_eq!(lines.look(PEER), Ok(true), "the first look only asks");
            match lines.look(PEER) {
                Err(cause) if lost => assert!(cause.starts_with("224.0.0.1:9 has not answered")),
                other => assert_eq!((other, lost), (Ok(true), false)),
            }
        }
    }
}
