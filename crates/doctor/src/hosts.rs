//! All hosts: each looks at itself and calls the others, and what they say is put together.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use catena_launcher::Subject;

use crate::answer;
use crate::finding::{Finding, Placed, Weight, some_of};

use Weight::{Broken, Note, Slow};

/// Hosts that are looked at, at most.
const MOST: usize = 64;

/// How long hosts are waited for until they have looked at themselves.
const LOOKS: Duration = Duration::from_millis(7200);

/// How long they are waited for until they have called each other.
const CALLS: Duration = Duration::from_millis(2500);

/// Hosts that each one calls: those behind it in the list.
const CALLED: usize = 8;

/// Bytes of what a host says on its standard error that are kept.
const SAID: u64 = 4 << 10;

/// What hosts say, each with the host's number.
type Heard = (usize, Said);

enum Said {
    Line(String),
    /// Nothing more; this is what came from the standard error.
    End(String),
}

/// What answers for a host: a process here, or an agent's.
struct Process {
    child: Child,
    to: Option<ChildStdin>,
}

impl Drop for Process {
    /// What answers ends with its standard input; what hangs is killed, and has nothing to lose.
    fn drop(&mut self) {
        self.to = None;
        // It may have ended.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// What is known of a host.
#[derive(Default)]
struct Member {
    name: String,
    process: Option<Process>,
    /// What it said that means nothing here, such as the words of an agent that failed.
    words: String,
    version: Option<String>,
    token: String,
    addresses: Vec<String>,
    facts: BTreeMap<String, String>,
    found: Vec<Finding>,
    is_ready: bool,
    is_over: bool,
    /// Of each host that it called, the addresses with what came of each: nothing if it was right.
    calls: BTreeMap<String, Vec<(String, String)>>,
    /// Hosts that it still calls.
    calling: usize,
}

/// Has this host and all others of `subject` look at themselves and call each other. `own` is how
/// this command is called.
pub fn look(subject: &Subject, own: &[OsString]) -> Vec<Placed> {
    let mut placed = Vec::new();
    let (to, from) = channel();
    let mut here = Command::new(&own[0]);
    let threads = subject.threads;
    here.args(&own[1..])
        .args(answering(subject.ranks_here, threads));
    let mut members = vec![Member::start(0, &subject.here, here, &to)];
    let own = [&["doctor".into()], &own[2..]].concat();
    for (host, ranks) in subject.others.iter().take(MOST - 1) {
        let words = [&own[..], &answering(*ranks, threads)].concat();
        match subject.on(host, &words) {
            Some(command) => members.push(Member::start(members.len(), host, command, &to)),
            None => {
                let cause =
                    "other hosts are not looked at, as nothing here starts programs on one of them";
                let remedy = "name a command that does with --launcher-agent";
                placed.push((None, Finding::new(Note, "hosts", cause, remedy)));
                break;
            }
        }
    }
    if subject.others.len() >= MOST {
        let all = subject.others.len() + 1;
        let cause = format!("only the first {MOST} of {all} hosts are looked at");
        placed.push((
            None,
            Finding::new(Note, "hosts", cause, "name others first (--host)"),
        ));
    }
    listen(&mut members, &from, LOOKS, |it| it.is_ready);
    if members.len() > 1 {
        have_them_call(&mut members);
        listen(&mut members, &from, CALLS, |it| it.calling == 0);
    }
    placed.extend(differences(&members));
    placed.extend(ways(&members));
    for member in &mut members {
        let answered = member.is_ready || member.found.iter().any(|it| it.about == "answer");
        let trouble = (!answered).then(|| member.trouble(subject));
        let found = std::mem::take(&mut member.found).into_iter().chain(trouble);
        placed.extend(found.map(|finding| (Some(member.name.clone()), finding)));
    }
    placed
}

/// The arguments with which a host answers: the job would have that number of `ranks` there, each
/// of which has that number of `threads`.
fn answering(ranks: u32, threads: u32) -> [OsString; 3] {
    let [ranks, threads] = [ranks, threads].map(|number| number.to_string().into());
    [answer::OPTION.into(), ranks, threads]
}

/// Takes in what is said until each host is `done` or over, or for so long.
fn listen(
    members: &mut [Member],
    from: &Receiver<Heard>,
    limit: Duration,
    done: impl Fn(&Member) -> bool,
) {
    let until = Instant::now() + limit;
    while !members.iter().all(|it| it.is_over || done(it)) {
        let left = until.saturating_duration_since(Instant::now());
        let Ok((number, said)) = from.recv_timeout(left) else {
            return;
        };
        match said {
            Said::Line(line) => members[number].hear(&line),
            Said::End(words) => {
                members[number].words += &words;
                members[number].is_over = true;
            }
        }
    }
}

impl Member {
    /// Starts what answers for a host.
    fn start(number: usize, name: &str, mut command: Command, to: &Sender<Heard>) -> Member {
        let mut member = Member {
            name: name.to_string(),
            ..Member::default()
        };
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => {
                let program = command.get_program().display();
                let cause = format!("{program} cannot be started: {error}");
                let remedy = "install it, or name another command with --launcher-agent";
                member
                    .found
                    .push(Finding::new(Broken, "answer", cause, remedy));
                member.is_over = true;
                return member;
            }
        };
        let input = child.stdin.take();
        if let (Some(out), Some(errors)) = (child.stdout.take(), child.stderr.take()) {
            let to = to.clone();
            // Nobody listens any more when time is up.
            thread::spawn(move || pass_on(number, out, errors, &to));
        }
        member.process = Some(Process { child, to: input });
        member
    }

    /// Takes in a line; see [`answer`].
    fn hear(&mut self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        match &words[..] {
            ["catena", "doctor", version] => self.version = Some((*version).to_string()),
            _ if self.version.is_none() => self.words += &format!("{line}\n"),
            ["at", token, addresses @ ..] => {
                self.token = (*token).to_string();
                self.addresses = addresses.iter().map(|it| (*it).to_string()).collect();
            }
            ["fact", name, value @ ..] => {
                self.facts.insert((*name).to_string(), value.join(" "));
            }
            ["found", ..] => self.found.extend(Finding::parse(&line["found ".len()..])),
            ["ready"] => self.is_ready = true,
            ["called", host, address, outcome @ ..] => {
                let calls = self.calls.entry((*host).to_string()).or_default();
                calls.push(((*address).to_string(), outcome.join(" ")));
            }
            ["done", _] => self.calling = self.calling.saturating_sub(1),
            // A newer version may say more.
            _ => {}
        }
    }

    /// Why a host did not answer.
    fn trouble(&mut self, subject: &Subject) -> Finding {
        let ended = self.process.as_mut().filter(|_| self.is_over);
        let ended = ended.and_then(|process| process.child.wait().ok());
        let words = self.words.trim();
        if words.contains("no command doctor") {
            let cause = "Catena is older there, and has no doctor";
            let remedy = format!("install version {} there, too", env!("CARGO_PKG_VERSION"));
            return Finding::new(Broken, "answer", cause, remedy);
        }
        let why = match self.name == subject.here {
            true => "it did not answer itself in time; see whether a file system hangs".to_string(),
            false => subject.why_no_answer(&self.name, ended, words),
        };
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        let said = if words.is_empty() {
            String::new()
        } else {
            format!(" (it says: {words})")
        };
        Finding::new(Broken, "answer", format!("{why}{said}"), "")
    }
}

/// Passes on what a process says until it ends.
fn pass_on(number: usize, out: impl Read, errors: impl Read + Send, to: &Sender<Heard>) {
    thread::scope(|scope| {
        let words = scope.spawn(|| {
            let mut words = String::new();
            // What is no text is of no use.
            _ = errors.take(SAID).read_to_string(&mut words);
            words
        });
        for line in BufReader::new(out).lines().map_while(Result::ok) {
            if to.send((number, Said::Line(line))).is_err() {
                return;
            }
        }
        let words = words.join().unwrap_or_default();
        _ = to.send((number, Said::End(words)));
    });
}

/// Asks each host to call those behind it in the list, and the first one.
fn have_them_call(members: &mut [Member]) {
    let places: Vec<_> = members
        .iter()
        .map(|it| {
            (
                it.is_ready,
                format!("{} {} {}", it.name, it.token, it.addresses.join(" ")),
            )
        })
        .collect();
    let all = members.len();
    for (number, member) in members.iter_mut().enumerate() {
        let to = member.process.as_mut().and_then(|it| it.to.as_mut());
        let Some(to) = to.filter(|_| member.is_ready) else {
            continue;
        };
        let behind = (1..all.min(CALLED + 1)).map(|step| (number + step) % all);
        let mut called: Vec<usize> = behind.collect();
        if number != 0 && !called.contains(&0) {
            called.push(0);
        }
        for other in called {
            let (is_ready, place) = &places[other];
            // Whoever hangs up has ended, and says so.
            if *is_ready && writeln!(to, "call {place}").is_ok() {
                member.calling += 1;
            }
        }
    }
}

/// What should be alike on all hosts, and is not.
fn differences(members: &[Member]) -> Vec<Placed> {
    let answered = || members.iter().filter(|it| it.is_ready);
    let differ = |what: &str, of: &dyn Fn(&Member) -> Option<String>| {
        let mut hosts: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for member in answered() {
            let value = of(member).unwrap_or_else(|| "none".to_string());
            hosts.entry(value).or_default().push(&member.name);
        }
        let told = hosts
            .iter()
            .map(|(value, hosts)| format!("{value} on {}", some_of(hosts)));
        let told: Vec<String> = told.collect();
        (told.len() > 1).then(|| format!("{what} differs between hosts: {}", told.join(", ")))
    };
    let version = differ("the version of Catena", &|it| it.version.clone());
    let version = version.map(|cause| {
        Finding::new(
            Broken,
            "versions",
            cause,
            "install the same one on all hosts",
        )
    });
    let others = ["libfabric", "UCX", "processor"].map(|name| {
        let cause = differ(&format!("the {name}"), &|it| it.facts.get(name).cloned())?;
        let cause = cause.replace("the libfabric", "libfabric").replace("the UCX", "UCX");
        let remedy = match name {
            "processor" => "expect the slowest to set the pace",
            _ => "install the same one on all hosts; a network that one host cannot open is used by none",
        };
        Some(Finding::new(Note, "versions", cause, remedy))
    });
    let all = version.into_iter().chain(others.into_iter().flatten());
    all.map(|finding| (None, finding)).collect()
}

/// Which hosts do not reach which, and by which addresses.
fn ways(members: &[Member]) -> Vec<Placed> {
    let mut placed = Vec::new();
    for member in members {
        for (host, calls) in &member.calls {
            let wrong = calls.iter().filter(|(_, outcome)| !outcome.is_empty());
            let told: Vec<String> = wrong
                .map(|(at, outcome)| format!("{at}: {outcome}"))
                .collect();
            if told.is_empty() {
                continue;
            }
            let told_all = told.join(", ");
            let finding = match told.len() == calls.len() {
                true => Finding::new(
                    Broken,
                    "network",
                    format!("it does not reach {host} ({told_all})"),
                    "let TCP through between the hosts of a job on all ports (firewall, security group)",
                ),
                false => Finding::new(
                    Slow,
                    "network",
                    format!("it reaches {host}, but not by each of its addresses ({told_all})"),
                    "name the interface that all hosts share (CATENA_LINK=shm+tcp:eth0), which saves the attempts",
                ),
            };
            placed.push((Some(member.name.clone()), finding));
        }
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, lines: &[&str]) -> Member {
        let mut member = Member {
            name: name.to_string(),
            ..Member::default()
        };
        lines.iter().for_each(|line| member.hear(line));
        member
    }

    #[test]
    fn what_differs_between_hosts_is_told_with_the_hosts() {
        let members = [
            member("a", &["catena doctor 0.1.0", "fact UCX 1.18.0", "ready"]),
            member("b", &["catena doctor 0.1.0", "ready"]),
            member("c", &["catena doctor 0.2.0", "fact UCX 1.18.0", "ready"]),
        ];
        let found = differences(&members);
        let causes: Vec<&str> = found.iter().map(|(_, it)| &it.cause[..]).collect();
        assert_eq!(
            causes,
            [
                "the version of Catena differs between hosts: 0.1.0 on a, b, 0.2.0 on c",
                "UCX differs between hosts: 1.18.0 on a, c, none on b",
            ]
        );
        assert_eq!(differences(&members[..1]), []);
    }

    #[test]
    fn a_host_that_no_address_leads_to_is_not_reached() {
        let lines = [
            "catena doctor 0.1.0",
            "called b 10.0.0.2:7 ",
            "called b 172.17.0.1:7 no answer",
            "done b",
            "called c 10.0.0.3:7 Connection refused (os error 111)",
            "called d 10.0.0.4:7 ",
        ];
        let found = ways(&[member("a", &lines)]);
        let told: Vec<_> = found
            .iter()
            .map(|(_, it)| (it.weight, &it.cause[..]))
            .collect();
        assert_eq!(
            told,
            [
                (
                    Slow,
                    "it reaches b, but not by each of its addresses (172.17.0.1:7: no answer)"
                ),
                (
                    Broken,
                    "it does not reach c (10.0.0.3:7: Connection refused (os error 111))"
                ),
            ]
        );
    }

    #[test]
    fn findings_and_facts_are_heard_only_from_a_doctor() {
        let found = "found slow\tcores\tthere are few\tbuy some";
        let heard = member(
            "a",
            &[
                "catena doctor 0.1.0",
                found,
                "at t 1.2.3.4:5 1.2.3.5:5",
                "what is this",
            ],
        );
        assert_eq!(heard.found[0].sentence(), "there are few; buy some");
        assert_eq!((&heard.token[..], heard.addresses.len()), ("t", 2));
        let stranger = member("b", &["Welcome to b!", found]);
        assert!(stranger.found.is_empty() && stranger.words.starts_with("Welcome"));
    }
}
