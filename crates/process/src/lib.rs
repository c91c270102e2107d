//! Row 5: what a process is to those that wait in it, whatever it runs: the lock that its calls take,
//! the loan of its engine, its threads, and how they wait.
//!
//! The crate knows neither MPI nor networks. Whoever has a process says by the trait [`Host`] how it
//! progresses, sleeps and is woken; [`block`] is how its threads wait for something, alone or
//! several at once.
//!
//! | file      | what                                                          |
//! |-----------|---------------------------------------------------------------|
//! | `block`   | waiting, for a process that one thread uses at a time         |
//! | `watch`   | several threads of a process that wait at once                |
//! | `host`    | the trait, and what waiting took                              |
//! | `threads` | the threads that wait, as each of them sees the others        |
//! | `scoped`  | a value that is lent to one closure at a time                 |
//! | `lock`    | the one lock of a library, which its callbacks may take again |
//!
//! # Examples
//! A process that comes to something after some rounds of progress:
//! ```
//! use std::cell::Cell;
//! use std::time::Duration;
//!
//! use catena_process::{Host, Lock, Slept, Threads, Waits, block};
//!
//! #[derive(Debug)]
//! struct Counter {
//!     rounds: Cell<u32>,
//!     threads: Threads<Counter>,
//!     waits: Waits,
//! }
//!
//! static LOCK: Lock = Lock::new();
//!
//! impl Host for Counter {
//!     fn lock(&self) -> &'static Lock {
//!         &LOCK
//!     }
//!
//!     fn threads(&self) -> &Threads<Counter> {
//!         &self.threads
//!     }
//!
//!     fn waits(&self) -> &Waits {
//!         &self.waits
//!     }
//!
//!     fn progress(&self) -> bool {
//!         self.rounds.set(self.rounds.get() + 1);
//!         false
//!     }
//!
//!     fn sleep(
//!         &self,
//!         _limit: Duration,
//!         _since: u64,
//!         ready: &mut dyn FnMut() -> bool,
//!         _nap: &mut dyn FnMut(Duration) -> bool,
//!     ) -> Slept {
//!         ready();
//!         Slept::default()
//!     }
//!
//!     fn wake(&self) {}
//! }
//!
//! let counter = Counter {
//!     rounds: Cell::new(0),
//!     threads: Threads::new(1, false),
//!     waits: Waits::default(),
//! };
//! block(&counter, |counter| counter.rounds.get() >= 1000);
//! assert!(counter.rounds.get() >= 1000);
//! ```

mod block;
mod host;
mod lock;
mod scoped;
mod threads;
mod watch;

pub use block::block;
pub use host::{Host, Slept, Waits};
pub use lock::{Depth, Lock};
pub use scoped::Scoped;
pub use threads::{Threads, Wanted};
pub use watch::{is_watcher_asleep, watch_once};
