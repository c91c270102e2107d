//! Waiting, progress without calls, and what domains and vectors have besides.

use std::os::fd::RawFd;

use super::*;

/// Waits until a descriptor can be read.
fn readable(fd: RawFd) -> bool {
    let mut ask = libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    };
    let limit = PATIENCE.as_millis() as c_int;
    // SAFETY: one entry.
    unsafe { libc::poll(&mut ask, 1, limit) == 1 }
}

/// A side waits on the descriptor of its queue, and makes no calls meanwhile.
pub fn descriptors_to_wait_on() {
    let how = How {
        waits: true,
        ..How::default()
    };
    let pair = Pair::of([Side::open(&How::default()), Side::open(&how)]);
    let [one, two] = &pair.sides;
    let mut fd: RawFd = -1;
    // SAFETY: as the manual pages say; likewise below.
    unsafe {
        let ops = &*(*two.cq).fid.ops;
        let done = (ops.control)(two.cq.cast(), num::GETWAIT, (&raw mut fd).cast());
        assert_eq!(done, 0);
        let ops = &*(*one.cq).fid.ops;
        let done = (ops.control)(one.cq.cast(), num::GETWAIT, (&raw mut fd).cast());
        assert_eq!(done, err::NOSYS, "the other one has none");
    }
    // SAFETY: as above.
    let try_wait = || unsafe {
        let mut fids = [two.cq.cast::<Fid>()];
        ((*(*two.fabric).ops).trywait)(two.fabric, fids.as_mut_ptr(), 1)
    };
    for len in [8, 5000, 300_000] {
        let (message, mut room) = (pattern(len), vec![0; len]);
        two.trecv(&mut room, pair.there[1], (1, 0), 1);
        assert_eq!(try_wait(), 0, "nothing has come");
        one.tsend(&message, pair.there[0], 1, 2);
        // The sender makes progress as it waits; the receiver does by itself.
        loop {
            match one.poll() {
                Some(told) => break assert!(told.is_ok()),
                None => std::thread::yield_now(),
            }
        }
        assert!(readable(fd), "nobody has raised it");
        let began = Instant::now();
        while try_wait() == 0 {
            assert!(readable(fd) && began.elapsed() < PATIENCE);
        }
        assert_eq!(pair.good(1).0.len, len);
        assert_eq!(room, message);
        assert_eq!(try_wait(), 0, "it was taken");
    }
    pair.close();
}

/// A side whose progress is automatic serves its memory without a call.
pub fn memory_that_is_served_by_itself() {
    let how = How {
        is_auto: true,
        ..How::default()
    };
    let pair = Pair::of([Side::open(&How::default()), Side::open(&how)]);
    let [one, two] = &pair.sides;
    let mut memory = vec![0; 100_000];
    let mr = inside::register(two, &mut memory, 3, inside::BOTH);
    for len in [8, 100_000] {
        let message = pattern(len);
        // SAFETY: as above.
        unsafe {
            let at = message.as_ptr().cast();
            let ops = &*(*one.ep).rma;
            let none = null_mut();
            assert_eq!(
                (ops.write)(one.ep, at, len, none, pair.there[0], 0, 3, none),
                0
            );
        }
        let told = one.wait("nobody serves");
        assert!(told.is_ok());
        assert_eq!(memory[..len], message);
    }
    inside::close(mr.cast());
    pair.close();
}

/// A set tells which of its queues and counters have something.
pub fn poll_sets() {
    let mut counter = null_mut();
    let how = How {
        counters: vec![(&raw mut counter, flag::RECV)],
        ..How::default()
    };
    let pair = Pair::of([Side::open(&How::default()), Side::open(&how)]);
    let [one, two] = &pair.sides;
    // SAFETY: as above.
    unsafe {
        let mut set = null_mut();
        let domain = &*(*two.domain).ops;
        assert_eq!((domain.poll_open)(two.domain, null_mut(), &mut set), 0);
        let ops = &*(*set).ops;
        (*two.cq).fid.context = 5 as *mut c_void;
        (*counter).fid.context = 6 as *mut c_void;
        assert_eq!((ops.add)(set, two.cq.cast(), 0), 0);
        assert_eq!((ops.add)(set, counter.cast(), 0), 0);
        assert_eq!((ops.add)(set, two.av.cast(), 0), err::INVAL);
        let mut contexts = [null_mut(); 4];
        assert_eq!((ops.poll)(set, contexts.as_mut_ptr(), 4), 0);
        let mut room = [0; 8];
        two.trecv(&mut room, pair.there[1], (1, 0), 1);
        one.tsend(&[1; 8], pair.there[0], 1, 2);
        let began = Instant::now();
        while (ops.poll)(set, contexts.as_mut_ptr(), 4) < 2 {
            let _ = one.poll();
            assert!(began.elapsed() < PATIENCE, "nothing comes");
        }
        assert_eq!(
            contexts[..2].iter().map(|it| *it as usize).sum::<usize>(),
            11
        );
        assert_eq!(two.poll().map(|it| it.is_ok()), Some(true));
        assert_eq!(((*(*counter).ops).read)(counter), 1);
        assert_eq!((ops.poll)(set, contexts.as_mut_ptr(), 4), 0);
        assert_eq!((ops.del)(set, two.cq.cast(), 0), 0);
        assert_eq!((ops.del)(set, two.cq.cast(), 0), err::INVAL);
        inside::close(set.cast());
    }
    let Pair {
        sides: [one, two], ..
    } = pair;
    inside::close(two.ep.cast());
    inside::close(counter.cast());
    for fid in [
        two.cq.cast::<Fid>(),
        two.av.cast(),
        two.domain.cast(),
        two.fabric.cast(),
    ] {
        inside::close(fid);
    }
    one.close();
}

/// A vector whose insertions are told by events.
pub fn events_of_insertions() {
    let side = Side::open(&How::default());
    // SAFETY: as above.
    unsafe {
        let (mut eq, mut av) = (null_mut(), null_mut());
        let fabric = &*(*side.fabric).ops;
        assert_eq!(
            (fabric.eq_open)(side.fabric, null_mut(), &mut eq, null_mut()),
            0
        );
        let mut attr: AvAttr = std::mem::zeroed();
        attr.flags = flag::EVENT;
        let domain = &*(*side.domain).ops;
        assert_eq!(
            (domain.av_open)(side.domain, &mut attr, &mut av, null_mut()),
            0
        );
        let ops = &*(*av).ops;
        let addresses = [side.address, [0xff; 64]].concat();
        let (at, mut numbers) = (addresses.as_ptr().cast(), [0; 2]);
        let context = 9 as *mut c_void;
        let insert =
            |numbers: &mut [u64; 2]| (ops.insert)(av, at, 2, numbers.as_mut_ptr(), 0, context);
        assert_eq!(insert(&mut numbers), err::NOEQ);
        assert_eq!(((*(*av).fid.ops).bind)(av.cast(), eq.cast(), 0), 0);
        assert_eq!(insert(&mut numbers), 0);
        assert_eq!(numbers, [0, num::ADDR_NONE]);
        let queue = &*(*eq).ops;
        let (mut event, mut entry) = (0, std::mem::zeroed::<EqEntry>());
        let len = size_of::<EqEntry>();
        let mut read = || {
            let to = (&raw mut entry).cast();
            let read = (queue.read)(eq, &mut event, to, len, 0);
            (read, event, entry.context as usize, entry.data)
        };
        assert_eq!(read().0, err::AVAIL as isize, "one is no address");
        let mut error = std::mem::zeroed::<EqErrEntry>();
        let room = (&raw mut error).cast();
        assert_eq!(
            (queue.readerr)(eq, room, 0),
            size_of::<EqErrEntry>() as isize
        );
        assert_eq!((error.data, error.err), (1, libc::EINVAL));
        assert_eq!(read(), (len as isize, num::AV_COMPLETE, 9, 1));
        assert_eq!(read().0, err::AGAIN as isize);
        [av.cast::<Fid>(), eq.cast()]
            .into_iter()
            .for_each(inside::close);
    }
    side.close();
}

/// Completions tell what the program calls an address.
pub fn user_ids() {
    let how = How {
        has_ids: true,
        ..How::default()
    };
    let sides = [Side::open(&How::default()), Side::open(&how)];
    let (done, there) = sides[0].insert(&sides[1].address);
    assert_eq!(done, 1);
    let mut back = 4711;
    // SAFETY: as above.
    unsafe {
        let ops = &*(*sides[1].av).ops;
        let at = sides[0].address.as_ptr().cast();
        let done = (ops.insert)(sides[1].av, at, 1, &mut back, 0, null_mut());
        assert_eq!((done, back), (1, 0));
    }
    let pair = Pair {
        sides,
        there: [there, back],
    };
    let mut room = [0; 8];
    pair.sides[1].trecv(&mut room, back, (1, 0), 1);
    pair.sides[0].tsend(&[1; 8], there, 1, 2);
    assert_eq!(pair.good(1).1, 4711);
    pair.good(0);
    pair.close();
}

/// A process opens many domains with an endpoint in each.
pub fn many_domains() {
    let sides: Vec<Side> = (0..65).map(|_| Side::open(&How::default())).collect();
    let (first, rest) = sides.split_first().expect("there are some");
    for (other, context) in rest.iter().zip(1..) {
        let (_, there) = first.insert(&other.address);
        let (_, back) = other.insert(&first.address);
        let mut room = [0; 8];
        other.trecv(&mut room, back, (1, 0), context);
        first.tinject(&[context as u8; 8], there, 1);
        let began = Instant::now();
        loop {
            match other.poll() {
                Some(told) => break assert!(told.is_ok()),
                None => _ = first.poll(),
            }
            assert!(began.elapsed() < PATIENCE, "domain {context}");
        }
        assert_eq!(room, [context as u8; 8]);
    }
    sides.into_iter().for_each(Side::close);
}

/// Time for some messages that are expected, at its best of many turns.
fn exchange(pair: &Pair) -> Duration {
    const TURNS: usize = 200;
    const MESSAGES: usize = 20;
    let mut room = [0; 8];
    let one_turn = |_| {
        let began = Instant::now();
        for _ in 0..MESSAGES {
            pair.sides[1].trecv(&mut room, pair.there[1], (u64::MAX, 0), 1);
            pair.sides[0].tinject(&[7; 8], pair.there[0], u64::MAX);
            pair.good(1);
        }
        began.elapsed()
    };
    (0..TURNS).map(one_turn).min().expect("turns")
}

/// 10^5 receives that wait, and then as many messages that nobody expects, slow others down by no
/// more than the caches do.
pub fn long_queues_cost_nothing() {
    const MANY: u64 = 100_000;
    let pair = Pair::open();
    let [one, two] = &pair.sides;
    let empty = exchange(&pair);
    let mut rooms = vec![[0; 8]; MANY as usize];
    for (tag, room) in (0..).zip(&mut rooms) {
        two.trecv(room, pair.there[1], (tag, 0), tag as usize);
    }
    let posted = exchange(&pair);
    for tag in 0..MANY {
        one.tinject(&tag.to_ne_bytes(), pair.there[0], tag);
    }
    (0..MANY).for_each(|_| _ = pair.good(1));
    assert!(
        (0..)
            .zip(&rooms)
            .all(|(tag, room)| u64::to_ne_bytes(tag) == *room)
    );
    for tag in 0..MANY {
        one.tinject(&tag.to_ne_bytes(), pair.there[0], tag);
    }
    // All of them are there once one has come that followed.
    let mut room = [0; 8];
    two.trecv(&mut room, pair.there[1], (MANY, 0), 1);
    one.tinject(&[1; 8], pair.there[0], MANY);
    pair.good(1);
    let unexpected = exchange(&pair);
    println!("empty {empty:?}, posted {posted:?}, unexpected {unexpected:?}");
    for time in [posted, unexpected] {
        assert!(time <= 2 * empty, "{time:?} and not {empty:?}");
    }
    for (tag, room) in (0..).zip(&mut rooms) {
        two.trecv(room, pair.there[1], (tag, 0), tag as usize);
        pair.good(1);
    }
    assert!(
        (0..)
            .zip(&rooms)
            .all(|(tag, room)| u64::to_ne_bytes(tag) == *room)
    );
    pair.close();
}
