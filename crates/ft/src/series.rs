//! The agreements of one group of processes, one after the other or several at once.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::agreement::{Agreement, Contribution, Decision, Message};
use crate::ranks::Ranks;

/// A message about an agreement, to be sent.
pub type Outgoing = (u32, u32, Message);

/// One process's part in the agreements of a group. All members begin them in one order, which
/// numbers them.
///
/// # Examples
/// Two processes agree on the bits that both have:
/// ```
/// use catena_ft::agreement::Contribution;
/// use catena_ft::series::Series;
///
/// let (mut a, mut b) = (Series::new(0, 2), Series::new(1, 2));
/// let mut sent = Vec::new();
/// let number = a.begin(Contribution::of(0, 2, 0b011), &mut sent);
/// b.begin(Contribution::of(1, 2, 0b110), &mut sent);
/// let (to, _, up) = sent.pop().expect("b tells its parent");
/// assert_eq!(to, 0);
/// a.deliver(1, number, up, &mut sent);
/// let (_, _, down) = sent.pop().expect("a tells what it has decided");
/// b.deliver(0, number, down, &mut sent);
/// assert_eq!(a.decision(number).map(|it| it.flags), Some(0b010));
/// assert_eq!(b.decision(number).map(|it| it.flags), Some(0b010));
/// ```
#[derive(Debug)]
pub struct Series {
    me: u32,
    size: u32,
    dead: Ranks,
    /// The number of the next agreement that this process begins.
    next: u32,
    /// Those with lower numbers are behind all.
    floor: u32,
    all: BTreeMap<u32, Agreement>,
}

impl Series {
    /// That of process `me` of `size`.
    pub fn new(me: u32, size: u32) -> Self {
        Series {
            me,
            size,
            dead: Ranks::new(size),
            next: 0,
            floor: 0,
            all: BTreeMap::new(),
        }
    }

    /// How many processes there are.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// Which one this is.
    pub fn me(&self) -> u32 {
        self.me
    }

    /// Agreements that are remembered.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    fn at(&mut self, number: u32) -> &mut Agreement {
        let (me, size, dead) = (self.me, self.size, &self.dead);
        let new = || Agreement::new(me, size, dead.clone());
        self.all.entry(number).or_insert_with(new)
    }

    /// Takes part in the next agreement; gives its number.
    pub fn begin(&mut self, mut own: Contribution, sent: &mut Vec<Outgoing>) -> u32 {
        let number = self.next;
        self.next += 1;
        let undecided =
            |(number, it): (&u32, &Agreement)| it.decision().is_none().then_some(*number);
        let first = self.all.range(..number).find_map(undecided);
        own.behind = first.unwrap_or(number);
        self.at(number)
            .begin(own, &mut |to, message| sent.push((to, number, message)));
        self.forget(number);
        number
    }

    /// A message about an agreement has come from another one.
    pub fn deliver(&mut self, from: u32, number: u32, message: Message, sent: &mut Vec<Outgoing>) {
        // What is behind all is of no interest to who is slow to hear it.
        if number < self.floor || from >= self.size {
            return;
        }
        self.at(number).deliver(from, message, &mut |to, message| {
            sent.push((to, number, message))
        });
        self.forget(number);
    }

    /// A process is known to be dead from now on.
    pub fn died(&mut self, rank: u32, sent: &mut Vec<Outgoing>) {
        if rank >= self.size || self.dead.has(rank) {
            return;
        }
        self.dead.add(rank);
        for (&number, agreement) in &mut self.all {
            agreement.died(rank, &mut |to, message| sent.push((to, number, message)));
        }
    }

    /// What was decided, as long as somebody may have to be told.
    pub fn decision(&self, number: u32) -> Option<&Rc<Decision>> {
        self.all.get(&number)?.decision()
    }

    /// Forgets what is behind all by the decision of an agreement, if there is one.
    fn forget(&mut self, number: u32) {
        let Some(behind) = self.decision(number).map(|it| it.behind) else {
            return;
        };
        if behind > self.floor {
            self.floor = behind;
            self.all = self.all.split_off(&behind);
        }
    }
}
