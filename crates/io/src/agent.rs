//! What members of several hosts share: their lowest keeps it, and the others ask it by active
//! messages ([`catena_link::active`]). On one node there is none of this; see [`crate::common`].
//!
//! A question has a number, which its answer repeats. Questions and answers lie in the
//! [`MessageQueue`] until progress sends them or carries them out: the handler is called from
//! within a poll, where nothing can be sent. A process answers, and gives back the right to bytes
//! that a thread has used, when it makes progress: the program's calls do, and in atomic mode a
//! thread beside the program ([`Remote::serve_always`]), so that nobody waits for a program that
//! computes.

use catena_core::needs;
use catena_hang::WaitsFor;
use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use catena_base::PeerBytes;
use catena_core::beside::Demand;
use catena_core::comm::Comm;
use catena_core::hooks::Hook;
use catena_core::{Process, kind_of_death};
use catena_fabric::{Peer, PeerLost, Posted};
use catena_link::{ActiveHeader, Class, Handler};
use catena_objects::error::{Error, Result};

use crate::call::CollectiveCall;
use crate::common::Span;

/// The class of files among active messages.
const CLASS: Class = Class(6);

/// What a message says, or asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
enum What {
    /// The answer to a question.
    Answer,
    /// Moves the pointer; the answer is where it was. Word and bytes.
    Take,
    /// Puts the pointer to a place. Word and place.
    Set,
    /// Moves the pointer back if it is at a place. Word and twice the bytes, and the place.
    PutBack,
    /// Wants bytes for reading; the answer, once nobody else writes them, is a number. Begin and
    /// end.
    ClaimToRead,
    /// Wants bytes for writing; the answer, once nobody else uses them, is a number. Begin and end.
    ClaimToWrite,
    /// Gives back what was claimed. Its number. Nobody answers.
    Release,
}

impl What {
    /// To claim bytes.
    fn claim(span: Span) -> What {
        match span.writes {
            true => What::ClaimToWrite,
            false => What::ClaimToRead,
        }
    }

    fn from(value: i32) -> Option<What> {
        use What::*;
        let all = [
            Answer,
            Take,
            Set,
            PutBack,
            ClaimToRead,
            ClaimToWrite,
            Release,
        ];
        all.into_iter().find(|it| *it as i32 == value)
    }
}

/// A message between members.
#[derive(Clone, Copy, Debug)]
struct Letter {
    what: What,
    file: u32,
    question: u64,
    words: [u64; 2],
}

/// A claim, granted or waiting.
#[derive(Debug)]
struct Claim {
    number: u64,
    span: Span,
    by: Peer,
    question: u64,
    is_granted: bool,
}

/// What is kept of a file.
#[derive(Debug, Default)]
struct FileState {
    pointer: [u64; 2],
    next: u64,
    claims: Vec<Claim>,
}

/// Messages that have come and are to go, and what is kept.
#[derive(Debug, Default)]
struct State {
    came: VecDeque<(Peer, Letter)>,
    to_go: VecDeque<(Peer, Letter)>,
    answers: HashMap<u64, u64>,
    files: HashMap<u32, FileState>,
    /// Peers that were lost lately.
    lost: Vec<Peer>,
    /// All of them.
    gone: Vec<Peer>,
    last_file: u32,
    last_question: u64,
}

/// What files need the thread beside the program for.
static BESIDE: Demand = Demand::new();

/// The messages of a process. Any thread may leave one.
#[derive(Debug, Default)]
pub(crate) struct MessageQueue(Mutex<State>);

static QUEUE: LazyLock<Arc<MessageQueue>> = LazyLock::new(Arc::default);

impl MessageQueue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes the messages.
#[derive(Debug)]
struct QueueHandler(Arc<MessageQueue>);

impl Handler for QueueHandler {
    fn deliver(&mut self, from: Peer, header: ActiveHeader, payload: PeerBytes<'_>) {
        let mut bytes = [0u8; 16];
        if payload.len() != bytes.len() {
            return;
        }
        // SAFETY: the room is as long.
        unsafe { payload.copy_to(bytes.as_mut_ptr()) };
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        if let Some(what) = What::from(header.what) {
            let letter = Letter {
                what,
                file: header.context,
                question: header.argument,
                words: [word(0), word(8)],
            };
            self.0.state().came.push_back((from, letter));
        }
    }

    fn lost(&mut self, lost: &PeerLost) {
        self.0.state().lost.push(lost.peer);
    }

    fn forget(&mut self, peers: &Range<u32>) {
        self.0.state().forget(peers);
    }
}

impl State {
    /// Some peers are others from now on. No file has any of them as a member.
    fn forget(&mut self, peers: &Range<u32>) {
        let is_gone = |peer: &Peer| peers.contains(&peer.0);
        self.lost.retain(|peer| !is_gone(peer));
        self.gone.retain(|peer| !is_gone(peer));
        self.came.retain(|(from, _)| !is_gone(from));
        self.to_go.retain(|(to, _)| !is_gone(to));
        for file in self.files.values_mut() {
            file.claims.retain(|claim| !is_gone(&claim.by));
        }
        self.grant();
    }

    /// Carries out what came.
    fn read(&mut self) {
        for lost in std::mem::take(&mut self.lost) {
            self.gone.push(lost);
            for file in self.files.values_mut() {
                file.claims.retain(|claim| claim.by != lost);
            }
            self.to_go.retain(|(to, _)| *to != lost);
            self.grant();
        }
        while let Some((from, letter)) = self.came.pop_front() {
            let [first, second] = letter.words;
            if letter.what == What::Answer {
                self.answers.insert(letter.question, first);
                continue;
            }
            // A file that is closed: whoever asks breaks the rules.
            let Some(file) = self.files.get_mut(&letter.file) else {
                continue;
            };
            let word = (first & 1) as usize;
            let answer = match letter.what {
                What::Take => {
                    let old = file.pointer[word];
                    file.pointer[word] = old.wrapping_add(second);
                    Some(old)
                }
                What::Set => {
                    file.pointer[word] = second;
                    Some(second)
                }
                What::PutBack => {
                    let pointer = &mut file.pointer[word];
                    if *pointer == second {
                        *pointer = second.wrapping_sub(first >> 1);
                    }
                    Some(*pointer)
                }
                What::ClaimToRead | What::ClaimToWrite => {
                    file.next += 1;
                    file.claims.push(Claim {
                        number: file.next,
                        span: Span {
                            begin: first,
                            end: second,
                            writes: letter.what == What::ClaimToWrite,
                        },
                        by: from,
                        question: letter.question,
                        is_granted: false,
                    });
                    None
                }
                What::Release => {
                    let own = |claim: &Claim| claim.number == first && claim.by == from;
                    file.claims.retain(|claim| !own(claim));
                    None
                }
                What::Answer => None,
            };
            if let Some(answer) = answer {
                self.answer(from, letter.question, answer);
            }
            self.grant();
        }
    }

    fn answer(&mut self, to: Peer, question: u64, value: u64) {
        let letter = Letter {
            what: What::Answer,
            file: 0,
            question,
            words: [value, 0],
        };
        self.to_go.push_back((to, letter));
    }

    /// Grants what no earlier claim stands against.
    fn grant(&mut self) {
        let mut granted = Vec::new();
        for file in self.files.values_mut() {
            for at in 0..file.claims.len() {
                let (earlier, rest) = file.claims.split_at_mut(at);
                let claim = &mut rest[0];
                let is_free = !earlier.iter().any(|it| it.span.conflicts(&claim.span));
                if is_free && !claim.is_granted {
                    claim.is_granted = true;
                    granted.push((claim.by, claim.question, claim.number));
                }
            }
        }
        for (by, question, number) in granted {
            self.answer(by, question, number);
        }
    }
}

/// Sends and carries out messages while files are open that need it.
#[derive(Debug, Default)]
struct FileAgent {
    /// Files in atomic mode that have other members on this node, whose messages wake no thread.
    near: Cell<usize>,
}

/// Rights to bytes that this process has: a thread that is through with one wakes nobody but the
/// program's calls.
static HELD: AtomicUsize = AtomicUsize::new(0);

impl Hook<Process> for FileAgent {
    fn acts_beside(&self) -> bool {
        true
    }

    fn progress(&self, process: &Process) -> bool {
        let mut state = QUEUE.state();
        let has_mail = !state.came.is_empty() || !state.to_go.is_empty() || !state.lost.is_empty();
        state.read();
        let mut going = std::mem::take(&mut state.to_go);
        // A post may tell the handler that a peer is gone.
        drop(state);
        let me = process.me;
        going.retain(|(to, letter)| *to == me || !post(process, *to, letter));
        let mut state = QUEUE.state();
        let (own, left): (Vec<_>, Vec<_>) = going.into_iter().partition(|(to, _)| *to == me);
        state.came.extend(own);
        state.to_go.extend(left);
        state.read();
        let is_near = self.near.get() != 0;
        let often = is_near || HELD.load(Relaxed) != 0 || !state.to_go.is_empty();
        BESIDE.look_often(often);
        has_mail
    }

    fn before_sleep(&self, _: &Process) -> bool {
        let state = QUEUE.state();
        !state.came.is_empty() || !state.to_go.is_empty()
    }
}

/// Whether a message has left, or never will.
fn post(process: &Process, to: Peer, letter: &Letter) -> bool {
    let header = ActiveHeader {
        class: CLASS,
        context: letter.file,
        what: letter.what as i32,
        argument: letter.question,
    };
    let mut bytes = [0u8; 16];
    bytes[..8].copy_from_slice(&letter.words[0].to_le_bytes());
    bytes[8..].copy_from_slice(&letter.words[1].to_le_bytes());
    let posted = process.link(|link| link.try_post_active(to, header, &bytes[..]));
    !matches!(posted, Ok(Posted::Full))
}

/// What is kept of a file, as one member reaches it.
#[derive(Debug)]
pub(crate) struct Remote {
    owner: Peer,
    file: u32,
    served: Cell<Served>,
}

/// Whether a process answers at any time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Served {
    /// It answers in the program's calls.
    #[default]
    InCalls,
    /// It answers at any time.
    Always {
        /// Whether other members are on its node.
        near: bool,
    },
}

/// The right to bytes; goes back when it is dropped, by any thread.
#[derive(Debug)]
pub(crate) struct Claimed {
    owner: Peer,
    file: u32,
    number: u64,
}

impl Drop for Claimed {
    fn drop(&mut self) {
        let letter = Letter {
            what: What::Release,
            file: self.file,
            question: 0,
            words: [self.number, 0],
        };
        QUEUE.state().to_go.push_back((self.owner, letter));
        HELD.fetch_sub(1, Relaxed);
    }
}

/// Has messages of files taken from now on. Before any member may send one.
pub(crate) fn listen(process: &Process) {
    let handler: Box<dyn Handler> = Box::new(QueueHandler(QUEUE.clone()));
    process.link(|link| link.set_handler(CLASS, Some(handler)));
    process.hook::<FileAgent>().add_work(1);
}

/// A file is closed that needed it.
pub(crate) fn listen_no_more(process: &Process) {
    process.hook::<FileAgent>().remove_work(1);
}

/// Keeps what the members of a new file share; its number.
pub(crate) fn keep() -> u32 {
    let mut state = QUEUE.state();
    state.last_file += 1;
    let number = state.last_file;
    state.files.insert(number, FileState::default());
    number
}

impl Remote {
    /// What `owner` keeps under a number.
    pub(crate) fn new(owner: Peer, file: u32) -> Self {
        Remote {
            owner,
            file,
            served: Cell::default(),
        }
    }

    /// From now on until the file is closed, this process answers also while its program computes:
    /// it may keep who has which bytes, or have some that others wait for. `comm` has the members
    /// of the file.
    pub(crate) fn serve_always(&self, process: &Process, comm: &Comm) {
        if self.served.get() != Served::InCalls {
            return;
        }
        let is_near =
            |peer: Peer| peer != process.me && process.link(|link| link.net().shares_segment(peer));
        let near = comm.group.members().any(is_near);
        let count = &process.hook::<FileAgent>().near;
        count.set(count.get() + usize::from(near));
        self.served.set(Served::Always { near });
        BESIDE.raise();
    }

    /// Nobody needs it any more.
    pub(crate) fn close(&self, process: &Process) {
        // What is still to go to others, as the right to bytes that came back, goes first.
        process.block(describe_pointer, |_| QUEUE.state().to_go.is_empty());
        if self.owner == process.me {
            QUEUE.state().files.remove(&self.file);
        }
        if let Served::Always { near } = self.served.take() {
            let count = &process.hook::<FileAgent>().near;
            count.set(count.get() - usize::from(near));
            BESIDE.lower();
        }
        listen_no_more(process);
    }

    /// Asks a question; its number.
    fn put(&self, what: What, words: [u64; 2]) -> u64 {
        let mut state = QUEUE.state();
        state.last_question += 1;
        let question = state.last_question;
        let letter = Letter {
            what,
            file: self.file,
            question,
            words,
        };
        state.to_go.push_back((self.owner, letter));
        question
    }

    /// What became of a question, if that is known.
    fn answer(&self, question: u64) -> Option<Result<u64>> {
        let mut state = QUEUE.state();
        if let Some(answer) = state.answers.remove(&question) {
            return Some(Ok(answer));
        }
        state.gone.contains(&self.owner).then(|| {
            let text = "the process that keeps a file's shared pointer is gone";
            Err(Error::new(kind_of_death(), text))
        })
    }

    fn ask(&self, process: &Process, what: What, words: [u64; 2]) -> Result<u64> {
        let question = self.put(what, words);
        let mut answer = None;
        process.block(describe_pointer, |_| {
            answer = self.answer(question);
            answer.is_some()
        });
        answer.expect("it was waited for")
    }

    /// Moves the pointer that lies in a word by so many bytes; where it was.
    pub(crate) fn take(&self, process: &Process, word: usize, bytes: u64) -> Result<u64> {
        self.ask(process, What::Take, [word as u64, bytes])
    }

    /// Moves the pointer that lies in a word back by so many bytes if it is at `end`; where it is.
    pub(crate) fn put_back(
        &self,
        process: &Process,
        word: usize,
        end: u64,
        bytes: u64,
    ) -> Result<u64> {
        self.ask(process, What::PutBack, [word as u64 | bytes << 1, end])
    }

    /// Puts the pointer that lies in a word to a place.
    pub(crate) fn set(&self, process: &Process, word: usize, place: u64) -> Result<u64> {
        self.ask(process, What::Set, [word as u64, place])
    }

    /// Waits for the right to bytes.
    pub(crate) fn claim(&self, process: &Process, span: Span) -> Result<Claimed> {
        let number = self.ask(process, What::claim(span), [span.begin, span.end])?;
        Ok(self.claimed(number))
    }

    /// Waits for the right to bytes in a collective call.
    pub(crate) async fn claim_in(&self, crew: &CollectiveCall, span: Span) -> Result<Claimed> {
        let question = self.put(What::claim(span), [span.begin, span.end]);
        let mut answer = None;
        crew.until(|_| {
            answer = self.answer(question);
            answer.is_some()
        })
        .await;
        Ok(self.claimed(answer.expect("it was waited for")?))
    }

    fn claimed(&self, number: u64) -> Claimed {
        HELD.fetch_add(1, Relaxed);
        BESIDE.look_often(true);
        Claimed {
            owner: self.owner,
            file: self.file,
            number,
        }
    }
}

/// The process that keeps a file's shared pointer is to answer.
fn describe_pointer(_: &Process, waits: &mut WaitsFor) {
    waits
        .needs
        .push(needs::open(catena_hang::What::File, "its shared pointer"));
}

/// Sends what this process has given back, for which others may wait.
pub(crate) fn give_back(process: &Process) {
    if !QUEUE.state().to_go.is_empty() {
        process.block(describe_pointer, |_| QUEUE.state().to_go.is_empty());
    }
}

/// Targets for fuzzing: see [`crate::fuzz`].
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz {
    use super::*;

    /// Files that are kept, from 0 on.
    const FILES: u32 = 2;
    /// Bytes that stand for a message, before those of it.
    const HEAD: usize = 5;

    /// What members of other hosts send to the one that keeps what a file's members share: each
    /// message in five bytes, which say who sends it, what it is, of which file, its question, and
    /// how many bytes follow.
    pub fn letters(data: &[u8]) {
        let mail = Arc::new(MessageQueue::default());
        let kept = (0..FILES).map(|file| (file, FileState::default()));
        mail.state().files.extend(kept);
        let mut postbox = QueueHandler(mail.clone());
        let mut rest = data;
        while let Some((head, after)) = rest.split_at_checked(HEAD) {
            let (payload, next) = after.split_at(after.len().min(head[4].into()));
            let header = ActiveHeader {
                class: CLASS,
                context: head[2].into(),
                what: head[1].into(),
                argument: head[3].into(),
            };
            postbox.deliver(Peer(head[0].into()), header, PeerBytes::from(payload));
            mail.state().read();
            check(&mail.state());
            rest = next;
        }
    }

    /// Nobody has bytes that somebody else may change meanwhile, and whoever can have its bytes has
    /// them.
    fn check(state: &State) {
        for claims in state.files.values().map(|it| &it.claims) {
            for (at, claim) in claims.iter().enumerate() {
                let is_free = !claims[..at].iter().any(|it| it.span.conflicts(&claim.span));
                assert_eq!(claim.is_granted, is_free, "{claim:?}");
            }
        }
        assert!(state.came.is_empty() && state.files.len() == FILES as usize);
    }
}
