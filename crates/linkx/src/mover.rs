//! A thread that makes progress for an endpoint while its program makes no calls: where progress is
//! automatic (`FI_PROGRESS_AUTO`), and where a queue or a counter has a descriptor to wait on.
//!
//! A program that calls is not disturbed: the thread looks every [`NAP`] whether there were calls,
//! and sleeps on once there were. It makes progress where there were none, or where it is
//! [asked](Mover::ask) to because the program is about to wait, and then sleeps until a neighbour
//! rings or a network has something.

use std::sync::{Arc, Condvar, Mutex};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use catena_base::Waker;
use catena_fabric::Sleeper;
use catena_shm::Bell;

use crate::queue::lock;

/// Time between two looks whether the program calls.
const NAP: Duration = Duration::from_millis(1);
/// Longest sleep: what peers do not tell, as that they were killed, is looked for then.
const LONGEST: Duration = Duration::from_millis(10);

/// What a thread makes progress for: an endpoint.
pub trait Moved: Send + Sync {
    /// Makes progress, unless there were calls of the program since `seen` of them, which it
    /// brings up to date, and the thread was not asked.
    fn step(&self, seen: &mut u32, is_asked: bool) -> Step;

    /// Whether something has come.
    fn is_ready(&self) -> bool;
}

/// What came of a step.
#[derive(Debug)]
pub enum Step {
    /// The program calls by itself.
    Left,
    /// Something has happened, or may happen at once.
    Moved,
    /// Nothing has happened.
    Nothing(Rest),
}

/// What the thread is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// To look whether the program calls.
    Watch,
    /// To make progress at once.
    Move,
    /// To end.
    End,
}

#[derive(Debug)]
struct Shared {
    order: Mutex<Order>,
    ordered: Condvar,
}

/// The thread of an endpoint.
#[derive(Debug)]
pub struct Mover {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// What the thread sleeps on.
#[derive(Clone, Copy, Debug)]
pub struct Rest {
    /// What neighbours ring.
    pub bell: Option<Bell>,
    /// The descriptors of networks, and what wakes whoever sleeps on them.
    pub on: Option<(Waker, Sleeper)>,
}

impl Mover {
    /// Starts the thread of an endpoint.
    ///
    /// # Errors
    /// If there can be no more threads.
    pub fn start(endpoint: Arc<dyn Moved>) -> Result<Mover, std::io::Error> {
        let shared = Arc::new(Shared {
            order: Mutex::new(Order::Watch),
            ordered: Condvar::new(),
        });
        let mine = Arc::clone(&shared);
        let builder = Builder::new().name("linkx".to_owned());
        let thread = Some(builder.spawn(move || mine.run(&*endpoint))?);
        Ok(Mover { shared, thread })
    }

    /// The program is about to wait.
    pub fn ask(&self) {
        self.shared.tell(Order::Move);
    }
}

impl Drop for Mover {
    /// Ends the thread: the endpoint is not locked by this one.
    fn drop(&mut self) {
        self.shared.tell(Order::End);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn tell(&self, order: Order) {
        let mut now = lock(&self.order);
        if *now != Order::End {
            *now = order;
        }
        self.ordered.notify_one();
    }

    /// Waits for an order, at most for [`NAP`], and takes it.
    fn wait(&self) -> Order {
        let order = lock(&self.order);
        drop(
            self.ordered
                .wait_timeout_while(order, NAP, |it| *it == Order::Watch),
        );
        self.take()
    }

    /// Takes the order that there is.
    fn take(&self) -> Order {
        let mut order = lock(&self.order);
        match *order {
            Order::Move => std::mem::replace(&mut *order, Order::Watch),
            other => other,
        }
    }

    fn run(&self, endpoint: &dyn Moved) {
        let mut seen = 0;
        // Whether nothing was found to do since the thread was asked.
        let mut is_asked = false;
        loop {
            match self.take() {
                Order::End => return,
                Order::Move => is_asked = true,
                Order::Watch => {}
            }
            match endpoint.step(&mut seen, is_asked) {
                Step::Left => is_asked = self.wait() == Order::Move,
                Step::Moved => {}
                Step::Nothing(rest) => {
                    is_asked = false;
                    rest.sleep(|| endpoint.is_ready());
                }
            }
        }
    }
}

impl Rest {
    /// Sleeps until something may have happened.
    fn sleep(&self, is_ready: impl FnOnce() -> bool) {
        let limit = match &self.on {
            Some((_, sleeper)) if sleeper.is_blind() => NAP,
            _ => LONGEST,
        };
        match (&self.on, &self.bell) {
            (Some((waker, sleeper)), Some(bell)) => {
                bell.sleep_on(*waker, limit, is_ready, |limit| {
                    sleeper.sleep(limit);
                });
            }
            (Some((_, sleeper)), None) => {
                sleeper.sleep(limit);
            }
            (None, Some(bell)) => {
                bell.sleep(limit, is_ready);
            }
            (None, None) => std::thread::sleep(NAP),
        }
    }
}
