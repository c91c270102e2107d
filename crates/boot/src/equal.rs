//! The settings that must be equal, as this process tells the others of them when it is wired up,
//! and what becomes of a difference: an error that names setting, ranks and values.
//!
//! Lines as of [`Registry::equal`](catena_settings::Registry::equal). Those about [`NODE`] matter
//! between processes of one node alone.

use std::sync::OnceLock;

use catena_settings::difference;

/// A setting that the processes of one node must agree on: whether they share memory.
const NODE: &str = "LINK";

static TOLD: OnceLock<String> = OnceLock::new();

/// Says what the settings of this process are, once, before [`open`](crate::open): those that must
/// be equal, and whether it shares memory with others of its node.
pub fn tell_settings(equal: &str, shares_memory: bool) {
    let memory = match shares_memory {
        true => "with shm",
        false => "without shm",
    };
    let _ = TOLD.set(format!("{equal}{NODE}={memory}\n"));
}

/// What [`tell_settings`] has said, for processes of this node; nothing before.
pub(crate) fn on_node() -> &'static str {
    TOLD.get().map_or("", |told| told)
}

/// What [`tell_settings`] has said, for processes anywhere.
pub fn told_settings() -> String {
    anywhere(on_node())
}

/// The lines of `told` that matter also between nodes.
fn anywhere(told: &str) -> String {
    let lines = told
        .lines()
        .filter(|line| line.split('=').next() != Some(NODE));
    lines.map(|line| format!("{line}\n")).collect()
}

/// Whether what two ranks of a job have told fits together; `near`: they are on one node.
///
/// # Errors
/// The difference in words.
pub(crate) fn compare(one: (u32, &str), other: (u32, &str), near: bool) -> Result<(), String> {
    let told = [one.1, other.1].map(|told| match near {
        true => told.to_string(),
        false => anywhere(told),
    });
    let names = [one.0, other.0].map(|rank| format!("rank {rank}"));
    difference((&names[0], &told[0]), (&names[1], &told[1])).map_or(Ok(()), Err)
}

/// Whether what a rank has told by which an elastic job grows fits to that of a rank of the job, on
/// one node.
///
/// # Errors
/// The difference in words.
pub(crate) fn compare_newcomer(one: (u32, &str), newcomer: (u32, &str)) -> Result<(), String> {
    let names = [
        format!("rank {}", one.0),
        format!("rank {} of those that have come", newcomer.0),
    ];
    difference((&names[0], one.1), (&names[1], newcomer.1)).map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_matters_on_a_node_alone() {
        let (with, without) = ("A=1\nLINK=with shm\n", "A=1\nLINK=without shm\n");
        let error = compare((0, with), (3, without), true).unwrap_err();
        assert!(
            error.contains("CATENA_LINK is 'with shm' at rank 0 and 'without shm' at rank 3"),
            "{error}"
        );
        assert_eq!(compare((0, with), (3, without), false), Ok(()));
        assert!(compare((0, with), (3, "LINK=with shm\n"), false).is_err());
    }
}
