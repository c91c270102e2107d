//! What each rank tells the others, and what follows from it.

use std::collections::BTreeMap;
use std::fs;

use catena_base::Cpus;
use catena_proof::Secret;

use super::About;
use super::segment::FileLocation;
use crate::{BootError, Job, equal, sys};

/// First line of a card; changes whenever the meaning of another one does.
const TITLE: &str = "catena 3";

/// Between the settings in a card.
const SEPARATOR: &str = "\u{1f}";

/// What a rank tells the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Card {
    /// Ranks for which this differs cannot share memory.
    pub kernel: String,
    /// Its segment, which counts if it is the lowest on its node.
    pub place: FileLocation,
    /// Random number; that of rank 0 becomes the job's.
    pub number: u64,
    /// That of the job, in the card of rank 0. It is as secret as what the process
    /// manager keeps for the ranks.
    pub secret: Option<Secret>,
    pub appnum: u32,
    /// How many processors it is granted.
    pub granted: u32,
    /// Numbers of those that it may use, as Linux writes them.
    pub cpus: String,
    pub host: String,
    /// Its settings that must be equal.
    pub settings: String,
}

impl Card {
    /// That of this process.
    pub fn mine(rank: u32, appnum: u32, place: FileLocation) -> Result<Card, BootError> {
        let mut number = [0; 8];
        sys::random(&mut number)?;
        Ok(Card {
            kernel: kernel(),
            place,
            number: u64::from_le_bytes(number),
            secret: (rank == 0).then(Secret::random).transpose()?,
            appnum,
            granted: crate::available_cpus(),
            cpus: Cpus::allowed().unwrap_or_default().to_string(),
            host: sys::host_name(),
            settings: equal::on_node().to_string(),
        })
    }

    /// As lines.
    pub fn to_text(&self) -> String {
        let Card {
            kernel,
            place: FileLocation { pid, fd, mark },
            number,
            secret,
            appnum,
            granted,
            cpus,
            host,
            settings,
        } = self;
        let settings = settings.replace('\n', SEPARATOR);
        let secret = secret.as_ref().map(Secret::to_hex).unwrap_or_default();
        let host = host.replace('\n', "?");
        format!(
            "{TITLE}\n{kernel}\n{pid}\n{fd}\n{mark:x}\n{number:x}\n{secret}\n{appnum}\n{granted}\n{cpus}\n{host}\n{settings}"
        )
    }

    /// Reads what [`Card::to_text`] wrote.
    pub fn parse(bytes: &[u8]) -> Option<Card> {
        let text = std::str::from_utf8(bytes).ok()?;
        let mut lines = text.split('\n');
        let mut next = || lines.next();
        if next()? != TITLE {
            return None;
        }
        let card = Card {
            kernel: next()?.to_string(),
            place: FileLocation {
                pid: next()?.parse().ok()?,
                fd: next()?.parse().ok()?,
                mark: u64::from_str_radix(next()?, 16).ok()?,
            },
            number: u64::from_str_radix(next()?, 16).ok()?,
            secret: match next()? {
                "" => None,
                text => Some(Secret::from_hex(text)?),
            },
            appnum: next()?.parse().ok()?,
            granted: next()?.parse().ok()?,
            cpus: next()?.to_string(),
            host: next()?.to_string(),
            settings: next()?.replace(SEPARATOR, "\n"),
        };
        next().is_none().then_some(card)
    }
}

/// What processes that see each other's memory by process id have in common:
/// the running kernel, and the space of process ids.
fn kernel() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id");
    let pids = fs::read_link("/proc/self/ns/pid");
    match (boot, pids) {
        (Ok(boot), Ok(pids)) => format!("{} {}", boot.trim(), pids.display()),
        // Shares memory with nobody.
        _ => format!("{} {}", sys::host_name(), std::process::id()),
    }
}

/// Whether the ranks of a job have the settings alike that must be equal: all those of rank 0, and
/// those of a node also what matters there.
///
/// # Errors
/// [`BootError::Settings`].
pub(super) fn agree(job: &Job, cards: &[Card]) -> Result<(), BootError> {
    let mut first_of = vec![None; job.hosts.len()];
    for (rank, card) in (0..).zip(cards) {
        let first = *first_of[job.node_of[rank as usize] as usize].get_or_insert(rank);
        for (other, near) in [(0, false), (first, true)] {
            let known = &cards[other as usize].settings;
            equal::compare((other, known), (rank, &card.settings), near)
                .map_err(BootError::Settings)?;
        }
    }
    Ok(())
}

/// The job, as its process manager and the cards of its ranks describe it.
pub(super) fn job(about: &About, cards: &[Card]) -> Job {
    let launchers = |rank: usize| about.nodes.as_ref().map(|nodes| nodes[rank]);
    let mut numbers = BTreeMap::new();
    let mut hosts = Vec::new();
    let node_of: Box<[u32]> = cards
        .iter()
        .enumerate()
        .map(|(rank, card)| {
            let next = numbers.len() as u32;
            let node = (launchers(rank), card.kernel.as_str());
            *numbers.entry(node).or_insert_with(|| {
                hosts.push(card.host.clone());
                next
            })
        })
        .collect();
    let mine = node_of[about.rank as usize];
    let local: Box<[u32]> = (0..about.size)
        .filter(|&r| node_of[r as usize] == mine)
        .collect();
    let near = || local.iter().map(|&r| &cards[r as usize]);
    let first = &cards[local[0] as usize];
    let alike = near().all(|card| card.cpus == first.cpus);
    // A group of processes may be granted less than all that it may use.
    let granted = near().map(|card| card.granted).max().unwrap_or(1).max(1);
    let sets = near().filter_map(|card| Cpus::parse(&card.cpus));
    let all = sets
        .fold(Cpus::default(), |all, cpus| all.union(&cpus))
        .len();
    let all = u32::try_from(all).unwrap_or(u32::MAX);
    let local_cpus = if alike { granted } else { granted.max(all) };

    let mut psets = about.psets.clone();
    let mut programs = BTreeMap::<u32, Vec<u32>>::new();
    for (rank, card) in (0..).zip(cards) {
        programs.entry(card.appnum).or_default().push(rank);
    }
    let programs = programs.into_iter();
    psets.extend(programs.map(|(appnum, ranks)| (format!("app://{appnum}"), ranks)));
    Job {
        rank: about.rank,
        size: about.size,
        appnum: about.appnum,
        universe_size: about.universe_size.unwrap_or(0).max(about.size),
        job_id: cards[0].number,
        secret: cards[0].secret.clone(),
        node_of,
        hosts: hosts.into(),
        local,
        local_cpus,
        psets,
        parent: None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn card(kernel: &str, cpus: &str) -> Card {
        Card {
            kernel: kernel.to_string(),
            place: FileLocation {
                pid: 7,
                fd: 8,
                mark: 9,
            },
            number: 10,
            secret: Some(Secret::from_bytes([11; 32])),
            appnum: 0,
            granted: 2,
            cpus: cpus.to_string(),
            host: format!("host of {kernel}"),
            settings: "A=1\nLINK=with shm\n".to_string(),
        }
    }

    #[test]
    fn a_node_is_what_launcher_and_kernel_agree_on() {
        let cards = ["a", "a", "b", "a"].map(|kernel| card(kernel, "0-1"));
        let mut about = About::new(3, 4).unwrap();
        let job = |about: &About| {
            let job = super::job(about, &cards);
            (job.node_of.to_vec(), job.local.to_vec(), job.hosts.len())
        };
        assert_eq!(job(&about), (vec![0, 0, 1, 0], vec![0, 1, 3], 2));
        about.nodes = Some(vec![5, 4, 4, 4]);
        assert_eq!(job(&about), (vec![0, 1, 2, 1], vec![1, 3], 3));
    }

    #[test]
    fn settings_are_compared() {
        let mut cards = ["a", "b", "b"].map(|kernel| card(kernel, "0-1"));
        let about = About::new(0, 3).unwrap();
        let agree = |cards: &[Card]| {
            let agreed = super::agree(&super::job(&about, cards), cards);
            agreed.map_err(|error| error.to_string())
        };
        assert_eq!(agree(&cards), Ok(()));
        // Each node as it likes.
        cards[0].settings = "A=1\nLINK=without shm\n".to_string();
        assert_eq!(agree(&cards), Ok(()));
        cards[2].settings = cards[0].settings.clone();
        assert!(agree(&cards).unwrap_err().contains("rank 2"));
        cards[2].settings = "LINK=with shm\n".to_string();
        let error = agree(&cards).unwrap_err();
        assert!(
            error.contains("CATENA_A is '1' at rank 0 and its default at rank 2"),
            "{error}"
        );
    }

    #[test]
    fn processors_are_counted_once() {
        let cards = [card("a", "0-511"), card("a", "512-1023")];
        let about = About::new(0, 2).unwrap();
        assert_eq!(job(&about, &cards).local_cpus, 1024);
        let bounded = [card("a", "0-511"), card("a", "0-511")];
        assert_eq!(job(&about, &bounded).local_cpus, 2);
        // A job has a processor at least, whatever the ranks say.
        let mut none = [card("a", ""), card("a", "0-4294967295")];
        none.iter_mut().for_each(|card| card.granted = 0);
        assert_eq!(job(&about, &none).local_cpus, u32::MAX);
        none[1].cpus.clear();
        assert_eq!(job(&about, &none).local_cpus, 1);
    }

    #[test]
    fn sizes_beyond_sense_are_refused() {
        assert!(About::new(0, 1 << 24).is_ok());
        for (rank, size) in [(0, (1 << 24) + 1), (0, u32::MAX), (3, 3)] {
            let error = About::new(rank, size).unwrap_err().to_string();
            assert!(error.contains(&format!("rank {rank} of {size}")), "{error}");
        }
    }

    #[test]
    fn programs_are_process_sets() {
        let mut cards = vec![card("a", "0"); 3];
        cards[1].appnum = 1;
        let mut about = About::new(0, 3).unwrap();
        about.psets = vec![("odd".to_string(), vec![1])];
        let sets = job(&about, &cards).psets;
        let named = |name: &str, ranks: &[u32]| (name.to_string(), ranks.to_vec());
        assert_eq!(
            sets,
            [
                named("odd", &[1]),
                named("app://0", &[0, 2]),
                named("app://1", &[1])
            ]
        );
    }

    proptest! {
        #[test]
        fn cards_survive_and_garbage_does_not(at in 0usize..90, byte: u8) {
            let card = card("5d1 pid:[4026531836]", "0-3");
            let mut bytes = card.to_text().into_bytes();
            prop_assert_eq!(Card::parse(&bytes), Some(card));
            let at = at % bytes.len();
            bytes[at] = byte;
            let _ = Card::parse(&bytes);
            prop_assert_eq!(Card::parse(&bytes[..at.min(40)]), None);
        }
    }
}
