//! Targets for fuzzing (`fuzz/` at the root of the repository): whatever hosts tell of what was
//! counted, and whatever stands in the memory of a thread, a profile comes of it. Not a part of the
//! library.

#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;

use crate::{Profile, layout, table};

/// The name of a folder in `fuzz/corpus`, and what takes its files.
type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: &[Target] = &[("profile_sheets", sheets), ("profile_table", table)];

/// What nodes have answered.
pub fn sheets(data: &[u8]) {
    let profile = Profile::read(data);
    assert!(!profile.text().is_empty());
    assert!(profile.json().ends_with("}\n"));
    assert!(profile.page().starts_with("<!doctype html>"));
}

/// The memory of a thread. In front of each piece of it stands the page where it lies, at the
/// beginning of one of its parts.
pub fn table(data: &[u8]) {
    const PARTS: [usize; 7] = [
        0,
        layout::PLACES_AT,
        layout::GROUPS_AT,
        layout::ENTRIES_AT,
        layout::PEERS_AT,
        layout::LOG_AT,
        layout::MAPS_AT,
    ];
    let mut bytes = vec![0; layout::TABLE];
    for piece in data.chunks(1025) {
        if let Some((&part, piece)) = piece.split_first() {
            let at = PARTS[usize::from(part) % PARTS.len()];
            bytes[at..at + piece.len()].copy_from_slice(piece);
        }
    }
    if let Some(sheet) = table::sheet(&bytes) {
        sheets(&sheet.encode());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::tests::sheet;

    #[test]
    fn whatever_the_bytes_are_a_profile_comes_of_them() {
        let bytes = sheet(0, 2).encode();
        sheets(&[]);
        sheets(&bytes);
        for at in 0..bytes.len() {
            let mut wrong = bytes.clone();
            wrong[at] ^= 0xff;
            sheets(&wrong);
        }
    }
}
