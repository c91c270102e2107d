//! Daemons that a resource manager starts call mpirun back over TCP: it has
//! started all of them with one command, whose streams lead to no single one.
//!
//! The manager passes on one variable, which other users cannot see: where
//! mpirun listens, and a cookie. Whoever knows the cookie is taken for the
//! daemon on the node that it names; others are cut off at their first word.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use catena_boot::wire::{COOKIE, Malformed, Reader, Writer};
use catena_boot::{Interest, Poller};

use super::link::Link;
use crate::message::Kind;
use crate::sys;

/// The variable that tells a daemon to call back: `<cookie> <limit in ms> <machine>
/// <addresses>`, the addresses with commas between them.
pub const VAR: &str = "CATENA_DAEMON";

/// Variables by which resource managers name the node that a process is on.
const NAMES: [&str; 2] = ["SLURMD_NODENAME", "PALS_NODENAME"];

/// Longest first word of a caller, bytes.
const MAX_CALL: usize = 4096;

/// Most callers that have not said yet who they are.
const MAX_CALLERS: usize = 4096;

/// Where daemons call back.
pub struct Calls {
    listener: TcpListener,
    cookie: [u8; COOKIE],
    /// First token of the poller: the listener's, then two for each caller.
    token: u64,
    callers: Vec<Option<Link>>,
}

impl Calls {
    /// Begins to listen, at all addresses.
    pub fn open(token: u64, poller: &Poller) -> io::Result<Calls> {
        let listener = TcpListener::bind("[::]:0").or_else(|_| TcpListener::bind("0.0.0.0:0"))?;
        listener.set_nonblocking(true)?;
        poller.add(&listener, token, Interest::Read)?;
        let mut cookie = [0; COOKIE];
        for part in cookie.chunks_mut(8) {
            part.copy_from_slice(&catena_boot::server::job_id()?.to_le_bytes());
        }
        Ok(Calls {
            listener,
            cookie,
            token,
            callers: Vec::new(),
        })
    }

    /// Value of [`VAR`] for daemons that shall try no longer than `limit`.
    pub fn place(&self, limit: Duration) -> io::Result<String> {
        let port = self.listener.local_addr()?.port();
        let hex: String = self.cookie.iter().map(|b| format!("{b:02x}")).collect();
        let at = |ip| SocketAddr::new(ip, port).to_string();
        let addresses: Vec<String> = sys::addresses().into_iter().map(at).collect();
        Ok(format!(
            "{hex} {} {} {},{}",
            limit.as_millis(),
            machine(),
            at(Ipv4Addr::LOCALHOST.into()),
            addresses.join(",")
        ))
    }

    /// Handles one of its tokens; gives a caller that has said the names of its
    /// node.
    pub fn handle(&mut self, token: u64, poller: &Poller) -> Option<(OwnedFd, Vec<String>)> {
        if token == self.token {
            self.accept(poller);
            return None;
        }
        let slot = self.callers.get_mut((token - self.token - 1) as usize)?;
        let mut caller = slot.take()?;
        let received = caller.receive();
        match caller.next() {
            Ok(Some((Kind::Hello, body))) if body.len() <= MAX_CALL => {
                let names = check(&body, &self.cookie).ok()?;
                Some((caller.into_input(poller), names))
            }
            Ok(None) if received.is_ok() => {
                *slot = Some(caller);
                None
            }
            // Not one of ours.
            _ => None,
        }
    }

    fn accept(&mut self, poller: &Poller) {
        while let Ok((stream, _)) = self.listener.accept() {
            let free = self.callers.iter().position(Option::is_none);
            let index = free.unwrap_or(self.callers.len());
            if index >= MAX_CALLERS || stream.set_nodelay(true).is_err() {
                continue;
            }
            let token = self.token + 1 + index as u64;
            let Ok(link) = Link::new(stream.into(), None, [token; 2], poller) else {
                continue;
            };
            match free {
                Some(index) => self.callers[index] = Some(link.limited(MAX_CALL)),
                None => self.callers.push(Some(link.limited(MAX_CALL))),
            }
        }
    }
}

/// The names that a caller gives its node, if it knows the cookie.
fn check(body: &[u8], cookie: &[u8; COOKIE]) -> Result<Vec<String>, Malformed> {
    let mut r = Reader::new(body);
    if r.raw(COOKIE)? != cookie {
        return Err(Malformed("the cookie is wrong"));
    }
    (0..r.count(4)?).map(|_| r.text()).collect()
}

/// What two processes have in common that reach each other over loopback.
fn machine() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let network = std::fs::read_link("/proc/self/ns/net").unwrap_or_default();
    let network: String = network.to_string_lossy().replace(char::is_whitespace, "");
    format!("{}/{network}", boot.trim())
}

/// Calls mpirun as `place`, the value of [`VAR`], says.
///
/// # Errors
/// In words, with the addresses that were tried.
pub fn call(place: &str) -> Result<(TcpStream, Vec<u8>), String> {
    let wrong = || format!("{VAR} was not written by mpirun of this version");
    let words: Vec<&str> = place.split(' ').collect();
    let &[hex, limit, of, addresses] = &words[..] else {
        return Err(wrong());
    };
    if hex.len() != 2 * COOKIE || !hex.is_ascii() {
        return Err(wrong());
    }
    let cookie: Result<Vec<u8>, _> = (0..COOKIE)
        .map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16))
        .collect();
    let (Ok(cookie), Ok(limit)) = (cookie, limit.parse()) else {
        return Err(wrong());
    };
    // Addresses of this host, loopback among them, lead to mpirun only if that
    // is here; else to a stranger.
    let same = of == machine();
    let mut own = sys::addresses();
    own.extend([IpAddr::V4(Ipv4Addr::LOCALHOST)]);
    let addresses: Vec<SocketAddr> = addresses
        .split(',')
        .filter_map(|address| address.parse().ok())
        .filter(|address: &SocketAddr| same || !own.contains(&address.ip()))
        .collect();
    let stream = first(&addresses, Duration::from_millis(limit)).map_err(|causes| {
        format!(
            "mpirun cannot be reached: {}; a firewall may be in the way",
            causes.join(", ")
        )
    })?;
    let mut w = Writer::new(Kind::Hello);
    w.raw(&cookie);
    let mut names: Vec<String> = NAMES
        .iter()
        .filter_map(|name| std::env::var(name).ok())
        .collect();
    names.push(catena_boot::host_name());
    w.u32(names.len() as u32);
    for name in &names {
        w.bytes(name.as_bytes());
    }
    Ok((stream, w.finish()))
}

/// The first connection that comes about: all are tried at once.
fn first(addresses: &[SocketAddr], limit: Duration) -> Result<TcpStream, Vec<String>> {
    let until = Instant::now() + limit;
    let mut causes = vec!["it named no address".to_string()];
    let mut tried = Vec::new();
    let poller = Poller::new();
    let Ok(mut poller) = poller else {
        return Err(causes);
    };
    causes.clear();
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

    #[test]
    fn callers_with_the_cookie_are_taken_in() {
        let mut poller = Poller::new().unwrap();
        let mut calls = Calls::open(100, &poller).unwrap();
        let place = calls.place(Duration::from_secs(10)).unwrap();
        // A stranger, and one with another cookie.
        let (mut stranger, _) = call(&place).unwrap();
        io::Write::write_all(&mut stranger, b"GET / HTTP/1.0\r\n\r\n").unwrap();
        let forged = place.replacen(&place[..4], "0000", 1);
        let (mut forger, hello) = call(&forged).unwrap();
        io::Write::write_all(&mut forger, &hello).unwrap();
        let (mut stream, hello) = call(&place).unwrap();
        io::Write::write_all(&mut stream, &hello).unwrap();
        let names = 'found: loop {
            for token in poller.wait(None).unwrap() {
                if let Some((_, names)) = calls.handle(token, &poller) {
                    break 'found names;
                }
            }
        };
        assert!(names.contains(&catena_boot::host_name()));
    }

    #[test]
    fn what_cannot_be_reached_is_told() {
        for nonsense in ["", "1 2 3", "xx 1 2 3"] {
            assert!(call(nonsense).unwrap_err().contains(VAR));
        }
        let free = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap();
        let place = format!("{} 1000 {} {free}", "00".repeat(COOKIE), machine());
        let error = call(&place).unwrap_err();
        assert!(
            error.contains(&free.to_string()) && error.contains("firewall"),
            "{error}"
        );
    }
}
