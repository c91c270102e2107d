//! Row 5: one process's state: the lock that its calls take, the loan of its engine, its threads
//! and how they wait, its progress, its life, and the *hooks* by which whatever stands above
//! registers what it carries on.
//!
//! The crate knows no communicators, requests or collectives. Whoever has a process says by the
//! trait [`Host`] how it progresses, sleeps and is woken, for which a [`ProgressEngine`] does the
//! work; [`block`] is how its threads wait for something, alone or several at once. A
//! [`Life`] counts the users of a library, which comes up with the first one and rests after the
//! last. All of it is generic over the type of the process, so that waiting can be tested without
//! any.
//!
//! Each module uses only modules further down:
//!
//! | file       | what                                                             |
//! |------------|------------------------------------------------------------------|
//! | `life`     | users of the library, and its lock                               |
//! | `wire_up`  | how a process comes to its routes and parts from others          |
//! | `sleep`    | how a process sleeps and is woken                                |
//! | `deaths`   | what the launcher tells of processes that have died              |
//! | `engine`   | progress: transfers, pings, hooks                                |
//! | `exchange` | the launcher as the exchange of address records                  |
//! | `hooks`    | what a process carries on besides transfers                      |
//! | `block`    | waiting, for a process that one thread uses at a time            |
//! | `watch`    | several threads of a process that wait at once                   |
//! | `own_watch` | whether the job hangs, without Catena's launcher                |
//! | `abroad`   | what nodes tell each other of ranks that wait long, without it   |
//! | `host`     | the trait, and what waiting took                                 |
//! | `threads`  | the threads that wait, as each of them sees the others           |
//! | `told`     | what a thread tells of a wait that lasts                         |
//! | `scoped`   | a value that is lent to one closure at a time                    |
//! | `lock`     | the one lock of a library, which its callbacks may take again    |
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
//! block(&counter, |_, _| {}, |counter| counter.rounds.get() >= 1000);
//! assert!(counter.rounds.get() >= 1000);
//! ```

pub mod abroad;
mod block;
mod deaths;
mod engine;
mod exchange;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzz;
mod hooks;
mod host;
mod life;
mod lock;
mod own_watch;
mod scoped;
mod sleep;
mod threads;
mod told;
mod watch;
mod wire_up;

pub use block::{block, block_alone, block_on};
pub use engine::{LinkOf, ProgressEngine};
pub use exchange::SharedBoot;
pub use hooks::{Alarm, Hook, Hooked, Hooks};
pub use host::{Host, Slept, Waits};
pub use life::{LOCKED, Life, Living, Owner, SHARED, granted};
pub use lock::{Depth, Lock};
pub use own_watch::deliver_abroad;
pub use scoped::Scoped;
pub use threads::Threads;
pub use told::Wait;
pub use watch::{is_watcher_asleep, outside, watch_once};
