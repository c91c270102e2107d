//! Runs the schedules of all ranks over real bytes.

use std::collections::{HashMap, VecDeque};
use std::fmt;

use crate::{Buf, Exec, Order, Region, Run, Schedule, Step};

/// Combines elements: `(from, into, order)`.
pub type Op = dyn Fn(&[u8], &mut [u8], Order);

/// When a send is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sends {
    /// At once: the bytes are copied away.
    Eager,
    /// When the receive is posted; the bytes are read only then, so a schedule
    /// that overwrites them too early gives a wrong result.
    Synchronous,
}

/// What moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Messages of all ranks.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes combined by reductions.
    pub reduced: u64,
    /// Bytes copied.
    pub copied: u64,
}

/// What is wrong with the schedules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Nothing moves any more; each entry is a rank and what it waits for.
    Stuck(Vec<(u32, Step)>),
    /// The two sides of a message do not agree on its length.
    Length {
        /// Sender.
        from: u32,
        /// Receiver.
        to: u32,
        /// Bytes sent.
        sent: usize,
        /// Bytes expected.
        expected: usize,
    },
    /// All schedules are complete but this message was never received.
    Unreceived {
        /// Sender.
        from: u32,
        /// Receiver.
        to: u32,
    },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Stuck(who) => {
                write!(f, "deadlock:")?;
                for (rank, step) in who.iter().take(16) {
                    write!(f, " [rank {rank}: {step}]")?;
                }
                Ok(())
            }
            Failure::Length {
                from,
                to,
                sent,
                expected,
            } => {
                write!(
                    f,
                    "rank {from} sends {sent} bytes, rank {to} expects {expected}"
                )
            }
            Failure::Unreceived { from, to } => {
                write!(
                    f,
                    "a message from rank {from} to rank {to} is never received"
                )
            }
        }
    }
}

/// Runs `schedules[r]` on `input[r]` and `output[r]` for every rank r until all
/// are complete. The order in which ranks move follows from `seed`.
///
/// # Errors
/// See [`Failure`].
///
/// # Panics
/// If a region reaches beyond its buffer.
pub fn check(
    schedules: &[&Schedule],
    input: &[Vec<u8>],
    output: &mut [Vec<u8>],
    op: &Op,
    sends: Sends,
    seed: u64,
) -> Result<Traffic, Failure> {
    let ranks = schedules.len();
    let mut world = World {
        sends,
        op,
        input,
        output,
        scratch: schedules.iter().map(|p| vec![0xA5; p.scratch()]).collect(),
        lanes: HashMap::new(),
        finished: Vec::new(),
        traffic: Traffic::default(),
    };
    let mut runs: Vec<Run<usize>> = schedules
        .iter()
        .map(|schedule| {
            let mut run = Run::new();
            run.start(schedule);
            run
        })
        .collect();
    let mut random = seed.wrapping_mul(2).wrapping_add(1);
    let mut order: Vec<usize> = (0..ranks).collect();
    loop {
        for i in (1..ranks).rev() {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            order.swap(i, (random >> 33) as usize % (i + 1));
        }
        let before = world.events();
        let mut done = true;
        for &rank in &order {
            done &= runs[rank].advance(
                schedules[rank],
                &mut Seat {
                    world: &mut world,
                    rank,
                },
            )?;
        }
        if done {
            break;
        }
        if world.events() == before {
            let waiting = |r: usize| {
                runs[r]
                    .waiting(schedules[r])
                    .map(move |(s, _)| (r as u32, s))
            };
            return Err(Failure::Stuck((0..ranks).flat_map(waiting).collect()));
        }
    }
    match world.lanes.iter().find(|(_, lane)| !lane.sent.is_empty()) {
        Some((&(from, to), _)) => Err(Failure::Unreceived { from, to }),
        None => Ok(world.traffic),
    }
}

/// Messages from one rank to another.
#[derive(Default)]
struct Lane {
    sent: VecDeque<Sent>,
    posted: VecDeque<(Region, usize)>,
}

enum Sent {
    Copied(Vec<u8>),
    InPlace(Region, usize),
}

struct World<'a> {
    sends: Sends,
    op: &'a Op,
    input: &'a [Vec<u8>],
    output: &'a mut [Vec<u8>],
    scratch: Vec<Vec<u8>>,
    lanes: HashMap<(u32, u32), Lane>,
    /// By handle: whether the message is complete.
    finished: Vec<bool>,
    traffic: Traffic,
}

impl World<'_> {
    /// A number that grows whenever anything happens.
    fn events(&self) -> u64 {
        let t = &self.traffic;
        t.messages + t.bytes + t.reduced + t.copied + self.finished.len() as u64
    }

    fn bytes(&self, rank: usize, r: Region) -> &[u8] {
        let all = match r.buf {
            Buf::Input => &self.input[rank],
            Buf::Output => &self.output[rank],
            Buf::Scratch => &self.scratch[rank],
        };
        &all[r.offset..r.end()]
    }

    fn bytes_mut(&mut self, rank: usize, r: Region) -> &mut [u8] {
        let all = match r.buf {
            Buf::Input => unreachable!("a schedule does not write its input"),
            Buf::Output => &mut self.output[rank],
            Buf::Scratch => &mut self.scratch[rank],
        };
        &mut all[r.offset..r.end()]
    }

    fn new_handle(&mut self) -> usize {
        self.finished.push(false);
        self.finished.len() - 1
    }

    fn pair_up(&mut self, from: u32, to: u32) -> Result<(), Failure> {
        loop {
            let lane = self.lanes.get_mut(&(from, to)).expect("just posted on");
            if lane.sent.is_empty() || lane.posted.is_empty() {
                return Ok(());
            }
            let (sent, (into, receive)) = (
                lane.sent.pop_front().expect("some"),
                lane.posted.pop_front().expect("some"),
            );
            let data = match sent {
                Sent::Copied(data) => data,
                Sent::InPlace(region, handle) => {
                    self.finished[handle] = true;
                    self.bytes(from as usize, region).to_vec()
                }
            };
            if data.len() != into.len {
                return Err(Failure::Length {
                    from,
                    to,
                    sent: data.len(),
                    expected: into.len,
                });
            }
            self.traffic.messages += 1;
            self.traffic.bytes += data.len() as u64;
            self.bytes_mut(to as usize, into).copy_from_slice(&data);
            self.finished[receive] = true;
        }
    }
}

/// One rank's view of the world.
struct Seat<'w, 'a> {
    world: &'w mut World<'a>,
    rank: usize,
}

impl Exec for Seat<'_, '_> {
    type Handle = usize;
    type Error = Failure;

    fn send(&mut self, peer: u32, from: Region) -> Result<Option<usize>, Failure> {
        let (sent, handle) = match self.world.sends {
            Sends::Eager => (
                Sent::Copied(self.world.bytes(self.rank, from).to_vec()),
                None,
            ),
            Sends::Synchronous => {
                let handle = self.world.new_handle();
                (Sent::InPlace(from, handle), Some(handle))
            }
        };
        let me = self.rank as u32;
        self.world
            .lanes
            .entry((me, peer))
            .or_default()
            .sent
            .push_back(sent);
        self.world.pair_up(me, peer)?;
        Ok(handle)
    }

    fn recv(&mut self, peer: u32, into: Region) -> Result<Option<usize>, Failure> {
        let handle = self.world.new_handle();
        let me = self.rank as u32;
        self.world
            .lanes
            .entry((peer, me))
            .or_default()
            .posted
            .push_back((into, handle));
        self.world.pair_up(peer, me)?;
        Ok(Some(handle))
    }

    fn done(&mut self, handle: usize) -> Result<bool, Failure> {
        Ok(self.world.finished[handle])
    }

    fn reduce(&mut self, from: Region, into: Region, order: Order) -> Result<(), Failure> {
        self.world.traffic.reduced += into.len as u64;
        let left = self.world.bytes(self.rank, from).to_vec();
        let op = self.world.op;
        op(&left, self.world.bytes_mut(self.rank, into), order);
        Ok(())
    }

    fn copy(&mut self, from: Region, into: Region) {
        self.world.traffic.copied += into.len as u64;
        let bytes = self.world.bytes(self.rank, from).to_vec();
        self.world
            .bytes_mut(self.rank, into)
            .copy_from_slice(&bytes);
    }
}
