//! Targets for fuzzing (`fuzz/` at the root of the repository). Not a part of
//! the library.

#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;

use catena_job::{MessageKind, NodeCommand, NodeEvent};
use catena_topo::{Machine, Node};

use crate::hosts;
use crate::place::rankfile;

pub use crate::supervisor::findings_fuzz as findings;
pub use hosts::fuzz::{brief, call, hostfile, stream};

/// The name of a folder in `fuzz/corpus`, and what takes its files.
type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: &[Target] = &[
    ("launcher_brief", brief),
    ("launcher_call", call),
    ("launcher_findings", findings),
    ("launcher_hostfile", hostfile),
    ("launcher_message", message),
    ("launcher_rankfile", ranks),
    ("launcher_stream", stream),
];

/// Body and kind of a frame of the launcher's, read as an event and as a command.
pub fn message(data: &[u8]) {
    let Some((&kind, body)) = data.split_first() else {
        return;
    };
    let Ok(kind) = MessageKind::from_byte(kind) else {
        return;
    };
    let (ranks, nodes) = (3, 2);
    let parts = |frame: Vec<u8>| {
        let (head, body) = frame.split_first_chunk::<5>().expect("a frame");
        let kind = MessageKind::from_byte(head[4]).expect("a kind");
        (kind, body.to_vec())
    };
    if let Ok(event) = NodeEvent::decode(kind, body, ranks, nodes) {
        let (kind, body) = parts(event.encode());
        assert_eq!(NodeEvent::decode(kind, &body, ranks, nodes), Ok(event));
    }
    if let Ok(command) = NodeCommand::decode(kind, body, ranks, nodes) {
        let (kind, body) = parts(command.encode());
        assert_eq!(NodeCommand::decode(kind, &body, ranks, nodes), Ok(command));
    }
}

/// A rankfile, and the cores that it names.
pub fn ranks(data: &[u8]) {
    let node = Node {
        name: "n0".to_string(),
        machine: Machine::parse(
            "Machine 0-7\nPackage 0-1,4-5;2-3,6-7\nCore 0,4;1,5;2,6;3,7\nPU 0;4;1;5;2;6;3;7\n",
        )
        .expect("a machine"),
        slots: 4,
    };
    let text = String::from_utf8_lossy(data);
    let mut find = |name: &str| ["n0", "n1"].iter().position(|node| *node == name);
    let Ok(places) = rankfile::read(&text, &["n0", "n1"], &mut find, None) else {
        return;
    };
    assert!(places.len() <= text.lines().count());
    for place in places {
        assert!(place.node < 2);
        if let Ok(cpus) = rankfile::cores(&place.slot, &node) {
            assert!(!cpus.is_empty() && cpus.is_subset(&node.machine.cpus()));
        }
    }
}
