//! One call of a collective on all ranks: the buffers before it, the arguments,
//! and what the definition says the buffers are after it.

use catena_coll::{Args, Collective, Layout, Nodes, Site, TYPICAL};
use catena_schedule::Order;

use crate::ops::{ELEM, Reduction};

/// What the output holds before; must survive where nothing is received.
const POISON: u8 = 0x5A;

#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub collective: Collective,
    pub size: u32,
    pub root: u32,
    pub in_place: bool,
    pub elems: usize,
    pub op: Reduction,
}

pub fn has_in_place(c: Collective) -> bool {
    !matches!(c, Collective::Barrier | Collective::Bcast)
}

/// A layout that owns its tables.
#[derive(Clone, Debug)]
enum Owned {
    Even(usize),
    Table(Vec<usize>, Vec<usize>),
}

impl Owned {
    fn layout(&self) -> Layout<'_> {
        match self {
            Owned::Even(len) => Layout::Even(*len),
            Owned::Table(counts, displs) => Layout::Table { counts, displs },
        }
    }

    fn place(&self, i: u32, all: &[u8]) -> Vec<u8> {
        let l = self.layout();
        all[l.offset(i)..l.offset(i) + l.len(i)].to_vec()
    }

    fn put(&self, i: u32, all: &mut [u8], block: &[u8]) {
        let l = self.layout();
        all[l.offset(i)..l.offset(i) + l.len(i)].copy_from_slice(block);
    }

    /// Bytes that a buffer of this layout spans.
    fn span(&self, size: u32) -> usize {
        let l = self.layout();
        (0..size).map(|i| l.offset(i) + l.len(i)).max().unwrap_or(0)
    }
}

pub struct Job {
    case: Case,
    in_place: Vec<bool>,
    send: Vec<Owned>,
    recv: Vec<Owned>,
    pub input: Vec<Vec<u8>>,
    pub output: Vec<Vec<u8>>,
    pub expected: Vec<Vec<u8>>,
}

/// Bytes that tell where they come from.
fn bytes(seed: u32, len: usize) -> Vec<u8> {
    (0..len as u32)
        .map(|i| (i.wrapping_mul(131).wrapping_add(seed.wrapping_mul(40_503)) >> 2) as u8 ^ i as u8)
        .collect()
}

/// Bytes of the block that belongs to the pair (from, to), some of them none: of two ranks, with 43
/// elements, all but those for themselves.
fn irregular(case: &Case, from: u32, to: u32) -> usize {
    let kind = case.elems % 4;
    let by = 3 - 2 * (kind % 2);
    (from as usize * by + to as usize * 5 + kind) % 4 * case.elems * ELEM
}

/// A table with gaps, its blocks in falling order.
fn scattered(counts: Vec<usize>) -> Owned {
    let mut displs = vec![0; counts.len()];
    let mut at = 1;
    for i in (0..counts.len()).rev() {
        displs[i] = at;
        at += counts[i] + i % 3;
    }
    Owned::Table(counts, displs)
}

/// A table without gaps, its blocks in rising order.
fn packed(counts: Vec<usize>) -> Owned {
    let displs = counts
        .iter()
        .scan(0, |at, n| {
            *at += n;
            Some(*at - n)
        })
        .collect();
    Owned::Table(counts, displs)
}

impl Job {
    pub fn args<'a>(&'a self, rank: u32, nodes: Option<&'a Nodes>) -> Args<'a> {
        let r = rank as usize;
        let model = &TYPICAL;
        Args {
            size: self.case.size,
            rank,
            root: self.case.root,
            in_place: self.in_place[r],
            elem: ELEM,
            commutative: self.case.op.commutative,
            send: self.send[r].layout(),
            recv: self.recv[r].layout(),
            site: nodes.map(|nodes| Site::new(nodes, model)),
            turned: 0,
            near: None,
        }
    }
}

impl Case {
    fn ranks(&self) -> std::ops::Range<u32> {
        0..self.size
    }

    /// From rank 0 upwards.
    fn combine<'a>(&self, mut operands: impl Iterator<Item = &'a Vec<u8>>) -> Vec<u8> {
        let mut result = operands.next().expect("an operand").clone();
        for right in operands {
            (self.op.function)(right, &mut result, Order::FromRight);
        }
        result
    }

    pub fn job(&self) -> Job {
        let nothing = vec![Vec::new(); self.size as usize];
        let job = Job {
            case: *self,
            in_place: vec![false; self.size as usize],
            send: vec![Owned::Even(0); self.size as usize],
            recv: vec![Owned::Even(0); self.size as usize],
            input: nothing.clone(),
            output: nothing.clone(),
            expected: nothing,
        };
        use Collective::*;
        match self.collective {
            Barrier => job,
            Bcast => self.bcast(job),
            Gather | Gatherv => self.gather(job),
            Scatter | Scatterv => self.scatter(job),
            Allgather | Allgatherv => self.allgather(job),
            Alltoall | Alltoallv => self.alltoall(job),
            Reduce | Allreduce | Scan | Exscan => self.reduction(job),
            ReduceScatter => self.reduce_scatter(job),
        }
    }

    fn block(&self) -> usize {
        self.elems * ELEM
    }

    /// Whether that rank is in place where the standard lets members differ in it: if their number
    /// is even, every other one is.
    fn is_in_place(&self, rank: u32) -> bool {
        self.in_place && (self.size % 2 == 1 || rank.is_multiple_of(2))
    }

    fn bcast(&self, mut job: Job) -> Job {
        let message = bytes(7, self.block());
        for r in self.ranks() {
            let i = r as usize;
            job.recv[i] = Owned::Even(self.block());
            job.output[i] = if r == self.root {
                message.clone()
            } else {
                vec![POISON; message.len()]
            };
            job.expected[i] = message.clone();
        }
        job
    }

    /// The blocks of all ranks, even or not as the collective wants them.
    fn blocks(&self) -> Owned {
        use Collective::*;
        if matches!(self.collective, Gatherv | Scatterv | Allgatherv) {
            scattered(self.ranks().map(|r| irregular(self, r, 1)).collect())
        } else {
            Owned::Even(self.block())
        }
    }

    fn gather(&self, mut job: Job) -> Job {
        let all = self.blocks();
        let mut want = vec![POISON; all.span(self.size)];
        let mut root_before = want.clone();
        for r in self.ranks() {
            let i = r as usize;
            let block = bytes(r, all.layout().len(r));
            all.put(r, &mut want, &block);
            job.send[i] = Owned::Even(block.len());
            if r == self.root && self.in_place {
                job.in_place[i] = true;
                all.put(r, &mut root_before, &block);
            } else {
                job.input[i] = block;
            }
        }
        let root = self.root as usize;
        job.recv[root] = all;
        job.output[root] = root_before;
        job.expected[root] = want;
        job
    }

    fn scatter(&self, mut job: Job) -> Job {
        let all = self.blocks();
        let root = self.root as usize;
        job.input[root] = bytes(3, all.span(self.size));
        for r in self.ranks() {
            let i = r as usize;
            let block = all.place(r, &job.input[root]);
            job.recv[i] = Owned::Even(block.len());
            if r == self.root && self.in_place {
                job.in_place[i] = true;
                continue;
            }
            job.output[i] = vec![POISON; block.len()];
            job.expected[i] = block;
        }
        job.send[root] = all;
        job
    }

    fn allgather(&self, mut job: Job) -> Job {
        let all = self.blocks();
        let mut want = vec![POISON; all.span(self.size)];
        for r in self.ranks() {
            let i = r as usize;
            let block = bytes(r, all.layout().len(r));
            all.put(r, &mut want, &block);
            job.recv[i] = all.clone();
            job.output[i] = vec![POISON; all.span(self.size)];
            if self.in_place {
                job.in_place[i] = true;
                all.put(r, &mut job.output[i], &block);
            } else {
                job.send[i] = Owned::Even(block.len());
                job.input[i] = block;
            }
        }
        job.expected = vec![want; self.size as usize];
        job
    }

    fn alltoall(&self, mut job: Job) -> Job {
        let even = self.collective == Collective::Alltoall;
        let length = |from: u32, to: u32| {
            let (from, to) = if self.in_place {
                (from.min(to), from.max(to))
            } else {
                (from, to)
            };
            irregular(self, from, to)
        };
        for r in self.ranks() {
            let i = r as usize;
            job.in_place[i] = self.in_place;
            job.recv[i] = if even {
                Owned::Even(self.block())
            } else {
                scattered(self.ranks().map(|from| length(from, r)).collect())
            };
            job.send[i] = if even {
                Owned::Even(self.block())
            } else {
                packed(self.ranks().map(|to| length(r, to)).collect())
            };
        }
        for r in self.ranks() {
            let i = r as usize;
            job.output[i] = vec![POISON; job.recv[i].span(self.size)];
            job.expected[i] = job.output[i].clone();
            if !self.in_place {
                job.input[i] = vec![0; job.send[i].span(self.size)];
            }
        }
        for from in self.ranks() {
            for to in self.ranks() {
                let (f, t) = (from as usize, to as usize);
                let block = bytes(from * 37 + to, job.recv[t].layout().len(from));
                job.recv[t].put(from, &mut job.expected[t], &block);
                if self.in_place {
                    job.recv[f].put(to, &mut job.output[f], &block);
                } else {
                    job.send[f].put(to, &mut job.input[f], &block);
                }
            }
        }
        job
    }

    fn reduction(&self, mut job: Job) -> Job {
        let operands: Vec<Vec<u8>> = self.ranks().map(|r| bytes(r, self.block())).collect();
        for r in self.ranks() {
            let i = r as usize;
            job.send[i] = Owned::Even(self.block());
            job.recv[i] = Owned::Even(self.block());
            let significant = self.collective != Collective::Reduce || r == self.root;
            job.in_place[i] = match self.collective {
                Collective::Scan | Collective::Exscan => self.is_in_place(r),
                _ => self.in_place && significant,
            };
            if job.in_place[i] {
                job.output[i] = operands[i].clone();
            } else {
                job.input[i] = operands[i].clone();
                job.output[i] = vec![POISON; if significant { self.block() } else { 0 }];
            }
            job.expected[i] = match self.collective {
                Collective::Scan => self.combine(operands[..=i].iter()),
                Collective::Exscan if i == 0 => job.output[i].clone(),
                Collective::Exscan => self.combine(operands[..i].iter()),
                _ if significant => self.combine(operands.iter()),
                _ => Vec::new(),
            };
        }
        job
    }

    fn reduce_scatter(&self, mut job: Job) -> Job {
        // Even blocks stand for reduce_scatter_block.
        let all = if self.elems == 5 {
            Owned::Even(self.block())
        } else {
            packed(self.ranks().map(|r| irregular(self, r, 1)).collect())
        };
        let total = all.span(self.size);
        let operands: Vec<Vec<u8>> = self.ranks().map(|r| bytes(r, total)).collect();
        let result = self.combine(operands.iter());
        for r in self.ranks() {
            let i = r as usize;
            let block = all.place(r, &result);
            job.send[i] = all.clone();
            job.in_place[i] = self.is_in_place(r);
            job.expected[i] = block.clone();
            if job.in_place[i] {
                job.output[i] = operands[i].clone();
            } else {
                job.input[i] = operands[i].clone();
                job.output[i] = vec![POISON; block.len()];
            }
        }
        job
    }
}
