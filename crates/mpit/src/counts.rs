//! What the library has counted since `MPI_Init`, in words, for whoever asks while the program runs
//! (`catena explain`).

use std::fmt::Write;

use catena_core::process::from_within;
use catena_core::variables::Source;

use crate::Class;
use crate::catalog::catalog;

/// Each variable that counts for the whole process and is not 0: a line of its name, a blank and
/// its value. Nothing where the library has no users. To be called from within the progress of the
/// library, where nothing of it is lent.
pub fn counts() -> String {
    let mut text = String::new();
    from_within(|process| {
        for pvar in &catalog().pvars {
            let counts = matches!(pvar.class, Class::Counter | Class::Aggregate);
            if let (true, Source::Process(read)) = (counts, &pvar.source) {
                let value = read(process);
                if value > 0 {
                    _ = writeln!(text, "{} {value}", pvar.name);
                }
            }
        }
    });
    text
}
