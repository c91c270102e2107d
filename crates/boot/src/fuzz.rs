//! Targets for fuzzing (`fuzz/` at the root of the repository): each takes any
//! bytes for what another process has sent, and checks what must hold of the
//! result. Not a part of the library.

#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;

use std::cell::RefCell;
use std::io::Write;
use std::net::Shutdown;
use std::os::fd::IntoRawFd;
use std::os::unix::net::UnixStream;

use crate::client::{Client, LauncherAddress};
use crate::direct::fuzz as direct;
use crate::server::Server;
use crate::wire::{Inbox, MAX_BODY, Reader, Writer};
use crate::{Boot, Job, Jobs, Word};

pub use direct::{card, mapping, parts};

/// The name of a folder in `fuzz/corpus`, and what takes its files.
type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: &[Target] = &[
    ("boot_abroad", abroad),
    ("boot_card", card),
    ("boot_client", client),
    ("boot_inbox", inbox),
    ("boot_job", job),
    ("boot_mapping", mapping),
    ("boot_parts", parts),
    ("boot_place", place),
    ("boot_pmi1", pmi1),
    ("boot_pmi2", pmi2),
    ("boot_server", server),
];

/// The value of `CATENA_BOOT`.
pub fn place(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    if let Some(place) = LauncherAddress::parse(text) {
        assert_eq!(LauncherAddress::parse(&place.to_text()), Some(place));
    }
}

/// A stream of frames: it is cut alike however it arrives.
pub fn inbox(data: &[u8]) {
    let limit = 1 << 8;
    let data = &data[..data.len().min(2 * limit)];
    let frames = |pieces: &mut dyn Iterator<Item = &[u8]>| {
        let (mut inbox, mut all) = (Inbox::default(), Vec::new());
        for piece in pieces {
            inbox.push(piece);
            loop {
                match inbox.next(limit) {
                    Ok(Some((kind, body))) => {
                        assert!(body.len() <= limit);
                        all.push((kind, body.to_vec()));
                    }
                    Ok(None) => break,
                    Err(cause) => return (all, Some(cause)),
                }
            }
        }
        (all, None)
    };
    let (whole, end) = frames(&mut [data].into_iter());
    let step = usize::from(data.first().copied().unwrap_or(0)) % 7 + 1;
    assert_eq!(frames(&mut data.chunks(step)), (whole.clone(), end));
    let mut again = Vec::new();
    for (kind, body) in &whole {
        let mut w = Writer::new(*kind);
        w.raw(body);
        again.extend(w.finish());
    }
    assert!(data.starts_with(&again));
}

/// The launcher's answer to a rank.
pub fn job(data: &[u8]) {
    let Ok(job) = Job::read(&mut Reader::new(data)) else {
        return;
    };
    check_job(&job);
    let mut w = Writer::new(1);
    job.write(&mut w);
    assert_eq!(Job::read(&mut Reader::new(&w.into_body())), Ok(job));
}

/// What another launcher says, first as a word, then to a server that has met it.
pub fn abroad(data: &[u8]) {
    thread_local! {
        static SERVER: RefCell<Server> = {
            let mut job = Job::singleton("here".to_string(), 1);
            (job.size, job.node_of, job.job_id) = (2, Box::new([0, 0]), 7);
            RefCell::new(Server::open(job, 0, vec![0; 2]).expect("a server"))
        };
    }
    let Ok(word) = Word::read(&mut Reader::new(data)) else {
        return;
    };
    let mut w = Writer::new(0);
    word.write(&mut w);
    assert_eq!(
        Word::read(&mut Reader::new(&w.into_body())).as_ref(),
        Ok(&word)
    );
    SERVER.with_borrow_mut(|server| server.hear_stranger(word));
}

/// What every job promises those who use it.
pub(crate) fn check_job(job: &Job) {
    assert!(job.rank < job.size && job.local_cpus >= 1);
    assert!(job.node_of.len() == job.size as usize);
    assert!(job.local.contains(&job.rank) && job.local.is_sorted());
    for rank in 0..job.size {
        job.host_of(rank);
    }
    for (_, ranks) in &job.psets {
        assert!(ranks.iter().all(|&rank| rank < job.size));
    }
}

/// What a process sends to the server of its node: the first byte says whether
/// it has been taken in.
pub fn server(data: &[u8]) {
    thread_local! {
        static SERVER: RefCell<Server> = {
            let mut job = Job::singleton("here".to_string(), 1);
            (job.size, job.node_of) = (3, Box::new([0, 1, 0]));
            job.hosts = Box::new(["here".to_string(), "there".to_string()]);
            RefCell::new(Server::open(job, 0, vec![0; 3]).expect("a server"))
        };
    }
    let Some((&rank, data)) = data.split_first() else {
        return;
    };
    let (socket, _other) = UnixStream::pair().expect("a pair of sockets");
    SERVER.with_borrow_mut(|server| {
        let rank = [None, Some(0), Some(2)][usize::from(rank) % 3];
        let kept = server.hear(socket, rank, data);
        assert!(kept <= MAX_BODY + 5 + data.len());
    });
}

/// What the launcher sends to a rank that it has taken in, which has come to a
/// fence and asked for a value.
pub fn client(data: &[u8]) {
    let (mine, mut theirs) = UnixStream::pair().expect("a pair of sockets");
    theirs.write_all(data).expect("room in the socket");
    theirs.shutdown(Shutdown::Write).expect("a socket");
    let mut job = Job::singleton("here".to_string(), 1);
    job.size = 2;
    let mut client = Client::over(mine, job);
    let _ = client.begin_fence();
    let _ = client.ask(0, 1, "key");
    let _ = client.end_fence();
    for rank in 0..2 {
        let value = client.get(rank, "key").expect("such a rank");
        assert!(value.is_none_or(|value| value.len() < data.len()));
    }
    let value = client.ask(0, 1, "key").unwrap_or_default();
    assert!(value.is_none_or(|value| value.len() < data.len()));
    for set in client.sets().unwrap_or_default() {
        assert!(12 * set.members.len() < data.len());
    }
}

/// Has `connect` talk to a process manager that says `answers`.
fn conversation(answers: &[u8], connect: impl FnOnce(&dyn Fn(&str) -> Option<String>)) {
    let (mine, mut theirs) = UnixStream::pair().expect("a pair of sockets");
    theirs.write_all(answers).expect("room in the socket");
    theirs.shutdown(Shutdown::Write).expect("a socket");
    let fd = mine.into_raw_fd().to_string();
    connect(&|name| match name {
        "PMI_FD" => Some(fd.clone()),
        "PMI_RANK" => Some("1".to_string()),
        "PMI_SIZE" => Some("4".to_string()),
        _ => None,
    });
}

/// All that a process manager says in PMI-1.
pub fn pmi1(data: &[u8]) {
    conversation(data, |env| direct::pmi1(env));
}

/// All that a process manager says in PMI-2.
pub fn pmi2(data: &[u8]) {
    conversation(data, |env| direct::pmi2(env));
}
