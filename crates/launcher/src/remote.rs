//! The way from one launcher to another of the same user, whose jobs connect at a port.
//!
//! The name of a port ends with the way to its launcher: its process number and the space of that,
//! its machine, a secret, and addresses. On the same machine that leads to an abstract socket,
//! whose other end the kernel vouches for; from other hosts over TCP, where both ends prove that
//! they know the secret, as daemons do (`hosts/call.rs`). What is said then are
//! [`Word`](catena_boot::Word)s.

use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use catena_boot::{Interest, Poller};
use catena_proof::Secret;

use crate::elastic;
use crate::hosts::call::{self, Calls};
use crate::hosts::link::Link;
use crate::sys;

/// What the names of the sockets begin with; the user, and what follows from the secret, come
/// after.
const PREFIX: &str = "catena-ports";

/// Longest way, bytes: a port's name has at most 200, of which its own part takes less than 80.
const LONGEST: usize = 120;

/// Bytes of the secret: it stands in the names of ports.
const SECRET: usize = 16;

/// Tokens of the poller: who comes over the socket, what has become of ways, the links, and callers
/// over TCP.
pub const FIRST: u64 = 4 << 32;
const LISTENER: u64 = FIRST;
const FOUND: u64 = FIRST + 1;
const LINKS: u64 = FIRST + 2;
const CALLS: u64 = FIRST + (1 << 20);

/// Most callers that are taken in at once.
const AT_ONCE: usize = 64;

/// How long a caller over TCP may take to prove itself.
const PATIENCE: Duration = Duration::from_secs(10);

/// A way to a launcher, as the name of a port has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortAddress {
    /// Process, user and machine of the launcher.
    pub key: String,
    secret: String,
    addresses: String,
}

impl PortAddress {
    /// The one that the name of a port ends with, if it does.
    pub fn of(port: &str) -> Option<PortAddress> {
        let (_, way) = port.rsplit_once('@')?;
        let mut words = way.split('/');
        let mut next = || words.next().map(str::to_string);
        let way = PortAddress {
            key: next()?,
            secret: next()?,
            addresses: next()?,
        };
        way.secret()?;
        Some(way).filter(|it| it.process().is_some() && it.user().is_some())
    }

    fn text(&self) -> String {
        format!("@{}/{}/{}", self.key, self.secret, self.addresses)
    }

    /// What both launchers know, and nobody who was not told the port.
    pub fn secret(&self) -> Option<Secret> {
        Secret::from_hex(&self.secret.repeat(32 / SECRET))
    }

    fn process(&self) -> Option<u32> {
        self.key.split('.').next()?.parse().ok()
    }

    /// The machine and the network on which it runs.
    fn place(&self) -> Option<&str> {
        self.key.split('.').nth(2)
    }

    /// The user whose launcher it is.
    pub fn user(&self) -> Option<u32> {
        self.key.split('.').nth(1)?.parse().ok()
    }

    /// Goes there.
    ///
    /// # Errors
    /// In words.
    fn follow(&self, limit: Duration) -> Result<OwnedFd, String> {
        let process = self.process().unwrap_or_default();
        let is_here = self.place().is_some_and(|place| place == machine_mark());
        let secret = self.secret().ok_or("its name was changed")?;
        let door = || UnixStream::connect_addr(&address(process, &secret)?);
        if is_here && let Ok(socket) = door() {
            return match elastic::is_trusted(&socket) {
                true => Ok(socket.into()),
                false => Err("another user's process listens where its mpirun would".to_string()),
            };
        }
        if self.addresses.is_empty() {
            return Err(format!(
                "process {process}, its mpirun, is not there any more"
            ));
        }
        let stream = call::call_at(&secret, limit, is_here, &self.addresses)?;
        Ok(stream.into())
    }
}

fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

/// Stands for this machine and its network.
fn machine_mark() -> String {
    format!("{:08x}", hash(&call::machine()))
}

/// Process, user and machine of a launcher of this user's; and the space that its process number is
/// of, as those of several containers of a machine may have one network.
fn key(process: u32) -> String {
    let pids = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let (user, machine, pids) = (sys::user(), machine_mark(), hash(&pids.to_string_lossy()));
    format!("{process}.{user}.{machine}.{pids:08x}")
}

/// The socket of the launcher with that number and secret: the numbers alone are not unique on a
/// network.
fn address(process: u32, secret: &Secret) -> io::Result<SocketAddr> {
    let mark = secret
        .derive(&format!("the door of launcher {process}"))
        .to_hex();
    let name = format!("{PREFIX}-{}-{}", sys::user(), &mark[..16]);
    SocketAddr::from_abstract_name(name.as_bytes())
}

/// Where a launcher is reached by others.
pub struct Listeners {
    way: PortAddress,
    socket: Option<UnixListener>,
    calls: Option<Calls>,
}

/// What threads have found that follow ways.
type Found = (usize, Result<OwnedFd, String>);

/// Ways that are being followed.
pub struct Search {
    found: Receiver<Found>,
    send: Sender<Found>,
    /// Wakes the poller.
    bell: UnixStream,
    ring: UnixStream,
}

impl Search {
    pub fn new(poller: &Poller) -> io::Result<Search> {
        let (bell, ring) = UnixStream::pair()?;
        bell.set_nonblocking(true)?;
        poller.add(&bell, FOUND, Interest::Read)?;
        let (send, found) = channel();
        Ok(Search {
            found,
            send,
            bell,
            ring,
        })
    }

    /// Follows a way, which may take `limit`; what comes of it is known by `number`.
    pub fn begin(&self, way: &PortAddress, number: usize, limit: Duration) -> io::Result<()> {
        let (way, send) = (way.clone(), self.send.clone());
        let mut ring = self.ring.try_clone()?;
        let follow = move || {
            // If nobody wants to know any more, the launcher is ending.
            let _ = send.send((number, way.follow(limit)));
            let _ = ring.write_all(&[0]);
        };
        std::thread::Builder::new().spawn(follow).map(drop)
    }

    /// What has become of ways.
    pub fn take(&self) -> Vec<Found> {
        let mut bytes = [0; 64];
        while sys::read(&self.bell, &mut bytes).is_ok_and(|n| n > 0) {}
        self.found.try_iter().collect()
    }
}

impl Listeners {
    /// Begins to listen.
    ///
    /// # Errors
    /// If the system has no random numbers, or lets this process listen nowhere.
    pub fn open(poller: &Poller) -> io::Result<Listeners> {
        let process = std::process::id();
        let secret: String = Secret::random()?.to_hex()[..2 * SECRET].to_string();
        let mut way = PortAddress {
            key: key(process),
            secret,
            addresses: String::new(),
        };
        let known = way.secret().expect("made just now");
        let listen = || -> io::Result<UnixListener> {
            let listener = UnixListener::bind_addr(&address(process, &known)?)?;
            listener.set_nonblocking(true)?;
            poller.add(&listener, LISTENER, Interest::Read)?;
            Ok(listener)
        };
        let socket = listen();
        let calls = Calls::open(CALLS, known, poller);
        if let (Err(error), Err(_)) = (&socket, &calls) {
            return Err(io::Error::new(error.kind(), error.to_string()));
        }
        // As many as there is room for.
        for at in calls.iter().flat_map(|calls| calls.outward()) {
            let longer = match way.addresses.is_empty() {
                true => at.to_string(),
                false => format!("{},{at}", way.addresses),
            };
            let longer = PortAddress {
                addresses: longer,
                ..way.clone()
            };
            if longer.text().len() <= LONGEST {
                way = longer;
            }
        }
        Ok(Listeners {
            way,
            socket: socket.ok(),
            calls: calls.ok(),
        })
    }

    /// The end of the names of ports.
    pub fn text(&self) -> String {
        self.way.text()
    }

    pub fn secret(&self) -> Secret {
        self.way.secret().expect("made by this launcher")
    }

    /// Handles one of its tokens; gives those who have come.
    pub fn handle(&mut self, token: u64, poller: &Poller) -> Vec<OwnedFd> {
        if token >= CALLS {
            let caller = self.calls.as_mut().and_then(|it| it.handle(token, poller));
            return caller.into_iter().map(|(caller, _)| caller).collect();
        }
        let mut come = Vec::new();
        // One who calls again and again shall not keep the launcher from its other work.
        for _ in 0..AT_ONCE {
            let Some(Ok((socket, _))) = self.socket.as_ref().map(UnixListener::accept) else {
                break;
            };
            if elastic::is_trusted(&socket) {
                come.push(socket.into());
            }
        }
        come
    }

    /// Sends away those that prove nothing.
    pub fn tick(&mut self) {
        if let Some(calls) = &mut self.calls {
            calls.expire(Instant::now(), PATIENCE);
        }
    }

    /// When to call [`Listeners::tick`].
    pub fn next_time(&self) -> Option<Instant> {
        self.calls.as_ref()?.next_time(PATIENCE)
    }
}

/// The process, the user and the machine of this launcher.
pub fn own_key() -> String {
    key(std::process::id())
}

/// What a token is about.
pub enum Token {
    Door,
    Found,
    /// The link with that number.
    Link(usize),
}

/// What one of the tokens from [`FIRST`] on is about.
pub fn about(token: u64) -> Token {
    match token {
        FOUND => Token::Found,
        LINKS..CALLS => Token::Link((token - LINKS) as usize),
        _ => Token::Door,
    }
}

/// A link to another launcher.
///
/// # Errors
/// If descriptors are short.
pub fn link(to: OwnedFd, number: usize, poller: &Poller) -> io::Result<Link> {
    Link::new(to, None, [LINKS + number as u64; 2], poller)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_stand_in_names_of_ports() {
        let way = PortAddress {
            key: key(77),
            secret: "ab".repeat(SECRET),
            addresses: "10.0.0.1:99,[fe80::1]:98".to_string(),
        };
        let port = format!("catena:01:0:3:ff{}", way.text());
        assert_eq!(PortAddress::of(&port), Some(way.clone()));
        assert_eq!(way.process(), Some(77));
        assert_eq!(way.user(), Some(sys::user()));
        let secret = "ab".repeat(SECRET);
        let strange = ["x.0.1", "7.x.1", "7"].map(|key| format!("a@{key}/{secret}/"));
        let strange = strange.iter().map(String::as_str);
        for odd in strange.chain(["catena:1", "a@b", "a@7.0.1/xx/", "@//"]) {
            assert_eq!(PortAddress::of(odd), None, "{odd}");
        }
    }

    #[test]
    fn names_of_ports_are_short() {
        let poller = Poller::new().unwrap();
        let listeners = Listeners::open(&poller).unwrap();
        assert!(listeners.text().len() <= LONGEST, "{}", listeners.text());
        let way = PortAddress::of(&format!("port{}", listeners.text())).unwrap();
        assert_eq!(way.secret().unwrap(), listeners.secret());
        assert_eq!(way.key, own_key());
    }

    #[test]
    fn a_launcher_is_found_on_its_machine() {
        let mut poller = Poller::new().unwrap();
        let mut listeners = Listeners::open(&poller).unwrap();
        let search = Search::new(&poller).unwrap();
        let way = PortAddress::of(&listeners.text()).unwrap();
        search.begin(&way, 5, PATIENCE).unwrap();
        let (mut come, mut found) = (Vec::new(), Vec::new());
        while come.is_empty() || found.is_empty() {
            for token in poller.wait(None).unwrap() {
                match about(token) {
                    Token::Door => come.extend(listeners.handle(token, &poller)),
                    Token::Found => found.extend(search.take()),
                    Token::Link(_) => unreachable!("there is none"),
                }
            }
        }
        assert!(matches!(found[..], [(5, Ok(_))]));
        drop(listeners);
        assert!(way.follow(Duration::from_millis(100)).is_err());
    }
}
