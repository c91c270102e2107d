//! How processes agree while some of them die. No input and no output: what arrives and which
//! deaths become known goes in, messages come out.
//!
//! Contributions are combined up the [tree](crate::tree); the root, once it has those of all that
//! are alive, decides, and the decision goes down. Without deaths that is twice the depth of the
//! tree. All that survive end with one decision:
//!
//! * Deaths are facts, told by who knows. Nobody takes anything from a process any more that it
//!   knows to be dead.
//! * Who has a new parent, as the one before died, tells it again what it has: its contribution
//!   with all below it, or the decision. So a decision that anybody alive has comes to a new root
//!   before that has heard of all, and it takes that one for its own.
//! * A contribution that came to the new root without a decision can have none behind it: between
//!   the two all took their new parents when they knew that those before were dead, and have
//!   refused since then what these had sent.
//! * Who has decided answers those that come later, until it knows that all have: each
//!   contribution says which agreements its process has behind it, and a decision says it of all.

use std::rc::Rc;

use crate::ranks::Ranks;
use crate::tree::Tree;

/// What processes bring to an agreement, combined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contribution {
    /// Combined by bitwise and.
    pub flags: u32,
    /// Agreements with lower numbers are behind all of them.
    pub behind: u32,
    /// Whose contributions these are.
    pub covered: Ranks,
    /// Those that any of them knows to be dead.
    pub failed: Ranks,
    /// Those whose deaths all of their programs have acknowledged.
    pub acknowledged: Ranks,
    /// What else each of them tells, by rank.
    pub rows: Vec<(u32, [u32; 2])>,
}

/// What all agree on: the contributions of all but some of the dead.
pub type Decision = Contribution;

/// What processes tell each other about one agreement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// What the sender and those below it bring.
    Up(Contribution),
    /// What was decided.
    Decided(Rc<Decision>),
}

impl Contribution {
    /// That of one process of `size`.
    pub fn of(rank: u32, size: u32, flags: u32) -> Self {
        let mut covered = Ranks::new(size);
        covered.add(rank);
        Contribution {
            flags,
            behind: 0,
            covered,
            failed: Ranks::new(size),
            acknowledged: Ranks::new(size),
            rows: Vec::new(),
        }
    }

    /// Adds others; what both cover counts once.
    fn absorb(&mut self, other: &Contribution) {
        self.flags &= other.flags;
        self.behind = self.behind.min(other.behind);
        self.failed.unite(&other.failed);
        self.acknowledged.intersect(&other.acknowledged);
        let new = other
            .rows
            .iter()
            .filter(|(rank, _)| !self.covered.has(*rank));
        self.rows.extend(new.copied());
        self.covered.unite(&other.covered);
    }

    /// Whether a death is among those known that some program has not acknowledged.
    pub fn has_unacknowledged(&self) -> bool {
        !self.acknowledged.contains_all(&self.failed)
    }

    /// Those that are covered and not known to be dead, with what they have told, by rank.
    pub fn survivors(&self) -> Vec<(u32, [u32; 2])> {
        let mut rows: Vec<_> = self.rows.clone();
        rows.retain(|(rank, _)| !self.failed.has(*rank));
        rows.sort_unstable();
        rows
    }
}

/// One process's part in one agreement.
#[derive(Debug)]
pub struct Agreement {
    size: u32,
    me: u32,
    dead: Ranks,
    /// Whether this process has brought its own.
    begun: bool,
    /// What has come so far.
    sum: Option<Contribution>,
    /// To whom that went, and how much of it.
    sent: Option<(u32, Ranks)>,
    decision: Option<Rc<Decision>>,
    /// Who has the decision, or will.
    told: Ranks,
    /// Who is to have it although the tree does not say so.
    asked: Vec<u32>,
}

impl Agreement {
    /// That of process `me` of `size`, of which those are known to be `dead`.
    pub fn new(me: u32, size: u32, dead: Ranks) -> Self {
        Agreement {
            size,
            me,
            dead,
            begun: false,
            sum: None,
            sent: None,
            decision: None,
            told: Ranks::new(size),
            asked: Vec::new(),
        }
    }

    fn tree(&self) -> Tree<'_> {
        Tree {
            size: self.size,
            dead: &self.dead,
        }
    }

    /// What was decided.
    pub fn decision(&self) -> Option<&Rc<Decision>> {
        self.decision.as_ref()
    }

    /// This process takes part, and brings this.
    pub fn begin(&mut self, own: Contribution, send: &mut impl FnMut(u32, Message)) {
        self.begun = true;
        self.add(own);
        self.step(send);
    }

    fn add(&mut self, more: Contribution) {
        match &mut self.sum {
            None => self.sum = Some(more),
            Some(sum) => sum.absorb(&more),
        }
    }

    /// A process is known to be dead from now on.
    pub fn died(&mut self, rank: u32, send: &mut impl FnMut(u32, Message)) {
        if rank != self.me && !self.dead.has(rank) {
            self.dead.add(rank);
            self.step(send);
        }
    }

    /// A message has come.
    pub fn deliver(&mut self, from: u32, message: Message, send: &mut impl FnMut(u32, Message)) {
        if self.dead.has(from) || from >= self.size {
            return;
        }
        match message {
            Message::Up(_) if self.decision.is_some() => {
                if !self.told.has(from) {
                    self.asked.push(from);
                }
            }
            Message::Up(more) => self.add(more),
            Message::Decided(decision) => {
                self.told.add(from);
                self.decision.get_or_insert(decision);
            }
        }
        self.step(send);
    }

    /// Does what can be done now.
    fn step(&mut self, send: &mut impl FnMut(u32, Message)) {
        if self.decision.is_none() && self.begun {
            self.climb(send);
        }
        if self.decision.is_some() {
            self.tell(send);
        }
    }

    /// Hands on what all below have brought, or decides.
    fn climb(&mut self, send: &mut impl FnMut(u32, Message)) {
        let Some(sum) = &self.sum else { return };
        if !self.tree().covers(self.me, &sum.covered) {
            return;
        }
        let parent = self.tree().parent(self.me);
        let mut sum = sum.clone();
        sum.failed.unite(&self.dead);
        match parent {
            None => self.decision = Some(Rc::new(sum)),
            Some(parent) => {
                let now = (parent, sum.covered.clone());
                if self.sent.as_ref() != Some(&now) {
                    self.sent = Some(now);
                    send(parent, Message::Up(sum));
                }
            }
        }
    }

    /// Tells the decision to all around that have not told it.
    fn tell(&mut self, send: &mut impl FnMut(u32, Message)) {
        let Some(decision) = self.decision.clone() else {
            return;
        };
        let mut whom = self.tree().children(self.me);
        whom.extend(self.tree().parent(self.me));
        whom.append(&mut self.asked);
        for rank in whom {
            if !self.told.has(rank) && !self.dead.has(rank) {
                self.told.add(rank);
                send(rank, Message::Decided(decision.clone()));
            }
        }
    }
}
