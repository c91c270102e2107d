//! Model of what one thread tells and another one looks at: it is seen as a whole, or not at all,
//! also where the writer before was killed in the middle of a change.
#![cfg(loom)]
#![allow(missing_docs)]

use std::convert::Infallible;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering::Acquire, Ordering::Relaxed, fence};
use loom::thread;

/// What `changes` stands upon, as the model has it.
mod sync {
    pub use loom::sync::atomic::{AtomicU32, Ordering, fence};
}

#[path = "../src/changes.rs"]
mod changes;

use changes::{Changes, look};

#[derive(Default)]
struct Told {
    changes: Changes,
    words: [AtomicU32; 2],
}

impl Told {
    fn write(&self, number: u32) {
        self.changes.make(|| {
            self.words
                .iter()
                .for_each(|word| word.store(number, Relaxed))
        });
    }

    /// What stands there, if it is whole. Calls of the kernel keep their order, here fences do.
    fn look(&self) -> Option<[u32; 2]> {
        let number = || {
            fence(Acquire);
            Ok::<_, Infallible>(self.changes.as_ref().load(Acquire))
        };
        let seen = look(number, || Ok([0, 1].map(|at| self.words[at].load(Relaxed))));
        match seen {
            Ok(seen) => seen,
            Err(never) => match never {},
        }
    }
}

#[test]
fn what_is_told_is_seen_as_a_whole_or_not_at_all() {
    loom::model(|| {
        let told = Arc::new(Told::default());
        let writer = Arc::clone(&told);
        let writer = thread::spawn(move || (1..=2).for_each(|number| writer.write(number)));
        if let Some([first, second]) = told.look() {
            assert_eq!(first, second);
        }
        writer.join().unwrap();
        assert_eq!(told.look(), Some([2, 2]));
    });
}

#[test]
fn a_change_that_was_never_ended_is_not_seen() {
    loom::model(|| {
        let told = Arc::new(Told::default());
        told.write(1);
        // Here the writer was killed: one word is new, and the number odd.
        told.changes.as_ref().fetch_or(1, Relaxed);
        told.words[0].store(2, Relaxed);
        assert_eq!(told.look(), None);
        let writer = Arc::clone(&told);
        let writer = thread::spawn(move || writer.write(3));
        if let Some(seen) = told.look() {
            assert_eq!(seen, [3, 3]);
        }
        writer.join().unwrap();
        assert_eq!(told.look(), Some([3, 3]));
        told.changes.clear();
        assert_eq!(told.changes.as_ref().load(Relaxed), 0);
    });
}
