//! What the bare transport costs: two processes on two cores, no matching.
//!
//! Latency of small packets, rate of 8-byte packets, and bandwidth of packets
//! of several sizes copied either way. Everything is measured in many short
//! batches, of which the best and the median are shown: the best is what the
//! machine can do, the median what it did. Before each line the time that one
//! cache line takes between the cores is measured likewise, because some
//! machines flip between two states in which it differs fourfold.
//!
//! `ONLY=small|rate|bandwidth|message cargo run --release -p catena-shm --example
//! floor [cells [data [packet]]]`

use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use catena_base::PeerBytes;
use catena_fabric::{Deliver, Header, OpId, Peer, PeerLost, Posted, RmaError, Transport};
use catena_shm::{Config, CopyWay, Geometry, Shm, create_segment};

/// Copies payloads to a buffer, as a receive would.
struct Sink {
    into: Vec<u8>,
    at: usize,
    count: u64,
}

impl Sink {
    fn new(room: usize) -> Sink {
        Sink {
            into: vec![1; room],
            at: 0,
            count: 0,
        }
    }
}

impl Deliver for Sink {
    #[inline(always)]
    fn deliver(&mut self, _from: Peer, header: Header, payload: PeerBytes<'_>) {
        black_box(header);
        if self.at + payload.len() > self.into.len() {
            self.at = 0;
        }
        // SAFETY: in bounds as just made sure.
        unsafe { payload.copy_to(self.into.as_mut_ptr().add(self.at)) };
        self.at += payload.len();
        self.count += 1;
    }

    fn lost(&mut self, lost: PeerLost) {
        panic!("{lost:?}");
    }

    fn completed(&mut self, _: OpId, _: Result<u64, RmaError>) {}
}

/// Two lines that both processes see, for the probe.
struct Probe {
    base: *const AtomicU64,
}

impl Probe {
    fn line(&self, side: u32) -> &AtomicU64 {
        // SAFETY: the board has two lines, 128 bytes apart.
        unsafe { &*self.base.add(side as usize * 16) }
    }

    /// One-way time of a cache line, ns.
    fn run(&self, me: u32) -> Times {
        Times::of(50, || self.batch(me))
    }

    fn batch(&self, me: u32) -> f64 {
        const ROUNDS: u64 = 200;
        let (mine, theirs) = (self.line(me), self.line(1 - me));
        let from = mine.load(Ordering::Relaxed);
        let began = Instant::now();
        for round in from + 1..=from + ROUNDS {
            if me == 0 {
                mine.store(round, Ordering::Release);
            }
            while theirs.load(Ordering::Acquire) < round {
                spin_loop();
            }
            if me == 1 {
                mine.store(round, Ordering::Release);
            }
        }
        began.elapsed().as_nanos() as f64 / ROUNDS as f64 / 2.0
    }
}

/// Best and median of many batches.
#[derive(Clone, Copy)]
struct Times {
    best: f64,
    median: f64,
}

impl Times {
    fn of(batches: usize, mut batch: impl FnMut() -> f64) -> Times {
        let mut all: Vec<f64> = (0..batches).map(|_| batch()).collect();
        all.sort_by(f64::total_cmp);
        Times {
            best: all[0],
            median: all[batches / 2],
        }
    }
}

fn send(shm: &mut Shm, to: Peer, bytes: &[u8]) {
    while shm.try_send(to, Header::default(), bytes) != Ok(Posted::Done) {
        spin_loop();
    }
}

fn receive(shm: &mut Shm, sink: &mut Sink, count: u64) {
    let until = sink.count + count;
    while sink.count < until {
        shm.poll(sink);
    }
}

/// One-way latency of a packet, ns.
fn latency(shm: &mut Shm, me: u32, len: usize, rounds: u32) -> f64 {
    let bytes = vec![7; len];
    let mut sink = Sink::new(len);
    let began = Instant::now();
    for _ in 0..rounds {
        if me == 0 {
            send(shm, Peer(1), &bytes);
            receive(shm, &mut sink, 1);
        } else {
            receive(shm, &mut sink, 1);
            send(shm, Peer(0), &bytes);
        }
    }
    began.elapsed().as_nanos() as f64 / f64::from(rounds) / 2.0
}

/// Time to bring `count` messages of `len` bytes from 0 to 1, cut into packets
/// and with an answer after each `window`; ns.
fn stream(shm: &mut Shm, me: u32, len: usize, window: u32, windows: u32) -> f64 {
    let packet = shm.caps(Peer(1 - me)).max_packet.min(len);
    let bytes = vec![7; len];
    let mut sink = Sink::new(len.max(64));
    let packets = len.div_ceil(packet) as u64 * u64::from(window);
    let began = Instant::now();
    for _ in 0..windows {
        if me == 0 {
            for _ in 0..window {
                for part in bytes.chunks(packet) {
                    send(shm, Peer(1), part);
                }
            }
            receive(shm, &mut sink, 1);
        } else {
            receive(shm, &mut sink, packets);
            send(shm, Peer(0), &[]);
        }
    }
    began.elapsed().as_nanos() as f64
}

fn pin(core: usize) {
    // SAFETY: a zeroed set is a valid empty one.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core, &mut set);
        libc::sched_setaffinity(0, size_of_val(&set), &set);
    }
}

fn run(me: u32, config: Config, fd: std::os::fd::OwnedFd, probe: &Probe) {
    pin(me as usize);
    let mut shm = Shm::attach_with(fd, me, &[Peer(0), Peer(1)], config).expect("attached");
    let say = |name: String, line: Times, best: f64, median: f64, unit: &str| {
        if me == 0 {
            let (a, b) = (line.best, line.median);
            println!(
                "{name:26} best {best:8.2} median {median:8.2} {unit:4}   line {a:4.0} {b:5.0} ns"
            );
        }
    };
    let only = std::env::var("ONLY").unwrap_or_default();
    let wanted = |name: &str| only.is_empty() || name.contains(&only);
    for len in [0, 8, 32, 64, 256, 1024, 4096, 8192] {
        if !wanted("small") {
            break;
        }
        let line = probe.run(me);
        let t = Times::of(300, || latency(&mut shm, me, len, 100));
        say(format!("latency {len} B"), line, t.best, t.median, "ns");
    }
    for window in [64, 1024] {
        if !wanted("rate") {
            break;
        }
        let line = probe.run(me);
        let t = Times::of(200, || stream(&mut shm, me, 8, window, 8192 / window));
        let rate = |ns| 8192.0 / ns * 1e3;
        say(
            format!("rate 8 B window {window}"),
            line,
            rate(t.best),
            rate(t.median),
            "M/s",
        );
    }
    for kib in [4usize, 64, 1024, 4096] {
        if !wanted("bandwidth") {
            break;
        }
        let line = probe.run(me);
        let window = if kib > 64 { 4 } else { 32 };
        let batches = if kib > 64 { 50 } else { 300 };
        let t = Times::of(batches, || stream(&mut shm, me, kib << 10, window, 1));
        let rate = |ns| (kib << 10) as f64 * f64::from(window) / ns;
        let name = format!("bandwidth {kib} KiB {:?}", config.copy);
        say(name, line, rate(t.best), rate(t.median), "GB/s");
    }
    for kib in [8usize, 64, 1024] {
        if !wanted("message") {
            break;
        }
        let line = probe.run(me);
        let batches = 4000 / kib + 60;
        let t = Times::of(batches, || message_latency(&mut shm, me, kib << 10, 10));
        let name = format!("latency {kib} KiB {:?}", config.copy);
        say(name, line, t.best / 1e3, t.median / 1e3, "us");
    }
    if me == 0 {
        println!("{:?}", shm.counters());
    }
}

/// One-way latency of a message of several packets, ns.
fn message_latency(shm: &mut Shm, me: u32, len: usize, rounds: u32) -> f64 {
    let packet = shm.caps(Peer(1 - me)).max_packet.min(len);
    let bytes = vec![7; len];
    let mut sink = Sink::new(len);
    let count = len.div_ceil(packet) as u64;
    let began = Instant::now();
    for _ in 0..rounds {
        for sending in [me == 0, me == 1] {
            if sending {
                bytes
                    .chunks(packet)
                    .for_each(|part| send(shm, Peer(1 - me), part));
            } else {
                receive(shm, &mut sink, count);
            }
        }
    }
    began.elapsed().as_nanos() as f64 / f64::from(rounds) / 2.0
}

fn main() {
    let args: Vec<usize> = std::env::args()
        .skip(1)
        .filter_map(|a| a.parse().ok())
        .collect();
    let auto = Geometry::for_ranks(2, false);
    let get = |i: usize, default| args.get(i).copied().unwrap_or(default);
    let geometry = Geometry::new(get(0, auto.cells), get(1, auto.data), get(2, auto.packet));
    println!("{geometry:?}");
    for copy in [CopyWay::Plain, CopyWay::Stream, CopyWay::Auto] {
        let config = Config {
            geometry,
            copy,
            ..Config::from_settings(2, 2)
        };
        let fd = create_segment().expect("a segment");
        // SAFETY: an anonymous shared page, zeroed.
        let page = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                4096,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        assert_ne!(page, libc::MAP_FAILED);
        let probe = Probe {
            base: page.cast_const().cast(),
        };
        // SAFETY: there is only this thread; the child leaves by _exit.
        unsafe {
            match libc::fork() {
                0 => {
                    run(1, config, fd, &probe);
                    libc::_exit(0);
                }
                pid => {
                    assert!(pid > 0, "fork failed");
                    run(0, config, fd, &probe);
                    libc::waitpid(pid, std::ptr::null_mut(), 0);
                }
            }
        }
    }
}
