//! Targets for fuzzing: see [`crate::fuzz`].

use std::fs::File;
use std::io::Write;

use catena_boot::Poller;
use catena_job::{Brief, brief};

use super::call;
use super::link::{End, Link};
use super::list::Hosts;

/// What a daemon is told when it starts.
pub fn brief(data: &[u8]) {
    let Ok(told) = brief::open(data) else {
        return;
    };
    let nodes = told.nodes.len();
    assert!(nodes > 0 && 4 * nodes + told.brief.len() < data.len());
    let Ok(brief) = Brief::decode(&told.brief) else {
        return;
    };
    let (plan, size) = (&brief.plan, brief.plan.node_of.len());
    assert_eq!(plan.appnums().len(), size);
    for rank in 0..size as u32 {
        let _ = &plan.hosts[plan.node_of[rank as usize] as usize];
    }
    assert!(plan.stdin.is_sorted_by(|a, b| a < b));
    assert!(plan.stdin.last().is_none_or(|&rank| (rank as usize) < size));
    for (_, ranks) in &plan.psets {
        assert!(ranks.is_sorted_by(|a, b| a < b));
        assert!(ranks.last().is_none_or(|&rank| (rank as usize) < size));
    }
    let again = brief.encode();
    assert_eq!(Brief::decode(&again).as_ref(), Ok(&brief));
}

/// What a daemon that calls back says in the clear.
pub fn call(data: &[u8]) {
    if let Ok(names) = call::read_names(data) {
        let bytes: usize = names.iter().map(|name| 4 + name.len()).sum();
        assert_eq!(4 + bytes, data.len());
    }
}

/// A hostfile; its lines, too, as values of --host.
pub fn hostfile(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut lists = Hosts::default();
    for line in text.lines().filter(|line| line.len() < 1000) {
        let _ = lists.add_list("--host", line);
    }
    let mut file = Hosts::default();
    let read = file.add_lines("hosts", &text);
    assert!(read.is_err() || !file.as_slice().is_empty());
    for host in lists.as_slice().iter().chain(file.as_slice()) {
        assert!(host.slots != Some(0) && !host.name.is_empty() && !host.name.starts_with('-'));
        assert!(!host.name.contains(char::is_whitespace));
    }
}

/// All that comes over the streams of a daemon: what shells print, the greeting,
/// frames.
pub fn stream(data: &[u8]) {
    thread_local! {
        static POLLER: Poller = Poller::new().expect("a poller");
    }
    POLLER.with(|poller| {
        let (read, write) = std::io::pipe().expect("a pipe");
        let mut write = File::from(std::os::fd::OwnedFd::from(write));
        let link = Link::new(read.into(), None, [1; 2], poller).expect("a link");
        let (limit, mut taken) = (1 << 10, 0);
        let mut link = link.greeted().limited(limit);
        let step = usize::from(data.first().copied().unwrap_or(0)) % 64 + 1;
        for piece in data.chunks(step) {
            write.write_all(piece).expect("room in the pipe");
            let received = link.receive();
            taken += link.take_chatter().len();
            loop {
                match link.next() {
                    Ok(None) => break,
                    Ok(Some((_, body))) => {
                        assert!(body.len() <= limit);
                        taken += body.len() + 5;
                    }
                    Err(end) => {
                        assert!(matches!(end, End::Malformed(_)));
                        link.into_input(poller);
                        return;
                    }
                }
            }
            assert_eq!(received, Ok(()));
        }
        assert!(taken <= data.len());
        link.into_input(poller);
    });
}
