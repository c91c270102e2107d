//! Who has left, and what has arrived. Whoever ends tells those that it has exchanged packets with,
//! who learn that its end is none to wonder at. A network that leaves its packets to a library does
//! not know what has arrived: over such a one who ends asks at the same time, and is answered.
//!
//! | word       | says                                                              |
//! |------------|-------------------------------------------------------------------|
//! | `FAREWELL` | I leave. I have sent you `len` packets (where the network does not tell: say when you have them) |
//! | `RECEIVED` | I have had `len` packets of yours                                 |
//! | `BACK`     | I am here again                                                   |
//!
//! A process that leaves is done with a peer
//! - that was told so, where the network tells what has arrived: it does so of that word, too,
//! - that says that it has all packets,
//! - that leaves, too, once its question is answered: it needs nothing any more, and its own
//!   packets are here,
//! - that is lost, or
//! - that does not answer for [`SILENCE`], as it does something else, while the library has handed
//!   on all packets, and the question behind them: the kernel, or the network card, sees to the
//!   rest.
//!
//! Nobody waits for an answer to an answer. Where one does not arrive, as the process that sent it
//! has ended since, the one that asks finds that process lost. Packets are counted without their
//! order. Words are no packets, and nor is what means nothing (a ping). Numbers have 64 bits: they
//! do not come round.
//!
//! A process that has left may come back, as one with another session does. It has, once it has
//! sent more packets than it said, or says so: it may do nothing but receive. Words need not arrive
//! in order, and it may leave again: so both words say how often it has come back, its
//! **generation**, and one of an earlier generation than was heard of means nothing.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use catena_fabric::{Header, Peer, WORDS};

/// Kinds of packets that are words of the networks: `link` has lower ones.
pub(super) mod kind {
    use super::WORDS;

    pub const FAREWELL: u8 = WORDS;
    pub const RECEIVED: u8 = WORDS + 1;
    pub const BACK: u8 = WORDS + 2;
}

/// How long an answer may take before the question is asked again, and it is seen to whether the
/// peer is there. Who asks again has not had its answer: one that could not be given for so long is
/// owed no more.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long a peer may not answer at all, before the kernel is trusted with what has left: it may
/// take some time to everything that came before the question.
const SILENCE: Duration = Duration::from_secs(10);

/// How long a peer is left alone that a word could not be sent to: where nobody is there any more,
/// some libraries try to connect each time.
const PAUSE: Duration = Duration::from_millis(2);

/// The packets to a peer and from it.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    sent: u64,
    got: u64,
}

/// What this process and a peer have said.
#[derive(Clone, Copy, Debug, Default)]
struct Talk {
    /// When it was asked last, and after how many packets it was told that this process leaves.
    asked: Option<Instant>,
    told: Option<u64>,
    /// When it was seen to last whether it is there, or it was to be asked first.
    seen: Option<Instant>,
    /// How many packets it says to have.
    has: Option<u64>,
    /// It has not answered the question after so many packets, which have left.
    silent: Option<u64>,
    /// How many it asks for, and since when.
    owed: Option<(u64, Instant)>,
    /// Whether it is to be told that this process is here again.
    back: bool,
    /// When a word could not be sent to it.
    refused: Option<Instant>,
    /// It leaves, after so many packets.
    left: Option<u64>,
    /// The last of its generations that was heard of.
    generation: u32,
    is_lost: bool,
}

/// A word to a peer that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(super) struct Word {
    pub to: Peer,
    pub kind: u8,
    pub packets: u64,
    /// How often this process has come back; it does not matter for an answer.
    pub generation: u32,
}

impl Word {
    pub fn header(self) -> Header {
        Header {
            kind: self.kind,
            len: self.packets,
            tag: self.generation as i32,
            ..Header::default()
        }
    }
}

impl Talk {
    /// Whether a word may be tried now.
    fn may_be_said(&self) -> bool {
        self.refused.is_none_or(|at| at.elapsed() >= PAUSE)
    }
}

/// Who has left, and what has arrived, here and at others.
#[derive(Debug)]
pub(super) struct Receipts {
    /// By peer.
    counts: Vec<Counts>,
    talks: BTreeMap<Peer, Talk>,
    /// How many answers and other words are to be said.
    owed: usize,
    /// While this process leaves: those that it is not done with, as far as it knows.
    leaving: Option<Vec<Peer>>,
    /// How often this process has come back.
    generation: u32,
}

impl Receipts {
    /// Of so many processes.
    pub fn new(processes: u32) -> Receipts {
        Receipts {
            counts: vec![Counts::default(); processes as usize],
            talks: BTreeMap::new(),
            owed: 0,
            leaving: None,
            generation: 0,
        }
    }

    /// Adds a peer.
    pub fn add(&mut self, peer: Peer) {
        let numbers = self.counts.len().max(peer.0 as usize + 1);
        self.counts.resize(numbers, Counts::default());
    }

    /// Removes a peer: nothing is known of it, and nothing owed to it.
    pub fn remove(&mut self, peer: Peer) {
        self.lose(peer);
        self.talks.remove(&peer);
        self.counts[peer.0 as usize] = Counts::default();
        self.leaving
            .iter_mut()
            .for_each(|it| it.retain(|it| *it != peer));
    }

    /// A packet to a peer was taken.
    #[inline]
    pub fn sent(&mut self, to: Peer, header: &Header) {
        self.counts[to.0 as usize].sent += u64::from(!catena_link::means_nothing(header));
    }

    /// Something has come from a peer, over a network that does not tell what has arrived if it is
    /// `counted`; whether it is a packet for those above.
    #[inline]
    pub fn take(&mut self, from: Peer, header: &Header, counted: bool) -> bool {
        if header.kind >= WORDS {
            self.hear(from, header, counted);
            return false;
        }
        self.counts[from.0 as usize].got += u64::from(!catena_link::means_nothing(header));
        true
    }

    #[cold]
    fn hear(&mut self, from: Peer, header: &Header, counted: bool) {
        let talk = self.talks.entry(from).or_default();
        // They come round, but nobody is that late.
        let newer = (header.tag as u32).wrapping_sub(talk.generation) as i32;
        match header.kind {
            kind::FAREWELL | kind::BACK if newer < 0 => {}
            kind::FAREWELL => {
                talk.generation = header.tag as u32;
                talk.left = Some(header.len);
                if counted {
                    self.owed += usize::from(talk.owed.is_none());
                    talk.owed = Some((header.len, Instant::now()));
                }
            }
            kind::RECEIVED => talk.has = Some(header.len),
            // It may have left again, and said so before.
            kind::BACK if newer == 0 => {}
            kind::BACK => {
                talk.generation = header.tag as u32;
                talk.left = None;
                // It does not wait for the answer any more.
                self.owed -= usize::from(talk.owed.take().is_some());
            }
            _ => {}
        }
    }

    /// Whether anything has ever come from a peer that means something.
    pub fn has_heard_of(&self, peer: Peer) -> bool {
        let talk = self.talks.get(&peer);
        let has_said = talk.is_some_and(|it| it.left.is_some() || it.has.is_some());
        has_said || self.counts[peer.0 as usize].got > 0
    }

    /// Whether packets were ever exchanged with a peer: one that was sent may wait in this process.
    pub fn has_talked(&self, with: Peer) -> bool {
        let Counts { sent, got } = self.counts[with.0 as usize];
        sent + got > 0 || self.talks.contains_key(&with)
    }

    /// Whether a peer has said that it leaves, and nothing has come from it since: its end is no
    /// death.
    pub fn has_left(&self, peer: Peer) -> bool {
        let left = self.talks.get(&peer).and_then(|it| it.left);
        left.is_some_and(|left| self.counts[peer.0 as usize].got <= left)
    }

    /// Whether a peer has left, and all has come that it had sent.
    pub fn has_left_for_good(&self, peer: Peer) -> bool {
        let left = self.talks.get(&peer).and_then(|it| it.left);
        left == Some(self.counts[peer.0 as usize].got)
    }

    /// Whether a peer is known to be gone.
    pub fn is_lost(&self, peer: Peer) -> bool {
        self.talks.get(&peer).is_some_and(|it| it.is_lost)
    }

    /// A peer is lost: nothing is asked of it, and no answer is owed.
    pub fn lose(&mut self, peer: Peer) {
        let talk = self.talks.entry(peer).or_default();
        talk.is_lost = true;
        self.owed -= usize::from(talk.owed.take().is_some());
        self.owed -= usize::from(std::mem::take(&mut talk.back));
    }

    /// Whether some peer is to be answered, or told that this process is here again.
    #[inline]
    pub fn has_answers_due(&self) -> bool {
        self.owed > 0
    }

    /// The answers that can be given now, and the other words.
    pub fn answers(&mut self) -> Vec<Word> {
        let (counts, mut all) = (&self.counts, Vec::new());
        for (&to, talk) in &mut self.talks {
            if talk.back && talk.may_be_said() {
                all.push(Word {
                    to,
                    kind: kind::BACK,
                    packets: counts[to.0 as usize].sent,
                    generation: self.generation,
                });
            }
            let got = counts[to.0 as usize].got;
            let Some((_, since)) = talk.owed.filter(|(packets, _)| got >= *packets) else {
                continue;
            };
            if talk.refused.is_some() && since.elapsed() >= PATIENCE {
                (talk.owed, talk.refused) = (None, None);
                self.owed -= 1;
            } else if talk.may_be_said() {
                all.push(Word {
                    to,
                    kind: kind::RECEIVED,
                    packets: got,
                    generation: 0,
                });
            }
        }
        all
    }

    /// A word has been sent.
    pub fn said(&mut self, word: Word) {
        let talk = self.talks.entry(word.to).or_default();
        talk.refused = None;
        match word.kind {
            // One that is asked again has been silent since it was asked first.
            kind::FAREWELL if talk.asked.is_some() && talk.told == Some(word.packets) => {}
            kind::FAREWELL => {
                (talk.asked, talk.told) = (Some(Instant::now()), Some(word.packets));
            }
            kind::BACK => self.owed -= usize::from(std::mem::take(&mut talk.back)),
            _ => self.owed -= usize::from(talk.owed.take().is_some()),
        }
    }

    /// A word could not be sent now.
    pub fn refused(&mut self, word: Word) {
        self.talks.entry(word.to).or_default().refused = Some(Instant::now());
    }

    /// Whether this process, which leaves, is done with a peer; `is_told`: the network tells what
    /// has arrived there.
    fn is_done_with(&self, peer: Peer, is_told: bool) -> bool {
        let sent = self.counts[peer.0 as usize].sent;
        self.talks.get(&peer).is_some_and(|talk| {
            let knows = match is_told {
                true => talk.told == Some(sent),
                false => {
                    talk.has == Some(sent)
                        || talk.silent == Some(sent)
                        || talk.owed.is_none() && self.has_left(peer)
                }
            };
            talk.is_lost || knows
        })
    }

    /// The peers that this process would not be done with, if it left.
    fn open(&self, is_told: impl Fn(Peer) -> bool) -> impl Iterator<Item = Peer> {
        let all = (0..).map(Peer).zip(&self.counts);
        let talked = all.filter(|(_, it)| it.sent + it.got > 0);
        let talked = talked.map(|(peer, _)| peer);
        talked.filter(move |&peer| !self.is_done_with(peer, is_told(peer)))
    }

    /// Whether [`Receipts::questions`] are not over.
    pub fn is_open(&self, is_told: impl Fn(Peer) -> bool) -> bool {
        self.owed > 0 || self.open(is_told).next().is_some()
    }

    /// Whether this process leaves.
    pub fn is_leaving(&self) -> bool {
        self.leaving.is_some()
    }

    /// This process leaves; the questions that are to be asked now, and whether each was to be
    /// asked before, in vain for some time: then it is to be seen to whether that one is there.
    /// None, if it is done with all. `quiet`: all that was posted before this call has left.
    /// `is_told`: the network tells what has arrived at that peer, which is only told that this
    /// process leaves. Cost: O(processes) at the beginning and the end.
    pub fn questions(
        &mut self,
        quiet: bool,
        is_told: impl Fn(Peer) -> bool,
    ) -> Option<Vec<(Word, bool)>> {
        let mut left = match self.leaving.take() {
            Some(left) => left,
            None => {
                self.forget_backs();
                Vec::new()
            }
        };
        for peer in left.iter().filter(|_| quiet) {
            let sent = self.counts[peer.0 as usize].sent;
            if let Some(talk) = self.talks.get_mut(peer)
                && talk.told == Some(sent)
                && talk.asked.is_some_and(|at| at.elapsed() >= SILENCE)
            {
                talk.silent = Some(sent);
            }
        }
        left.retain(|&peer| !self.is_done_with(peer, is_told(peer)));
        if left.is_empty() && self.owed == 0 {
            left = self.open(&is_told).collect();
            if left.is_empty() {
                return None;
            }
        }
        let mut due = Vec::new();
        for &to in &left {
            let talk = self.talks.entry(to).or_default();
            let seen = *talk.seen.get_or_insert_with(Instant::now);
            let again = seen.elapsed() >= PATIENCE;
            if again {
                talk.seen = None;
            }
            let sent = self.counts[to.0 as usize].sent;
            let is_asked = talk.asked.is_some() && talk.told == Some(sent);
            if again || !is_asked && talk.may_be_said() {
                let word = Word {
                    to,
                    kind: kind::FAREWELL,
                    packets: sent,
                    generation: self.generation,
                };
                due.push((word, again));
            }
        }
        self.leaving = Some(left);
        Some(due)
    }

    /// This process is here again: those whom it has told that it leaves are told so.
    pub fn come_back(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        for talk in self.talks.values_mut() {
            if talk.told.take().is_none() {
                continue;
            }
            // They are told again when it leaves again.
            (talk.has, talk.silent) = (None, None);
            let is_due = !talk.is_lost;
            self.owed += usize::from(is_due && !talk.back);
            talk.back |= is_due;
        }
    }

    /// This process leaves: nobody is told any more that it is here.
    fn forget_backs(&mut self) {
        for talk in self.talks.values_mut() {
            self.owed -= usize::from(std::mem::take(&mut talk.back));
        }
    }

    /// This process has left: what it asked before counts no more, should it come back.
    pub fn end(&mut self) {
        self.leaving = None;
        let talks = self.talks.values_mut();
        talks.for_each(|talk| (talk.asked, talk.seen) = (None, None));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Peer = Peer(0);
    const B: Peer = Peer(1);

    fn pair() -> [Receipts; 2] {
        [Receipts::new(2), Receipts::new(2)]
    }

    fn packet() -> Header {
        Header {
            kind: 1,
            ..Header::default()
        }
    }

    /// One of the two asks what it has to.
    fn ask(one: &mut Receipts) -> Vec<Word> {
        let due: Vec<Word> = one
            .questions(false, |_| false)
            .into_iter()
            .flatten()
            .map(|it| it.0)
            .collect();
        due.iter().for_each(|word| one.said(*word));
        due
    }

    fn answer(one: &mut Receipts) -> Vec<Word> {
        let due = one.answers();
        due.iter().for_each(|word| one.said(*word));
        due
    }

    #[test]
    fn what_was_sent_says_nothing_of_who_gets_it() {
        let [mut a, mut b] = pair();
        a.sent(B, &packet());
        assert!(a.has_talked(B) && !a.has_heard_of(B));
        let asked = ask(&mut a);
        assert!(!a.has_heard_of(B), "nor does a word");
        b.take(A, &asked[0].header(), true);
        assert!(b.has_heard_of(A));
        b.take(A, &packet(), true);
        let answers = answer(&mut b);
        a.take(B, &answers[0].header(), true);
        assert!(a.has_heard_of(B));
    }

    #[test]
    fn whoever_leaves_waits_for_what_it_has_sent() {
        let [mut a, mut b] = pair();
        assert_eq!(
            a.questions(false, |_| false),
            None,
            "it has talked with nobody"
        );
        (0..3).for_each(|_| a.sent(B, &packet()));
        let asked = ask(&mut a);
        assert_eq!(asked.len(), 1);
        assert!(ask(&mut a).is_empty(), "once is enough");
        // The question overtakes a packet.
        assert!(b.take(A, &packet(), true) && b.take(A, &packet(), true));
        assert!(!b.take(A, &asked[0].header(), true) && b.has_answers_due() && b.has_left(A));
        assert!(answer(&mut b).is_empty());
        b.take(A, &packet(), true);
        let answers = answer(&mut b);
        assert!(answers.len() == 1 && !b.has_answers_due() && b.has_left(A));
        assert!(a.questions(false, |_| false).is_some());
        a.take(B, &answers[0].header(), true);
        assert_eq!(a.questions(false, |_| false), None);
        a.end();
        // Who stays owes it nothing when it leaves, too.
        b.sent(A, &packet());
        assert_eq!(b.questions(false, |_| false), None);
    }

    #[test]
    fn two_that_leave_wait_for_no_last_word() {
        let [mut a, mut b] = pair();
        a.sent(B, &packet());
        b.sent(A, &packet());
        let (of_a, of_b) = (ask(&mut a), ask(&mut b));
        a.take(B, &packet(), true);
        a.take(B, &of_b[0].header(), true);
        assert!(a.questions(false, |_| false).is_some(), "it owes an answer");
        assert_eq!(answer(&mut a).len(), 1);
        // The answer is lost with its end, at the latest.
        assert_eq!(a.questions(false, |_| false), None);
        b.take(A, &packet(), true);
        b.take(A, &of_a[0].header(), true);
        assert_eq!(answer(&mut b).len(), 1);
        assert_eq!(b.questions(false, |_| false), None);
    }

    #[test]
    fn the_silent_are_left_alone_once_all_has_left() {
        let [mut a, _] = pair();
        a.sent(B, &packet());
        assert_eq!(ask(&mut a).len(), 1);
        let long_ago = Instant::now().checked_sub(SILENCE).expect("it is later");
        a.talks.get_mut(&B).expect("it was asked").asked = Some(long_ago);
        assert!(
            a.questions(false, |_| false).is_some(),
            "the library has some of it"
        );
        assert_eq!(a.questions(true, |_| false), None);
        a.end();
        a.sent(B, &packet());
        assert_eq!(ask(&mut a).len(), 1, "something new");
    }

    #[test]
    fn the_lost_are_not_waited_for() {
        let [mut a, mut b] = pair();
        a.sent(B, &packet());
        let asked = ask(&mut a);
        a.lose(B);
        assert_eq!(a.questions(false, |_| false), None);
        b.take(A, &asked[0].header(), true);
        b.lose(A);
        assert!(!b.has_answers_due() && b.answers().is_empty());
    }

    #[test]
    fn one_that_comes_back_has_not_left() {
        let [mut a, mut b] = pair();
        a.sent(B, &packet());
        b.take(A, &packet(), true);
        let asked = ask(&mut a);
        b.take(A, &asked[0].header(), true);
        assert!(b.has_left(A));
        let answers = answer(&mut b);
        a.take(B, &answers[0].header(), true);
        a.end();
        a.sent(B, &packet());
        b.take(A, &packet(), true);
        assert!(!b.has_left(A));
        assert_eq!(ask(&mut a)[0].packets, 2, "it asks again");
    }

    #[test]
    fn one_that_comes_back_and_only_receives_has_not_left() {
        let [mut a, mut b] = pair();
        a.sent(B, &packet());
        b.take(A, &packet(), true);
        let asked = ask(&mut a);
        b.take(A, &asked[0].header(), true);
        let answers = answer(&mut b);
        a.take(B, &answers[0].header(), true);
        assert_eq!(a.questions(false, |_| false), None);
        a.end();
        a.come_back();
        assert!(a.has_answers_due());
        let words = answer(&mut a);
        assert_eq!(
            (words.len(), words[0].kind, a.has_answers_due()),
            (1, kind::BACK, false)
        );
        b.take(A, &words[0].header(), true);
        assert!(!b.has_left(A));
        // It waits until that one has what it sends.
        b.sent(A, &packet());
        let asked = ask(&mut b);
        assert_eq!(asked.len(), 1);
        a.take(B, &packet(), true);
        a.take(B, &asked[0].header(), true);
        let answers = answer(&mut a);
        b.take(A, &answers[0].header(), true);
        assert_eq!(b.questions(false, |_| false), None);
        // Whoever leaves again before it could say so says that it leaves.
        b.end();
        b.come_back();
        let words = answer(&mut b);
        a.take(B, &words[0].header(), true);
        a.come_back();
        assert!(!a.has_answers_due(), "it had told nobody since");
        assert_eq!(ask(&mut a).len(), 1);
        a.end();
        a.come_back();
        let words = ask(&mut a);
        assert_eq!(
            (words.len(), words[0].kind, a.has_answers_due()),
            (1, kind::FAREWELL, false)
        );
    }

    #[test]
    fn words_of_an_earlier_generation_mean_nothing() {
        let [mut a, mut b] = pair();
        a.sent(B, &packet());
        b.take(A, &packet(), true);
        let first = ask(&mut a)[0];
        a.end();
        a.come_back();
        let back = answer(&mut a)[0];
        // It leaves again, and has sent nothing meanwhile.
        let second = ask(&mut a)[0];
        assert_eq!(first.packets, second.packets);
        for late in [[first, second, back], [second, back, first]] {
            let mut b = Receipts::new(2);
            b.take(A, &packet(), true);
            for word in late {
                b.take(A, &word.header(), true);
            }
            assert!(b.has_left(A), "{late:?}");
            assert_eq!(answer(&mut b).len(), 1, "it waits for that");
        }
        for late in [[first, back], [back, first]] {
            let mut b = Receipts::new(2);
            b.take(A, &packet(), true);
            for word in late {
                b.take(A, &word.header(), true);
            }
            assert!(!b.has_left(A) && !b.has_answers_due(), "{late:?}");
        }
    }

    #[test]
    fn where_the_network_tells_the_word_is_enough() {
        let [mut a, mut b] = pair();
        let tells = |_: Peer| true;
        a.sent(B, &packet());
        b.take(A, &packet(), false);
        assert!(a.is_open(tells));
        let asked = a.questions(false, tells).expect("it has talked")[0].0;
        a.said(asked);
        assert!(!a.is_open(tells) && a.questions(false, tells).is_none());
        a.end();
        b.take(A, &asked.header(), false);
        assert!(
            b.has_left(A) && !b.has_answers_due(),
            "nobody waits for an answer"
        );
        // Who is left behind is told, should that one come back.
        assert!(b.is_open(tells));
        assert!(!a.is_open(tells), "another session has sent nothing");
        a.sent(B, &packet());
        b.take(A, &packet(), false);
        assert!(!b.has_left(A) && a.is_open(tells));
    }
}
