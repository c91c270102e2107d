//! What is seen of a process.

use catena_trace::View;

use crate::bytes::{Malformed, Reader, Writer};
use crate::calls::call;
use crate::waits_for::{Member, Need, WaitsFor};

/// How far a process has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum State {
    /// It has not called `MPI_Init` yet.
    Before,
    /// It uses MPI.
    Running,
    /// A signal has stopped it (SIGSTOP, a debugger).
    Stopped,
    /// It has called `MPI_Finalize`, or the like, and that is through.
    Left,
    /// The process has ended.
    Ended,
}

impl State {
    const ALL: [State; 5] = [
        State::Before,
        State::Running,
        State::Stopped,
        State::Left,
        State::Ended,
    ];
}

/// A thread of a process that has called MPI.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thread {
    /// Its number, as the kernel counts.
    pub thread: u32,
    /// How many calls it has made.
    pub calls: u64,
    /// The call that it is in, or was in last, in words, `MPI_Recv` say.
    pub call: String,
    /// The place in the program that the call was made from, `solver.c:120` say; empty if it is not
    /// known.
    pub place: String,
    /// What it has called last, the oldest call first, in words; empty unless [noted](note_calls).
    pub last: Vec<String>,
    /// What it waits for, if it has waited long.
    pub waits: Option<WaitsFor>,
    /// Whether that may be over, as far as two looks tell: it has begun since the first one, or was
    /// not told again after that. It is not kept in bytes.
    pub may_be_over: bool,
    /// If it waits for nothing: since when at least it has made no call, nanoseconds of the clock
    /// of its host; `None` if that is not known. It is not kept in bytes.
    pub quiet_since: Option<u64>,
}

/// Most calls of a thread that are noted.
const LAST: usize = 4;

/// Notes what the threads of a process have called last: a few calls of each, the one that it is in
/// among them.
pub fn note_calls(rank: &mut Rank, view: &View<'_>) {
    for traced in view.threads(LAST).unwrap_or_default() {
        let mut threads = rank.threads.iter_mut();
        if let Some(thread) = threads.find(|it| it.thread == traced.thread) {
            let calls = traced.entries.iter();
            thread.last = calls.map(|it| call(it.function, it.arguments)).collect();
        }
    }
}

/// A process of a job, as it was seen at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rank {
    /// Which one.
    pub member: Member,
    /// Its host.
    pub host: String,
    /// Its process number there.
    pub pid: u32,
    /// How far it has come.
    pub state: State,
    /// When it was seen: nanoseconds of the monotonic clock of its host.
    pub at: u64,
    /// Whether it has threads of which nothing is known, and which may use MPI.
    pub others: bool,
    /// Its threads.
    pub threads: Vec<Thread>,
}

impl Rank {
    /// Whether it does nothing but wait, as far as is known: all of its threads that may use MPI
    /// do.
    pub fn is_waiting(&self) -> bool {
        let all_wait = || self.threads.iter().all(|it| it.waits.is_some());
        self.state == State::Running && !self.others && !self.threads.is_empty() && all_wait()
    }

    /// Whether it has done nothing but wait from one look to the next.
    pub fn is_stuck(&self) -> bool {
        self.is_waiting() && !self.threads.iter().any(|it| it.may_be_over)
    }

    /// What its threads wait for.
    pub fn waits(&self) -> impl Iterator<Item = (&Thread, &WaitsFor)> {
        self.threads
            .iter()
            .filter_map(|thread| Some((thread, thread.waits.as_ref()?)))
    }

    /// What those of its threads need whose waits have lasted.
    pub(crate) fn lasting_needs(&self) -> impl Iterator<Item = &Need> {
        let lasting = self.threads.iter().filter(|it| !it.may_be_over);
        let waits = lasting.filter_map(|it| it.waits.as_ref());
        waits.flat_map(|it| &it.needs)
    }

    /// What it needs, all of its threads.
    pub fn needs(&self) -> impl Iterator<Item = &Need> {
        self.waits().flat_map(|(_, waits)| &waits.needs)
    }

    /// Believes none of its needs that name more than `most` processes: anybody may do those. What
    /// a rank says of itself stands in memory that its program can write.
    pub(crate) fn doubt(&mut self, most: u64) {
        let waits = self.threads.iter_mut().filter_map(|it| it.waits.as_mut());
        for need in waits.flat_map(|it| &mut it.needs) {
            let named = need.of.iter().map(|&(_, count)| u64::from(count));
            if named.sum::<u64>() > most {
                need.of.clear();
                need.open = true;
            }
        }
    }

    /// In bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut w = Writer::default();
        w.u64(self.member.job);
        w.u32(self.member.rank);
        w.text(&self.host, usize::MAX);
        w.u32(self.pid);
        w.u8(self.state as u8);
        w.u64(self.at);
        w.u8(self.others.into());
        w.u32(self.threads.len() as u32);
        for thread in &self.threads {
            w.u32(thread.thread);
            w.u64(thread.calls);
            w.text(&thread.call, usize::MAX);
            w.text(&thread.place, usize::MAX);
            w.u32(thread.last.len() as u32);
            for call in &thread.last {
                w.text(call, usize::MAX);
            }
            let waits = thread.waits.as_ref().map(WaitsFor::to_bytes);
            w.bytes(&waits.unwrap_or_default());
        }
        w.0
    }

    /// What bytes say.
    ///
    /// # Errors
    /// If they are not those of [`Rank::to_bytes`].
    pub fn read(bytes: &[u8]) -> Result<Rank, Malformed> {
        let mut r = Reader(bytes);
        let (job, rank) = (r.u64()?, r.u32()?);
        let (host, pid) = (r.text()?, r.u32()?);
        let state = *State::ALL.get(usize::from(r.u8()?)).ok_or(Malformed)?;
        let (at, others) = (r.u64()?, r.u8()? != 0);
        let threads = (0..r.u32()?).map(|_| {
            Ok(Thread {
                thread: r.u32()?,
                calls: r.u64()?,
                call: r.text()?,
                place: r.text()?,
                last: (0..r.u32()?).map(|_| r.text()).collect::<Result<_, _>>()?,
                waits: match r.bytes()? {
                    [] => None,
                    bytes => Some(WaitsFor::read(bytes)?),
                },
                may_be_over: false,
                quiet_since: None,
            })
        });
        let threads = threads.collect::<Result<_, _>>()?;
        Ok(Rank {
            member: Member { job, rank },
            host,
            pid,
            state,
            at,
            others,
            threads,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let rank = Rank {
            member: Member { job: 7, rank: 3 },
            host: "h".into(),
            pid: 5,
            state: State::Running,
            at: 9,
            others: false,
            threads: vec![
                Thread {
                    thread: 5,
                    calls: 9,
                    call: "MPI_Recv".into(),
                    place: "a.c:3".into(),
                    last: vec!["MPI_Init()".into(), "MPI_Recv()".into()],
                    waits: Some(WaitsFor {
                        since: 4,
                        ..WaitsFor::default()
                    }),
                    ..Thread::default()
                },
                Thread::default(),
            ],
        };
        assert_eq!(Rank::read(&rank.to_bytes()), Ok(rank.clone()));
        assert!(!rank.is_stuck(), "a thread of it runs");
        for end in 0..rank.to_bytes().len() {
            assert_eq!(Rank::read(&rank.to_bytes()[..end]), Err(Malformed));
        }
    }
}
