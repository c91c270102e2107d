//! Every algorithm between two groups of 1 to 6 ranks each, against a reference
//! that is computed from the definition of the operation.

#[path = "reference/ops.rs"]
mod ops;
#[path = "reference/tree.rs"]
mod tree;

use catena_coll::inter::{Algorithm, Args, Root, algorithms, select};
use catena_coll::{Collective, Layout, Placement, Shape, TYPICAL};
use catena_schedule::simulate::{Failure, Sends, check};
use catena_schedule::{Order, Schedule};
use ops::{AFFINE, ELEM, MIX, Reduction, SUM};
use tree::TREE;

/// What the output holds before; must survive where nothing is received.
const POISON: u8 = 0x5A;
const GROUPS: std::ops::RangeInclusive<u32> = 1..=6;

#[derive(Clone, Copy, Debug)]
struct Case {
    collective: Collective,
    /// Ranks of the two groups.
    sizes: [u32; 2],
    /// Group and rank of the root.
    root: (usize, u32),
    elems: usize,
    op: Reduction,
}

/// Blocks of a buffer, as tables.
#[derive(Clone, Debug, Default)]
struct Table {
    counts: Vec<usize>,
    displs: Vec<usize>,
}

impl Table {
    /// One block behind the other.
    fn packed(counts: Vec<usize>) -> Self {
        let displs = counts.iter().scan(0, |at, n| {
            *at += n;
            Some(*at - n)
        });
        let displs = displs.collect();
        Table { counts, displs }
    }

    /// In falling order, with gaps.
    fn scattered(counts: Vec<usize>) -> Self {
        let mut displs = vec![0; counts.len()];
        let mut at = 1;
        for i in (0..counts.len()).rev() {
            displs[i] = at;
            at += counts[i] + i % 3;
        }
        Table { counts, displs }
    }

    fn span(&self) -> usize {
        let ends = self.counts.iter().zip(&self.displs).map(|(n, at)| n + at);
        ends.max().unwrap_or(0)
    }

    fn put(&self, i: usize, all: &mut [u8], block: &[u8]) {
        all[self.displs[i]..][..self.counts[i]].copy_from_slice(block);
    }
}

/// One process: its arguments, and its buffers before and after.
#[derive(Clone, Debug, Default)]
struct Member {
    send: Table,
    recv: Table,
    input: Vec<u8>,
    output: Vec<u8>,
    expected: Vec<u8>,
}

/// Bytes that tell where they come from.
fn bytes(seed: usize, len: usize) -> Vec<u8> {
    let byte = |i: usize| ((i * 131 + seed * 40_503) >> 2) as u8 ^ i as u8;
    (0..len).map(byte).collect()
}

impl Case {
    fn block(&self) -> usize {
        self.elems * ELEM
    }

    /// Bytes of what process `from` of `group` has for process `to`.
    fn length(&self, group: usize, from: usize, to: usize) -> usize {
        use Collective::{Allgatherv, Alltoallv, Gatherv, Scatterv};
        match self.collective {
            Gatherv | Scatterv | Allgatherv => (from * 3 + group) % 4 * self.block(),
            Alltoallv => (from * 3 + to * 5 + group) % 4 * self.block(),
            // The two groups may send blocks of different lengths.
            _ if self.collective.is_rooted() => self.block(),
            _ => (1 + group) * self.block(),
        }
    }

    fn seed(group: usize, from: usize, to: usize) -> usize {
        group * 1000 + from * 37 + to
    }

    /// From rank 0 upwards.
    fn combine(&self, operands: &[Vec<u8>]) -> Vec<u8> {
        let mut result = operands[0].clone();
        for right in &operands[1..] {
            (self.op.function)(right, &mut result, Order::FromRight);
        }
        result
    }

    fn members(&self) -> [Vec<Member>; 2] {
        let mut all = [0, 1].map(|g: usize| vec![Member::default(); self.sizes[g] as usize]);
        for group in 0..2 {
            if self.collective.is_rooted() {
                if group != self.root.0 {
                    self.rooted(group, &mut all);
                }
            } else {
                self.one_way(group, &mut all);
            }
        }
        all
    }

    /// What `group`, which has no root, and the root do.
    fn rooted(&self, group: usize, all: &mut [Vec<Member>; 2]) {
        let (far, root) = (1 - group, self.root.1 as usize);
        let ranks = 0..self.sizes[group] as usize;
        let even = || Table::packed(vec![self.block()]);
        let blocks = || {
            ranks
                .clone()
                .map(|r| bytes(Case::seed(group, r, 0), self.length(group, r, 0)))
        };
        let table = Table::scattered(ranks.clone().map(|r| self.length(group, r, 0)).collect());
        let table = if matches!(self.collective, Collective::Gather | Collective::Scatter) {
            Table::packed(table.counts)
        } else {
            table
        };
        let mut whole = vec![POISON; table.span()];
        match self.collective {
            Collective::Bcast => {
                let message = bytes(3, self.block());
                let at_root = &mut all[far][root];
                (at_root.recv, at_root.output) = (even(), message.clone());
                at_root.expected = message.clone();
                for member in &mut all[group] {
                    (member.recv, member.expected) = (even(), message.clone());
                    member.output = vec![POISON; message.len()];
                }
            }
            Collective::Gather | Collective::Gatherv => {
                all[far][root].output = whole.clone();
                for (r, block) in blocks().enumerate() {
                    table.put(r, &mut whole, &block);
                    all[group][r].send = Table::packed(vec![block.len()]);
                    all[group][r].input = block;
                }
                (all[far][root].recv, all[far][root].expected) = (table, whole);
            }
            Collective::Scatter | Collective::Scatterv => {
                for (r, block) in blocks().enumerate() {
                    table.put(r, &mut whole, &block);
                    all[group][r].recv = Table::packed(vec![block.len()]);
                    all[group][r].output = vec![POISON; block.len()];
                    all[group][r].expected = block;
                }
                (all[far][root].send, all[far][root].input) = (table, whole);
            }
            Collective::Reduce => {
                let operands: Vec<Vec<u8>> = blocks().collect();
                all[far][root].send = even();
                all[far][root].output = vec![POISON; self.block()];
                all[far][root].expected = self.combine(&operands);
                for (member, operand) in all[group].iter_mut().zip(operands) {
                    (member.send, member.input) = (even(), operand);
                }
            }
            _ => unreachable!("not rooted"),
        }
    }

    /// What `group` sends, and the other receives.
    fn one_way(&self, group: usize, all: &mut [Vec<Member>; 2]) {
        let far = 1 - group;
        let (n, m) = (self.sizes[group] as usize, self.sizes[far] as usize);
        match self.collective {
            Collective::Barrier => {}
            Collective::Allgather | Collective::Allgatherv => {
                let counts = (0..n).map(|r| self.length(group, r, 0)).collect();
                let table = match self.collective {
                    Collective::Allgather => Table::packed(counts),
                    _ => Table::scattered(counts),
                };
                let mut whole = vec![POISON; table.span()];
                let before = whole.clone();
                for (r, member) in all[group].iter_mut().enumerate() {
                    member.input = bytes(Case::seed(group, r, 0), table.counts[r]);
                    member.send = Table::packed(vec![table.counts[r]]);
                    table.put(r, &mut whole, &member.input);
                }
                for member in &mut all[far] {
                    (member.recv, member.output) = (table.clone(), before.clone());
                    member.expected = whole.clone();
                }
            }
            Collective::Alltoall | Collective::Alltoallv => {
                for (r, member) in all[group].iter_mut().enumerate() {
                    let counts = (0..m).map(|to| self.length(group, r, to)).collect();
                    member.send = Table::packed(counts);
                    member.input = vec![0; member.send.span()];
                }
                for to in 0..m {
                    let counts = (0..n).map(|r| self.length(group, r, to)).collect();
                    let table = match self.collective {
                        Collective::Alltoall => Table::packed(counts),
                        _ => Table::scattered(counts),
                    };
                    let mut whole = vec![POISON; table.span()];
                    all[far][to].output = whole.clone();
                    for (r, member) in all[group].iter_mut().enumerate() {
                        let block = bytes(Case::seed(group, r, to), table.counts[r]);
                        member.send.put(to, &mut member.input, &block);
                        table.put(r, &mut whole, &block);
                    }
                    (all[far][to].recv, all[far][to].expected) = (table, whole);
                }
            }
            Collective::Allreduce => {
                let operand = |r| bytes(Case::seed(group, r, 0), self.block());
                let operands: Vec<Vec<u8>> = (0..n).map(operand).collect();
                let result = self.combine(&operands);
                for (member, operand) in all[group].iter_mut().zip(operands) {
                    (member.send, member.input) = (Table::packed(vec![operand.len()]), operand);
                }
                for member in &mut all[far] {
                    member.output = vec![POISON; result.len()];
                    member.expected = result.clone();
                }
            }
            Collective::ReduceScatter => self.reduce_scatter(group, all),
            _ => unreachable!("rooted, or not between groups"),
        }
    }

    fn reduce_scatter(&self, group: usize, all: &mut [Vec<Member>; 2]) {
        let far = 1 - group;
        // One more than what every size divides.
        let total = 61 * self.block();
        let cuts = |ranks: u32| {
            let ranks = ranks as usize;
            let mut counts = vec![60 / ranks * self.block(); ranks];
            counts[ranks - 1] += self.block();
            if self.elems != 5 {
                // Some get nothing.
                counts[ranks - 1] += std::mem::take(&mut counts[0]);
            }
            Table::packed(counts)
        };
        let operand = |r| bytes(Case::seed(group, r, 0), total);
        let operands: Vec<Vec<u8>> = (0..self.sizes[group] as usize).map(operand).collect();
        let result = self.combine(&operands);
        for (member, operand) in all[group].iter_mut().zip(operands) {
            (member.send, member.input) = (cuts(self.sizes[group]), operand);
        }
        let table = cuts(self.sizes[far]);
        for (r, member) in all[far].iter_mut().enumerate() {
            member.expected = result[table.displs[r]..][..table.counts[r]].to_vec();
            member.output = vec![POISON; table.counts[r]];
        }
    }

    fn shape(&self) -> Shape {
        let size = if self.collective.is_rooted() {
            self.sizes[1 - self.root.0]
        } else {
            self.sizes[0].max(self.sizes[1])
        };
        Shape {
            size,
            bytes: self.block(),
            elem: ELEM,
            commutative: self.op.commutative,
            placement: Placement::one_node(size),
        }
    }

    /// Layouts as the operation is called with them.
    fn layout<'a>(&self, t: &'a Table) -> Layout<'a> {
        use Collective::{Allgatherv, Alltoallv, Gatherv, ReduceScatter, Scatterv};
        match t.counts.first() {
            Some(_)
                if matches!(
                    self.collective,
                    ReduceScatter | Allgatherv | Alltoallv | Gatherv | Scatterv
                ) =>
            {
                Layout::Table {
                    counts: &t.counts,
                    displs: &t.displs,
                }
            }
            Some(&n) => Layout::Even(n),
            None => Layout::Even(0),
        }
    }

    fn schedules(&self, algorithm: &Algorithm, members: &[Vec<Member>; 2]) -> Vec<Schedule> {
        let mut schedules = Vec::new();
        for (group, members) in members.iter().enumerate() {
            let [local, remote] = [self.sizes[group], self.sizes[1 - group]];
            // Group 0 is the first in the simulation; see `inter`.
            let name = |peer| match group {
                0 => peer,
                _ if peer < local => remote + peer,
                _ => peer - local,
            };
            for (rank, member) in (0..).zip(members) {
                let root = match self.root {
                    _ if !self.collective.is_rooted() => Root::Near,
                    (there, root) if there != group => Root::There(root),
                    (_, root) if root == rank => Root::Here,
                    _ => Root::Near,
                };
                let args = Args {
                    local,
                    rank,
                    remote,
                    root,
                    elem: ELEM,
                    commutative: self.op.commutative,
                    send: self.layout(&member.send),
                    recv: self.layout(&member.recv),
                };
                schedules.push(algorithm.schedule(&args, &TYPICAL).with_peers(name));
            }
        }
        schedules
    }

    fn run(&self, algorithm: &Algorithm, sends: Sends) {
        let members = self.members();
        let schedules = self.schedules(algorithm, &members);
        let schedules: Vec<&Schedule> = schedules.iter().collect();
        let members: Vec<Member> = members.concat();
        let input: Vec<Vec<u8>> = members.iter().map(|m| m.input.clone()).collect();
        let mut output: Vec<Vec<u8>> = members.iter().map(|m| m.output.clone()).collect();
        let name = format!("{} {self:?} {sends:?}", algorithm.name);
        let seed = u64::from(self.sizes[0]) * 31 + self.elems as u64;
        if let Err(failure) = check(
            &schedules,
            &input,
            &mut output,
            self.op.function,
            sends,
            seed,
        ) {
            panic!("{name}: {failure}");
        }
        if self.op.associative {
            for (rank, (got, member)) in output.iter().zip(&members).enumerate() {
                let differ = got.iter().zip(&member.expected).position(|(a, b)| a != b);
                assert!(got == &member.expected, "{name}: rank {rank}: {differ:?}");
            }
        } else {
            let (first, second) = output.split_at(self.sizes[0] as usize);
            for group in [first, second] {
                assert!(
                    group.windows(2).all(|w| w[0] == w[1]),
                    "{name}: ranks differ"
                );
            }
        }
    }
}

fn pairs() -> impl Iterator<Item = [u32; 2]> {
    GROUPS.flat_map(|a| GROUPS.map(move |b| [a, b]))
}

fn sweep(collective: Collective, operations: &[Reduction]) {
    for sizes in pairs() {
        let roots: Vec<(usize, u32)> = if collective.is_rooted() {
            vec![(0, 0), (0, sizes[0] - 1), (1, sizes[1] / 2)]
        } else {
            vec![(0, 0)]
        };
        for root in roots {
            for elems in [0, 1, 5, 37] {
                for &op in operations {
                    let case = Case {
                        collective,
                        sizes,
                        root,
                        elems,
                        op,
                    };
                    for algorithm in algorithms(collective) {
                        case.run(algorithm, Sends::Eager);
                        case.run(algorithm, Sends::Synchronous);
                    }
                }
            }
        }
    }
}

macro_rules! collectives {
    ($($test:ident $collective:ident [$($op:expr),*];)*) => {$(
        #[test]
        fn $test() {
            sweep(Collective::$collective, &[$($op),*]);
        }
    )*};
}

collectives! {
    barrier Barrier [SUM];
    bcast Bcast [SUM];
    gather Gather [SUM];
    gatherv Gatherv [SUM];
    scatter Scatter [SUM];
    scatterv Scatterv [SUM];
    allgather Allgather [SUM];
    allgatherv Allgatherv [SUM];
    alltoall Alltoall [SUM];
    alltoallv Alltoallv [SUM];
    reduce Reduce [SUM, AFFINE];
    allreduce Allreduce [SUM, AFFINE];
    reduce_scatter ReduceScatter [SUM, AFFINE];
}

#[test]
fn allreduce_is_the_same_in_a_whole_group() {
    sweep(Collective::Allreduce, &[MIX, TREE]);
}

#[test]
fn a_barrier_waits_for_every_rank_of_the_other_group() {
    let collective = Collective::Barrier;
    for algorithm in algorithms(collective) {
        for sizes in pairs() {
            let case = Case {
                collective,
                sizes,
                root: (0, 0),
                elems: 0,
                op: SUM,
            };
            let mut schedules = case.schedules(algorithm, &case.members());
            for missing in 0..schedules.len() {
                let there = std::mem::take(&mut schedules[missing]);
                let all: Vec<&Schedule> = schedules.iter().collect();
                let nothing = vec![Vec::new(); all.len()];
                let result = check(
                    &all,
                    &nothing,
                    &mut nothing.clone(),
                    SUM.function,
                    Sends::Eager,
                    1,
                );
                let Err(Failure::Stuck(waiting)) = result else {
                    panic!(
                        "{} {sizes:?}: rank {missing} was not missed",
                        algorithm.name
                    );
                };
                let a = sizes[0] as usize;
                let others = if missing < a {
                    a..schedules.len()
                } else {
                    0..a
                };
                for rank in others {
                    let waits = waiting.iter().any(|w| w.0 == rank as u32);
                    assert!(
                        waits,
                        "{} {sizes:?}: {rank} left without {missing}",
                        algorithm.name
                    );
                }
                schedules[missing] = there;
            }
        }
    }
}

/// The choice must be one for both groups, so it must not depend on which of
/// them is asked; here, that there is one wherever it makes sense.
#[test]
fn there_is_a_choice_for_all_but_scans() {
    for collective in Collective::ALL {
        for size in [1, 2, 7, 64] {
            for elems in [0, 1, 1000, 100_000] {
                let case = Case {
                    collective,
                    sizes: [size; 2],
                    root: (0, 0),
                    elems,
                    op: SUM,
                };
                let found = select(collective, &case.shape(), &TYPICAL);
                let scan = matches!(collective, Collective::Scan | Collective::Exscan);
                assert_eq!(found.is_none(), scan, "{}", collective.name());
            }
        }
    }
}
