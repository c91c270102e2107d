//! Doors: whoever does not know the secret of a job stays outside, and costs little.
//! Every test here has an attacker who knows all that was ever on the wire, or in a
//! name, but not the secret.

mod common;

use std::fs;
use std::io::{Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use catena_fabric::{Header, LocalPeer, Peer, Transport};
use catena_fabric_tests::{Inbox, pattern, until};
use catena_proof::{Caller, Protocol, Secret, TAG};
use catena_tcp::greeting::{CALL, CHALLENGE, parse, parse_challenge};
use catena_tcp::{Config, Tcp, TcpError};
use proptest::prelude::*;

use common::{
    JOB, connected, end, end_with, in_order, listens_at, pair, secret, stranger, try_send,
};

const PROTOCOL: Protocol = Protocol("catena tcp");

/// What rank `from` says in the clear when it calls rank `to`.
fn facts(from: u32, to: u32, packet: usize) -> Vec<u8> {
    let name = |rank: u32| [&JOB.to_le_bytes()[..], &rank.to_le_bytes()].concat();
    let halves = [0x03_43_54_4e_u32, packet as u32];
    let mut bytes: Vec<u8> = halves.iter().flat_map(|half| half.to_le_bytes()).collect();
    bytes.extend([name(from), name(to)].concat());
    bytes
}

/// Reads `len` bytes of a connection with `a` while `a` polls; nothing if it closes
/// the connection first.
fn hear(a: &mut Tcp, from: &mut TcpStream, len: usize) -> Option<Vec<u8>> {
    from.set_nonblocking(true).expect("a socket");
    let (mut bytes, mut closed) = (Vec::new(), false);
    until(|| {
        a.poll(&mut Inbox::default());
        let mut room = vec![0; len - bytes.len()];
        match from.read(&mut room) {
            Ok(0) => closed = true,
            Ok(n) => bytes.extend(&room[..n]),
            Err(error) => closed = error.kind() != std::io::ErrorKind::WouldBlock,
        }
        closed || bytes.len() == len
    });
    from.set_nonblocking(false).expect("a socket");
    (!closed).then_some(bytes)
}

/// Calls `a`, rank 0, as rank 1 that knows the secret: the connection, and what it
/// has said.
fn member(a: &mut Tcp, packet: usize) -> (TcpStream, Vec<u8>, Vec<u8>) {
    let mut stream = stranger(a);
    let facts = facts(1, 0, packet);
    let (caller, call) = Caller::call(PROTOCOL, &secret(), &facts).expect("random numbers");
    stream.write_all(&call).expect("sent");
    let challenge = hear(a, &mut stream, CHALLENGE).expect("a challenge");
    let (caller, proof) = caller.prove(&parse_challenge(&challenge).expect("a challenge"));
    stream.write_all(&proof).expect("sent");
    let welcome = hear(a, &mut stream, TAG).expect("a welcome");
    let welcome = welcome.as_slice().try_into().expect("a tag");
    caller.finish(&welcome).expect("it knows the secret, too");
    (stream, call, proof.to_vec())
}

/// `a` still has its peer `b` and nobody else.
fn unharmed(a: &mut Tcp, b: &mut Tcp) {
    let (mut at_a, mut at_b) = (Inbox::default(), Inbox::default());
    assert!(try_send(a, 1, b"still"));
    until(|| {
        a.poll(&mut at_a);
        b.poll(&mut at_b) == 1
    });
    assert!(at_a.packets.is_empty() && at_a.lost.is_empty() && at_b.lost.is_empty());
    assert_eq!((a.connections(), b.connections()), (1, 1));
}

#[test]
fn who_knows_the_job_number_only_is_no_rank() {
    let (mut a, mut b) = connected(Config::from_settings());
    let facts = facts(1, 0, Config::from_settings().packet);
    let guess = Secret::from_bytes([0; 32]);
    let (_, forged) = Caller::call(PROTOCOL, &guess, &facts).expect("random numbers");
    // The greeting of earlier versions, which the job number sufficed for, then a packet.
    let mut old = facts.clone();
    old[3] = 1;
    old.extend([0; 100]);
    for said in [
        &forged[..],
        &old,
        b"GET / HTTP/1.1\r\nHost: here\r\n\r\n",
        &[0xff; 500],
    ] {
        let before = a.counters().strays;
        let mut liar = stranger(&a);
        liar.write_all(said).expect("sent");
        liar.shutdown(Shutdown::Write).expect("sent");
        assert_eq!(
            hear(&mut a, &mut liar, 1),
            None,
            "a stranger is told nothing"
        );
        let refused = a.counters().strays > before;
        assert!(refused || said.len() < CALL, "{} bytes", said.len());
        unharmed(&mut a, &mut b);
    }
    assert_eq!(a.guests(), 0);
}

#[test]
fn a_record_of_a_greeting_opens_nothing() {
    let config = Config::from_settings();
    let mut a = end(0, 2, JOB, config);
    let (first, call, proof) = member(&mut a, config.packet);
    assert_eq!(a.connections(), 1);
    let mut again = stranger(&a);
    again.write_all(&call).expect("sent");
    assert!(
        hear(&mut a, &mut again, CHALLENGE).is_some(),
        "a new challenge"
    );
    again.write_all(&proof).expect("sent");
    assert_eq!(hear(&mut a, &mut again, 1), None);
    assert_eq!((a.connections(), a.guests()), (1, 0));
    assert_eq!(a.counters().strays, 1);
    drop(first);
}

/// The attacker has the victim call it, and lets the victim answer itself.
#[test]
fn a_reflected_challenge_opens_nothing() {
    let config = Config::from_settings();
    let mut a = end(0, 2, JOB, config);
    // A sound call of rank 1 that was recorded.
    let facts = facts(1, 0, config.packet);
    let (_, recorded) = Caller::call(PROTOCOL, &secret(), &facts).expect("random numbers");
    let trap = TcpListener::bind(listens_at(&a)[0].ip().to_string() + ":0").expect("a port");
    let mut address = trap
        .local_addr()
        .expect("an address")
        .port()
        .to_le_bytes()
        .to_vec();
    match trap.local_addr().expect("an address").ip() {
        IpAddr::V4(it) => address.extend([&[4][..], &it.octets()].concat()),
        IpAddr::V6(it) => address.extend([&[6][..], &it.octets()].concat()),
    }
    a.connect(Peer(1), &address).expect("an address");
    assert!(
        !try_send(&mut a, 1, b"a secret of rank 0"),
        "it calls first"
    );
    let (mut called, _) = trap.accept().expect("it calls");
    let call = hear(&mut a, &mut called, CALL).expect("a greeting");
    assert_eq!(
        parse(&call).map(|it| (it.from.rank, it.to.rank)),
        Ok((0, 1))
    );
    // Its own call comes back.
    let mut mirror = stranger(&a);
    mirror.write_all(&call).expect("sent");
    assert_eq!(hear(&mut a, &mut mirror, 1), None);
    // Its challenge to "rank 1" comes back as rank 1's, and its proof as rank 1's.
    let mut mirror = stranger(&a);
    mirror.write_all(&recorded).expect("sent");
    let challenge = hear(&mut a, &mut mirror, CHALLENGE).expect("a challenge");
    called.write_all(&challenge).expect("sent");
    let proof = hear(&mut a, &mut called, TAG).expect("a proof");
    mirror.write_all(&proof).expect("sent");
    assert_eq!(
        hear(&mut a, &mut mirror, 1),
        None,
        "it is no proof of rank 1"
    );
    called.write_all(&proof).expect("sent");
    let mut inbox = Inbox::default();
    until(|| {
        a.poll(&mut inbox);
        !inbox.lost.is_empty()
    });
    let cause = &inbox.lost[0].cause;
    assert!(cause.contains("does not know the secret"), "{cause}");
    assert_eq!(hear(&mut a, &mut called, 1), None, "no packet");
}

#[test]
fn a_wrong_secret_is_refused_and_named() {
    let config = Config::from_settings();
    for (job, wrong) in [(JOB, Secret::from_bytes([8; 32])), (JOB + 1, secret())] {
        let (mut a, mut b) = connected(config);
        let mut other = end_with(1, 2, job, wrong, config);
        let address = a.address().expect("an address");
        other.connect(Peer(0), &address).expect("a good address");
        let mut cause = String::new();
        until(|| {
            a.poll(&mut Inbox::default());
            other.poll(&mut Inbox::default());
            let refused = other.try_send(Peer(0), Header::default(), &b"boo"[..]);
            refused.is_err_and(|lost| {
                cause = lost.cause;
                true
            })
        });
        assert!(cause.contains("cannot be reached"), "{cause}");
        assert!(cause.contains("does not know the secret"), "{cause}");
        assert!(a.counters().strays >= 3, "it has tried more than once");
        unharmed(&mut a, &mut b);
    }
}

#[test]
fn a_job_without_a_secret_has_no_tcp() {
    let place = LocalPeer {
        me: Peer(0),
        processes: 2,
        job: JOB,
    };
    let error = Tcp::open(place, None, None, in_order, Config::tiny()).expect_err("no secret");
    assert!(matches!(error, TcpError::NoSecret));
    let text = error.to_string();
    assert!(
        text.contains("no secret") && text.contains("mpirun"),
        "{text}"
    );
}

#[test]
fn strangers_that_say_nothing_are_few_and_members_still_come_in() {
    let (mut a, mut b) = pair(Config::from_settings());
    let mut inbox = Inbox::default();
    let mut crowd = Vec::new();
    for n in 0..600 {
        let mut one = stranger(&a);
        if n % 3 == 0 {
            one.write_all(&facts(1, 0, 64)[..n % 24]).expect("sent");
        }
        crowd.push(one);
        a.poll(&mut inbox);
        assert!(a.guests() <= 64, "{} unproven callers", a.guests());
    }
    let mut sent = false;
    until(|| {
        crowd.push(stranger(&a));
        sent = sent || try_send(&mut b, 0, b"a member");
        for _ in 0..1024 {
            b.poll(&mut Inbox::default());
            a.poll(&mut inbox);
            assert!(a.guests() <= 64, "{} unproven callers", a.guests());
        }
        !inbox.packets.is_empty()
    });
    assert_eq!(inbox.packets[0].2, b"a member");
    assert!(inbox.lost.is_empty());
    let gone = a.counters().strays;
    assert!(gone > 0, "the first ones had to go");
    until(|| {
        a.poll(&mut inbox);
        a.counters().strays + a.guests() as u64 >= crowd.len() as u64
    });
    assert!(a.guests() <= 64);
}

/// The processor time that this thread has taken.
fn cpu_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the time is written during the call.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// While packets arrive, the crowd at the door waits.
#[test]
fn strangers_do_not_keep_a_rank_from_its_work() {
    let (mut a, mut b) = connected(Config::from_settings());
    let crowd: Vec<_> = (0..300).map(|_| stranger(&a)).collect();
    let (mut at_a, mut at_b) = (Inbox::default(), Inbox::default());
    let begin = cpu_time();
    for n in 1..=500 {
        assert!(try_send(&mut b, 0, b"work"));
        until(|| {
            b.poll(&mut at_b);
            a.poll(&mut at_a);
            at_a.packets.len() == n
        });
    }
    // Two for each millisecond that has begun, of no more processor time than this.
    let most = 2 * ((cpu_time() - begin).as_millis() as u64 + 2);
    let gone = a.counters().strays;
    assert!(
        gone <= most,
        "{gone} strangers sent away, at most {most} may be"
    );
    until(|| {
        a.poll(&mut at_a);
        a.counters().strays + a.guests() as u64 == crowd.len() as u64
    });
}

/// A crowd at the door wakes a rank that sleeps only now and then.
#[test]
fn strangers_do_not_keep_a_rank_awake() {
    let (mut a, mut b) = pair(Config::from_settings());
    let crowd: Vec<_> = (0..300).map(|_| stranger(&a)).collect();
    let (mut at_a, mut at_b) = (Inbox::default(), Inbox::default());
    let wakes = |a: &mut Tcp| a.sleeper().sleep(Duration::ZERO);
    let inside = |a: &Tcp| a.counters().strays as usize + a.guests();
    assert!(wakes(&mut a), "there is time for the first ones");
    until(|| {
        a.poll(&mut at_a);
        !wakes(&mut a)
    });
    let before = inside(&a);
    assert!(before < crowd.len(), "the others still wait");
    // When there is time again, it looks after them, whoever wakes it.
    until(|| {
        a.poll(&mut at_a);
        let _ = wakes(&mut a);
        inside(&a) > before
    });
    assert!(inside(&a) < crowd.len(), "the others still wait");
    // A member of the job stands in line with them.
    until(|| {
        b.poll(&mut at_b);
        let sent = try_send(&mut b, 0, b"a member");
        a.poll(&mut at_a);
        let _ = wakes(&mut a);
        sent
    });
    until(|| {
        b.poll(&mut at_b);
        a.poll(&mut at_a);
        let _ = wakes(&mut a);
        !at_a.packets.is_empty()
    });
    assert_eq!(at_a.packets[0].2, b"a member");
}

/// A record of a sound call vouches for its sender, but for one caller at a time.
#[test]
fn a_record_of_a_call_holds_one_place() {
    let config = Config::from_settings();
    let mut a = end(0, 2, JOB, config);
    let facts = facts(1, 0, config.packet);
    let (_, call) = Caller::call(PROTOCOL, &secret(), &facts).expect("random numbers");
    let mut crowd = Vec::new();
    for _ in 0..50 {
        let mut one = stranger(&a);
        one.write_all(&call).expect("sent");
        assert!(hear(&mut a, &mut one, CHALLENGE).is_some());
        crowd.push(one);
    }
    assert_eq!(a.guests(), 1);
}

#[test]
fn whoever_proves_nothing_in_time_is_sent_away() {
    let mut a = end(
        0,
        2,
        JOB,
        Config {
            timeout: Duration::ZERO,
            ..Config::from_settings()
        },
    );
    let mut silent = stranger(&a);
    let mut slow = stranger(&a);
    slow.write_all(&facts(1, 0, 64)[..10]).expect("sent");
    assert_eq!(hear(&mut a, &mut silent, 1), None);
    assert_eq!(hear(&mut a, &mut slow, 1), None);
    assert_eq!((a.guests(), a.counters().strays), (0, 2));
}

/// The inodes of this process's sockets.
fn own_sockets() -> Vec<String> {
    let all = fs::read_dir("/proc/self/fd").expect("descriptors");
    let links = all.filter_map(|it| fs::read_link(it.ok()?.path()).ok());
    let names = links.filter_map(|it| Some(it.to_str()?.to_string()));
    let inode = |it: String| {
        let it = it.strip_prefix("socket:[")?.strip_suffix(']')?;
        Some(it.to_string())
    };
    names.filter_map(inode).collect()
}

/// Where this process listens at a port, in the kernel's digits.
fn listening(port: u16) -> Vec<String> {
    let own = own_sockets();
    let mut all = Vec::new();
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
        for line in fs::read_to_string(table)
            .unwrap_or_default()
            .lines()
            .skip(1)
        {
            let words: Vec<_> = line.split_whitespace().collect();
            let (address, at) = words[1].split_once(':').expect("an address");
            let listens = words[3] == "0A" && u16::from_str_radix(at, 16) == Ok(port);
            if listens && own.contains(&words[9].to_string()) {
                all.push(address.to_string());
            }
        }
    }
    all.sort();
    // The kernel may show a row twice while sockets of others come and go.
    all.dedup();
    all
}

/// An address in the kernel's digits.
fn in_digits(ip: IpAddr) -> String {
    let words = |bytes: &[u8]| -> String {
        let word = |part: &[u8]| u32::from_ne_bytes(part.try_into().expect("4 bytes"));
        let words = bytes.chunks_exact(4).map(word);
        words.map(|word| format!("{word:08X}")).collect()
    };
    match ip {
        IpAddr::V4(it) => words(&it.octets()),
        IpAddr::V6(it) => words(&it.octets()),
    }
}

#[test]
fn a_process_listens_where_it_says_and_nowhere_else() {
    let a = end(0, 2, JOB, Config::tiny());
    let at: Vec<SocketAddr> = listens_at(&a);
    assert!(!at.is_empty() && at.iter().all(|it| !it.ip().is_unspecified()));
    let mut told: Vec<_> = at.iter().map(|it| in_digits(it.ip())).collect();
    told.sort();
    assert_eq!(listening(at[0].port()), told);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A member of the job that has gone mad: whatever it sends, cut anywhere,
    /// ends its own connection at most.
    #[test]
    fn nonsense_ends_a_connection_and_nothing_else(
        heads in prop::collection::vec((0u32..200, 0u8..6, any::<u8>(), any::<u64>()), 0..20),
        tail in prop::collection::vec(any::<u8>(), 0..100),
        cut in 0usize..500,
    ) {
        let config = Config { packet: 100, ..Config::from_settings() };
        let mut a = end(0, 2, JOB, config);
        let mut inbox = Inbox::default();
        let (mut mad, _, _) = member(&mut a, 100);
        let mut said = Vec::new();
        for (len, what, kind, number) in heads {
            said.extend(len.to_le_bytes());
            said.extend([what, kind]);
            said.extend(number.to_le_bytes().repeat(3)[..22].iter());
            said.extend(pattern(0, len as usize));
        }
        said.extend(tail);
        mad.write_all(&said[..said.len().min(cut)]).expect("sent");
        drop(mad);
        until(|| {
            a.poll(&mut inbox);
            !inbox.lost.is_empty()
        });
        for (from, _, packet) in &inbox.packets {
            prop_assert_eq!(*from, Peer(1));
            prop_assert!(packet.len() <= 100 && *packet == pattern(0, packet.len()));
        }
    }
}
