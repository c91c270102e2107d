//! What the tests of this folder share.
#![allow(dead_code)]

use std::net::{IpAddr, SocketAddr, TcpStream};

use catena_fabric::{Header, LocalPeer, Peer, Posted, Transport};
use catena_fabric_tests::{Inbox, until};
use catena_proof::Secret;
use catena_tcp::{Config, Tcp};

/// Number of the job of [`connected`].
pub const JOB: u64 = 0x1234_5678_9abc_def0;

/// What the members of that job know.
pub fn secret() -> Secret {
    Secret::from_bytes([7; 32])
}

/// Process `me` of some of a job.
pub fn end(me: u32, processes: u32, job: u64, config: Config) -> Tcp {
    end_with(me, processes, job, secret(), config)
}

/// Process `me` of some of a job whose members know a secret.
pub fn end_with(me: u32, processes: u32, job: u64, secret: Secret, config: Config) -> Tcp {
    let place = LocalPeer {
        me: Peer(me),
        processes,
        job,
    };
    Tcp::open(place, Some(secret), None, in_order, config).expect("a port")
}

/// No order among interfaces but their own.
pub fn in_order(names: &[&str]) -> Vec<usize> {
    (0..names.len()).collect()
}

/// Where a process listens, as it tells others.
pub fn listens_at(to: &Tcp) -> Vec<SocketAddr> {
    let address = to.address().expect("an address");
    let (port, mut rest) = address.split_first_chunk().expect("a port");
    let port = u16::from_le_bytes(*port);
    let mut all = Vec::new();
    while let [kind, after @ ..] = rest {
        let (ip, after) = match kind {
            4 => {
                let (ip, after) = after.split_first_chunk::<4>().expect("an address");
                (IpAddr::from(*ip), after)
            }
            _ => {
                let (ip, after) = after.split_first_chunk::<16>().expect("an address");
                (IpAddr::from(*ip), after)
            }
        };
        all.push(SocketAddr::from((ip, port)));
        rest = after;
    }
    all
}

/// A connection from outside of the job to `to`.
pub fn stranger(to: &Tcp) -> TcpStream {
    TcpStream::connect(listens_at(to)[0]).expect("it listens")
}

/// Two ends that know each other, and have not talked yet.
pub fn pair(config: Config) -> (Tcp, Tcp) {
    let (mut a, mut b) = (end(0, 2, JOB, config), end(1, 2, JOB, config));
    let addresses = [&a, &b].map(|it| it.address().expect("an address"));
    a.connect(Peer(1), &addresses[1]).expect("a good address");
    b.connect(Peer(0), &addresses[0]).expect("a good address");
    (a, b)
}

/// Two ends that have talked.
pub fn connected(config: Config) -> (Tcp, Tcp) {
    let (mut a, mut b) = pair(config);
    let (mut inbox, mut none, mut sent) = (Inbox::default(), Inbox::default(), false);
    until(|| {
        sent = sent || try_send(&mut a, 1, b"hello");
        a.poll(&mut none);
        b.poll(&mut inbox);
        !inbox.packets.is_empty()
    });
    assert_eq!(inbox.packets[0].2, b"hello");
    (a, b)
}

/// Posts a packet to a peer that lives; whether the route took it.
pub fn try_send(from: &mut Tcp, to: u32, bytes: &[u8]) -> bool {
    let posted = from.try_send(Peer(to), Header::default(), bytes);
    posted.expect("it lives") == Posted::Done
}
