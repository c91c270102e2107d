//! What launchers of one user tell each other whose jobs connect: mpirun and mpirun.

use crate::jobs::{Outcome, read_outcome, write_outcome};
use crate::wire::{Malformed, Reader, Writer};

/// A job of another launcher, as that one tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobCard {
    /// Its random number.
    pub job: u64,
    /// Node of each rank, by the numbers of its launcher.
    pub node_of: Vec<u32>,
    /// Name of each of these nodes.
    pub hosts: Vec<String>,
}

/// What one launcher tells another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// A group has come to one of your ports: who connects there.
    Visit {
        /// What the answer is known by.
        ticket: u32,
        /// The port.
        port: String,
        /// What the other group is told.
        value: Vec<u8>,
        /// How long it waits, in milliseconds; 0 says without an end.
        patience: u64,
        /// The jobs that its members are of.
        jobs: Vec<JobCard>,
    },
    /// Those who had come with that ticket are gone.
    Leave {
        /// The ticket.
        ticket: u32,
    },
    /// What has become of a visit.
    Met {
        /// Its ticket.
        ticket: u32,
        /// The value of the other group, or why nobody was met.
        outcome: Outcome,
        /// The jobs that the members of the other group are of.
        jobs: Vec<JobCard>,
    },
    /// What has that rank of a job of yours published under that key, or will?
    Ask {
        /// The job.
        job: u64,
        /// The rank there.
        rank: u32,
        /// The key.
        key: String,
    },
    /// The answer to that; nothing if the job has ended.
    Answer {
        /// The job.
        job: u64,
        /// The rank there.
        rank: u32,
        /// The key.
        key: String,
        /// The value.
        value: Vec<u8>,
    },
    /// A job of mine has failed: so have those that are connected to it.
    Failed {
        /// The job.
        job: u64,
        /// Why.
        text: String,
    },
    /// All processes of a job of mine have parted from one of yours: the end of one does not touch
    /// the other.
    Parted {
        /// The job.
        job: u64,
        /// Yours.
        from: u64,
    },
    /// A job of mine has ended.
    Gone {
        /// The job.
        job: u64,
    },
    /// A group that has met one of yours can go on with it, or both can: see `server/meeting.rs`.
    Confirm {
        /// The ticket of the visit.
        ticket: u32,
        /// Whether the launcher of the port says so, of both; else that of the visit, of its own
        /// group.
        by_host: bool,
        /// Why it cannot; nothing if it can.
        why: String,
    },
    /// All of my jobs have ended.
    Bye,
}

fn write_cards(w: &mut Writer, cards: &[JobCard]) {
    w.u32(cards.len() as u32);
    for card in cards {
        w.u64(card.job);
        w.u32s(&card.node_of);
        w.u32(card.hosts.len() as u32);
        card.hosts.iter().for_each(|host| w.bytes(host.as_bytes()));
    }
}

fn read_cards(r: &mut Reader<'_>) -> Result<Vec<JobCard>, Malformed> {
    let one = |r: &mut Reader<'_>| {
        let card = JobCard {
            job: r.u64()?,
            node_of: r.u32s()?,
            hosts: (0..r.count(4)?)
                .map(|_| r.text())
                .collect::<Result<_, _>>()?,
        };
        let is_known = |node: &u32| (*node as usize) < card.hosts.len();
        match !card.node_of.is_empty() && card.node_of.iter().all(is_known) {
            true => Ok(card),
            false => Err(Malformed(
                "a job of another launcher that contradicts itself",
            )),
        }
    };
    (0..r.count(16)?).map(|_| one(r)).collect()
}

impl Word {
    /// As [`Word::read`] reads it.
    pub fn write(&self, w: &mut Writer) {
        match self {
            Word::Visit {
                ticket,
                port,
                value,
                patience,
                jobs,
            } => {
                w.u32(0);
                w.u32(*ticket);
                w.bytes(port.as_bytes());
                w.bytes(value);
                w.u64(*patience);
                write_cards(w, jobs);
            }
            Word::Leave { ticket } => {
                w.u32(1);
                w.u32(*ticket);
            }
            Word::Met {
                ticket,
                outcome,
                jobs,
            } => {
                w.u32(2);
                w.u32(*ticket);
                write_outcome(w, outcome);
                write_cards(w, jobs);
            }
            Word::Ask { job, rank, key } => {
                w.u32(3);
                w.u64(*job);
                w.u32(*rank);
                w.bytes(key.as_bytes());
            }
            Word::Answer {
                job,
                rank,
                key,
                value,
            } => {
                w.u32(4);
                w.u64(*job);
                w.u32(*rank);
                w.bytes(key.as_bytes());
                w.bytes(value);
            }
            Word::Failed { job, text } => {
                w.u32(5);
                w.u64(*job);
                w.bytes(text.as_bytes());
            }
            Word::Gone { job } => {
                w.u32(6);
                w.u64(*job);
            }
            Word::Bye => w.u32(7),
            Word::Parted { job, from } => {
                w.u32(8);
                w.u64(*job);
                w.u64(*from);
            }
            Word::Confirm {
                ticket,
                by_host,
                why,
            } => {
                w.u32(9);
                w.u32(*ticket);
                w.u32(u32::from(*by_host));
                w.bytes(why.as_bytes());
            }
        }
    }

    /// Reads what [`Word::write`] wrote.
    ///
    /// # Errors
    /// If it is something else.
    pub fn read(r: &mut Reader<'_>) -> Result<Word, Malformed> {
        Ok(match r.u32()? {
            0 => Word::Visit {
                ticket: r.u32()?,
                port: r.text()?,
                value: r.bytes()?.to_vec(),
                patience: r.u64()?,
                jobs: read_cards(r)?,
            },
            1 => Word::Leave { ticket: r.u32()? },
            2 => Word::Met {
                ticket: r.u32()?,
                outcome: read_outcome(r)?,
                jobs: read_cards(r)?,
            },
            3 => Word::Ask {
                job: r.u64()?,
                rank: r.u32()?,
                key: r.text()?,
            },
            4 => Word::Answer {
                job: r.u64()?,
                rank: r.u32()?,
                key: r.text()?,
                value: r.bytes()?.to_vec(),
            },
            5 => Word::Failed {
                job: r.u64()?,
                text: r.text()?,
            },
            6 => Word::Gone { job: r.u64()? },
            7 => Word::Bye,
            8 => Word::Parted {
                job: r.u64()?,
                from: r.u64()?,
            },
            9 => Word::Confirm {
                ticket: r.u32()?,
                by_host: r.u32()? != 0,
                why: r.text()?,
            },
            _ => return Err(Malformed("a word of another launcher that there is not")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_the_journey() {
        let jobs = vec![JobCard {
            job: 7 << 40,
            node_of: vec![0, 1, 1],
            hosts: vec!["a".into(), "b".into()],
        }];
        let (job, rank, key) = (7 << 40, 2, "k".to_string());
        let words = [
            Word::Visit {
                ticket: 3,
                port: "p".into(),
                value: vec![1, 2],
                patience: 500,
                jobs: jobs.clone(),
            },
            Word::Leave { ticket: 3 },
            Word::Met {
                ticket: 3,
                outcome: Ok(vec![9]),
                jobs: jobs.clone(),
            },
            Word::Met {
                ticket: 4,
                outcome: Err("no".into()),
                jobs: Vec::new(),
            },
            Word::Ask {
                job,
                rank,
                key: key.clone(),
            },
            Word::Answer {
                job,
                rank,
                key,
                value: vec![5],
            },
            Word::Failed {
                job,
                text: "why".into(),
            },
            Word::Gone { job },
            Word::Bye,
            Word::Parted { job, from: 9 },
            Word::Confirm {
                ticket: 3,
                by_host: true,
                why: String::new(),
            },
        ];
        for word in words {
            let mut w = Writer::new(0);
            word.write(&mut w);
            let body = w.into_body();
            assert_eq!(Word::read(&mut Reader::new(&body)), Ok(word));
            for end in 0..body.len() {
                assert!(Word::read(&mut Reader::new(&body[..end])).is_err());
            }
        }
        let odd = vec![JobCard {
            job: 1,
            node_of: vec![2],
            hosts: vec!["a".into()],
        }];
        let mut w = Writer::new(0);
        write_cards(&mut w, &odd);
        assert!(read_cards(&mut Reader::new(&w.into_body())).is_err());
    }
}
