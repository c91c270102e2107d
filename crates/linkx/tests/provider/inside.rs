//! The tests themselves, in a process whose libfabric has the provider.

use super::*;

pub fn offers() {
    let fabric = Fabric::open();
    let info = fabric.offers(0, |_| {}).expect("an offer");
    // SAFETY: as above; likewise below.
    unsafe {
        let caps = flag::MSG | flag::TAGGED | flag::RMA | flag::ATOMIC | flag::DIRECTED_RECV;
        assert_eq!((*info).caps & caps, caps);
        assert_eq!(((*info).mode, (*(*info).domain_attr).cq_data_size), (0, 8));
        assert_eq!((*(*info).domain_attr).mr_mode, 0);
    }
    // Capabilities that are there, one that is not, and an endpoint that is not.
    let caps = |caps| fabric.offers(0, |hints| hints.caps = caps);
    assert!(caps(flag::TAGGED | flag::SOURCE).is_ok());
    assert_eq!(caps(flag::TAGGED | 1 << 5).err(), Some(err::NODATA));
    // SAFETY: as above.
    let kind = |kind| fabric.offers(0, |hints| unsafe { (*hints.ep_attr).kind = kind });
    assert!(kind(num::EP_RDM).is_ok());
    assert_eq!(kind(1).err(), Some(err::NODATA));
    let modes = mr::VIRT_ADDR | mr::PROV_KEY | 1 << 2;
    // SAFETY: as above.
    let info = fabric.offers(0, |hints| unsafe { (*hints.domain_attr).mr_mode = modes });
    // SAFETY: as above.
    let mode = unsafe { (*(*info.expect("an offer")).domain_attr).mr_mode };
    assert_eq!(mode, 0, "nothing of that is needed");
    let side = Side::open(&How::default());
    assert_eq!(side.insert(&[0xff; 64]), (0, num::ADDR_NONE), "garbage");
    side.close();
}

pub fn tagged_messages() {
    let pair = Pair::open();
    let [one, two] = &pair.sides;
    for len in [0, 1, 8, 100, 5000, 70_000, 1 << 20] {
        let (message, mut room) = (pattern(len), vec![0; len + 5]);
        two.trecv(&mut room, num::ADDR_NONE, (0x1200, 0xff), 7);
        one.tsend(&message, pair.there[0], 0x12ab, 8);
        let (told, source) = pair.good(1);
        assert_eq!(
            (told.op_context as usize, told.len, told.tag),
            (7, len, 0x12ab)
        );
        assert_eq!(
            (told.flags, source),
            (flag::RECV | flag::TAGGED, pair.there[1])
        );
        assert_eq!(room[..len], message);
        let (told, _) = pair.good(0);
        assert_eq!(told.op_context as usize, 8);
        assert_eq!(told.flags, flag::SEND | flag::TAGGED);
    }
    // In order, whether they are expected or not; what was injected may change at once.
    for tag in 0..100u64 {
        let mut bytes = [tag as u8; 40];
        one.tinject(&bytes, pair.there[0], tag);
        bytes.fill(0xff);
    }
    for tag in 0..100u64 {
        let mut room = [0; 40];
        two.trecv(&mut room, pair.there[1], (0, u64::MAX), 0);
        assert_eq!(pair.good(1).0.tag, tag);
        assert_eq!(room, [tag as u8; 40]);
    }
    // Several runs, on both sides.
    let (message, mut room) = (pattern(20_000), [vec![0; 7], vec![0; 19_993]]);
    let iov = |bytes: &[u8]| libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    let out = [
        iov(&message[..9000]),
        iov(&message[9000..9000]),
        iov(&message[9000..]),
    ];
    let into = [iov(&room[0]), iov(&room[1])];
    // SAFETY: as above.
    unsafe {
        let none = null_mut();
        let (ops, to) = (two.tagged(), num::ADDR_NONE);
        let done = (ops.recvv)(two.ep, into.as_ptr(), null_mut(), 2, to, 5, 0, none);
        assert_eq!(done, 0);
        let to = pair.there[0];
        let done = (ops.sendv)(one.ep, out.as_ptr(), null_mut(), 3, to, 5, none);
        assert_eq!(done, 0);
    }
    assert_eq!(pair.good(1).0.len, 20_000);
    assert_eq!(
        room.iter_mut()
            .flat_map(std::mem::take)
            .collect::<Vec<u8>>(),
        message
    );
    pair.good(0);
    // Too little room by one byte, by nine, and by many.
    for (sent, has) in [(9, 8), (20, 11), (100_000, 1000)] {
        let (message, mut room) = (pattern(sent), vec![0; has]);
        two.trecv(&mut room, num::ADDR_NONE, (6, 0), 9);
        one.tsend(&message, pair.there[0], 6, 0);
        let error = pair.bad(1);
        assert_eq!((error.err, error.olen), (-err::TRUNC, sent - has));
        assert_eq!(
            (error.op_context as usize, error.tag, error.len),
            (9, 6, has)
        );
        assert_eq!(room, message[..has]);
        pair.good(0);
    }
    pair.close();
}

pub fn remote_cq_data() {
    let pair = Pair::open();
    let [one, two] = &pair.sides;
    let all = [0, 1, u64::from(u32::MAX) - 2, u64::from(u32::MAX), u64::MAX];
    for (data, len) in all
        .into_iter()
        .flat_map(|it| [(it, 0), (it, 8), (it, 40_000), (it, 90_000)])
    {
        let (message, mut room) = (pattern(len), vec![0; len]);
        let (at, none) = (message.as_ptr().cast(), null_mut());
        for early in [true, false] {
            room.fill(0);
            if early {
                two.trecv(&mut room, num::ADDR_NONE, (3, 0), 1);
            }
            // SAFETY: as above.
            let done = unsafe {
                let ops = one.tagged();
                (ops.senddata)(one.ep, at, len, none, data, pair.there[0], 3, none)
            };
            assert_eq!(done, 0);
            if !early {
                assert!(two.poll().is_none(), "nobody has asked for it");
                two.trecv(&mut room, num::ADDR_NONE, (3, 0), 1);
            }
            let (told, _) = pair.good(1);
            assert_eq!((told.data, told.len, &room), (data, len, &message));
            assert!(told.flags & flag::REMOTE_CQ_DATA != 0);
            pair.good(0);
        }
    }
    pair.close();
}

pub fn plain_messages() {
    let pair = Pair::open();
    let [one, two] = &pair.sides;
    let (message, mut room) = (pattern(3000), vec![0; 3000]);
    let none = null_mut();
    // A tagged message and a plain one never meet.
    one.tinject(&message[..8], pair.there[0], 0);
    // SAFETY: as above.
    unsafe {
        let (ops, to) = (two.msg(), room.as_mut_ptr().cast());
        assert_eq!((ops.recv)(two.ep, to, 3000, none, num::ADDR_NONE, none), 0);
        let at = message.as_ptr().cast();
        assert_eq!(
            (ops.senddata)(one.ep, at, 3000, none, 11, pair.there[0], none),
            0
        );
    }
    let (told, source) = pair.good(1);
    assert_eq!((told.len, told.data, source), (3000, 11, pair.there[1]));
    assert_eq!(told.flags, flag::RECV | flag::MSG | flag::REMOTE_CQ_DATA);
    assert_eq!(room, message);
    pair.good(0);
    two.trecv(&mut room, num::ADDR_NONE, (0, 0), 0);
    assert_eq!(pair.good(1).0.len, 8);
    pair.close();
}

pub fn buffers_for_many_messages() {
    let pair = Pair::open();
    let [one, two] = &pair.sides;
    let mut room = vec![0u8; 1000];
    let start = room.as_mut_ptr();
    let iov = libc::iovec {
        iov_base: start.cast(),
        iov_len: room.len(),
    };
    let msg = Msg {
        iov: &iov,
        desc: null_mut(),
        iov_count: 1,
        addr: num::ADDR_NONE,
        context: 5 as *mut c_void,
        data: 0,
    };
    // SAFETY: as above.
    unsafe {
        let least = 200usize;
        let (level, name) = (num::OPT_ENDPOINT, num::OPT_MIN_MULTI_RECV);
        let at = (&raw const least).cast();
        let done = ((*(*two.ep).ops).setopt)(two.ep.cast(), level, name, at, 8);
        assert_eq!(done, 0);
        assert_eq!((two.msg().recvmsg)(two.ep, &msg, flag::MULTI_RECV), 0);
    }
    for number in 0..9u8 {
        let message = [number; 100];
        let at = message.as_ptr().cast();
        // SAFETY: as above.
        let done = unsafe { (one.msg().inject)(one.ep, at, 100, pair.there[0]) };
        assert_eq!(done, 0);
    }
    for number in 0..9usize {
        let (told, _) = pair.good(1);
        assert_eq!((told.op_context as usize, told.len), (5, 100));
        assert_eq!(told.buf as usize, start as usize + 100 * number);
        let is_last = number == 8;
        assert_eq!(told.flags & flag::MULTI_RECV != 0, is_last, "{number}");
        assert_eq!(room[100 * number..][..100], [number as u8; 100]);
    }
    pair.close();
}

pub fn msg_tagged(iov: &libc::iovec, tag: u64, context: usize) -> MsgTagged {
    MsgTagged {
        iov,
        desc: null_mut(),
        iov_count: 1,
        addr: num::ADDR_NONE,
        tag,
        ignore: 0,
        context: context as *mut c_void,
        data: 0,
    }
}

pub fn peeks_and_claims() {
    let pair = Pair::open();
    let [one, two] = &pair.sides;
    let mut room = [0u8; 16];
    let iov = libc::iovec {
        iov_base: room.as_mut_ptr().cast(),
        iov_len: 16,
    };
    let look = |flags, context| {
        let msg = msg_tagged(&iov, 9, context);
        // SAFETY: as above.
        unsafe { assert_eq!((two.tagged().recvmsg)(two.ep, &msg, flags), 0) };
    };
    look(flag::PEEK, 1);
    assert_eq!(pair.bad(1).err, -err::NOMSG);
    for byte in [1u8, 2, 3] {
        let (at, none) = ([byte; 10], null_mut());
        let (at, to) = (at.as_ptr().cast(), pair.there[0]);
        // SAFETY: as above.
        let done = unsafe { (one.tagged().injectdata)(one.ep, at, 10, 77, to, 9) };
        assert_eq!((done, none), (0, null_mut::<c_void>()));
    }
    // They have come when one has that was sent after them.
    let mut after = [0; 1];
    two.trecv(&mut after, num::ADDR_NONE, (10, 0), 0);
    one.tinject(&[1], pair.there[0], 10);
    pair.good(1);
    look(flag::PEEK, 1);
    let told = pair.good(1).0;
    assert_eq!((told.len, told.tag, told.data), (10, 9, 77));
    look(flag::PEEK | flag::CLAIM, 2);
    assert_eq!(pair.good(1).0.op_context as usize, 2);
    look(flag::PEEK | flag::DISCARD, 3);
    assert_eq!(pair.good(1).0.len, 10);
    look(0, 4);
    assert_eq!(pair.good(1).0.len, 10);
    assert_eq!(
        room[..10],
        [3; 10],
        "the first is claimed, the second thrown away"
    );
    look(flag::CLAIM, 2);
    let (told, _) = pair.good(1);
    assert_eq!((told.op_context as usize, told.len, told.data), (2, 10, 77));
    assert_eq!(room[..10], [1; 10]);
    look(flag::PEEK, 1);
    assert_eq!(pair.bad(1).err, -err::NOMSG);
    pair.close();
}

pub fn receives_taken_back() {
    let pair = Pair::open();
    let [one, two] = &pair.sides;
    let (mut first, mut second) = ([0; 8], [0; 8]);
    two.trecv(&mut first, num::ADDR_NONE, (1, 0), 1);
    two.trecv(&mut second, num::ADDR_NONE, (1, 0), 2);
    // SAFETY: as above.
    let cancel = |context: usize| unsafe {
        ((*(*two.ep).ops).cancel)(two.ep.cast(), context as *mut c_void)
    };
    assert_eq!(cancel(1), 0);
    let error = pair.bad(1);
    assert_eq!((error.err, error.op_context as usize), (libc::ECANCELED, 1));
    assert_eq!(cancel(1), err::NOENT as isize);
    one.tsend(&[4; 8], pair.there[0], 1, 0);
    assert_eq!(pair.good(1).0.op_context as usize, 2);
    assert_eq!((first, second), ([0; 8], [4; 8]));
    pair.good(0);
    pair.close();
}

/// Registers memory of a side for peers, under a key.
pub fn register(side: &Side, memory: &mut [u8], key: u64, access: u64) -> *mut FidMr {
    let mut mr = null_mut();
    // SAFETY: as above.
    unsafe {
        let (at, len) = (memory.as_mut_ptr().cast::<c_void>(), memory.len());
        let ops = &*(*side.domain).mr;
        let fid = side.domain.cast();
        let done = (ops.reg)(fid, at, len, access, 0, key, 0, &mut mr, null_mut());
        assert_eq!(done, 0);
    }
    mr
}

pub fn close(fid: *mut Fid) {
    // SAFETY: as above.
    assert_eq!(unsafe { ((*(*fid).ops).close)(fid) }, 0);
}

pub const BOTH: u64 = flag::REMOTE_READ | flag::REMOTE_WRITE;

pub fn remote_memory() {
    let pair = Pair::open();
    let [one, two] = &pair.sides;
    let mut memory = vec![0; 1 << 20];
    let mr = register(two, &mut memory, 77, BOTH);
    // SAFETY: as above; likewise below.
    let ops = unsafe { &*(*one.ep).rma };
    let (to, none) = (pair.there[0], null_mut::<c_void>());
    for len in [1, 8, 4000, 100_000, (1 << 20) - 16] {
        let (message, mut back) = (pattern(len), vec![0; len]);
        let (at, into) = (message.as_ptr().cast(), back.as_mut_ptr().cast());
        // SAFETY: as above.
        unsafe {
            assert_eq!(
                (ops.write)(one.ep, at, len, none, to, 16, 77, 3 as *mut _),
                0
            );
            let told = pair.good(0).0;
            assert_eq!(
                (told.op_context as usize, told.flags),
                (3, flag::RMA | flag::WRITE)
            );
            assert_eq!(memory[16..16 + len], message);
            assert_eq!(
                (ops.read)(one.ep, into, len, none, to, 16, 77, 4 as *mut _),
                0
            );
            let told = pair.good(0).0;
            assert_eq!(
                (told.op_context as usize, told.flags),
                (4, flag::RMA | flag::READ)
            );
        }
        assert_eq!(back, message);
        assert!(two.poll().is_none(), "the target is told nothing");
    }
    for (len, data) in [(8, u64::MAX), (50_000, 9)] {
        let message = pattern(len);
        // SAFETY: as above.
        unsafe {
            let at = message.as_ptr().cast();
            assert_eq!(
                (ops.writedata)(one.ep, at, len, none, data, to, 0, 77, none),
                0
            );
        }
        pair.good(0);
        let told = pair.good(1).0;
        assert_eq!((told.data, told.len), (data, len));
        let flags = flag::RMA | flag::REMOTE_WRITE | flag::REMOTE_CQ_DATA;
        assert_eq!(told.flags, flags);
    }
    // A key that is none, and bounds that are crossed, shortly and at length.
    for (len, addr, key, error) in [
        (8, 0, 78, -err::NOKEY),
        (8, (1 << 20) - 7, 77, libc::EFAULT),
        (50_000, 1 << 20, 77, libc::EFAULT),
        (50_000, u64::MAX, 77, libc::EFAULT),
    ] {
        let mut bytes = pattern(len);
        let at = bytes.as_mut_ptr().cast();
        // SAFETY: as above.
        unsafe {
            assert_eq!((ops.write)(one.ep, at, len, none, to, addr, key, none), 0);
            assert_eq!(pair.bad(0).err, error);
            assert_eq!((ops.read)(one.ep, at, len, none, to, addr, key, none), 0);
            assert_eq!(pair.bad(0).err, error);
        }
    }
    close(mr.cast());
    pair.close();
}

pub fn atomics() {
    let pair = Pair::open();
    let [one, two] = &pair.sides;
    let mut words = [5u64, 6, 7, 8];
    // SAFETY: as above; likewise below.
    let ops = unsafe { &*(*one.ep).atomic };
    // SAFETY: as above.
    let bytes = unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), 32) };
    let mr = register(two, bytes, 1, BOTH);
    let (to, none) = (pair.there[0], null_mut::<c_void>());
    let (u64_, sum, cswap) = (7, 2, 12);
    let (add, mut old) = ([10u64, 20], [0u64; 2]);
    // SAFETY: as above.
    unsafe {
        let at = add.as_ptr().cast();
        assert_eq!(
            (ops.write)(one.ep, at, 2, none, to, 8, 1, u64_, sum, none),
            0
        );
        pair.good(0);
        assert_eq!(words, [5, 16, 27, 8]);
        let into = old.as_mut_ptr().cast();
        let done = (ops.readwrite)(one.ep, at, 2, none, into, none, to, 0, 1, u64_, sum, none);
        assert_eq!(done, 0);
        pair.good(0);
        assert_eq!((words, old), ([15, 36, 27, 8], [5, 16]));
        let (with, compare) = ([1u64, 2], [15u64, 0]);
        let (at, with_what) = (with.as_ptr().cast(), compare.as_ptr().cast());
        let done = (ops.compwrite)(
            one.ep, at, 2, none, with_what, none, into, none, to, 0, 1, u64_, cswap, none,
        );
        assert_eq!(done, 0);
        pair.good(0);
        assert_eq!((words, old), ([1, 36, 27, 8], [15, 36]));
        let done = (ops.write)(one.ep, at, 2, none, to, 24, 1, u64_, sum, none);
        assert_eq!((done, pair.bad(0).err), (0, libc::EFAULT));
        let mut count = 0;
        assert_eq!((ops.writevalid)(one.ep, u64_, sum, &mut count), 0);
        assert_eq!(count, 512);
        assert_eq!((ops.writevalid)(one.ep, 12, sum, &mut count), err::NOTSUP);
    }
    close(mr.cast());
    pair.close();
}

pub fn selective_completion_and_counters() {
    let (mut sent, mut received) = (null_mut(), null_mut());
    let how = How {
        is_selective: true,
        counters: vec![(&mut sent, flag::SEND), (&mut received, flag::RECV)],
        ..How::default()
    };
    let pair = Pair::of([Side::open(&how), Side::open(&How::default())]);
    let [one, two] = &pair.sides;
    let mut room = [0; 8];
    one.tsend(&[1; 8], pair.there[0], 1, 0);
    two.trecv(&mut room, num::ADDR_NONE, (1, 0), 0);
    pair.good(1);
    two.tsend(&[2; 8], pair.there[1], 1, 0);
    pair.good(1);
    one.trecv(&mut room, num::ADDR_NONE, (1, 0), 0);
    // SAFETY: as above.
    unsafe {
        for counter in [sent, received] {
            let ops = &*(*counter).ops;
            assert_eq!((ops.wait)(counter, 1, 60_000), 0);
            assert_eq!(((ops.read)(counter), (ops.readerr)(counter)), (1, 0));
        }
    }
    assert_eq!(room, [2; 8]);
    assert!(one.poll().is_none(), "nobody has asked for completions");
    let iov = libc::iovec {
        iov_base: room.as_mut_ptr().cast(),
        iov_len: 8,
    };
    let msg = MsgTagged {
        addr: pair.there[0],
        ..msg_tagged(&iov, 2, 6)
    };
    // SAFETY: as above.
    unsafe { assert_eq!((one.tagged().sendmsg)(one.ep, &msg, flag::COMPLETION), 0) };
    assert_eq!(pair.good(0).0.op_context as usize, 6);
    let Pair {
        sides: [one, two], ..
    } = pair;
    let ep = one.ep.cast::<Fid>();
    close(ep);
    [sent, received].into_iter().for_each(|it| close(it.cast()));
    for fid in [
        one.cq.cast::<Fid>(),
        one.av.cast(),
        one.domain.cast(),
        one.fabric.cast(),
    ] {
        close(fid);
    }
    two.close();
}

pub fn many_receives_and_messages() {
    const MANY: u64 = 20_000;
    let pair = Pair::open();
    let [one, two] = &pair.sides;
    let mut rooms = vec![0u64; MANY as usize];
    let bytes = |room: &mut u64| {
        let at: *mut u64 = room;
        // SAFETY: eight bytes.
        unsafe { std::slice::from_raw_parts_mut(at.cast::<u8>(), 8) }
    };
    for turn in [true, false] {
        rooms.fill(u64::MAX);
        let post = |rooms: &mut [u64]| {
            for (tag, room) in (0..).zip(rooms) {
                two.trecv(bytes(room), pair.there[1], (tag, 0), tag as usize);
            }
        };
        let send = || {
            for tag in (0..MANY).rev() {
                one.tinject(&tag.to_ne_bytes(), pair.there[0], tag);
            }
        };
        match turn {
            true => {
                post(&mut rooms);
                send();
            }
            false => {
                send();
                post(&mut rooms);
            }
        }
        for _ in 0..MANY {
            let told = pair.good(1).0;
            assert_eq!(told.op_context as u64, told.tag);
        }
        assert!((0..).zip(&rooms).all(|(tag, room)| tag == *room));
    }
    pair.close();
}

/// Messages fill one buffer before the next; a receive that waits behind them can be taken back.
pub fn buffers_that_are_filled_in_turn() {
    let pair = Pair::open();
    let [one, two] = &pair.sides;
    let mut rooms = [[0u8; 400]; 2];
    for (context, room) in (1..).zip(&mut rooms) {
        let iov = libc::iovec {
            iov_base: room.as_mut_ptr().cast(),
            iov_len: room.len(),
        };
        let msg = Msg {
            iov: &iov,
            desc: null_mut(),
            iov_count: 1,
            addr: num::ADDR_NONE,
            context: context as *mut c_void,
            data: 0,
        };
        // SAFETY: as above.
        unsafe { assert_eq!((two.msg().recvmsg)(two.ep, &msg, flag::MULTI_RECV), 0) };
    }
    let mut last = [0u8; 100];
    // SAFETY: as above; likewise below.
    let receive = |last: &mut [u8; 100], context: usize| unsafe {
        let (at, context) = (last.as_mut_ptr().cast(), context as *mut c_void);
        let done = (two.msg().recv)(two.ep, at, 100, null_mut(), num::ADDR_NONE, context);
        assert_eq!(done, 0);
    };
    receive(&mut last, 3);
    // SAFETY: as above.
    let cancel = |context: usize| unsafe {
        ((*(*two.ep).ops).cancel)(two.ep.cast(), context as *mut c_void)
    };
    assert_eq!(cancel(3), 0);
    assert_eq!(pair.bad(1).err, libc::ECANCELED);
    receive(&mut last, 4);
    for number in 0..9u8 {
        let message = [number; 100];
        let at = message.as_ptr().cast();
        // SAFETY: as above.
        let done = unsafe { (one.msg().inject)(one.ep, at, 100, pair.there[0]) };
        assert_eq!(done, 0);
    }
    for number in 0..9 {
        let (told, _) = pair.good(1);
        let expected = [1, 1, 1, 1, 2, 2, 2, 2, 4][number];
        assert_eq!(told.op_context as usize, expected, "{number}");
    }
    let bytes = |from: u8| -> Vec<u8> { (from..from + 4).flat_map(|it| [it; 100]).collect() };
    assert_eq!(
        [&rooms[0][..], &rooms[1][..]],
        [&bytes(0)[..], &bytes(4)[..]]
    );
    assert_eq!(last, [8; 100]);
    pair.close();
}

/// A side of a process that was [started], and the one that it was told of.
fn introduced() -> (Side, Addr) {
    let side = Side::open(&How::default());
    let digits: String = side.address.iter().map(|it| format!("{it:02x}")).collect();
    println!("\nprocess {}\naddress {digits}", std::process::id());
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).expect("an address");
    let (_, addr) = side.insert(&of_hex(line.trim()));
    (side, addr)
}

/// A process that sends and ends at once: it learns an address, sends, and closes its endpoint.
pub fn sender() {
    let (side, addr) = introduced();
    side.tinject(b"and I am gone", addr, 1);
    println!("sent");
    side.close();
}

/// What a process has sent arrives, although the receiver inserts its address only afterwards.
pub fn a_sender_that_leaves_at_once() {
    let (mut sender, mut lines) = started("sender");
    let said = lines.find_map(|it| Some(of_hex(it.strip_prefix("address ")?)));
    let side = Side::open(&How::default());
    tell(&mut sender, &side);
    assert!(lines.any(|it| it == "sent"));
    let (done, there) = side.insert(&said.expect("its address"));
    assert_eq!(done, 1);
    let mut room = [0; 16];
    side.trecv(&mut room, there, (1, 0), 1);
    let told = side.wait("it does not come");
    assert_eq!(told.ok().map(|it| it.0.len), Some(13));
    assert_eq!(&room[..13], b"and I am gone");
    assert!(sender.wait().expect("it ends").success());
    side.close();
}

pub type Lines = Box<dyn Iterator<Item = String>>;

/// Starts this program as another process, and reads what it says.
pub fn started(part: &str) -> (std::process::Child, Lines) {
    let get = |name| std::env::var(name).expect("started by a test");
    let (link, library) = (get("FI_LINKX_LINKS"), get("LINKX_LIBRARY"));
    let folder = PathBuf::from(get("FI_PROVIDER_PATH"));
    let mut peer = command(part, &link, &library, &folder);
    if let Ok(host) = std::env::var("LINKX_HOST") {
        through_hosts(&mut peer, &host);
    }
    let mut peer = peer
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a peer");
    let lines = BufReader::new(peer.stdout.take().expect("a pipe")).lines();
    (peer, Box::new(lines.map(|it| it.expect("a line"))))
}

/// Tells another process this one's address.
pub fn tell(peer: &mut std::process::Child, side: &Side) {
    use std::io::Write;
    let mut own: String = side.address.iter().map(|it| format!("{it:02x}")).collect();
    own.push('\n');
    let mut to = peer.stdin.take().expect("a pipe");
    to.write_all(own.as_bytes()).expect("it reads");
}

/// The process that is killed: it tells its address, takes one in, and waits.
pub fn peer() {
    let (side, addr) = introduced();
    side.tinject(b"here I am", addr, 1);
    loop {
        let _ = side.poll();
    }
}

pub fn of_hex(text: &str) -> [u8; 64] {
    let digit = |at: usize| u8::from_str_radix(&text[2 * at..2 * at + 2], 16);
    std::array::from_fn(|at| digit(at).expect("digits"))
}

pub fn addresses_that_are_removed() {
    let pair = Pair::open();
    let [one, two] = &pair.sides;
    let mut room = [0; 8];
    one.trecv(&mut room, pair.there[0], (1, 0), 1);
    // SAFETY: as above.
    unsafe {
        let mut addr = pair.there[0];
        let remove = (*(*one.av).ops).remove;
        assert_eq!(remove(one.av, &mut addr, 1, 0), 0);
        assert_eq!(remove(one.av, &mut addr, 1, 0), err::INVAL);
    }
    assert_eq!(pair.bad(0).err, libc::ECONNABORTED);
    let at = room.as_ptr().cast();
    // SAFETY: as above.
    let done = unsafe { (one.tagged().inject)(one.ep, at, 8, pair.there[0], 1) };
    assert_eq!(done, err::UNREACH as isize);
    let _ = two;
    pair.close();
}

/// Both ends remove each other, and insert each other again.
pub fn addresses_that_come_back() {
    let mut pair = Pair::open();
    let mut room = [0; 8];
    for turn in 0..3 {
        for (from, to) in [(0, 1), (1, 0)] {
            let [source, target] = [&pair.sides[from], &pair.sides[to]];
            target.trecv(&mut room, pair.there[to], (turn, 0), 1);
            source.tinject(&[turn as u8; 8], pair.there[from], turn);
            assert_eq!(pair.good(to).1, pair.there[to]);
            assert_eq!(room, [turn as u8; 8]);
        }
        for side in 0..2 {
            let it = &pair.sides[side];
            // SAFETY: as above.
            unsafe {
                let remove = (*(*it.av).ops).remove;
                assert_eq!(remove(it.av, &mut pair.there[side], 1, 0), 0);
            }
            // The other one has not let go of it yet, or has.
            let (done, there) = it.insert(&pair.sides[1 - side].address);
            assert_eq!(done, 1);
            pair.there[side] = there;
        }
    }
    pair.close();
}

/// One end has not inserted the other one: it receives from it all the same.
pub fn strangers_that_call() {
    let sides = [Side::open(&How::default()), Side::open(&How::default())];
    let (done, there) = sides[0].insert(&sides[1].address);
    assert_eq!(done, 1);
    let mut pair = Pair {
        sides,
        there: [there, num::ADDR_NONE],
    };
    let [one, two] = &pair.sides;
    let (message, mut room) = (pattern(200_000), vec![0; 200_000]);
    two.trecv(&mut room, num::ADDR_NONE, (1, 0), 0);
    one.tsend(&message, there, 1, 0);
    let (told, source) = pair.good(1);
    assert_eq!((told.len, source), (200_000, num::ADDR_NONE));
    assert_eq!(room, message);
    pair.good(0);
    // Once it is inserted it can be answered, and has an address.
    let (done, back) = two.insert(&one.address);
    assert_eq!(done, 1);
    one.trecv(&mut room, there, (2, 0), 0);
    two.tsend(&message[..100], back, 2, 0);
    assert_eq!(pair.good(0).0.len, 100);
    pair.good(1);
    one.tinject(&[1], there, 3);
    two.trecv(&mut room, back, (3, 0), 0);
    assert_eq!(pair.good(1).1, back);
    pair.there[1] = back;
    pair.close();
}

/// Each link that is offered, and the name of its card.
pub fn links_that_are_found() {
    let offers = Fabric::open().offers(0, |_| {}).expect("offers");
    let (mut all, mut at) = (Vec::new(), offers);
    // SAFETY: a list of libfabric's.
    while let Some(info) = unsafe { at.as_ref() } {
        // SAFETY: texts end in 0; a card begins with three words of its own, and leads to a device
        // that begins with its name.
        unsafe {
            let domain = CStr::from_ptr((*info.domain_attr).name);
            let card = match info.nic.is_null() {
                true => c"",
                false => {
                    let device = *info.nic.cast::<*const *const c_char>().add(3);
                    CStr::from_ptr(*device)
                }
            };
            all.push(format!(
                "{} {}",
                domain.to_string_lossy(),
                card.to_string_lossy()
            ));
        }
        at = info.next;
    }
    assert_eq!(
        all.join("|"),
        std::env::var("LINKX_EXPECTED").expect("links")
    );
}
