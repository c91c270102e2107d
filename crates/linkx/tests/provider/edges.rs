//! What goes wrong: peers that are gone, endpoints that close, input that makes no sense.

use super::inside::{BOTH, close, of_hex, started, tell};
use super::*;

/// A process that waits to be killed, a side that has heard of it, and its address there.
fn peer_of() -> (std::process::Child, Side, Addr) {
    let (peer, _, side, there) = numbered_peer();
    (peer, side, there)
}

/// As [`peer_of`], with the number of the process, which may be another one than was started here.
fn numbered_peer() -> (std::process::Child, libc::pid_t, Side, Addr) {
    let (mut peer, mut lines) = started("peer");
    let number = lines.find_map(|it| it.strip_prefix("process ")?.parse().ok());
    let said = lines.find_map(|it| Some(of_hex(it.strip_prefix("address ")?)));
    let side = Side::open(&How::default());
    let (_, there) = side.insert(&said.expect("its address"));
    tell(&mut peer, &side);
    let mut room = [0; 16];
    side.trecv(&mut room, there, (1, 0), 1);
    let told = side.wait("it says nothing");
    assert!(told.is_ok());
    (peer, number.expect("its number"), side, there)
}

pub fn a_peer_that_is_killed() {
    let (mut peer, side, there) = peer_of();
    let mut room = [0; 16];
    side.trecv(&mut room, there, (2, 0), 2);
    peer.kill().expect("it lives");
    peer.wait().expect("it has ended");
    let time = is_lost(&side, there, 2);
    assert!(time <= Duration::from_secs(2), "{time:?}");
    side.tsend(&[1; 8], there, 3, 3);
    is_lost(&side, there, 3);
    side.close();
}

/// How long it takes until the operation with that context has an error that tells that the peer
/// is gone.
fn is_lost(side: &Side, there: Addr, context: usize) -> Duration {
    let began = Instant::now();
    let told = loop {
        if let Some(told) = side.poll() {
            break told;
        }
        assert!(began.elapsed() < PATIENCE, "it waits for ever");
    };
    let error = told.err().expect("an error");
    let found = (error.err, error.op_context as usize);
    assert_eq!(found, (libc::ECONNABORTED, context));
    if Fabric::open().version >= 1 << 16 | 20 {
        assert_eq!(error.src_addr, there);
    }
    began.elapsed()
}

/// The peer is on another host, which is cut off, or where it is killed.
pub fn a_host_that_is_gone() {
    let (mut peer, number, side, there) = numbered_peer();
    let mut room = [0; 16];
    side.trecv(&mut room, there, (2, 0), 2);
    let is_cut = std::env::var("LINKX_END").as_deref() == Ok("cut");
    if is_cut {
        let mut cut = Command::new("ip");
        cut.args(["link", "set", "eth0", "down"]);
        through_hosts(&mut cut, "h1");
        assert!(cut.status().expect("a command").success());
    } else {
        kill(number);
    }
    let time = is_lost(&side, there, 2);
    println!("told after {time:?}");
    let limit = Duration::from_secs(if is_cut { 4 } else { 2 });
    assert!(time <= limit, "{time:?}");
    side.tsend(&[1; 8], there, 3, 3);
    is_lost(&side, there, 3);
    side.close();
    if is_cut {
        kill(number);
    }
    peer.wait().expect("it has ended");
    let left: Vec<_> = std::fs::read_dir("/dev/shm").expect("a folder").collect();
    assert!(left.is_empty(), "{left:?}");
}

fn kill(number: libc::pid_t) {
    // SAFETY: it is a process of this test, which waits for its end.
    assert_eq!(unsafe { libc::kill(number, libc::SIGKILL) }, 0);
}

/// Whatever is asked of a process that was killed ends with an error, also when its loss is no
/// news.
pub fn memory_of_one_that_is_gone() {
    let (mut peer, side, there) = peer_of();
    peer.kill().expect("it lives");
    peer.wait().expect("it has ended");
    let wait = |what: &str| {
        let began = Instant::now();
        loop {
            match side.poll() {
                Some(Ok(_)) => panic!("{what} is done by nobody"),
                Some(Err(error)) => {
                    assert_eq!(error.err, libc::ECONNABORTED, "{what}");
                    assert!(began.elapsed() <= Duration::from_secs(2), "{what}");
                    return;
                }
                None => assert!(began.elapsed() < PATIENCE, "{what} does not end"),
            }
        }
    };
    let mut bytes = vec![1u8; 100_000];
    let (at, none) = (bytes.as_mut_ptr().cast::<c_void>(), null_mut::<c_void>());
    for turn in 0..2 {
        for len in [8, 100_000] {
            // SAFETY: as in all of the tests; likewise below.
            unsafe {
                let ops = &*(*side.ep).rma;
                assert_eq!((ops.write)(side.ep, at, len, none, there, 0, 1, none), 0);
                wait(&format!("a write of {len} bytes, turn {turn}"));
                assert_eq!((ops.read)(side.ep, at, len, none, there, 0, 1, none), 0);
                wait(&format!("a read of {len} bytes, turn {turn}"));
            }
        }
        // SAFETY: as above.
        unsafe {
            let ops = &*(*side.ep).atomic;
            assert_eq!(
                (ops.write)(side.ep, at, 1, none, there, 0, 1, 7, 2, none),
                0
            );
        }
        wait(&format!("an atomic, turn {turn}"));
    }
    side.close();
}

/// The process of an endpoint that closes goes on: its peers learn of it all the same.
pub fn an_endpoint_that_closes() {
    let pair = Pair::open();
    let mut room = [0; 8];
    pair.sides[1].trecv(&mut room, num::ADDR_NONE, (1, 0), 0);
    pair.sides[0].tsend(&[1; 8], pair.there[0], 1, 0);
    pair.good(1);
    pair.good(0);
    let Pair {
        sides: [one, two],
        there,
    } = pair;
    one.trecv(&mut room, there[0], (2, 0), 7);
    two.close();
    let told = one.wait("it waits for ever");
    let error = told.err().expect("an error");
    assert_eq!(
        (error.err, error.op_context as usize),
        (libc::ECONNABORTED, 7)
    );
    let began = Instant::now();
    one.close();
    assert!(
        began.elapsed() < Duration::from_secs(3),
        "it waits for nobody"
    );
}

/// What was sent has arrived when an endpoint is closed, though the receiver, which has not heard
/// of the sender before, is another endpoint of the same thread, in a domain of its own.
pub fn one_thread_closes_ends_of_two_domains() {
    let [one, two] = [Side::open(&How::default()), Side::open(&How::default())];
    let (_, there) = one.insert(&two.address);
    let mut room = [0; 8];
    two.trecv(&mut room, num::ADDR_NONE, (1, 0), 7);
    one.tinject(&[5; 8], there, 1);
    let began = Instant::now();
    one.close();
    let took = began.elapsed();
    assert!(took < Duration::from_secs(3), "it waits {took:?}");
    let told = two.poll().expect("it has arrived").ok().expect("a message");
    assert_eq!((told.0.op_context as usize, told.1), (7, num::ADDR_NONE));
    assert_eq!(room, [5; 8]);
    two.close();
}

/// Once a region is closed its memory is its program's alone, at whichever moment of a peer's
/// operation that is: the operation was done before, or has an error.
pub fn a_region_that_closes() {
    const LEN: usize = 3 << 20;
    let pair = Pair::open();
    let [one, two] = &pair.sides;
    let (mut memory, mut local) = (vec![1u8; LEN], vec![0u8; LEN]);
    let none = null_mut::<c_void>();
    let mut ends = [0; 2];
    for turn in 0..60 {
        let writes = turn % 2 == 0;
        memory.fill(1);
        local.fill(if writes { 2 } else { 0 });
        let mr = inside::register(two, &mut memory, 3, BOTH);
        let (at, to) = (local.as_mut_ptr().cast::<c_void>(), pair.there[0]);
        // SAFETY: as above.
        let done = unsafe {
            let ops = &*(*one.ep).rma;
            match writes {
                true => (ops.write)(one.ep, at, LEN, none, to, 0, 3, none),
                false => (ops.read)(one.ep, at, LEN, none, to, 0, 3, none),
            }
        };
        assert_eq!(done, 0);
        // How far it comes before the region closes.
        let mut told = None;
        for step in 0..turn {
            assert!(two.poll().is_none());
            if step % 3 == 2 && told.is_none() {
                told = one.poll();
            }
        }
        close(mr.cast());
        let after = if writes { memory[0] } else { 9 };
        assert!(!writes || memory.iter().all(|it| *it == after), "a part");
        if !writes {
            memory.fill(after);
        }
        let told = told.unwrap_or_else(|| pair.next(0));
        // What might still come would be here now.
        assert!((0..50).all(|_| two.poll().is_none() && one.poll().is_none()));
        assert!(memory.iter().all(|it| *it == after), "it was touched later");
        match &told {
            Ok(_) if writes => assert_eq!(memory[0], 2),
            Ok(_) => {
                let other = local.iter().position(|it| *it != 1);
                let found = other.map(|at| local[at]);
                assert_eq!(found, None, "turn {turn}, at {other:?}");
            }
            Err(error) => {
                assert_eq!(error.err, -err::NOKEY);
                assert!(!writes || memory[0] == 1);
            }
        }
        ends[usize::from(told.is_ok())] += 1;
    }
    assert!(ends[0] > 0 && ends[1] > 0, "{ends:?}");
    pair.close();
}

fn descriptors() -> usize {
    let open = std::fs::read_dir("/proc/self/fd").expect("a system with /proc");
    open.count()
}

/// What was there for peers that have closed and whose addresses were removed is given back.
pub fn many_that_come_and_go() {
    let one = Side::open(&How::default());
    let before = descriptors();
    for _ in 0..20 {
        let two = Side::open(&How::default());
        let (_, there) = one.insert(&two.address);
        let (_, back) = two.insert(&one.address);
        let pair = Pair {
            sides: [one_more(&one), two],
            there: [there, back],
        };
        let mut room = [0; 8];
        pair.sides[1].trecv(&mut room, num::ADDR_NONE, (1, 0), 0);
        pair.sides[0].tsend(&[1; 8], there, 1, 0);
        pair.good(1);
        pair.good(0);
        let [_, two] = pair.sides;
        two.close();
        let mut gone = there;
        // SAFETY: as above.
        let removed = unsafe { ((*(*one.av).ops).remove)(one.av, &mut gone, 1, 0) };
        assert_eq!(removed, 0);
    }
    let began = Instant::now();
    while descriptors() > before + 5 {
        assert!(one.poll().is_none());
        let more = descriptors() - before;
        assert!(began.elapsed() < PATIENCE, "{more} descriptors are left");
    }
    one.close();
}

/// A side under another name, which is not closed.
fn one_more(side: &Side) -> Side {
    Side {
        address: side.address,
        ..*side
    }
}

/// A message can be received when its sender has closed and its address was removed.
pub fn messages_of_one_that_has_left() {
    let pair = Pair::open();
    let mut room = [0; 8];
    pair.sides[1].trecv(&mut room, num::ADDR_NONE, (1, 0), 0);
    pair.sides[0].tsend(&[1; 8], pair.there[0], 1, 0);
    pair.good(1);
    pair.good(0);
    pair.sides[0].tinject(&[9; 8], pair.there[0], 2);
    // It is there before its sender leaves, and nobody has asked for it.
    pair.sides[0].tinject(&[1; 8], pair.there[0], 1);
    pair.sides[1].trecv(&mut room, num::ADDR_NONE, (1, 0), 0);
    pair.good(1);
    let Pair {
        sides: [one, two],
        there,
    } = pair;
    one.close();
    let mut gone = there[1];
    // SAFETY: as above.
    let removed = unsafe { ((*(*two.av).ops).remove)(two.av, &mut gone, 1, 0) };
    assert_eq!(removed, 0);
    // Longer than it takes to find out that it is gone.
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(400) {
        assert!(two.poll().is_none());
    }
    two.trecv(&mut room, num::ADDR_NONE, (2, 0), 0);
    let told = two.poll().expect("it was there").ok().expect("a message");
    assert_eq!((told.0.len, told.1, room), (8, num::ADDR_NONE, [9; 8]));
    two.close();
}

/// Peers reach all of a region that lies in several runs, and cross from one to the next.
pub fn regions_of_several_runs() {
    let pair = Pair::open();
    let [one, two] = &pair.sides;
    let mut runs = [vec![0u8; 10], vec![0; 20_000], vec![0; 6]];
    let iov = runs.each_mut().map(|it| libc::iovec {
        iov_base: it.as_mut_ptr().cast(),
        iov_len: it.len(),
    });
    let (all, none) = (10 + 20_000 + 6, null_mut::<c_void>());
    let mut mr = null_mut();
    // SAFETY: as above; likewise below.
    let ops = unsafe {
        let mrs = &*(*two.domain).mr;
        let (fid, iov) = (two.domain.cast(), iov.as_ptr());
        let done = (mrs.regv)(fid, iov, 3, BOTH, 0, 9, 0, &mut mr, null_mut());
        assert_eq!(done, 0);
        &*(*one.ep).rma
    };
    for (from, len) in [(10, 1), (9, 3), (0, all), (20_009, 7), (20_010, 6)] {
        let (message, mut back) = (pattern(len), vec![0; len]);
        let (at, into) = (message.as_ptr().cast(), back.as_mut_ptr().cast());
        let addr = from as u64;
        // SAFETY: as above.
        unsafe {
            let to = pair.there[0];
            assert_eq!((ops.write)(one.ep, at, len, none, to, addr, 9, none), 0);
            pair.good(0);
            assert_eq!((ops.read)(one.ep, into, len, none, to, addr, 9, none), 0);
            pair.good(0);
        }
        assert_eq!(back, message, "{len} bytes at {from}");
        let there: Vec<u8> = runs.iter().flatten().copied().collect();
        assert_eq!(there[from..from + len], message);
    }
    close(mr.cast());
    pair.close();
}

/// Each call takes back one receive, though all of them have the same context.
pub fn receives_of_one_context() {
    let pair = Pair::open();
    let two = &pair.sides[1];
    let mut rooms = [[0; 8]; 3];
    for (tag, room) in (0..).zip(&mut rooms) {
        two.trecv(room, num::ADDR_NONE, (tag, 0), 5);
    }
    // SAFETY: as above.
    let cancel = || unsafe { ((*(*two.ep).ops).cancel)(two.ep.cast(), 5 as *mut c_void) };
    for _ in 0..3 {
        assert_eq!(cancel(), 0);
    }
    assert_eq!(cancel(), err::NOENT as isize);
    for _ in 0..3 {
        let told = two.poll().expect("they end at once");
        assert_eq!(told.err().map(|it| it.err), Some(libc::ECANCELED));
    }
    pair.close();
}

/// What does not fit is not written, by whichever way a long message comes.
pub fn messages_that_are_little_too_long() {
    let pair = Pair::open();
    let [one, two] = &pair.sides;
    // Which way a long message takes follows from those before it: of the longest there are many.
    for (len, turns) in [
        (9, 10),
        (9000, 10),
        (40_000, 20),
        (1 << 20, 10),
        (9 << 20, 60),
    ] {
        let message = pattern(len);
        let over = [1, 7, 8, 9, 20].into_iter().cycle();
        for (turn, over) in over.take(turns).enumerate() {
            let fits = len.saturating_sub(over);
            let mut room = vec![0xee; fits + 32];
            let is_late = turn % 4 > 1;
            if !is_late {
                two.trecv(&mut room[..fits], num::ADDR_NONE, (1, 0), 0);
            }
            let (at, none) = (message.as_ptr().cast(), null_mut());
            let ops = one.tagged();
            let data = [3, u64::MAX][turn % 2];
            // SAFETY: as above.
            let done = unsafe {
                match turn % 3 {
                    0 => (ops.send)(one.ep, at, len, none, pair.there[0], 1, none),
                    _ => (ops.senddata)(one.ep, at, len, none, data, pair.there[0], 1, none),
                }
            };
            assert_eq!(done, 0);
            if is_late {
                assert!((0..50).all(|_| two.poll().is_none()));
                two.trecv(&mut room[..fits], num::ADDR_NONE, (1, 0), 0);
            }
            let error = pair.bad(1);
            assert_eq!((error.err, error.olen), (-err::TRUNC, len - fits));
            pair.good(0);
            assert_eq!(room[..fits], message[..fits]);
            assert_eq!(room[fits..], [0xee; 32], "{len} bytes, {over} too many");
        }
    }
    pair.close();
}

/// A call for no completions makes progress, also where some are there.
pub fn a_call_for_progress_alone() {
    let pair = Pair::open();
    let [one, two] = &pair.sides;
    let (message, mut room) = (pattern(1 << 20), vec![0; 1 << 20]);
    let mut first = [0; 8];
    one.trecv(&mut first, num::ADDR_NONE, (1, 0), 0);
    two.tsend(&[1; 8], pair.there[1], 1, 0);
    pair.good(1);
    let began = Instant::now();
    // One completion stays in the queue of the sender.
    loop {
        // SAFETY: as above.
        unsafe { ((*(*one.cq).ops).read)(one.cq, null_mut(), 0) };
        if first != [0; 8] {
            break;
        }
        assert!(began.elapsed() < PATIENCE, "it does not come");
    }
    two.trecv(&mut room, num::ADDR_NONE, (2, 0), 0);
    one.tsend(&message, pair.there[0], 2, 0);
    assert_eq!(pair.good(1).0.len, 1 << 20);
    assert_eq!(room, message);
    pair.good(0);
    pair.good(0);
    pair.close();
}

/// A default that is for some calls alone does not stop others.
pub fn defaults_of_an_endpoint() {
    let pair = Pair::open();
    let two = &pair.sides[1];
    let mut flags = flag::MULTI_RECV | flag::COMPLETION | flag::RECV;
    let at = (&raw mut flags).cast();
    let mut room = [0u8; 100];
    // SAFETY: as above.
    unsafe {
        let control = (*(*two.ep).fid.ops).control;
        assert_eq!(control(two.ep.cast(), num::SETOPSFLAG, at), 0);
        let iov = [0, 50].map(|from| libc::iovec {
            iov_base: room[from..].as_mut_ptr().cast(),
            iov_len: 50,
        });
        let (ops, none) = (two.msg(), null_mut());
        let done = (ops.recvv)(two.ep, iov.as_ptr(), null_mut(), 2, num::ADDR_NONE, none);
        assert_eq!(done, 0);
    }
    let mut tagged = [0; 8];
    two.trecv(&mut tagged, num::ADDR_NONE, (1, 0), 1);
    pair.sides[0].tinject(&[5; 8], pair.there[0], 1);
    assert_eq!(pair.good(1).0.op_context as usize, 1);
    assert_eq!(tagged, [5; 8]);
    pair.close();
}

/// A flag that asks for what is not there is refused.
pub fn flags_that_are_not_there() {
    let pair = Pair::open();
    let one = &pair.sides[0];
    let mut bytes = [0u8; 8];
    let iov = libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: 8,
    };
    let tagged = inside::msg_tagged(&iov, 1, 0);
    let msg = Msg {
        iov: &iov,
        desc: null_mut(),
        iov_count: 1,
        addr: pair.there[0],
        context: null_mut(),
        data: 0,
    };
    let [fence, trigger, commit] = [1 << 21, 1 << 20, 1 << 30];
    let bad = err::BADFLAGS as isize;
    // SAFETY: as above.
    unsafe {
        for flags in [fence, trigger, commit, 1 << 63] {
            assert_eq!((one.msg().sendmsg)(one.ep, &msg, flags), bad);
            assert_eq!((one.msg().recvmsg)(one.ep, &msg, flags), bad);
            assert_eq!((one.tagged().recvmsg)(one.ep, &tagged, flags), bad);
        }
        assert_eq!((one.msg().recvmsg)(one.ep, &msg, flag::PEEK), bad);
        let done = (one.tagged().recvmsg)(one.ep, &tagged, flag::MULTI_RECV);
        assert_eq!(done, bad);
        let done = (one.tagged().recvmsg)(one.ep, &tagged, flag::DISCARD);
        assert_eq!(done, err::INVAL as isize);
    }
    pair.close();
}

/// Lengths that overflow, no addresses, queues that are bound twice.
pub fn input_that_makes_no_sense() {
    let pair = Pair::open();
    let [one, two] = &pair.sides;
    let mut bytes = [0u8; 16];
    let at = bytes.as_mut_ptr().cast::<c_void>();
    let (to, none) = (pair.there[0], null_mut::<c_void>());
    let half = |more| libc::iovec {
        iov_base: at,
        iov_len: (1usize << 63) + more,
    };
    // SAFETY: as above; none of that memory is touched.
    unsafe {
        let iov = [half(0), half(8)];
        let done = (one.msg().sendv)(one.ep, iov.as_ptr(), null_mut(), 2, to, none);
        assert_eq!(done, err::MSGSIZE as isize);
        let ops = &*(*one.ep).atomic;
        let count = (1 << 61) + 1;
        let done = (ops.write)(one.ep, at, count, none, to, 0, 1, 7, 2, none);
        assert_eq!(done, err::MSGSIZE as isize);
        let done = (ops.write)(one.ep, null(), 1, none, to, 0, 1, 7, 2, none);
        assert_eq!(done, err::INVAL as isize);
        let (operand, result) = (Ioc { addr: at, count: 1 }, [Ioc { addr: at, count: 2 }]);
        let (ep, results) = (one.ep, result.as_ptr().cast_mut());
        let (none, nones) = (null_mut(), null_mut());
        let done = (ops.readwritev)(
            ep, &operand, nones, 1, results, nones, 1, to, 0, 1, 7, 2, none,
        );
        assert_eq!(done, err::INVAL as isize, "two results of one operand");
        let insert = (*(*one.av).ops).insert;
        let mut addr = 0;
        assert_eq!(insert(one.av, null(), 1, &mut addr, 0, none), err::INVAL);
        let mut other = null_mut();
        let fabric = Fabric::open();
        let info = fabric.offers(0, |_| {}).expect("an offer");
        let open = (*(*two.domain).ops).endpoint;
        assert_eq!(open(two.domain, info, &mut other, none), 0);
        let bind = |flags| ((*(*other).fid.ops).bind)(other.cast(), two.cq.cast(), flags);
        assert_eq!(bind(0), err::INVAL);
        assert_eq!(bind(flag::SEND), 0);
        assert_eq!((bind(flag::SEND), bind(flag::RECV)), (err::INVAL, 0));
        close(other.cast());
    }
    // Room without end takes what there is.
    two.trecv_at(at, usize::MAX, 3);
    one.tinject(b"0123456789ab", pair.there[0], 3);
    assert_eq!(pair.good(1).0.len, 12);
    assert_eq!(&bytes[..12], b"0123456789ab");
    pair.close();
}

/// An offer is made only to those for whom it does.
pub fn hints_that_cannot_be_met() {
    let fabric = Fabric::open();
    let domain = |change: fn(&mut DomainAttr)| {
        fabric.offers(0, |hints| {
            // SAFETY: as above; likewise below.
            change(unsafe { &mut *hints.domain_attr });
        })
    };
    assert!(domain(|it| it.threading = num::THREAD_ENDPOINT).is_ok());
    for change in [
        (|it| it.threading = 77) as fn(&mut DomainAttr),
        |it| it.control_progress = 77,
        |it| it.data_progress = -1,
        |it| it.av_type = 77,
        |it| it.resource_mgmt = 77,
        |it| it.mr_iov_limit = 9,
    ] {
        assert_eq!(domain(change).err(), Some(err::NODATA));
    }
    let side = Side::open(&How::default());
    for (address, is_good) in [(side.address, true), ([0xff; 64], false)] {
        let offered = fabric.offers(0, |hints| {
            // SAFETY: as above; libfabric frees it.
            let at = unsafe { libc::malloc(64) }.cast::<[u8; 64]>();
            // SAFETY: as above.
            unsafe { at.write(address) };
            (hints.dest_addr, hints.dest_addrlen) = (at.cast(), 64);
        });
        assert_eq!(offered.is_ok(), is_good);
        if let Ok(info) = offered {
            // SAFETY: as above.
            let told = unsafe { (*info).dest_addr.cast::<[u8; 64]>().read() };
            assert_eq!(told, address);
        }
    }
    side.close();
}

/// A queue that is closed in a poll set is asked no more, and no harm is done.
pub fn a_queue_that_leaves_its_set() {
    let side = Side::open(&How::default());
    // SAFETY: as above.
    unsafe {
        let (mut set, mut cq) = (null_mut(), null_mut());
        let domain = &*(*side.domain).ops;
        assert_eq!((domain.poll_open)(side.domain, null_mut(), &mut set), 0);
        assert_eq!(
            (domain.cq_open)(side.domain, null_mut(), &mut cq, null_mut()),
            0
        );
        let ops = &*(*set).ops;
        assert_eq!((ops.add)(set, cq.cast(), 0), 0);
        close(cq.cast());
        let mut contexts = [null_mut(); 2];
        assert_eq!((ops.poll)(set, contexts.as_mut_ptr(), 2), 0);
        close(set.cast());
    }
    side.close();
}
