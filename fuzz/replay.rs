//! Gives every input that is kept in `fuzz/corpus` to its target, so that what
//! fuzzing has found stays found without it. A part of the tests of each crate
//! that has targets.

use std::fs;
use std::path::Path;

use super::TARGETS;

#[test]
fn all_that_was_found_holds() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for (name, target) in TARGETS {
        let folder = corpus.join(name);
        let files = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        let mut count = 0;
        for file in files {
            let path = file.expect("an entry").path();
            // Shown if the target fails.
            eprintln!("{}", path.display());
            target(&fs::read(&path).expect("a file"));
            count += 1;
        }
        assert!(count > 0, "{} has no inputs", folder.display());
    }
}
