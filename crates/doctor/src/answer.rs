//! What a host says of itself, and of its way to others: the command as it runs on each host.
//!
//! It talks in lines with the command that has started it, in this order:
//!
//! ```text
//! > catena doctor VERSION            first of all
//! > at TOKEN ADDRESS:PORT ...        where it can be called
//! > fact NAME VALUE                  what should be alike on all hosts
//! > found WEIGHT <tab> ABOUT <tab> CAUSE <tab> REMEDY
//! > ready                            nothing more comes by itself
//! < call HOST TOKEN ADDRESS:PORT ...
//! > called HOST ADDRESS:PORT OUTCOME one for each address; the outcome is empty if it is right
//! > done HOST
//! ```
//!
//! It ends with its standard input.

use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, BufRead, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use catena_launcher::own_addresses;

use crate::finding::{Finding, Weight};
use crate::libraries::Library;
use crate::machine::System;
use crate::{copies, libraries, machine, network};

/// The option by which this command answers; no user gives it. The numbers of ranks and of threads
/// of each follow.
pub const OPTION: &str = "--answer";

/// How long a host looks at itself at most.
const LOOKS: Duration = Duration::from_secs(6);

/// How long a call takes at most.
const CALL: Duration = Duration::from_secs(2);

/// Answers to the command that has started this one; `ranks` shall run here, of `threads` each.
pub fn answer(own: &[OsString], ranks: u32, threads: u32) -> i32 {
    say(format_args!("catena doctor {}", env!("CARGO_PKG_VERSION")));
    let token = System::here()
        .text("/proc/sys/kernel/random/uuid")
        .unwrap_or_default();
    match listen(&token) {
        Ok(port) => say(format_args!("at {token}{}", addresses(port))),
        Err(error) => {
            let cause = format!("no port can be listened at: {error}");
            let finding = Finding::new(Weight::Broken, "network", cause, "");
            say(format_args!("found {}", finding.to_line()));
        }
    }
    look(own, ranks, threads);
    say("ready");
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let words: Vec<&str> = line.split(' ').collect();
        if let ["call", host, token, addresses @ ..] = &words[..] {
            call(host, token, addresses);
        }
    }
    0
}

/// Says a line; whoever does not listen any more has ended this process's task.
fn say(line: impl Display) {
    let mut out = io::stdout().lock();
    if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
        std::process::exit(1);
    }
}

/// The addresses at which others may call, each after a blank.
fn addresses(port: u16) -> String {
    let link = |address: &IpAddr| matches!(address, IpAddr::V6(it) if it.is_unicast_link_local());
    let own = own_addresses().into_iter().filter(|it| !link(it));
    own.map(|it| format!(" {}", SocketAddr::new(it, port)))
        .collect()
}

/// Tells `token` to everybody who calls; gives the port.
fn listen(token: &str) -> io::Result<u16> {
    // Linux takes calls of both kinds there, unless it has no IPv6.
    let listener = TcpListener::bind((Ipv6Addr::UNSPECIFIED, 0))
        .or_else(|_| TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)))?;
    let port = listener.local_addr()?.port();
    let token = token.to_string();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            // Whoever has hung up does not want to know.
            _ = stream.write_all(token.as_bytes());
        }
    });
    Ok(port)
}

/// Calls a host at each of its addresses, all at once.
fn call(host: &str, token: &str, addresses: &[&str]) {
    thread::scope(|scope| {
        for address in addresses {
            scope.spawn(move || {
                let outcome = reach(address, token).err().unwrap_or_default();
                say(format_args!("called {host} {address} {outcome}"));
            });
        }
    });
    say(format_args!("done {host}"));
}

fn reach(address: &str, token: &str) -> Result<(), String> {
    let at: SocketAddr = address
        .parse()
        .map_err(|_| "it is no address".to_string())?;
    let stream = TcpStream::connect_timeout(&at, CALL);
    let mut stream = stream.map_err(|error| match error.kind() {
        io::ErrorKind::TimedOut => "no answer".to_string(),
        _ => error.to_string(),
    })?;
    let mut told = vec![0; token.len()];
    let read = stream
        .set_read_timeout(Some(CALL))
        .and_then(|()| stream.read_exact(&mut told));
    match read {
        Ok(()) if told == token.as_bytes() => Ok(()),
        Ok(()) | Err(_) => Err("another host, or another program, is there".to_string()),
    }
}

type Look = Box<dyn FnOnce() -> Vec<Finding> + Send>;

/// Looks at everything at the same time, and tells what was found.
fn look(own: &[OsString], ranks: u32, threads: u32) {
    let looks: [(&'static str, Look); 9] = [
        (
            "cores",
            Box::new(move || machine::cores(&System::here(), ranks, threads)),
        ),
        ("speed", Box::new(|| machine::speed(&System::here()))),
        ("memory", Box::new(|| machine::memory(&System::here()))),
        (
            "limits",
            Box::new(move || machine::limits(&System::here(), ranks)),
        ),
        ("devices", Box::new(|| machine::devices(&System::here()))),
        (
            "leftovers",
            Box::new(|| machine::leftovers(&System::here())),
        ),
        (
            "name",
            Box::new(|| network::name(&catena_boot::host_name())),
        ),
        ("network", Box::new(network::reach)),
        ("copies", {
            let own = own.to_vec();
            Box::new(move || copies::copies(&System::here(), &own))
        }),
    ];
    let libraries = Library::ALL.map(|library| {
        let own = own.to_vec();
        let look: Look = Box::new(move || {
            let version = libraries::version(library, &own);
            if let Ok(version) = &version {
                say(format_args!("fact {} {version}", library.name()));
            }
            libraries::judge(library, &version, &System::here())
        });
        (library.name(), look)
    });
    let model = System::here().field("/proc/cpuinfo", "model name");
    say(format_args!("fact processor {}", model.unwrap_or_default()));
    let (to, from) = channel();
    let mut open = Vec::new();
    for (name, look) in looks.into_iter().chain(libraries) {
        let to = to.clone();
        open.push(name);
        thread::spawn(move || to.send((name, look())));
    }
    drop(to);
    let until = Instant::now() + LOOKS;
    while !open.is_empty() {
        match from.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok((name, found)) => {
                open.retain(|it| *it != name);
                for finding in found {
                    say(format_args!("found {}", finding.to_line()));
                }
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
        }
    }
    for name in open {
        let cause = format!("looking at it did not end within {} s", LOOKS.as_secs());
        let remedy = "see whether a file system or a name server hangs";
        let finding = Finding::new(Weight::Note, name, cause, remedy);
        say(format_args!("found {}", finding.to_line()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_called_proves_who_it_is() {
        let port = listen("right").unwrap();
        let at = format!("127.0.0.1:{port}");
        assert_eq!(reach(&at, "right"), Ok(()));
        assert!(reach(&at, "wrong").unwrap_err().contains("another host"));
        assert!(reach("nonsense", "right").is_err());
        // A port that nobody has any more.
        let free = TcpListener::bind("127.0.0.1:0")
            .and_then(|it| it.local_addr())
            .unwrap();
        assert!(
            reach(&free.to_string(), "right")
                .unwrap_err()
                .contains("refused")
        );
    }
}
