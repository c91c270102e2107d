//! Which process gets which rank of a grid or a graph, so that neighbours are near each other
//! (MPI-5, chapter 8: the argument `reorder`).
//!
//! The processes are divided level by level: among the nodes, those of a node among its packages,
//! and so on. Each division takes the cheapest of several candidates (`divide`) and improves it by
//! exchanges (`refine`). Everything is a function of the arguments alone, so all processes that
//! know the same come to the same result without talking.

mod divide;
mod pattern;
mod refine;

pub use pattern::Pattern;

/// Levels of a [`Path`].
pub const DEPTH: usize = 4;

/// Where a process is: its node, then smaller and smaller parts of it. Two processes share a part
/// if their paths are equal up to there.
pub type Path = [u32; DEPTH];

/// Weight of the edges that leave a part of each level; the level of an edge is the first at which
/// its ends differ. Costs compare like words in a dictionary: what leaves a node counts most.
pub type Cost = [u64; DEPTH];

/// What the pattern costs if rank `r` is held by process `seats[r]`.
///
/// # Panics
/// If there are not as many seats as ranks.
pub fn cost(pattern: &Pattern, places: &[Path], seats: &[u32]) -> Cost {
    let mut cost = Cost::default();
    for (a, b, weight) in pattern.edges() {
        let [a, b] = [a, b].map(|rank| places[seats[rank as usize] as usize]);
        if let Some(level) = (0..DEPTH).find(|&level| a[level] != b[level]) {
            cost[level] += weight;
        }
    }
    cost
}

/// The process that is to hold each rank, where process `p` is at `places[p]`; `None` if nothing is
/// better than rank `p` for process `p`.
///
/// There are as many places as ranks. Cost: O(n log n) for the n ranks of a pattern of few edges,
/// times the candidates, of which there are fewer the larger n is.
///
/// # Panics
/// If there are not as many places as ranks.
pub fn reorder(pattern: &Pattern, places: &[Path]) -> Option<Box<[u32]>> {
    assert_eq!(pattern.size(), places.len(), "a place for each rank");
    let everyone: Vec<u32> = (0..places.len() as u32).collect();
    let now = cost(pattern, places, &everyone);
    if now == Cost::default() {
        return None;
    }
    let mut task = Task {
        pattern,
        places,
        numbers: vec![pattern::NOBODY; places.len()],
        seats: everyone.clone(),
    };
    task.settle(everyone.clone(), everyone, 0);
    let seats = task.seats;
    (cost(pattern, places, &seats) < now).then_some(seats.into())
}

/// Ranks that are being given to processes.
struct Task<'a> {
    pattern: &'a Pattern,
    places: &'a [Path],
    /// For [`Pattern::part`].
    numbers: Vec<u32>,
    /// The process of each rank.
    seats: Vec<u32>,
}

impl Task<'_> {
    /// Gives `ranks` to `processes`, both ascending and equally many, which share a part of each
    /// level above `level`.
    fn settle(&mut self, ranks: Vec<u32>, processes: Vec<u32>, level: usize) {
        if level == DEPTH {
            return seat(&ranks, &processes, &mut self.seats);
        }
        let groups = parts(&processes, self.places, level);
        if groups.len() == 1 {
            return self.settle(ranks, processes, level + 1);
        }
        let part = self.pattern.part(&ranks, &mut self.numbers);
        let group_of = divide::divide(&part, &processes, &groups);
        let mut theirs = vec![Vec::new(); groups.len()];
        for (&rank, group) in ranks.iter().zip(group_of) {
            theirs[group as usize].push(rank);
        }
        for (ranks, processes) in theirs.into_iter().zip(groups) {
            self.settle(ranks, processes, level + 1);
        }
    }
}

/// The processes by what part of a level they are in, in the order of the lowest of each part.
fn parts(processes: &[u32], places: &[Path], level: usize) -> Vec<Vec<u32>> {
    let mut number = std::collections::HashMap::new();
    let mut groups: Vec<Vec<u32>> = Vec::new();
    for &process in processes {
        let group = *number
            .entry(places[process as usize][level])
            .or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
        groups[group].push(process);
    }
    groups
}

/// Where it makes no difference, a process keeps its rank if it can.
fn seat(ranks: &[u32], processes: &[u32], seats: &mut [u32]) {
    let stays = |it: &u32| ranks.binary_search(it).is_ok() && processes.binary_search(it).is_ok();
    let moving = |of: &[u32]| -> Vec<u32> { of.iter().copied().filter(|it| !stays(it)).collect() };
    for &rank in ranks.iter().filter(|rank| stays(rank)) {
        seats[rank as usize] = rank;
    }
    for (rank, process) in moving(ranks).into_iter().zip(moving(processes)) {
        seats[rank as usize] = process;
    }
}
