//! Processes of no job, which add each other by what they tell of themselves, at any time.

mod common;

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::rc::Rc;

use catena_fabric::{Access, Buf, OpId, Peer, Started};
use catena_fabric_tests::{Inbox, until};
use catena_link::{Endpoint, Failure, Mode, Net, ReqId, Sent, TagKey, TagSelector};
use catena_net::{Chain, RegionKeys, Route, Routes};
use catena_proof::Secret;
use catena_testing::skip;

use common::{Message, Table, Ways, exactly, message, over_network, room};

type Link = Endpoint<Ways, TagKey>;

fn secret() -> Secret {
    Secret::from_bytes([3; 32])
}

fn alone(chain: &str) -> Link {
    let chain = Chain::parse(chain).expect("a chain");
    Endpoint::tagged(Routes::alone(&chain, Some(&secret())).expect("a segment, or a port"))
}

/// As [`alone`]; `None`, with a word, where this machine lacks the library.
fn alone_if_there(chain: &str) -> Option<Link> {
    let parsed = Chain::parse(chain).expect("a chain");
    match Routes::alone(&parsed, Some(&secret())) {
        Ok(routes) => Some(Endpoint::tagged(routes)),
        Err(error) if chain.contains(':') => {
            skip(chain, &error);
            None
        }
        Err(error) => panic!("{chain}: {error}"),
    }
}

/// Two of them.
fn two(chain: &str) -> Option<[Link; 2]> {
    Some([alone_if_there(chain)?, alone_if_there(chain)?])
}

/// One of each kind.
const CHAINS: [&str; 4] = ["shm", "tcp", "ofi:tcp", "ucx:tcp"];

fn address(link: &mut Link) -> Vec<u8> {
    link.net().address().expect("it is alone")
}

/// `link` adds another process.
fn add(link: &mut Link, other: &[u8]) -> Peer {
    let peer = link.net().add_peer(other).expect("a way to it");
    link.add_peer(peer);
    peer
}

fn send(link: &mut Link, to: Peer, tag: u64, message: &Message) -> Option<ReqId> {
    match link.send_tagged(to, tag, Mode::Standard, message.clone()) {
        Sent::Done => None,
        Sent::Pending(request) => Some(request),
    }
}

/// Sends messages of many lengths from one to the other.
fn exchange(links: &mut [Link], (from, to): (usize, usize), (there, back): (Peer, Peer)) {
    for (tag, len) in (7 << 40..).zip([0, 8, 3000, 1 << 20]) {
        let (message, room) = (message(len), room(len));
        let received = links[to].recv_tagged(exactly(back, tag), room.clone());
        let sent = send(&mut links[from], there, tag, &message);
        until(|| {
            links.iter_mut().for_each(|link| _ = link.progress());
            links[to].is_done(received) && sent.is_none_or(|it| links[from].is_done(it))
        });
        assert_eq!(links[to].take(received).error, None);
        assert!(sent.is_none_or(|it| links[from].take(it).error.is_none()));
        assert!(**room.0.borrow() == *message.0, "{len} bytes");
    }
}

#[test]
fn processes_meet_one_by_one_whatever_joins_them() {
    // What the pairs have in common, in the order in which they meet.
    let chains = ["shm+tcp", "tcp", "shm", "shm+tcp"];
    let ways = [
        (0, 1, Route::Network),
        (0, 2, Route::Shm),
        (3, 2, Route::Shm),
        (1, 3, Route::Network),
        (3, 0, Route::Shm),
    ];
    let mut links = chains.map(alone);
    for (one, two, route) in ways {
        let [of_one, of_two] = [one, two].map(|it| address(&mut links[it]));
        let there = add(&mut links[one], &of_two);
        let back = add(&mut links[two], &of_one);
        assert_eq!(add(&mut links[one], &of_two), there, "it is known");
        assert_eq!(links[one].net().route(there), route);
        assert_eq!(links[two].net().route(back), route);
        exchange(&mut links, (one, two), (there, back));
        exchange(&mut links, (two, one), (back, there));
    }
    // Those that met first have not forgotten each other.
    let [first, second] = [0, 1].map(|it| address(&mut links[it]));
    let (there, back) = (add(&mut links[0], &second), add(&mut links[1], &first));
    exchange(&mut links, (0, 1), (there, back));
    let own = add(&mut links[0], &first);
    assert_eq!(links[0].net().route(own), Route::Loopback);
    exchange(&mut links, (0, 0), (own, own));
    until(|| {
        links.iter_mut().for_each(|link| _ = link.progress());
        links.iter_mut().all(|link| link.net().is_delivered(false))
    });
}

#[test]
fn callers_are_heard_that_nobody_has_named() {
    for chain in ["shm", "tcp", "ofi:tcp"] {
        let Some(mut links) = two(chain) else {
            continue;
        };
        let [of_one, of_two] = [0, 1].map(|it| address(&mut links[it]));
        let there = add(&mut links[0], &of_two);
        let first = message(8);
        let sent = send(&mut links[0], there, 5, &first);
        let mut back = None;
        until(|| {
            links.iter_mut().for_each(|link| _ = link.progress());
            for peer in links[1].net().add_callers() {
                links[1].add_peer(peer);
                assert_eq!(back.replace(peer), None, "{chain}: it was added twice");
            }
            back.is_some() && sent.is_none_or(|it| links[0].is_done(it))
        });
        let back = back.expect("it has called");
        let room = room(8);
        let received = links[1].recv_tagged(exactly(back, 5), room.clone());
        until(|| {
            links.iter_mut().for_each(|link| _ = link.progress());
            links[1].is_done(received)
        });
        assert_eq!(links[1].take(received).error, None);
        assert!(**room.0.borrow() == *first.0, "{chain}");
        assert_eq!(add(&mut links[1], &of_one), back, "{chain}: it is known");
        exchange(&mut links, (0, 1), (there, back));
        exchange(&mut links, (1, 0), (back, there));
        assert_eq!(links[1].net().add_callers(), [], "{chain}");
    }
}

#[test]
fn what_is_sent_before_the_other_end_has_added_this_one_waits() {
    for chain in CHAINS {
        let Some(mut links) = two(chain) else {
            continue;
        };
        let [of_one, of_two] = [0, 1].map(|it| address(&mut links[it]));
        let there = add(&mut links[0], &of_two);
        let messages = [message(8), message(100_000)];
        let sent = messages
            .each_ref()
            .map(|it| send(&mut links[0], there, 5, it));
        // Long enough for a call over the network, which nobody answers.
        for _ in 0..20_000 {
            links.iter_mut().for_each(|link| _ = link.progress());
        }
        assert!(sent[1].is_some_and(|it| !links[0].is_done(it)), "{chain}");
        let back = add(&mut links[1], &of_one);
        for message in messages {
            let room = room(message.0.len());
            let received = links[1].recv_tagged(exactly(back, 5), room.clone());
            until(|| {
                links.iter_mut().for_each(|link| _ = link.progress());
                links[1].is_done(received)
            });
            assert_eq!(links[1].take(received).error, None);
            assert!(**room.0.borrow() == *message.0, "{chain}");
        }
    }
}

#[test]
fn both_may_call_at_once() {
    CHAINS.into_iter().filter_map(two).for_each(both_call);
}

fn both_call(mut links: [Link; 2]) {
    let [of_one, of_two] = [0, 1].map(|it| address(&mut links[it]));
    let peers = [add(&mut links[0], &of_two), add(&mut links[1], &of_one)];
    let message = message(3000);
    let rooms = [room(3000), room(3000)];
    let received = [0, 1].map(|it| links[it].recv_tagged(exactly(peers[it], 1), rooms[it].clone()));
    let sent = [0, 1].map(|it| send(&mut links[it], peers[it], 1, &message));
    until(|| {
        links.iter_mut().for_each(|link| _ = link.progress());
        let is_over = |it: usize| {
            links[it].is_done(received[it]) && sent[it].is_none_or(|sent| links[it].is_done(sent))
        };
        is_over(0) && is_over(1)
    });
    assert!(rooms.iter().all(|room| **room.0.borrow() == *message.0));
    exchange(&mut links, (0, 1), (peers[0], peers[1]));
}

#[test]
fn who_cannot_be_reached_is_refused_and_takes_no_number() {
    let mut link = alone("shm");
    let mut add = |address: &[u8]| link.net().add_peer(address);
    let far = address(&mut alone("tcp"));
    let refused = add(&far).expect_err("it has no shared memory");
    assert!(refused.contains("has no network"), "{refused}");
    for cut in [0, 1, 9, far.len() - 3] {
        let refused = add(&far[..cut]).expect_err("it is cut");
        assert!(
            refused.contains("damaged") || refused.contains("no job"),
            "{refused}"
        );
    }
    let near = address(&mut alone("shm"));
    assert!(add(&near).is_err(), "it has ended, and its segment is gone");
    let mut other = alone("shm");
    let near = address(&mut other);
    assert_eq!(add(&near), Ok(Peer(1)));
    drop(other);

    let mut over_tcp = alone("tcp");
    let refused = over_tcp
        .net()
        .add_peer(&near)
        .expect_err("it has no network");
    assert!(refused.contains("no network joins"), "{refused}");
}

/// Libraries would read beyond the end of an address that was cut.
#[test]
fn what_was_damaged_on_its_way_comes_to_no_network() {
    for chain in CHAINS {
        let Some([mut one, mut other]) = two(chain) else {
            continue;
        };
        let sound = address(&mut other);
        for at in 0..sound.len() {
            let mut damaged = sound.clone();
            damaged[at] ^= 0x11;
            for told in [&damaged, &sound[..at]] {
                let refused = one.net().add_peer(told).expect_err("it is damaged");
                assert!(
                    refused.contains("damaged") || refused.contains("no job"),
                    "{refused}"
                );
            }
        }
        assert_eq!(one.net().add_peer(&sound), Ok(Peer(1)), "{chain}");
    }
}

/// What it tells is whole, but no network can go where it says.
#[test]
fn who_tells_better_is_added_after_all() {
    let mut links = two("tcp").expect("TCP is everywhere");
    let sound = address(&mut links[1]);
    // The entry of the network stands before that of the sum, which is 11 bytes long: its head,
    // eight bytes of a number, and the address, of which a port stays.
    let mut at = 1;
    let len_at = |at: usize| usize::from(u16::from_le_bytes([sound[at + 1], sound[at + 2]]));
    while at + 3 + len_at(at) < sound.len() - 11 {
        at += 3 + len_at(at);
    }
    let mut short = sound[..at + 13].to_vec();
    short[at + 1..at + 3].copy_from_slice(&10u16.to_le_bytes());
    let sum = short.iter().fold(0xcbf2_9ce4_8422_2325u64, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    short.extend([125, 8, 0]);
    short.extend(sum.to_le_bytes());
    for _ in 0..3 {
        let refused = links[0]
            .net()
            .add_peer(&short)
            .expect_err("it leads nowhere");
        assert!(!refused.contains("damaged, or"), "{refused}");
    }
    let there = add(&mut links[0], &sound);
    assert_eq!(there, Peer(1), "no number was spent");
    let of_one = address(&mut links[0]);
    let back = add(&mut links[1], &of_one);
    exchange(&mut links, (0, 1), (there, back));
}

#[test]
fn a_process_of_a_job_adds_nobody() {
    let table = Rc::<RefCell<Table>>::default();
    let [mut one, _two] = over_network("tcp", &table).expect("a port");
    assert_eq!(one.address(), None);
    let refused = one.add_peer(&address(&mut alone("tcp")));
    assert!(refused.is_err_and(|why| why.contains("no job")));
    let of_a_job = table.borrow().records[&Peer(1)].clone();
    let refused = alone("tcp").net().add_peer(&of_a_job);
    assert!(refused.is_err_and(|why| why.contains("no job")));
}

#[test]
fn who_adds_nobody_is_no_network_of_a_process_that_is_alone() {
    for chain in ["sim", "sim+shm"] {
        let chain = Chain::parse(chain).expect("a chain");
        let opened = Ways::alone(&chain, Some(&secret()));
        assert_eq!(opened.is_ok(), chain.shm, "{chain:?}");
    }
}

/// Who does not know the secret is not heard.
#[test]
fn strangers_stay_outside() {
    let chain = Chain::parse("tcp").expect("a chain");
    let other = Secret::from_bytes([4; 32]);
    let mut stranger = Link::tagged(Ways::alone(&chain, Some(&other)).expect("a port"));
    let mut link = alone("tcp");
    let (of_stranger, of_link) = (address(&mut stranger), address(&mut link));
    add(&mut link, &of_stranger);
    let there = add(&mut stranger, &of_link);
    let sent = send(&mut stranger, there, 1, &message(8)).expect("it is not connected");
    until(|| {
        link.progress();
        stranger.progress();
        stranger.is_done(sent)
    });
    let failure = stranger.take(sent).error.map(|it| *it);
    assert!(matches!(failure, Some(Failure::Lost(_))), "{failure:?}");
}

/// Looks after those that are waited for: some libraries notice the end of a peer only when
/// something is sent to it.
fn look_after(link: &mut Link) {
    if link.net().may_ping() {
        let awaited = link.awaited();
        let watched = link.net().watch(&awaited);
        watched.lost.into_iter().for_each(|it| link.peer_lost(it));
        watched.ended.into_iter().for_each(|it| link.peer_ended(it));
        watched.unwatched.into_iter().for_each(|it| link.ping(it));
    }
}

/// Over a library nobody says so, but nothing comes of it.
#[test]
fn strangers_are_not_heard_over_libraries() {
    for chain in ["ofi:tcp", "ucx:tcp"] {
        let Some(mut link) = alone_if_there(chain) else {
            continue;
        };
        let parsed = Chain::parse(chain).expect("a chain");
        let other = Secret::from_bytes([4; 32]);
        let mut stranger = Link::tagged(Ways::alone(&parsed, Some(&other)).expect("a port"));
        let mut friend = alone(chain);
        let [of_stranger, of_link, of_friend] =
            [&mut stranger, &mut link, &mut friend].map(address);
        let from_stranger = add(&mut link, &of_stranger);
        let there = add(&mut stranger, &of_link);
        let from_friend = add(&mut link, &of_friend);
        let to_link = add(&mut friend, &of_link);
        let sent = send(&mut stranger, there, 1, &message(8));
        let room = room(8);
        let received = link.recv_tagged(exactly(from_friend, 1), room);
        let of_this = send(&mut friend, to_link, 1, &message(8));
        // Long after a friend was heard.
        let mut more = 0;
        until(|| {
            for it in [&mut stranger, &mut link, &mut friend] {
                it.progress();
            }
            more += i32::from(link.is_done(received));
            more > 5000
        });
        assert!(sent.is_none_or(|it| !stranger.is_done(it)), "{chain}");
        assert!(of_this.is_none_or(|it| friend.is_done(it)), "{chain}");
        assert!(
            link.probe_tagged(exactly(from_stranger, 1)).is_none(),
            "{chain}"
        );
    }
}

/// Where a way has operations on memory, it has them to processes that were added.
#[test]
fn memory_of_a_process_that_was_added_is_read() {
    for (chain, reads) in [("tcp", false), ("ofi:tcp", true), ("ucx:tcp", true)] {
        let Some(_) = alone_if_there(chain) else {
            continue;
        };
        let parsed = Chain::parse(chain).expect("a chain");
        let [mut a, mut b] =
            [(); 2].map(|()| Ways::alone(&parsed, Some(&secret())).expect("a port"));
        let [of_a, of_b] = [&a, &b].map(|it| it.address().expect("it is alone"));
        let there = a.add_peer(&of_b).expect("a way to it");
        let _ = b.add_peer(&of_a).expect("a way to it");
        let operations = a.reach(there).expect("it is known").operations;
        assert_eq!(operations.get, reads, "{chain}");
        let len = 300_000;
        let mut memory = message(len).0.to_vec();
        let region = b.expose(Buf::from(&mut *memory), Access::READ);
        let keys = RegionKeys::decode(&region.keys().encode()).expect("its bytes");
        let target = a.target(there, &keys).filter(|_| reads);
        let (mut inbox, mut others) = (Inbox::default(), Inbox::default());
        let mut room = vec![0; len];
        let mut started = Ok(Started::Full);
        until(|| {
            if let (Some(target), Ok(Started::Full)) = (target, &started) {
                let into = Buf::from(&mut *room);
                // SAFETY: as long as told, and ours until the operation has ended.
                started = unsafe { a.get(OpId::new(0, 1), there, into, target.keys) };
            }
            Net::poll(&mut a, &mut inbox);
            Net::poll(&mut b, &mut others);
            let is_over = matches!(started, Ok(Started::Complete(_)));
            !reads || is_over || !inbox.completed.is_empty()
        });
        assert!(inbox.completed.iter().all(|it| it.1.is_ok()), "{chain}");
        assert_eq!(room == memory, reads, "{chain}");
        a.remove_peer(there).expect("it was added");
        assert!(a.reach(there).is_some_and(|it| !it.operations.get));
        assert_eq!(a.target(there, &keys), None);
        b.withdraw(region);
    }
}

/// The example: a program of its own.
fn example() -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    let folder = test
        .parent()
        .and_then(|it| it.parent())
        .expect("a target folder");
    let example = folder.join("examples/tagged_messages");
    if !example.exists() {
        // Only one test was asked for.
        let mut build = Command::new(env!("CARGO"));
        let build = build.args([
            "build",
            "-q",
            "-p",
            "catena-net",
            "--example",
            "tagged_messages",
        ]);
        assert!(build.status().is_ok_and(|it| it.success()));
    }
    example
}

#[test]
fn two_processes_exchange_tagged_messages() {
    let over_network = |chain| (chain, "Network");
    let libraries = ["ofi:tcp", "ucx:tcp"].into_iter();
    let libraries = libraries.filter(|it| alone_if_there(it).is_some());
    let others = [("shm", "Shm"), ("tcp", "Network"), ("shm+tcp", "Shm")];
    for (chain, route) in libraries.map(over_network).chain(others) {
        let output = Command::new(example())
            .arg(chain)
            .output()
            .expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout);
        let told = text.contains(&format!("3 messages came back: {route}"));
        assert!(output.status.success() && told, "{chain}: {output:?}");
    }
}

/// The second process of the example, to which `address` is told, and its own address.
fn second(chain: &str, of_first: &[u8]) -> (Child, BufReader<ChildStdout>, Vec<u8>) {
    let mut child = Command::new(example());
    let child = child.args(["second", chain]).stdin(Stdio::piped());
    let mut child = child.stdout(Stdio::piped()).spawn().expect("it runs");
    let hex: String = of_first.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut there = child.stdin.take().expect("a pipe");
    writeln!(there, "{} {hex}", secret().to_hex()).expect("it reads");
    let (mut back, mut line) = (
        BufReader::new(child.stdout.take().expect("a pipe")),
        String::new(),
    );
    back.read_line(&mut line).expect("it writes");
    let digits = line.trim().as_bytes().chunks(2);
    let byte = |two| u8::from_str_radix(std::str::from_utf8(two).expect("text"), 16);
    let address = digits.map(|two| byte(two).expect("digits")).collect();
    (child, back, address)
}

/// What a process has sent before it ended arrives, however late it is asked for.
#[test]
fn last_words_arrive_before_the_end() {
    for chain in CHAINS {
        let Some(mut link) = alone_if_there(chain) else {
            continue;
        };
        let of_link = address(&mut link);
        let (mut child, _back, of_child) = second(chain, &of_link);
        let peer = add(&mut link, &of_child);
        let rooms = [room(8), room(8), room(8)];
        let echoes = rooms.clone().map(|it| {
            let any = TagSelector {
                ignore: 0xff,
                ..exactly(peer, 0x200)
            };
            link.recv_tagged(any, it)
        });
        for _ in 0..3 {
            if let Some(sent) = send(&mut link, peer, 0x100, &message(8)) {
                until(|| {
                    link.progress();
                    link.is_done(sent)
                });
                link.take(sent);
            }
        }
        if chain == "shm" {
            // It has answered and ended, and nobody has polled.
            assert!(child.wait().expect("it has ended").success());
        }
        until(|| {
            for lost in link.net().ended_neighbours() {
                link.peer_ended(lost);
            }
            link.progress();
            link.net().is_delivered(false);
            echoes.iter().all(|it| link.is_done(*it))
        });
        for echo in echoes {
            assert_eq!(link.take(echo).error, None, "{chain}");
        }
        until(|| {
            link.progress();
            link.net().is_delivered(false);
            child.try_wait().expect("it is ours").is_some()
        });
    }
}

#[test]
fn the_end_of_a_process_is_noticed() {
    for chain in CHAINS {
        let Some(mut link) = alone_if_there(chain) else {
            continue;
        };
        let of_link = address(&mut link);
        let (mut child, _back, of_child) = second(chain, &of_link);
        let peer = add(&mut link, &of_child);
        // It has received this, so that there is a connection.
        assert!(link.net().ended_neighbours().is_empty());
        let sent = send(&mut link, peer, 0x100, &message(8));
        let room = room(8);
        let echo = link.recv_tagged(exactly(peer, 0x200), room.clone());
        until(|| {
            link.progress();
            link.is_done(echo) && sent.is_none_or(|it| link.is_done(it))
        });
        let awaited = link.recv_tagged(exactly(peer, 0x201), room);
        child.kill().expect("it runs");
        child.wait().expect("it has ended");
        until(|| {
            link.progress();
            for lost in link.net().ended_neighbours() {
                link.peer_lost(lost);
            }
            look_after(&mut link);
            link.is_done(awaited)
        });
        let failure = link.take(awaited).error.map(|it| *it);
        assert!(
            matches!(failure, Some(Failure::Lost(_))),
            "{chain}: {failure:?}"
        );
        assert!(link.net().ended_neighbours().is_empty(), "it is told once");
    }
}
