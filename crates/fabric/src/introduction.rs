//! How two processes of different jobs begin to talk over a library that carries frames, and prove
//! to each other that they know the same secret. Such a library delivers frames of anybody who has
//! this process's address, and does not say whose they are.
//!
//! Each of the two has learnt the other's name and address before (see
//! [`Rail::add_peer`](crate::Rail::add_peer)), and draws a nonce for it. They exchange words:
//!
//! | word      | says                                                    | has a tag |
//! |-----------|---------------------------------------------------------|-----------|
//! | `HELLO`   | my nonce, and where my end is; that I live is not proven | yes       |
//! | `PROOF`   | my nonce, and yours                                      | yes       |
//! | `WELCOME` | the same, and the [sign](Sign) that your frames are to bear | yes    |
//! | `GOODBYE` | I have removed you                                       | yes       |
//!
//! A `HELLO` is answered by a `PROOF`, and a word with a good tag that has this process's nonce by
//! a `WELCOME`, once. Packets follow when the welcome has come. So whichever adds the other last
//! begins. The `HELLO` of one that is not known yet is no more than a
//! [call](Introductions::callers), to be heeded or not. It is said again now and then, as a library
//! may have thrown it away. All answers go to the address that was learnt before, wherever the
//! question came from; that of a caller is the one that its `HELLO` tells, with a good tag.
//!
//! ```text
//! 0    from    name of who says it: job 8, rank 4
//! 12   to      name of whom it is said to
//! 24   own     nonce of who says it (16)
//! 40   echo    nonce of the other one (16), or 0
//! 56   sign    8, or 0
//! 64   place   of a HELLO: length (1), where the end of who says it is (63); or 0
//! 128  tag     32
//! ```
//!
//! **What is proven.** A tag is the [HMAC](Secret::tag) of the kind of the word and all of the
//! above under the secret. So who has told its nonce is known to know the secret, and to be the
//! process with that name, now; a word is worth nothing in the other direction, between other ends,
//! or after one of the two was removed and added again, as the nonces differ. A sign is 64 random
//! bits that only this process and its peer know: who bears it is taken for the peer.
//!
//! **What is not.** Unlike a connection of the kernel's, a library does not keep others from
//! sending frames to the same end. Who can read what goes over the network reads signs, and can
//! then send frames that bear them; nothing is encrypted and no frame has a tag of its own, as over
//! TCP. Memory that is registered is the library's to guard: whoever has its key reaches it, a
//! removed peer among them, until it is registered no more.

mod fields;

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use catena_proof::{NONCE, Protocol, Secret, TAG};

use crate::frame::Sign;
use crate::{Peer, ProcessName};
use fields::{FACTS, Fields, Nonce};
pub use fields::{Place, WORD};

const PROTOCOL: Protocol = Protocol("catena introduction");

/// The sign of frames that are words of this module. No peer has it.
pub const WORDS: Sign = Sign::from_bits(u64::from_le_bytes(*b"catena->"));

/// Why a library does not join processes that have no secret.
pub const NO_SECRET: &str = "processes that add each other prove by a secret who they are, and \
                             none was given: without one anybody could send them messages";

/// Calls of processes that were not added, at most: those of others are heard when they are said
/// again.
const CALLS: usize = 1024;

/// When a `HELLO` is said again that was not answered, at first and at last: it takes twice as long
/// each time.
const AGAIN: Duration = Duration::from_secs(1);
const AGAIN_MOST: Duration = Duration::from_secs(64);

/// How long nothing has come from a peer that has said goodbye before that counts, where a library
/// does not keep the order of frames.
const OVERTAKEN: Duration = Duration::from_millis(200);

/// What words there are: the kind in the header of their frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// See the [module](self).
    Hello = 0,
    /// See the [module](self).
    Proof = 1,
    /// See the [module](self).
    Welcome = 2,
    /// See the [module](self).
    Goodbye = 3,
}

impl Kind {
    fn of(number: u8) -> Option<Kind> {
        let all = [Kind::Hello, Kind::Proof, Kind::Welcome, Kind::Goodbye];
        all.into_iter().find(|it| *it as u8 == number)
    }

    /// What the tag is of.
    fn name(self) -> &'static str {
        match self {
            Kind::Hello => "hello",
            Kind::Proof => "proof",
            Kind::Welcome => "welcome",
            Kind::Goodbye => "goodbye",
        }
    }
}

/// A word that is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Word {
    /// To whom.
    pub to: Peer,
    /// The kind in the header of its frame.
    pub kind: Kind,
    /// The payload of its frame.
    pub bytes: [u8; WORD],
}

/// What a word that has come leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// Nothing but perhaps an answer.
    Nothing,
    /// Packets may be sent to the peer, in frames with this sign.
    Open(Peer, Sign),
    /// The peer has removed this process.
    Left(Peer),
    /// The peer, of which it is not known yet how it is reached, says where its end is.
    Calls(Peer, Place),
}

/// A process that was added.
#[derive(Debug)]
struct Acquaintance {
    name: ProcessName,
    /// The nonce that was drawn for it, and the sign that its frames are to bear.
    own: Nonce,
    sign: Sign,
    /// Its nonce, once it has proven that it is it.
    theirs: Option<Nonce>,
    /// Whether it has said how this process is to sign.
    is_open: bool,
    /// It is known how to reach it.
    is_reached: bool,
    /// It is gone, or said that it goes.
    is_gone: bool,
    /// Words that are owed to it, and when it is next greeted.
    proof: Option<Nonce>,
    welcome: bool,
    hello: Option<Instant>,
    pause: Duration,
}

/// The processes of other jobs that an end of a network knows.
///
/// # Examples
/// Two ends, of which one adds the other first:
/// ```
/// use catena_fabric::introduction::{Heard, Introductions};
/// use catena_fabric::{Peer, ProcessName};
/// use catena_proof::Secret;
///
/// let secret = Secret::from_bytes([3; 32]);
/// let name = |job| ProcessName { job, rank: 0 };
/// let mut ends = [5, 6].map(|job| Introductions::new(secret.clone(), name(job), true));
/// let mut open = [None; 2];
/// for (adds, other) in [(0, 1), (1, 0)] {
///     let job = [5, 6][other];
///     ends[adds].add(Peer(1), name(job))?;
///     ends[adds].reach(Peer(1));
///     // Words go to and fro.
///     while let Some(from) = (0..2).find(|&it| ends[it].next().is_some()) {
///         let word = ends[from].next().expect("it was found");
///         ends[from].said(&word);
///         if let Heard::Open(_, sign) = ends[1 - from].hear(word.kind as u8, &word.bytes) {
///             open[1 - from] = Some(sign);
///         }
///     }
/// }
/// assert_eq!(ends[1].sender(open[0].expect("it is welcome")), Some(Peer(1)));
/// assert_eq!(ends[0].sender(open[1].expect("it is welcome")), Some(Peer(1)));
/// # Ok::<(), String>(())
/// ```
#[derive(Debug)]
pub struct Introductions {
    secret: Secret,
    me: ProcessName,
    /// Whether the library delivers frames in the order in which they were sent.
    ordered: bool,
    /// Where its end is, if others are told.
    place: Place,
    /// Those that have called and were not added, and where they are.
    calls: Vec<(ProcessName, Place)>,
    added: BTreeMap<Peer, Acquaintance>,
    by_name: HashMap<ProcessName, Peer>,
    by_sign: HashMap<Sign, Peer>,
    /// The sign that was last looked up.
    last: Option<(Sign, Peer)>,
    /// Farewells to those that were removed.
    goodbyes: Vec<Word>,
    /// Peers that have said goodbye, and when something last came from them.
    leaving: Vec<(Peer, Instant)>,
}

impl Introductions {
    /// Of a process that is called so and knows the secret. `ordered`: the library delivers the
    /// frames of one process to another in the order in which they were sent.
    pub fn new(secret: Secret, me: ProcessName, ordered: bool) -> Introductions {
        Introductions {
            secret,
            me,
            ordered,
            place: [0; 64],
            calls: Vec::new(),
            added: BTreeMap::new(),
            by_name: HashMap::new(),
            by_sign: HashMap::new(),
            last: None,
            goodbyes: Vec::new(),
            leaving: Vec::new(),
        }
    }

    /// Those that are greeted are told that the end of this process is there, if that has room.
    pub fn tell(&mut self, at: &[u8]) {
        let (len, room) = self.place.split_first_mut().expect("it has room");
        if let Some(room) = room.get_mut(..at.len()) {
            room.copy_from_slice(at);
            *len = at.len() as u8;
        }
    }

    /// The processes that know the secret, have greeted this one, and were not added.
    pub fn callers(&self) -> impl Iterator<Item = ProcessName> + '_ {
        self.calls.iter().map(|it| it.0)
    }

    /// Where a process is that has called.
    pub fn caller(&self, name: ProcessName) -> Option<Place> {
        let call = self.calls.iter().find(|it| it.0 == name);
        call.map(|it| it.1)
    }

    /// Adds a process.
    ///
    /// # Errors
    /// If it is known already, or its number is another one's, or there are no random numbers.
    pub fn add(&mut self, peer: Peer, name: ProcessName) -> Result<(), String> {
        let taken = self.added.contains_key(&peer) || self.by_name.contains_key(&name);
        if taken || name == self.me || self.goodbyes.iter().any(|it| it.to == peer) {
            return Err("a process was added twice, or two have one number".to_string());
        }
        let (mut own, mut sign) = ([0; NONCE], [0; 8]);
        let drawn = catena_proof::random(&mut own).and_then(|()| catena_proof::random(&mut sign));
        drawn.map_err(|error| format!("no random numbers: {error}"))?;
        let acquaintance = Acquaintance {
            name,
            own,
            sign: Sign::from_bits(u64::from_le_bytes(sign)),
            theirs: None,
            is_open: false,
            is_reached: false,
            is_gone: false,
            proof: None,
            welcome: false,
            hello: None,
            pause: AGAIN,
        };
        self.added.insert(peer, acquaintance);
        self.by_name.insert(name, peer);
        self.calls.retain(|it| it.0 != name);
        Ok(())
    }

    /// It is known how a peer is reached: it is greeted.
    pub fn reach(&mut self, peer: Peer) {
        if let Some(it) = self.added.get_mut(&peer) {
            it.is_reached = true;
            it.hello = Some(Instant::now());
        }
    }

    /// Removes a peer; what is to be said to it is owed. Whether it has ever answered, and so has
    /// added this process, as far as is known.
    pub fn remove(&mut self, peer: Peer) -> bool {
        let Some(gone) = self.added.remove(&peer) else {
            return false;
        };
        self.by_name.remove(&gone.name);
        self.by_sign.remove(&gone.sign);
        self.last = None;
        self.leaving.retain(|it| it.0 != peer);
        // Only one that is welcome takes this process for somebody.
        if let (Some(theirs), true, false) = (gone.theirs, gone.is_reached, gone.is_gone) {
            self.goodbyes
                .push(self.word(peer, &gone, Kind::Goodbye, theirs));
        }
        gone.theirs.is_some()
    }

    /// Nothing is to be said to a peer any more: it is gone.
    pub fn lose(&mut self, peer: Peer) {
        if let Some(it) = self.added.get_mut(&peer) {
            (it.is_gone, it.proof, it.welcome, it.hello) = (true, None, false, None);
        }
        self.goodbyes.retain(|it| it.to != peer);
        self.leaving.retain(|it| it.0 != peer);
    }

    /// Whether nothing is owed any more to a peer that was removed.
    pub fn has_let_go(&self, peer: Peer) -> bool {
        self.goodbyes.iter().all(|it| it.to != peer)
    }

    /// Whose frames bear that sign.
    #[inline]
    pub fn sender(&mut self, sign: Sign) -> Option<Peer> {
        if let Some((last, peer)) = self.last
            && last == sign
        {
            return Some(peer);
        }
        let peer = *self.by_sign.get(&sign)?;
        self.last = Some((sign, peer));
        Some(peer)
    }

    /// Something has come from a peer: if it has said goodbye, more may come.
    pub fn heard_from(&mut self, peer: Peer) {
        if let Some(leaving) = self.leaving.iter_mut().find(|it| it.0 == peer) {
            leaving.1 = Instant::now();
        }
    }

    /// Takes a word that has come. Any bytes may be given.
    pub fn hear(&mut self, kind: u8, bytes: &[u8]) -> Heard {
        let heard = || {
            let word = Fields::decode(bytes)?;
            let kind = Kind::of(kind)?;
            (word.to == self.me).then_some((kind, word))
        };
        let Some((kind, word)) = heard() else {
            return Heard::Nothing;
        };
        let tag = || {
            let facts = &bytes[..FACTS];
            let checked = self
                .secret
                .check_tag(PROTOCOL, kind.name(), facts, &word.tag);
            checked.is_ok()
        };
        let says_place = kind == Kind::Hello && word.place[0] > 0;
        let Some(&peer) = self.by_name.get(&word.from) else {
            if says_place && self.calls.len() < CALLS && tag() {
                self.calls.retain(|it| it.0 != word.from);
                self.calls.push((word.from, word.place));
            }
            return Heard::Nothing;
        };
        let Some(it) = self.added.get_mut(&peer).filter(|it| !it.is_gone) else {
            return Heard::Nothing;
        };
        let is_new = it.theirs != Some(word.own);
        if says_place && !it.is_reached && tag() {
            return Heard::Calls(peer, word.place);
        }
        if kind == Kind::Hello {
            // Of one that has begun anew: that it removed this process is about to come.
            if it.is_reached && !(is_new && it.is_open) {
                it.proof = Some(word.own);
                it.welcome |= !is_new;
            }
            return Heard::Nothing;
        }
        if !tag() || word.echo != it.own {
            return Heard::Nothing;
        }
        // It has begun anew, and what it said before that was overtaken.
        let has_changed = it.is_open && is_new;
        if kind == Kind::Goodbye || has_changed {
            if kind == Kind::Goodbye && is_new && it.theirs.is_some() {
                return Heard::Nothing;
            }
            return self.leave(peer, has_changed);
        }
        it.theirs = Some(word.own);
        it.welcome |= is_new && it.is_reached;
        self.by_sign.insert(it.sign, peer);
        if kind == Kind::Welcome && !it.is_open {
            (it.is_open, it.hello) = (true, None);
            return Heard::Open(peer, word.sign);
        }
        Heard::Nothing
    }

    /// A peer has left; what it had sent before may still come, with its sign.
    fn leave(&mut self, peer: Peer, is_over: bool) -> Heard {
        if self.ordered || is_over {
            self.lose(peer);
            return Heard::Left(peer);
        }
        if self.leaving.iter().all(|it| it.0 != peer) {
            self.leaving.push((peer, Instant::now()));
        }
        Heard::Nothing
    }

    /// A peer that has left, once what it had sent before has had time to come.
    pub fn left(&mut self, now: Instant) -> Option<Peer> {
        let is_over = |it: &(Peer, Instant)| now.saturating_duration_since(it.1) >= OVERTAKEN;
        let at = self.leaving.iter().position(is_over)?;
        let (peer, _) = self.leaving[at];
        self.lose(peer);
        Some(peer)
    }

    /// Whether there is something to be said, now or later, or a peer leaves: the end is to ask
    /// [`Introductions::next`] and [`Introductions::left`] in each poll.
    pub fn has_to_do(&self) -> bool {
        let owes = |it: &Acquaintance| it.proof.is_some() || it.welcome || it.hello.is_some();
        !(self.goodbyes.is_empty() && self.leaving.is_empty()) || self.added.values().any(owes)
    }

    /// A word that is to be sent now, if there is one.
    pub fn next(&self) -> Option<Word> {
        self.due().next()
    }

    /// All words that are to be sent now.
    pub fn due(&self) -> impl Iterator<Item = Word> + '_ {
        let now = Instant::now();
        let goodbyes = self.goodbyes.iter().copied();
        let others = self.added.iter().filter_map(move |(&peer, it)| {
            if let Some(theirs) = it.proof {
                return Some(self.word(peer, it, Kind::Proof, theirs));
            }
            if let (true, Some(theirs)) = (it.welcome, it.theirs) {
                return Some(self.word(peer, it, Kind::Welcome, theirs));
            }
            let is_due = it.hello.is_some_and(|at| at <= now);
            is_due.then(|| self.word(peer, it, Kind::Hello, [0; NONCE]))
        });
        goodbyes.chain(others)
    }

    /// A word was sent.
    pub fn said(&mut self, word: &Word) {
        if word.kind == Kind::Goodbye {
            return self.goodbyes.retain(|it| it != word);
        }
        let Some(it) = self.added.get_mut(&word.to) else {
            return;
        };
        match word.kind {
            Kind::Hello => {
                it.hello = Some(Instant::now() + it.pause);
                it.pause = (2 * it.pause).min(AGAIN_MOST);
            }
            Kind::Proof => it.proof = None,
            _ => it.welcome = false,
        }
    }

    /// A word that was sent has not arrived: it is owed again.
    pub fn not_said(&mut self, word: Word) {
        if word.kind == Kind::Goodbye {
            return self.goodbyes.push(word);
        }
        let echo = Fields::decode(&word.bytes).map(|it| it.echo);
        if let Some(it) = self.added.get_mut(&word.to).filter(|it| !it.is_gone) {
            match word.kind {
                Kind::Proof => it.proof = it.proof.or(echo),
                Kind::Welcome => it.welcome = true,
                _ => it.hello = it.hello.map(|_| Instant::now()),
            }
        }
    }

    fn word(&self, to: Peer, it: &Acquaintance, kind: Kind, echo: Nonce) -> Word {
        let sign = match kind {
            Kind::Welcome => it.sign,
            _ => Sign::from_bits(0),
        };
        let fields = Fields {
            from: self.me,
            to: it.name,
            own: it.own,
            echo,
            sign,
            place: match kind {
                Kind::Hello => self.place,
                _ => [0; 64],
            },
            tag: [0; TAG],
        };
        let mut bytes = fields.encode();
        let tag = self.secret.tag(PROTOCOL, kind.name(), &bytes[..FACTS]);
        bytes[FACTS..].copy_from_slice(&tag);
        Word { to, kind, bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Peer = Peer(1);
    const B: Peer = Peer(2);

    fn name(job: u64) -> ProcessName {
        ProcessName { job, rank: 0 }
    }

    fn end(job: u64, ordered: bool) -> Introductions {
        Introductions::new(Secret::from_bytes([3; 32]), name(job), ordered)
    }

    /// A process of job 5, which calls the other one B, and one of job 6, which calls it A; both
    /// have added the other.
    fn both(ordered: bool) -> [Introductions; 2] {
        let mut ends = [end(5, ordered), end(6, ordered)];
        add(&mut ends[0], B, 6);
        add(&mut ends[1], A, 5);
        ends
    }

    fn add(at: &mut Introductions, peer: Peer, job: u64) {
        at.add(peer, name(job)).expect("it is new");
        at.reach(peer);
    }

    fn hear(at: &mut Introductions, word: &Word) -> Heard {
        at.hear(word.kind as u8, &word.bytes)
    }

    /// Carries one word, if there is one; what it led to.
    fn carry(ends: &mut [Introductions; 2], from: usize) -> Option<(Word, Heard)> {
        let word = ends[from].next()?;
        ends[from].said(&word);
        let heard = hear(&mut ends[1 - from], &word);
        Some((word, heard))
    }

    /// Carries words until there are none: all of them, and what they led to at either end.
    fn talk(ends: &mut [Introductions; 2]) -> (Vec<Word>, [Vec<Heard>; 2]) {
        let (mut words, mut heard) = (Vec::new(), [Vec::new(), Vec::new()]);
        while let Some((from, (word, it))) = (0..2).find_map(|at| Some((at, carry(ends, at)?))) {
            words.push(word);
            if it != Heard::Nothing {
                heard[1 - from].push(it);
            }
            assert!(words.len() < 20, "they come to an end");
        }
        (words, heard)
    }

    fn open(heard: &[Heard], peer: Peer) -> Sign {
        match heard {
            [Heard::Open(it, sign)] if *it == peer => *sign,
            _ => panic!("{heard:?}"),
        }
    }

    #[test]
    fn two_that_have_added_each_other_agree_on_signs() {
        let mut ends = both(true);
        let (_, heard) = talk(&mut ends);
        let (of_a, of_b) = (open(&heard[0], B), open(&heard[1], A));
        assert_eq!(
            (ends[1].sender(of_a), ends[0].sender(of_b)),
            (Some(A), Some(B))
        );
        assert_eq!((ends[1].sender(of_b), ends[0].sender(WORDS)), (None, None));
        assert!(ends.iter().all(|it| !it.has_to_do()));
    }

    #[test]
    fn who_adds_the_other_one_later_begins() {
        let mut ends = [end(5, true), end(6, true)];
        add(&mut ends[0], B, 6);
        let (words, heard) = talk(&mut ends);
        assert_eq!(
            (words.len(), heard),
            (1, [vec![], vec![]]),
            "nobody knows it"
        );
        add(&mut ends[1], A, 5);
        let (_, heard) = talk(&mut ends);
        open(&heard[0], B);
        open(&heard[1], A);
    }

    #[test]
    fn callers_tell_where_they_are() {
        let mut ends = [end(5, true), end(6, true)];
        ends[0].tell(b"here");
        add(&mut ends[0], B, 6);
        let (word, heard) = carry(&mut ends, 0).expect("a greeting");
        assert_eq!(heard, Heard::Nothing);
        let place = ends[1].caller(name(5)).expect("it has called");
        assert_eq!((place[0], &place[1..5]), (4, &b"here"[..]));
        assert_eq!(ends[1].callers().collect::<Vec<_>>(), [name(5)]);
        // One that does not know the secret, or says something else than it did, has not called.
        let mut other = end(6, true);
        let mut damaged = word;
        damaged.bytes[70] ^= 1;
        assert_eq!(hear(&mut other, &damaged), Heard::Nothing);
        other.secret = Secret::from_bytes([4; 32]);
        assert_eq!(hear(&mut other, &word), Heard::Nothing);
        assert_eq!(other.callers().count(), 0);
        // It was added by its name: its next greeting tells the rest.
        ends[1].add(A, name(5)).expect("it is new");
        assert_eq!(ends[1].callers().count(), 0);
        assert_eq!(hear(&mut ends[1], &word), Heard::Calls(A, place));
        ends[1].reach(A);
        let (_, heard) = talk(&mut ends);
        open(&heard[0], B);
        open(&heard[1], A);
        // Where there is no room for it, it is not told.
        ends[0].tell(&[1; 64]);
        assert_eq!(ends[0].place[..5], *b"\x04here");
    }

    #[test]
    fn who_does_not_know_the_secret_is_not_heard() {
        let mut ends = both(true);
        ends[0].secret = Secret::from_bytes([4; 32]);
        let (_, heard) = talk(&mut ends);
        assert_eq!(heard, [vec![], vec![]]);
        assert!(ends[1].by_sign.is_empty());
    }

    #[test]
    fn no_word_is_of_use_elsewhere_or_later() {
        let mut ends = both(true);
        let (words, _) = talk(&mut ends);
        // At the end that has said it, at another process, and damaged.
        let mut other = end(7, true);
        add(&mut other, A, 5);
        add(&mut other, B, 6);
        for word in &words {
            for at in ends.iter_mut().chain([&mut other]) {
                assert_eq!(hear(at, word), Heard::Nothing);
            }
        }
        for word in words.iter().filter(|it| it.kind != Kind::Hello) {
            for bit in (0..8 * WORD).step_by(5) {
                let mut damaged = *word;
                damaged.bytes[bit / 8] ^= 1 << (bit % 8);
                let mut fresh = both(true);
                assert_eq!(hear(&mut fresh[1], &damaged), Heard::Nothing);
                assert!(fresh[1].by_sign.is_empty());
            }
        }
        // Both begin anew.
        for (at, peer, job) in [(0, B, 6), (1, A, 5)] {
            ends[at].remove(peer);
            ends[at].goodbyes.clear();
            add(&mut ends[at], peer, job);
        }
        for word in words.iter().filter(|it| it.kind != Kind::Hello) {
            for at in &mut ends {
                assert_eq!(hear(at, word), Heard::Nothing, "{:?}", word.kind);
                assert!(at.by_sign.is_empty());
            }
        }
        for len in 0..WORD {
            assert_eq!(ends[0].hear(1, &words[0].bytes[..len]), Heard::Nothing);
        }
        assert_eq!(ends[0].hear(9, &words[0].bytes), Heard::Nothing);
    }

    /// A `HELLO` needs no secret, so it changes nothing.
    #[test]
    fn a_greeting_that_somebody_made_up_ends_nothing() {
        let mut ends = both(true);
        let (words, _) = talk(&mut ends);
        let mut made_up = words[0];
        assert_eq!(made_up.kind, Kind::Hello);
        made_up.bytes[24] ^= 1;
        assert_eq!(hear(&mut ends[1], &made_up), Heard::Nothing);
        assert!(
            ends[1].next().is_none(),
            "one that has begun anew is told nothing"
        );
        assert!(!ends[1].by_sign.is_empty());
    }

    #[test]
    fn a_farewell_is_told_once_and_both_can_begin_anew() {
        let mut ends = both(true);
        let (_, heard) = talk(&mut ends);
        let former = open(&heard[0], B);
        assert!(ends[0].remove(B), "it had answered");
        assert!(!ends[0].has_let_go(B) && ends[0].add(B, name(8)).is_err());
        let (word, heard) = carry(&mut ends, 0).expect("a farewell");
        assert_eq!((word.kind, heard), (Kind::Goodbye, Heard::Left(A)));
        assert_eq!(hear(&mut ends[1], &word), Heard::Nothing, "it is known");
        assert!(ends[0].has_let_go(B));
        // What was sent before may still come.
        assert_eq!(ends[1].sender(former), Some(A));
        add(&mut ends[0], B, 6);
        let (_, heard) = talk(&mut ends);
        assert_eq!(heard, [vec![], vec![]], "the other end has not begun anew");
        ends[1].remove(A);
        assert_eq!(ends[1].sender(former), None);
        assert!(
            ends[1].has_let_go(A),
            "nothing is owed to one that has left"
        );
        add(&mut ends[1], A, 5);
        let (_, heard) = talk(&mut ends);
        assert_ne!(open(&heard[0], B), former);
    }

    #[test]
    fn a_farewell_that_overtakes_others_is_told_later() {
        let mut ends = both(false);
        let (_, heard) = talk(&mut ends);
        let sign = open(&heard[0], B);
        ends[0].remove(B);
        let (_, heard) = carry(&mut ends, 0).expect("a farewell");
        assert_eq!(heard, Heard::Nothing);
        assert_eq!(
            (ends[1].left(Instant::now()), ends[1].sender(sign)),
            (None, Some(A))
        );
        ends[1].heard_from(A);
        assert!(ends[1].has_to_do());
        let later = Instant::now() + OVERTAKEN;
        assert_eq!([ends[1].left(later), ends[1].left(later)], [Some(A), None]);
    }

    /// Where words overtake each other, one of the next time may come before the farewell.
    #[test]
    fn who_begins_anew_has_left() {
        let mut ends = both(true);
        talk(&mut ends);
        ends[0].remove(B);
        let goodbye = ends[0].next().expect("a farewell");
        ends[0].said(&goodbye);
        add(&mut ends[0], B, 6);
        let (_, heard) = talk(&mut ends);
        assert_eq!(heard, [vec![], vec![]]);
        assert_eq!(hear(&mut ends[1], &goodbye), Heard::Left(A));
    }

    /// One that was removed before it had answered is told nothing.
    #[test]
    fn who_was_not_heard_of_is_owed_nothing() {
        let mut ends = [end(5, true), end(6, true)];
        add(&mut ends[0], B, 6);
        assert!(!ends[0].remove(B) && ends[0].has_let_go(B));
        assert!(!ends[0].has_to_do());
        add(&mut ends[0], B, 6);
        add(&mut ends[1], A, 5);
        ends[0].lose(B);
        assert!(ends[0].next().is_none() && !ends[0].remove(B));
    }
}
