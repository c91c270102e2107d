//! Whether the members exchange bytes before they go to the file: from what each tells of its part.

use catena_objects::error::Result;

use crate::agree;
use crate::call::CollectiveCall;
use crate::collective::buffers::{Limits, MOST, PAGE};
use crate::driver::Direction;
use crate::file::File;
use crate::hints::{Choice, Hints};
use crate::nodes::Nodes;
use crate::transfer::Transfer;

/// Bytes of the stream whose runs are counted.
const SAMPLE: u64 = 16 << 10;
/// Nanoseconds that a run costs besides its bytes, if it goes to the file by itself: a system call,
/// and the file's lock, for which members wait in turn.
const CALL: u64 = 1000;
/// Nanoseconds of a collective call that exchanges.
const EXCHANGE: u64 = 50_000;
/// Nanoseconds that a run costs in an exchange that writes, besides its bytes.
const EXCHANGED: u64 = 16;
/// Bytes that are copied in a nanosecond.
const COPIED: u64 = 4;
/// Bytes of the file that are mapped in a nanosecond, to have pieces stored in them.
const MAPPED: u64 = 3;
/// Nanoseconds that a run costs then, besides its bytes.
const CARRIED: u64 = 12;

/// What a member tells the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct AccessSummary {
    /// The first offset, and the one behind the last.
    begin: u64,
    end: u64,
    /// Its bytes, and in about how many runs.
    len: u64,
    runs: u64,
    /// Whether it would store its pieces through maps of the file, if it went there by itself.
    stores: u64,
    wish: u64,
    aggregators: u64,
    buffer: u64,
    block: u64,
    unit: u64,
}

/// Words of it.
const WORDS: usize = 10;

/// What a member asks for; the highest that one has counts.
const AUTOMATIC: u64 = 0;
const ALWAYS: u64 = 1;
const NEVER: u64 = 2;

impl AccessSummary {
    fn words(self) -> [u64; WORDS] {
        [
            self.begin,
            self.end,
            self.len,
            self.runs,
            self.stores,
            self.wish,
            self.aggregators,
            self.buffer,
            self.block,
            self.unit,
        ]
    }

    fn from_words(words: [u64; WORDS]) -> Self {
        let [
            begin,
            end,
            len,
            runs,
            stores,
            wish,
            aggregators,
            buffer,
            block,
            unit,
        ] = words;
        AccessSummary {
            begin,
            end,
            len,
            runs,
            stores,
            wish,
            aggregators,
            buffer,
            block,
            unit,
        }
    }

    fn of(file: &File, transfer: &Transfer) -> AccessSummary {
        let hints = file.hints.borrow();
        let (view, from, len) = (&transfer.view, transfer.from, transfer.len());
        let choice = match transfer.memory.direction() {
            Direction::Read => hints.cb_read,
            Direction::Write => hints.cb_write,
        };
        let wish = match choice {
            _ if !hints.collective_buffering || file.atomic.get() => NEVER,
            // Members of a node meet in memory, each with its runs in rising order.
            _ if !view.is_ordered() || file.nodes.is_none() => NEVER,
            Choice::Disable => NEVER,
            Choice::Enable => ALWAYS,
            // Only aggregators have the file open.
            _ if hints.no_independent => ALWAYS,
            Choice::Automatic => AUTOMATIC,
        };
        let mut told = AccessSummary {
            wish,
            aggregators: aggregators(&hints, file.comm.size(), file.nodes.as_deref()) as u64,
            buffer: hints.cb_buffer_size,
            block: hints.cb_block_size,
            unit: hints.striping_unit,
            ..AccessSummary::default()
        };
        if len != 0 {
            let mut runs = 0;
            let sample = len.min(SAMPLE);
            view.windows(from, sample, |list, _| {
                runs += list.len() as u64;
                true
            });
            told.begin = view.offset(from);
            told.end = view.offset(from + len - 1) + 1;
            told.len = len;
            // Nobody weighs where the hints decide; to ask opens a file that only aggregators may
            // need.
            let is_weighed = wish == AUTOMATIC && transfer.memory.direction() == Direction::Write;
            told.stores = u64::from(is_weighed && transfer.takes_windows());
            told.runs = match runs {
                1 if told.end - told.begin == len => 1,
                _ => (runs * (len / sample)).max(1),
            };
        }
        told
    }
}

/// How many members of a file go to it for all: as the hint says, else one for each processor of
/// each node, as more would only wait for each other.
pub(crate) fn aggregators(hints: &Hints, members: u32, nodes: Option<&Nodes>) -> usize {
    let wanted = match hints.cb_nodes {
        0 => {
            // SAFETY: no memory is involved.
            let processors = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
            let processors = usize::try_from(processors).unwrap_or(1).max(1);
            nodes.map_or(processors, |nodes| nodes.count(processors))
        }
        wanted => wanted as usize,
    };
    wanted.clamp(1, (members as usize).min(MOST))
}

/// What all members know of a call in which they exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Aggregators of all nodes.
    pub aggregators: usize,
    /// Bytes of the window that each has.
    pub window: usize,
    /// The first offset of all members, and the one behind the last.
    pub begin: u64,
    pub end: u64,
    /// What places of windows are a multiple of.
    pub unit: u64,
}

/// Learns of all members what they have; how they exchange, unless each goes to the file by itself.
/// Collective.
///
/// # Errors
/// As [`agree::agree_in`].
pub(crate) async fn agree(
    crew: &CollectiveCall,
    file: &File,
    own: Result<Transfer>,
) -> Result<(Transfer, Option<Plan>)> {
    let nodes = match file.nodes.as_deref() {
        Some(nodes) if file.comm.size() != 1 => nodes,
        Some(_) => return Ok((own?, None)),
        None => &Nodes::apart(file.comm.size()),
    };
    let told = own.as_ref().map(|it| AccessSummary::of(file, it));
    let words = told.unwrap_or_default().words();
    let (transfer, rows) = agree::agree_in(crew, own, words).await?;
    let all: Vec<AccessSummary> = rows.into_iter().map(AccessSummary::from_words).collect();
    let plan = plan(&all, nodes, transfer.memory.direction());
    Ok((transfer, plan))
}

/// How members exchange that have told this.
fn plan(all: &[AccessSummary], nodes: &Nodes, direction: Direction) -> Option<Plan> {
    let with_bytes = || all.iter().filter(|it| it.len != 0);
    let begin = with_bytes().map(|it| it.begin).min()?;
    let end = with_bytes().map(|it| it.end).max()?;
    let wish = all.iter().map(|it| it.wish).max()?;
    if wish == NEVER || wish == AUTOMATIC && !pays(all, end - begin, direction) {
        return None;
    }
    let first = all[0];
    let aggregators = (first.aggregators as usize).clamp(1, all.len().min(MOST));
    let limits = Limits {
        members: nodes.most(),
        aggregators,
        share: nodes.share(aggregators),
        across: nodes.len() > 1,
        buffer: first.buffer,
        block: first.block,
        unit: first.unit,
    };
    let window = limits.window();
    Some(Plan {
        aggregators,
        window,
        begin,
        end,
        unit: match (window as u64).is_multiple_of(first.unit.max(1)) {
            true if first.unit != 0 => first.unit,
            _ => PAGE,
        },
    })
}

/// Whether an exchange is quicker. `hull`: bytes from the first to the last one of all members.
fn pays(all: &[AccessSummary], hull: u64, direction: Direction) -> bool {
    let sum = |of: fn(&AccessSummary) -> u64| all.iter().map(of).fold(0, u64::saturating_add);
    let (bytes, runs) = (sum(|it| it.len), sum(|it| it.runs));
    let spans = sum(|it| it.end - it.begin);
    if spans - spans / 8 <= hull {
        // Each has a part of the file to itself.
        return false;
    }
    let calls = runs.saturating_mul(CALL);
    let (alone, exchanged) = match direction {
        Direction::Write if all.iter().all(|it| it.stores != 0 || it.len == 0) => {
            let stored = runs.saturating_mul(CARRIED);
            let mapped = (spans / MAPPED).saturating_add(stored);
            (mapped, runs.saturating_mul(EXCHANGED))
        }
        Direction::Write => (calls, 0),
        // A read fetches what lies between its runs.
        Direction::Read => (calls.min(spans / COPIED), 0),
    };
    let copied = (hull / COPIED).saturating_add(bytes / COPIED);
    EXCHANGE.saturating_add(copied).saturating_add(exchanged) < alone
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(begin: u64, end: u64, len: u64, runs: u64) -> AccessSummary {
        AccessSummary {
            begin,
            end,
            len,
            runs,
            aggregators: 2,
            buffer: 16 << 20,
            block: 1 << 20,
            ..AccessSummary::default()
        }
    }

    #[test]
    fn short_interleaved_pieces_are_exchanged_and_long_parts_are_not() {
        const MB: u64 = 1 << 20;
        let interleaved: Vec<_> = (0..4)
            .map(|i| told(8 * i, 64 * MB - 24 + 8 * i, 16 * MB, 2 * MB))
            .collect();
        for direction in [Direction::Write, Direction::Read] {
            let plan = plan(&interleaved, &Nodes::together(4), direction).expect("an exchange");
            assert_eq!((plan.begin, plan.end), (0, 64 * MB));
            assert_eq!(plan.aggregators, 2);
        }
        // A few members store them in maps of the file; many would map all of it too often.
        for (members, is_exchanged) in [(2, false), (3, false), (32, true)] {
            let stored = |i| AccessSummary {
                stores: 1,
                ..told(8 * i, 64 * MB, 64 * MB / members, 8 * MB / members)
            };
            let all: Vec<_> = (0..members).map(stored).collect();
            let nodes = Nodes::together(members as u32);
            assert_eq!(plan(&all, &nodes, Direction::Write).is_some(), is_exchanged);
        }
        let parts: Vec<_> = (0..4).map(|i| told(i * MB, (i + 1) * MB, MB, 1)).collect();
        // Pieces of 1 MB, dealt out in turn.
        let long: Vec<_> = (0..4)
            .map(|i| told(i * MB, (61 + i) * MB, 16 * MB, 16))
            .collect();
        // Pieces of which no two are near each other.
        let sparse: Vec<_> = (0..4).map(|i| told(i, (1 << 40) + i, 800, 100)).collect();
        for all in [parts, long, sparse] {
            assert_eq!(
                plan(&all, &Nodes::together(all.len() as u32), Direction::Write),
                None
            );
        }
        assert_eq!(
            plan(
                &[AccessSummary::default(); 3],
                &Nodes::together(3),
                Direction::Write
            ),
            None
        );
    }

    #[test]
    fn one_member_can_forbid_it() {
        let mut all = [told(0, 10, 5, 5); 3];
        all[1].wish = ALWAYS;
        assert!(plan(&all, &Nodes::together(all.len() as u32), Direction::Write).is_some());
        all[2].wish = NEVER;
        assert_eq!(
            plan(&all, &Nodes::together(all.len() as u32), Direction::Write),
            None
        );
    }

    #[test]
    fn words_survive_the_way() {
        let it = AccessSummary {
            wish: ALWAYS,
            unit: 7,
            ..told(1, 2, 3, 4)
        };
        assert_eq!(AccessSummary::from_words(it.words()), it);
    }
}
