//! A frame in lines, for a screen of a given width or for whoever reads it as text.

use std::collections::BTreeMap;

use crate::amount::{bytes, count, share, span};
use crate::frame::{JobFrame, Rate, Rates, Row, Stand, Wait};

/// How a part of a line looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// As the rest of the screen.
    Plain,
    /// What a job or a column is called.
    Head,
    /// What is of less interest.
    Faint,
    /// What moves.
    Good,
    /// What waits.
    Warning,
    /// What is wrong.
    Bad,
}

/// Who looks, and how users are called.
#[derive(Clone, Debug, Default)]
pub struct People {
    /// The user who looks.
    pub own: u32,
    /// The names of users.
    pub names: BTreeMap<u32, String>,
}

impl People {
    /// Those of this host.
    pub fn here() -> People {
        let text = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        let names = text.lines().filter_map(|line| {
            let mut words = line.split(':');
            let name = words.next()?;
            Some((words.nth(1)?.parse().ok()?, name.to_string()))
        });
        People {
            own: catena_launcher::user(),
            names: names.collect(),
        }
    }

    /// What comes before what another user has: `ada: `.
    fn before(&self, user: u32) -> String {
        match (user == self.own, self.names.get(&user)) {
            (true, _) => String::new(),
            (false, Some(name)) => format!("{name}: "),
            (false, None) => format!("user {user}: "),
        }
    }
}

/// A line, in parts.
pub type Line = Vec<(String, Tone)>;

/// Waits that are shown where not all are.
pub const WAITS: usize = 4;

/// Width of what is not for a screen.
const WIDE: usize = 100;

/// All jobs with all of their ranks, as text.
pub fn all(jobs: &[JobFrame], people: &People) -> String {
    if jobs.is_empty() {
        return "no job of yours runs on this host\n".into();
    }
    let each = jobs.iter().map(|job| {
        let mut lines = head(job, people);
        lines.extend(verdict(job, usize::MAX));
        lines.extend(waits(job, usize::MAX));
        let table = Table::of(job, WIDE);
        lines.push(table.head());
        lines.extend(job.ranks.iter().map(|row| table.row(row)));
        lines
    });
    let texts = each.map(|lines| {
        let lines = lines.iter().map(|line| {
            let text: String = line.iter().map(|(text, _)| text.as_str()).collect();
            format!("{}\n", text.trim_end())
        });
        lines.collect::<String>()
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// A text in as many characters, of which the last one says that there is more.
pub fn cut(text: &str, width: usize) -> String {
    match text.chars().count() > width {
        true => text
            .chars()
            .take(width.saturating_sub(1))
            .chain(['…'])
            .take(width)
            .collect(),
        false => text.to_string(),
    }
}

/// `4 of 6 ranks on 2 hosts`
fn size(job: &JobFrame) -> String {
    let seen = job.ranks.len();
    let ranks = match job.elsewhere {
        0 => seen.to_string(),
        more => format!("{seen} of {}", seen + more as usize),
    };
    let one = |count: usize, word: &str| match count {
        1 => word.to_string(),
        _ => format!("{word}s"),
    };
    let hosts = job.hosts.len();
    let (rank, host) = (
        one(seen + job.elsewhere as usize, "rank"),
        one(hosts, "host"),
    );
    format!("{ranks} {rank} on {hosts} {host}")
}

/// `3 wait, 1 computes`
fn stands(job: &JobFrame) -> String {
    let stands = job.stands();
    let each = stands.iter().map(|(stand, count)| {
        let word = match (stand, count) {
            (Stand::Waits, 2..) => "wait",
            (Stand::Computes, 2..) => "compute",
            (Stand::Sleeps, 2..) => "sleep",
            (Stand::Runs, 2..) => "run",
            (Stand::Starts, 2..) => "start",
            (stand, _) => stand.word(),
        };
        format!("{count} {word}")
    });
    each.collect::<Vec<_>>().join(", ")
}

/// How a job is called.
fn name(job: &JobFrame) -> String {
    let launcher = match job.launcher {
        Some(0) => ", mpirun unseen".to_string(),
        Some(pid) => format!(", mpirun {pid}"),
        None => String::new(),
    };
    match job.job.as_str() {
        "" => "a job".to_string(),
        number => format!("job {number}{launcher}"),
    }
}

/// What is known of a job as a whole.
pub fn head(job: &JobFrame, people: &People) -> Vec<Line> {
    let mut first = vec![(people.before(job.user) + &name(job), Tone::Head)];
    if !job.ranks.is_empty() {
        first.push((format!("  {}", size(job)), Tone::Plain));
    }
    first.push((format!("  {}", job.program), Tone::Faint));
    let mut lines = vec![first];
    if job.has_ended {
        let text = "it has ended; below stands what was seen last";
        lines.push(vec![(text.into(), Tone::Bad)]);
    }
    if !job.untold.is_empty() {
        lines.push(vec![(job.untold.clone(), Tone::Bad)]);
    }
    if job.ranks.is_empty() {
        return lines;
    }
    let processor = job.sum(|it| it.processor);
    let known = job.ranks.iter().filter(|it| it.asleep.is_some()).count();
    let asleep = job.sum(|it| it.asleep).map(|it| it / known.max(1) as f64);
    let calls = job.sum(|it| it.calls);
    let memory = job.sum(|it| Some(it.memory?.0 as f64));
    let shared = job.sum(|it| Some(it.memory?.1 as f64));
    let or_unknown = |it: Option<String>| it.unwrap_or("?".into());
    lines.push(vec![
        (stands(job), Tone::Plain),
        (
            format!(
                "; {} processors, {} asleep in MPI, {} calls/s",
                or_unknown(processor.map(|it| format!("{it:.1}"))),
                or_unknown(asleep.map(share)),
                or_unknown(calls.map(count)),
            ),
            Tone::Plain,
        ),
    ]);
    let moved = |of: fn(Rates) -> Rate| match job.rates.map(of) {
        Some(rate) => format!("{} msg/s {}B/s", count(rate.messages), bytes(rate.bytes)),
        None => "? msg/s ? B/s".into(),
    };
    let mut ways = vec![format!("shared memory {}", moved(|it| it.shm))];
    if !job.networks.is_empty() {
        ways.push(format!("network {}", moved(|it| it.network)));
    }
    if job.rates.is_some_and(|it| it.itself.messages > 0.0) {
        ways.push(format!("to itself {}", moved(|it| it.itself)));
    }
    lines.push(vec![(format!("sent: {}", ways.join(", ")), Tone::Plain)]);
    let mut more = vec![format!(
        "memory {}B, {}B of it shared",
        or_unknown(memory.map(bytes)),
        or_unknown(shared.map(bytes))
    )];
    let unexpected: u64 = job.ranks.iter().map(|it| it.unexpected).sum();
    if unexpected > 0 {
        more.push(format!("{unexpected} messages wait for a receive"));
    }
    if job.uncounted > 0 {
        more.push(format!(
            "{} ranks have not told what they send",
            job.uncounted
        ));
    }
    if !job.networks.is_empty() {
        more.push(format!("network: {}", job.networks));
    }
    lines.push(vec![(more.join("; "), Tone::Plain)]);
    lines
}

/// What is wrong with a job, in lines of that width, at most two.
pub fn verdict(job: &JobFrame, width: usize) -> Vec<Line> {
    let Some((text, is_certain)) = &job.verdict else {
        return Vec::new();
    };
    let tone = match is_certain {
        true => Tone::Bad,
        false => Tone::Warning,
    };
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    if lines.len() > 2 {
        lines.truncate(2);
        lines[1] = cut(&format!("{} …", lines[1]), width);
    }
    lines.into_iter().map(|line| vec![(line, tone)]).collect()
}

/// `3 of 4 ranks are in MPI_Barrier on MPI_COMM_WORLD and wait for rank 2, 12 s`
fn wait(wait: &Wait) -> String {
    let about = match wait.about.as_str() {
        "" => String::new(),
        about => format!(" on {about}"),
    };
    let (call, whom, since) = (&wait.call, &wait.whom_in_words, span(wait.since));
    let verb = match wait.who.len() {
        1 => "waits",
        _ => "wait",
    };
    match wait.parties {
        Some(parties) => {
            let are = wait.who.len();
            format!("{call}{about}: {are} of {parties} ranks {verb} for {whom}, {since}")
        }
        None => {
            let who = &wait.who_in_words;
            format!("{who} {verb} in {call}{about} for {whom}, {since}")
        }
    }
}

/// Who waits for whom, at most so many lines.
pub fn waits(job: &JobFrame, most: usize) -> Vec<Line> {
    let shown = job.waits.iter().take(most);
    let mut lines: Vec<Line> = shown.map(|it| vec![(wait(it), Tone::Warning)]).collect();
    let more = job.waits.len().saturating_sub(most);
    if more > 0 {
        lines.push(vec![(format!("and {more} other waits"), Tone::Faint)]);
    }
    lines
}

/// The table of ranks, with what has room in its width.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    rank: usize,
    host: Option<usize>,
    does: usize,
}

/// Columns behind what a rank does, with a blank before each.
const NUMBERS: [(&str, usize); 6] = [
    ("cpu", 5),
    ("slept", 6),
    ("calls/s", 8),
    ("sent/s", 7),
    ("recv/s", 7),
    ("mem", 6),
];

/// Width of the column of states.
const STAND: usize = 9;

impl Table {
    /// For a job, in so many characters.
    pub fn of(job: &JobFrame, width: usize) -> Table {
        let longest = |lens: &mut dyn Iterator<Item = usize>| lens.max().unwrap_or(0);
        let rank = longest(&mut job.ranks.iter().map(|it| it.rank.len())).max(4);
        let host = longest(&mut job.ranks.iter().map(|it| it.host.len()));
        let host = (job.hosts.len() > 1).then_some(host.clamp(4, 12));
        let numbers: usize = NUMBERS.iter().map(|(_, width)| width).sum();
        let others = rank + 1 + host.map_or(0, |it| it + 1) + STAND + 1 + numbers;
        Table {
            rank,
            host,
            does: width.saturating_sub(others).max(12),
        }
    }

    fn line(&self, rank: &str, host: &str, stand: (&str, Tone), does: &str, rest: &str) -> Line {
        let host = match self.host {
            Some(width) => format!(" {:<width$}", cut(host, width)),
            None => String::new(),
        };
        let does = cut(does, self.does);
        vec![
            (
                format!("{rank:>width$}{host} ", width = self.rank),
                Tone::Plain,
            ),
            (format!("{:<STAND$} ", stand.0), stand.1),
            (
                format!("{does:<width$}{rest}", width = self.does),
                Tone::Plain,
            ),
        ]
    }

    /// How columns are called.
    pub fn head(&self) -> Line {
        let rest = NUMBERS.iter().fold(String::new(), |line, (name, width)| {
            format!("{line}{name:>width$}")
        });
        let line = self.line("rank", "host", ("state", Tone::Head), "call", &rest);
        line.into_iter()
            .map(|(text, _)| (text, Tone::Head))
            .collect()
    }

    /// A rank.
    pub fn row(&self, row: &Row) -> Line {
        let since = row
            .since
            .map_or(String::new(), |it| format!(" {}", span(it)));
        let whom = match row.whom.as_str() {
            "" => String::new(),
            whom => format!(" for {whom}"),
        };
        let does = format!("{}{since}{whom}", row.does);
        let is_seen = row.stand <= Stand::Runs;
        let unknown = if is_seen { "?" } else { "" };
        let told = [
            row.processor.map(share),
            row.asleep.map(share),
            row.calls.map(count),
            row.rates.map(|it| bytes(it.sent().bytes)),
            row.rates.map(|it| bytes(it.received.bytes)),
            row.memory.map(|it| bytes(it.0 as f64)),
        ];
        let rest = told
            .into_iter()
            .zip(NUMBERS)
            .fold(String::new(), |line, (text, (_, width))| {
                let text = text.unwrap_or(unknown.into());
                format!("{line}{text:>width$}")
            });
        let stand = (row.stand.word(), tone(row.stand));
        self.line(&row.rank, &row.host, stand, does.trim_start(), &rest)
    }
}

fn tone(stand: Stand) -> Tone {
    match stand {
        Stand::Waits => Tone::Warning,
        Stand::Stopped | Stand::Failed => Tone::Bad,
        Stand::Computes | Stand::Runs => Tone::Good,
        Stand::Sleeps | Stand::Starts | Stand::Finalized | Stand::Ended => Tone::Faint,
    }
}

/// The jobs, a line each, of which that of number `chosen` is shown below.
pub fn jobs(jobs: &[JobFrame], chosen: usize, people: &People) -> Vec<Line> {
    let each = jobs.iter().enumerate().map(|(number, job)| {
        let (mark, tone) = match number == chosen {
            true => (">", Tone::Head),
            false => (" ", Tone::Plain),
        };
        let user = people.before(job.user);
        let about = match (job.has_ended, job.ranks.is_empty()) {
            (true, _) => "has ended".to_string(),
            (false, true) => "?".to_string(),
            (false, false) => format!("{}: {}", size(job), stands(job)),
        };
        let text = format!("{mark} {user}{}  {about}  {}", name(job), job.program);
        vec![(text, tone)]
    });
    each.collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use catena_hang::What;

    use super::*;
    use crate::seen::tests::{glance, job, waits as waiting};

    /// The owner of jobs in tests.
    pub fn people() -> People {
        People {
            own: 1000,
            ..People::default()
        }
    }

    /// Three ranks, of which two wait for the third one in a barrier.
    pub fn frame() -> JobFrame {
        let at = |second: u64| {
            let each = (0..3).map(|rank| match rank {
                1 => glance(rank, second, 5, "MPI_Send"),
                _ => {
                    let glance = glance(rank, second, 9, "MPI_Barrier");
                    waiting(glance, 5, What::Collective, &[0, 1, 2])
                }
            });
            job(each.map(Some).collect())
        };
        let mut now = at(12);
        now.follow(&at(10));
        JobFrame::of(&now)
    }

    #[test]
    fn a_frame_is_text() {
        let text = all(&[frame()], &people());
        let lines: Vec<_> = text.lines().collect();
        let expected = [
            "job 7, mpirun 99  3 ranks on 1 host  ./ring 100",
            "2 wait, 1 computes; 1.5 processors, 25% asleep in MPI, 0 calls/s",
            "sent: shared memory 30 msg/s 3.0MB/s, network 3 msg/s 3.0KB/s",
            "memory 192MB, 12MB of it shared; network: tcp through eth0",
        ];
        assert_eq!(lines[..4], expected);
        assert!(lines[4].starts_with("no progress: rank 1"), "{text}");
        let expected = [
            "MPI_Barrier on MPI_COMM_WORLD: 2 of 3 ranks wait for rank 1, 7 s",
            "rank state     call                                           cpu slept calls/s sent/s recv/s mem",
            "   0 waits     MPI_Barrier 7 s for rank 1                     50%    25%       0   1.0M   1.0M    64M",
            "   1 computes  MPI_Send 2 s                                   50%    25%       0   1.0M   1.0M    64M",
        ];
        let at = lines.iter().position(|it| it.starts_with("MPI_Barrier"));
        let rest = &lines[at.expect("who waits for whom")..];
        assert_eq!(rest.len(), 5, "{text}");
        let words = |line: &str| {
            line.split_whitespace()
                .map(String::from)
                .collect::<Vec<_>>()
        };
        for (line, expected) in rest.iter().zip(expected) {
            assert_eq!(words(line), words(expected), "{text}");
        }
        assert!(rest[1].chars().count() <= 100, "{text}");
        assert_eq!(all(&[], &people()), "no job of yours runs on this host\n");
    }

    #[test]
    fn what_no_rank_has_told_is_not_known() {
        let untold = |second| {
            let mut glance = glance(0, second, 5 * second, "MPI_Send");
            glance.counts = None;
            job(vec![Some(glance)])
        };
        let mut now = untold(12);
        now.follow(&untold(10));
        let frame = JobFrame::of(&now);
        assert_eq!((frame.rates, frame.uncounted), (None, 1));
        let text = all(&[frame], &people());
        assert!(
            text.contains("sent: shared memory ? msg/s ? B/s\n"),
            "{text}"
        );
    }

    #[test]
    fn what_is_too_long_is_cut() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abcd", 3), "ab…");
        assert_eq!(cut("abcd", 0), "");
        let mut long = frame();
        long.verdict = Some(("word ".repeat(40), true));
        let lines = verdict(&long, 30);
        assert_eq!(lines.len(), 2);
        assert!(
            lines.iter().all(|it| it[0].0.chars().count() <= 30),
            "{lines:?}"
        );
    }

    #[test]
    fn a_job_of_which_nothing_is_told_says_why() {
        let mut job = frame();
        (job.ranks, job.waits, job.verdict) = (Vec::new(), Vec::new(), None);
        job.untold = "it has not answered for 3 s".into();
        let text = all(std::slice::from_ref(&job), &people());
        assert!(text.contains("it has not answered for 3 s\n"), "{text}");
        let root = People {
            own: 0,
            names: BTreeMap::from([(1000, "ada".to_string())]),
        };
        let told = jobs(&[frame(), job], 1, &root);
        assert_eq!(
            told[0][0].0,
            "  ada: job 7, mpirun 99  3 ranks on 1 host: 2 wait, 1 computes  ./ring 100"
        );
        assert_eq!(told[1][0].0, "> ada: job 7, mpirun 99  ?  ./ring 100");
    }
}
