//! Daemons that a resource manager starts call mpirun back over TCP: it has
//! started all of them with one command, whose streams lead to no single one.
//!
//! The manager passes on one variable, which other users cannot see: where
//! mpirun listens, and the secret of the job. Both ends prove that they know it (see
//! [`catena_proof`]); the facts of a call are the names of the daemon's node. The
//! secret itself never crosses the network that mpirun and its daemons talk over.
//! Others are cut off at their first word, and what they cost is bounded ([`Door`]).

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use catena_boot::wire::{Inbox, Malformed, Reader, Writer};
use catena_boot::{Interest, Poller};
use catena_job::MessageKind;
use catena_proof::{CALL, Callee, Caller, Door, Protocol, Secret};

use super::link::Link;
use crate::sys;

/// The variable that tells a daemon to call back: `<secret> <limit in ms> <machine>
/// <addresses>`, the addresses with commas between them.
pub const VAR: &str = "CATENA_DAEMON";

/// Variables by which resource managers name the node that a process is on.
const NAMES: [&str; 2] = ["SLURMD_NODENAME", "PALS_NODENAME"];

const PROTOCOL: Protocol = Protocol("catena daemon 1");

/// Longest word of a caller, bytes.
const MAX_CALL: usize = 4096;

/// Callers that are taken in at once, at most.
const AT_ONCE: usize = 16;

/// Calls that mpirun may hang up on, at most, and the pause after each.
const CALLS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(50);

/// Somebody who calls.
struct Guest {
    link: Link,
    /// What it has said, and the challenge that it was given.
    challenged: Option<(Callee, Vec<String>)>,
}

/// Where daemons call back.
pub struct Calls {
    listeners: Vec<TcpListener>,
    secret: Secret,
    /// Tokens of the poller: one for each listener, then one for each caller.
    token: u64,
    guests: Vec<Option<Guest>>,
    door: Door<usize>,
}

impl Calls {
    /// Begins to listen at the addresses of this host that daemons are told, for
    /// those that know `secret`.
    pub fn open(token: u64, secret: Secret, poller: &Poller) -> io::Result<Calls> {
        let loopback = IpAddr::from(Ipv4Addr::LOCALHOST);
        let mut listeners: Vec<TcpListener> = Vec::new();
        let mut failed = None;
        for at in [loopback].into_iter().chain(sys::addresses()) {
            match TcpListener::bind((at, 0)) {
                Ok(listener) => listeners.push(listener),
                Err(error) => failed = Some(error),
            }
        }
        if let (true, Some(error)) = (listeners.is_empty(), failed) {
            return Err(error);
        }
        for (token, listener) in (token..).zip(&listeners) {
            listener.set_nonblocking(true)?;
            poller.add(listener, token, Interest::Read)?;
        }
        Ok(Calls {
            listeners,
            secret,
            token,
            guests: Vec::new(),
            door: Door::default(),
        })
    }

    /// Value of [`VAR`] for daemons that shall try no longer than `limit`.
    pub fn place(&self, limit: Duration) -> io::Result<String> {
        let at = self.listeners.iter().map(TcpListener::local_addr);
        let at: Vec<String> = at
            .map(|at| at.map(|at| at.to_string()))
            .collect::<Result<_, _>>()?;
        Ok(format!(
            "{} {} {} {}",
            self.secret.to_hex(),
            limit.as_millis(),
            machine(),
            at.join(",")
        ))
    }

    /// The addresses that lead here from other hosts.
    pub fn outward(&self) -> impl Iterator<Item = SocketAddr> + '_ {
        let all = self.listeners.iter().filter_map(|it| it.local_addr().ok());
        all.filter(|at| !at.ip().is_loopback())
    }

    /// Handles one of its tokens; gives a caller that has proven that it is a
    /// daemon, and the names of its node.
    pub fn handle(&mut self, token: u64, poller: &Poller) -> Option<(OwnedFd, Vec<String>)> {
        let number = (token - self.token) as usize;
        let Some(index) = number.checked_sub(self.listeners.len()) else {
            self.accept(number, poller);
            return None;
        };
        let mut guest = self.guests.get_mut(index)?.take()?;
        match self.hear(index, &mut guest, poller) {
            Ok(None) => self.guests[index] = Some(guest),
            Ok(Some(names)) => {
                self.door.pass(index);
                return Some((guest.link.into_input(poller), names));
            }
            // Not one of ours: it is told nothing.
            Err(NotADaemon) => self.door.leave(index),
        }
        None
    }

    /// Takes in what a caller says; gives the names of its node when it has proven
    /// itself.
    fn hear(
        &mut self,
        index: usize,
        guest: &mut Guest,
        poller: &Poller,
    ) -> Result<Option<Vec<String>>, NotADaemon> {
        let received = guest.link.receive();
        while let Some((kind, said)) = guest.link.next().map_err(|_| NotADaemon)? {
            if kind != MessageKind::Hello {
                return Err(NotADaemon);
            }
            let Some((callee, names)) = guest.challenged.take() else {
                let names = catena_proof::facts(&said).map(read_names);
                let names = names.and_then(Result::ok).ok_or(NotADaemon)?;
                let answer = Callee::answer(PROTOCOL, &self.secret, &said);
                let (callee, challenge) = answer.map_err(|_| NotADaemon)?;
                let mut hash = DefaultHasher::new();
                names.hash(&mut hash);
                if let Some(earlier) = self.door.vouch(index, hash.finish() as u32) {
                    self.guests[earlier] = None;
                }
                guest.challenged = Some((callee, names));
                guest.link.push(hello(&challenge));
                guest.link.flush(poller).map_err(|_| NotADaemon)?;
                continue;
            };
            let proof = said.as_slice().try_into().map_err(|_| NotADaemon)?;
            let welcome = callee.welcome(proof).map_err(|_| NotADaemon)?;
            guest.link.push(hello(&welcome));
            guest.link.flush(poller).map_err(|_| NotADaemon)?;
            // It waits for the answer, and has said nothing more.
            return Ok(Some(names));
        }
        received.map(|()| None).map_err(|_| NotADaemon)
    }

    /// Sends callers away that have proven nothing for `limit`.
    pub fn expire(&mut self, now: Instant, limit: Duration) {
        while let Some(late) = self.door.overdue(now, limit) {
            self.door.leave(late);
            self.guests[late] = None;
        }
    }

    /// When to call [`Calls::expire`] again.
    pub fn next_time(&self, limit: Duration) -> Option<Instant> {
        // The limit has passed then, not only been reached.
        Some(self.door.deadline(limit)? + Duration::from_millis(1))
    }

    fn accept(&mut self, listener: usize, poller: &Poller) {
        for _ in 0..AT_ONCE {
            let Ok((stream, from)) = self.listeners[listener].accept() else {
                return;
            };
            let free = self.guests.iter().position(Option::is_none);
            let index = free.unwrap_or(self.guests.len());
            let token = self.token + (self.listeners.len() + index) as u64;
            // Without delay: the messages are short, and each is waited for.
            let link = stream
                .set_nodelay(true)
                .and_then(|()| Link::new(stream.into(), None, [token; 2], poller));
            let Ok(link) = link else { continue };
            let guest = Guest {
                link: link.limited(MAX_CALL),
                challenged: None,
            };
            match free {
                Some(index) => self.guests[index] = Some(guest),
                None => self.guests.push(Some(guest)),
            }
            if let Some(gone) = self.door.enter(index, from.ip(), Instant::now()) {
                self.guests[gone] = None;
            }
        }
    }
}

/// Somebody who is no daemon of this job.
struct NotADaemon;

/// A frame of the handshake.
fn hello(message: &[u8]) -> Vec<u8> {
    let mut w = Writer::new(MessageKind::Hello);
    w.raw(message);
    w.finish()
}

/// The names that a caller gives its node.
pub(super) fn read_names(facts: &[u8]) -> Result<Vec<String>, Malformed> {
    let mut r = Reader::new(facts);
    let names = (0..r.count(4)?).map(|_| r.text()).collect();
    match r.is_empty() {
        true => names,
        false => Err(Malformed("more than names")),
    }
}

/// What two processes have in common that reach each other over loopback.
pub fn machine() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let network = std::fs::read_link("/proc/self/ns/net").unwrap_or_default();
    let network: String = network.to_string_lossy().replace(char::is_whitespace, "");
    format!("{}/{network}", boot.trim())
}

/// Calls mpirun as `place`, the value of [`VAR`], says. Gives the connection, when
/// both ends have proven that they know the secret, and the secret.
///
/// # Errors
/// In words, with the addresses that were tried.
pub fn call(place: &str) -> Result<(TcpStream, Secret), String> {
    let wrong = || format!("{VAR} was not written by mpirun of this version");
    let words: Vec<&str> = place.split(' ').collect();
    let &[secret, limit, of, addresses] = &words[..] else {
        return Err(wrong());
    };
    let (Some(secret), Ok(limit)) = (Secret::from_hex(secret), limit.parse()) else {
        return Err(wrong());
    };
    let limit = Duration::from_millis(limit);
    let stream = call_at(&secret, limit, of == machine(), addresses)?;
    Ok((stream, secret))
}

/// Calls a launcher that knows `secret` at these addresses, with commas between them, for `limit`
/// at most. `same` says that it is on this machine. Gives the connection, when both ends have
/// proven that they know the secret.
///
/// # Errors
/// As [`call`].
pub fn call_at(
    secret: &Secret,
    limit: Duration,
    same: bool,
    addresses: &str,
) -> Result<TcpStream, String> {
    // Addresses of this host, loopback among them, lead to mpirun only if that
    // is here; else to a stranger, which proves nothing. If there is no other one, it is here after
    // all, and only looks as if it were elsewhere: a container's boot id may be its own.
    let mut own = sys::addresses();
    own.extend([IpAddr::V4(Ipv4Addr::LOCALHOST)]);
    let all = addresses.split(',').filter_map(|it| it.parse().ok());
    let mut addresses: Vec<SocketAddr> = all.collect();
    let elsewhere = |address: &SocketAddr| !own.contains(&address.ip());
    if !same && addresses.iter().any(elsewhere) {
        addresses.retain(elsewhere);
    }
    let until = Instant::now() + limit;
    let mut calls = 0;
    loop {
        let stream = first(&addresses, until).map_err(|causes| {
            format!(
                "mpirun cannot be reached: {}; a firewall may be in the way",
                causes.join(", ")
            )
        })?;
        calls += 1;
        match greet(&stream, secret, until) {
            Ok(()) => return Ok(stream),
            // With too many callers, mpirun hangs up on some.
            Err(_) if calls < CALLS && Instant::now() < until => std::thread::sleep(PAUSE),
            Err(error) => {
                return Err(format!(
                    "what listens where mpirun should be did not prove that it is mpirun: {error}; \
                     another program may have taken its place, or the network may be in trouble"
                ));
            }
        }
    }
}

/// Has both ends prove that they know the secret.
fn greet(mut stream: &TcpStream, secret: &Secret, until: Instant) -> io::Result<()> {
    let left = until.saturating_duration_since(Instant::now());
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
    let mut names: Vec<String> = NAMES
        .iter()
        .filter_map(|name| std::env::var(name).ok())
        .collect();
    names.push(catena_boot::host_name());
    let mut facts = Writer::new(MessageKind::Hello);
    facts.u32(names.len() as u32);
    for name in &names {
        facts.bytes(name.as_bytes());
    }
    let (caller, call) = Caller::call(PROTOCOL, secret, &facts.into_body())?;
    stream.write_all(&hello(&call))?;
    let (caller, proof) = caller.prove(&hear(stream)?);
    stream.write_all(&hello(&proof))?;
    caller.finish(&hear(stream)?).map_err(io::Error::other)
}

/// Reads a message of the handshake, and not a byte more.
fn hear<const N: usize>(mut stream: &TcpStream) -> io::Result<[u8; N]> {
    let mut frame = vec![0; hello(&[0; N]).len()];
    io::Read::read_exact(&mut stream, &mut frame)?;
    let mut inbox = Inbox::default();
    inbox.push(&frame);
    let said = match inbox.next(CALL) {
        Ok(Some((kind, said))) if kind == u8::from(MessageKind::Hello) => said.try_into().ok(),
        _ => None,
    };
    said.ok_or_else(|| io::Error::other("it does not speak Catena's protocol of this version"))
}

/// The first connection that comes about: all are tried at once.
fn first(addresses: &[SocketAddr], until: Instant) -> Result<TcpStream, Vec<String>> {
    let mut causes = vec!["it named no address".to_string()];
    let mut tried = Vec::new();
    let poller = Poller::new();
    let Ok(mut poller) = poller else {
        return Err(causes);
    };
    if !addresses.is_empty() {
        causes.clear();
    }
    for (token, address) in (0..).zip(addresses) {
        let begun = sys::begin_connect(address);
        let begun = begun.and_then(|s| poller.add(&s, token, Interest::Write).map(|()| s));
        tried.push(
            begun
                .map_err(|e| causes.push(format!("{address}: {e}")))
                .ok(),
        );
    }
    while tried.iter().any(Option::is_some) {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        for token in poller.wait(Some(left)).unwrap_or_default() {
            let Some(stream) = tried[token as usize].take() else {
                continue;
            };
            let _ = poller.remove(&stream);
            match stream.take_error() {
                Ok(None) => return Ok(stream),
                Ok(Some(error)) | Err(error) => {
                    causes.push(format!("{}: {error}", addresses[token as usize]));
                }
            }
        }
    }
    let late = tried
        .iter()
        .zip(addresses)
        .filter(|(stream, _)| stream.is_some());
    causes.extend(late.map(|(_, address)| format!("{address}: no answer")));
    Err(causes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn secret() -> Secret {
        Secret::from_bytes([3; 32])
    }

    /// Where an open one listens on loopback.
    fn loopback(calls: &Calls) -> SocketAddr {
        calls.listeners[0].local_addr().unwrap()
    }

    /// Serves callers until one is a daemon or `done` says so.
    fn serve(
        calls: &mut Calls,
        poller: &mut Poller,
        mut done: impl FnMut(&Calls) -> bool,
    ) -> Option<Vec<String>> {
        while !done(calls) {
            for token in poller.wait(Some(Duration::from_millis(1))).unwrap() {
                if let Some((_, names)) = calls.handle(token, poller) {
                    return Some(names);
                }
            }
        }
        None
    }

    #[test]
    fn callers_that_know_the_secret_are_taken_in() {
        let mut poller = Poller::new().unwrap();
        let mut calls = Calls::open(100, secret(), &poller).unwrap();
        let place = calls.place(Duration::from_secs(10)).unwrap();
        let mut stranger = TcpStream::connect(loopback(&calls)).unwrap();
        stranger.write_all(b"GET / HTTP/1.0\r\n\r\n").unwrap();
        let daemon = std::thread::spawn(move || call(&place).unwrap().1);
        let names = serve(&mut calls, &mut poller, |_| false).unwrap();
        assert!(names.contains(&catena_boot::host_name()));
        assert_eq!(daemon.join().unwrap(), secret());
        assert_eq!(stranger.read(&mut [0; 8]).unwrap_or(0), 0, "told nothing");
    }

    #[test]
    fn a_launcher_whose_addresses_are_all_of_this_host_is_called_there() {
        let mut poller = Poller::new().unwrap();
        let mut calls = Calls::open(100, secret(), &poller).unwrap();
        let at = loopback(&calls).to_string();
        let limit = Duration::from_secs(60);
        let guest = std::thread::spawn(move || call_at(&secret(), limit, false, &at).is_ok());
        assert!(serve(&mut calls, &mut poller, |_| guest.is_finished()).is_some());
        assert!(guest.join().unwrap());
    }

    #[test]
    fn another_secret_and_a_record_are_refused() {
        let mut poller = Poller::new().unwrap();
        let mut calls = Calls::open(100, secret(), &poller).unwrap();
        let place = calls.place(Duration::from_secs(60)).unwrap();
        let other = place.replace(&secret().to_hex(), &"ab".repeat(32));
        let forger = std::thread::spawn(move || call(&other).unwrap_err());
        let taken = serve(&mut calls, &mut poller, |_| forger.is_finished());
        assert_eq!(taken, None);
        let error = forger.join().unwrap();
        assert!(error.contains("did not prove"), "{error}");

        // A sound call that was heard on the wire, and the proof that followed.
        let mut facts = Writer::new(MessageKind::Hello);
        facts.u32(0);
        let (caller, said) = Caller::call(PROTOCOL, &secret(), &facts.into_body()).unwrap();
        let (_, proof) = caller.prove(&[9; 16]);
        let mut thief = TcpStream::connect(loopback(&calls)).unwrap();
        thief.write_all(&hello(&said)).unwrap();
        thief.write_all(&hello(&proof)).unwrap();
        thief.set_nonblocking(true).unwrap();
        let mut heard = Vec::new();
        let closed = |_: &Calls| match thief.read_to_end(&mut heard) {
            Ok(_) => true,
            Err(error) => error.kind() != io::ErrorKind::WouldBlock,
        };
        assert_eq!(serve(&mut calls, &mut poller, closed), None);
        let challenge = hello(&[0; 16]).len();
        assert_eq!(heard.len(), challenge, "a challenge and no welcome");
    }

    #[test]
    fn strangers_that_say_nothing_are_few_and_do_not_stay() {
        let mut poller = Poller::new().unwrap();
        let mut calls = Calls::open(100, secret(), &poller).unwrap();
        let place = calls.place(Duration::from_secs(60)).unwrap();
        let at = loopback(&calls);
        let few = |calls: &Calls| assert!(calls.guests.iter().flatten().count() <= 64);
        let mut crowd = Vec::new();
        for _ in 0..10 {
            crowd.extend((0..50).map(|_| TcpStream::connect(at).unwrap()));
            loop {
                let ready = poller.wait(Some(Duration::ZERO)).unwrap();
                if ready.is_empty() {
                    break;
                }
                for token in ready {
                    assert!(calls.handle(token, &poller).is_none());
                    few(&calls);
                }
            }
        }
        let daemon = std::thread::spawn(move || call(&place).is_ok());
        let bounded = |calls: &Calls| {
            few(calls);
            false
        };
        assert!(serve(&mut calls, &mut poller, bounded).is_some());
        assert!(daemon.join().unwrap(), "it comes in all the same");
        let limit = Duration::from_secs(1);
        let late = calls.next_time(limit).unwrap() + limit;
        calls.expire(late, limit);
        assert!(calls.guests.iter().all(Option::is_none));
        drop(crowd);
    }

    #[test]
    fn it_listens_where_daemons_are_told_and_nowhere_else() {
        let poller = Poller::new().unwrap();
        let calls = Calls::open(100, secret(), &poller).unwrap();
        for listener in &calls.listeners {
            assert!(!listener.local_addr().unwrap().ip().is_unspecified());
        }
    }

    #[test]
    fn what_cannot_be_reached_is_told() {
        let nowhere = format!("{} 1000 {} ", secret().to_hex(), machine());
        assert!(call(&nowhere).unwrap_err().contains("named no address"));
        for nonsense in ["", "1 2 3", "xx 1 2 3"] {
            assert!(call(nonsense).unwrap_err().contains(VAR));
        }
        let free = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap();
        let place = format!("{} 1000 {} {free}", secret().to_hex(), machine());
        let error = call(&place).unwrap_err();
        assert!(
            error.contains(&free.to_string()) && error.contains("firewall"),
            "{error}"
        );
    }
}
