//! Progress beside a program that computes: a thread that acts when no call does.
//!
//! It is made when a call ends and leaves something unfinished that may have to be acted on: a long
//! message, a collective that was started, or what others need this process for ([`Demand`]). It
//! sleeps until somebody [calls](Presence::call) the process, or on what networks wake a process
//! by, and has the library only while the program is outside ([`Life::beside`]). It calls no
//! function of the program's.
//!
//! Where it finds the program inside, or just gone, it *naps*: it looks again after a while, and
//! takes a program that was away all the time for one that computes. So a program that comes and
//! goes neither wakes it nor pays a fence, and what is complete within microseconds is not seen.
//! After some naps in vain it sleeps until the program leaves with something unfinished. What is
//! worth a call of the system, a long message or collective, wakes it from a nap, too.
//!
//! [`Presence::call`]: catena_base::Presence::call
//! [`Life::beside`]: catena_process::Life::beside

use std::sync::atomic::Ordering::{AcqRel, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use catena_base::{Barrier, Left, Presence, Sleep, WakeSocket};
use catena_boot::FAULT_TOLERANCE;
use catena_fabric::Sleeper;
use catena_link::ReqId;
use catena_objects::callback::is_inside;
use catena_objects::state::{are_put_off, end_those_put_off, put_off_ends};
use catena_process::Owner;
use catena_settings::{Setting, choice, setting};
use catena_shm::Shm;

use crate::process::{self, Process, enter, life, lock_for_good};

/// Longest sleep while something is under way between this process and others: doubled for each one
/// in a row, up to the second. A [`Sleeper`] has a limit of its own.
const SLEEPS: [Duration; 2] = [Duration::from_millis(10), Duration::from_secs(1)];
/// How long it has the library while something moves, before others may enter.
const TURN: Duration = Duration::from_millis(1);
/// How long it looks on after something has moved, where each rank has a core: mostly others go on
/// with what it did.
const LINGERS: Duration = Duration::from_micros(20);
/// First nap, doubled for each one in a row, and the longest. A program that is found away is given
/// a quarter of it to come back.
const NAPS: [Duration; 2] = [Duration::from_micros(200), Duration::from_millis(10)];
/// Naps in a row before the thread waits to be told that the program leaves: a program that comes
/// and goes all the time wakes it once in a series of naps.
const LOOKS: u32 = 8;
/// Longest of the looks, each after twice as long, for what nothing tells of but a network.
const LONGEST_LOOK: Duration = Duration::from_millis(10);
/// Times that the program leaves, with a fence each, while the thread sleeps until it is called,
/// before it is woken, and naps if the program is not away.
const MANY: u32 = 32;
/// Bytes of messages that may have to be acted on: shorter ones arrive without.
pub(crate) const LONG: u64 = 16 << 10;

choice! {
    /// Whether messages go on while the program computes.
    pub enum Progress {
        /// By a thread.
        Thread = "thread",
        /// No.
        None = "none",
    }
}

setting! {
    /// Whether messages and collectives go on while the program computes.
    ///
    /// `thread`: a thread, which sleeps until there is something to do, carries on long messages
    /// and collectives that were started and not completed. `none`: they wait for the program's
    /// calls.
    pub static PROGRESS: Progress = Progress::None;
    scope: Local,
    level: User,
}

/// All settings of it.
pub const SETTINGS: &[&dyn Setting] = &[&PROGRESS];

/// How many need it for others.
static NEEDED: AtomicU32 = AtomicU32::new(0);
/// How many demands wait for something that wakes nobody.
static BLIND: AtomicU32 = AtomicU32::new(0);
/// How long others may be left unserved, nanoseconds.
static LATENCY: AtomicU64 = AtomicU64::new(250_000);
/// Whether the thread is there: one of those below.
static STATE: AtomicU8 = AtomicU8::new(NOT_MADE);
/// Times that the program has left while the thread slept until it is called, of [`MANY`].
static LEFT_OFTEN: AtomicU32 = AtomicU32::new(0);
/// Whether something was started that the thread is to see at once.
static IS_URGENT: AtomicBool = AtomicBool::new(false);
/// Whether nothing was expected before this call: who has sent something called nobody.
static IS_NEW: AtomicBool = AtomicBool::new(false);
/// Whether the program has roused the thread as it left, which may come back at once.
static IS_ROUSED: AtomicBool = AtomicBool::new(false);
/// Whether the program is away in the middle of a call, so that only transfers go on.
static IN_CALL: AtomicBool = AtomicBool::new(false);
/// Whether it sleeps until it is called, since all whom it has to hear do that.
static HEARS_ALL: AtomicBool = AtomicBool::new(false);
/// Whether something may be under way that is more than a receive without a message, so that no
/// sleep is without a limit: a call that is missed costs a while then.
static IS_LIMITED: AtomicBool = AtomicBool::new(false);

const NOT_MADE: u8 = 0;
const MADE: u8 = 1;
/// The system has none left: everything waits for the program's calls.
const REFUSED: u8 = 2;

/// What the thread did.
#[derive(Debug)]
pub struct Acts {
    /// How often it woke and had the library.
    pub wakes: AtomicU64,
    /// How often that moved anything.
    pub useful: AtomicU64,
    /// How long it had the library, nanoseconds.
    pub time: AtomicU64,
}

/// What the thread did so far.
pub static ACTS: Acts = Acts {
    wakes: AtomicU64::new(0),
    useful: AtomicU64::new(0),
    time: AtomicU64::new(0),
};

/// What a crate above this one needs the thread for: a static of that crate.
#[derive(Debug, Default)]
pub struct Demand {
    is_blind: AtomicBool,
}

impl Demand {
    /// Nothing yet.
    pub const fn new() -> Self {
        Demand {
            is_blind: AtomicBool::new(false),
        }
    }

    /// One more object needs the thread, which [`start`] starts.
    pub fn raise(&self) {
        NEEDED.fetch_add(1, AcqRel);
    }

    /// One less needs it.
    pub fn lower(&self) {
        NEEDED.fetch_sub(1, AcqRel);
    }

    /// Says whether something is awaited that no network tells of, so that the thread has to look
    /// for it. The caller has the library.
    pub fn look_often(&self, often: bool) {
        if self.is_blind.load(Relaxed) == often {
            return;
        }
        self.is_blind.store(often, Relaxed);
        let blind = BLIND.load(Relaxed);
        BLIND.store(if often { blind + 1 } else { blind - 1 }, Relaxed);
    }
}

/// Has the thread serve others if somebody needs it. It leaves them unserved for `latency` at most;
/// if that is 0 they wait for the program's calls. The caller is outside of the library.
///
/// Calls take the lock from then on, as they let go of it where they are outside of the library for
/// long: in functions of the program and in calls of the system on files. Others are served then.
///
/// Without a thread, as when the system has none left, others wait for the program's calls.
pub fn start(latency: Duration) {
    LATENCY.store(latency.as_nanos() as u64, Relaxed);
    if !is_needed() {
        return;
    }
    lock_for_good();
    if let Ok(_process) = enter() {
        process::expect(left);
    }
}

/// Whether others need the thread.
fn is_needed() -> bool {
    NEEDED.load(Relaxed) != 0 && LATENCY.load(Relaxed) != 0
}

/// Something was started that may have to be acted on before it is completed; whether the thread is
/// there for it.
#[cold]
pub(crate) fn expect() -> bool {
    let is_wanted = PROGRESS.get() == Progress::Thread && STATE.load(Relaxed) != REFUSED;
    if is_wanted && process::expect(left) {
        IS_NEW.store(true, Relaxed);
    }
    life().presence().expects()
}

/// Does what [`expect`] does, for a collective that moves `bytes` bytes.
#[cold]
pub(crate) fn expect_steps(bytes: u64) {
    if expect() {
        if IS_NEW.load(Relaxed) {
            // Others that have answered its first step called nobody.
            life().presence().leave_word();
        }
        limit_sleeps();
        if bytes >= LONG {
            tell_at_once();
        }
    }
}

/// As [`expect`], for a transfer.
#[cold]
#[inline(never)]
pub(crate) fn expect_transfer(process: &Process, id: ReqId) {
    if !expect() {
        return;
    }
    let (is_posted, has_networks) = process.link(|link| {
        link.note_unfinished(id);
        (link.is_posted(id), link.net().has_networks())
    });
    if !is_posted {
        limit_sleeps();
    }
    // Who announces a message through shared memory calls.
    if !is_posted || has_networks {
        tell_at_once();
    }
}

/// What was started is long: the thread is woken for it where it does not listen.
fn tell_at_once() {
    IS_URGENT.store(true, Relaxed);
    process::tell_as_it_leaves();
}

/// No sleep is without a limit from now on, the present one among them.
fn limit_sleeps() {
    if !IS_LIMITED.load(Relaxed) {
        IS_LIMITED.store(true, Relaxed);
        life().presence().rouse_softly();
    }
}

/// Whether all call this process that it has to hear.
fn hears_all(process: &Process) -> bool {
    BLIND.load(Relaxed) == 0 && !process.link(|link| link.net().has_networks())
}

/// A call ends while something may have to be acted on, and the thread does not look for that by
/// itself, or there is news for it: it has the library from now on.
#[cold]
fn left(process: &Process) {
    end_those_put_off();
    if process.threads.are_waiting() {
        return;
    }
    // It may have jumped out of a function that was called at the end of a call.
    IN_CALL.store(IN_CALL.load(Relaxed) && is_inside(), Relaxed);
    if !is_any_unfinished(process) || !is_made(process) {
        return life().expect_nothing();
    }
    let here = life().presence();
    let is_urgent = IS_URGENT.load(Relaxed);
    IS_URGENT.store(false, Relaxed);
    let is_new = IS_NEW.load(Relaxed);
    IS_NEW.store(false, Relaxed);
    // What it was called for the program does itself if that is short.
    let has_word = here.take_word();
    if has_word && !is_urgent {
        progress(process, true);
        if !is_any_unfinished(process) {
            return life().expect_nothing();
        }
    }
    let is_busy = process.link(|link| link.has_own_work());
    let is_deaf = HEARS_ALL.load(Relaxed) && !hears_all(process);
    let hears = here.hears();
    let is_often = hears && is_left_often();
    let is_told = is_urgent && (!hears || has_word)
        || is_new && process.link(|link| !link.net().shm().is_none_or(Shm::is_silent));
    match here.leave() {
        Left::Called => here.wake(),
        _ if is_busy || is_deaf || is_told => here.wake(),
        // It looks whether the program stays away.
        left if left == Left::Told || is_often => {
            IS_ROUSED.store(true, Relaxed);
            here.rouse();
        }
        _ => {}
    }
}

/// Whether something is unfinished that may have to be acted on beside the program.
fn is_any_unfinished(process: &Process) -> bool {
    is_needed() || process.link(|link| link.is_unfinished()) || process.collectives().are_some()
}

/// Counts how often the program has left while the thread sleeps until it is called; whether that
/// is often enough for it to nap instead.
fn is_left_often() -> bool {
    let times = LEFT_OFTEN.load(Relaxed) + 1;
    LEFT_OFTEN.store(times % MANY, Relaxed);
    times == MANY
}

/// Calls a function of the program without the library's lock, if this thread holds it: the program
/// is away meanwhile. Where calls take no lock, transfers alone go on: whoever called may be in the
/// middle of a collective.
pub(crate) fn outside(call: &mut dyn FnMut()) {
    let (lock, here) = (life().lock(), life().presence());
    let is_inside = life().is_locked() && lock.is_held() && here.is_inside();
    if is_inside && here.leave() != Left::Quietly {
        here.wake();
    }
    let steps_out = life().is_own_call().then(|| {
        let before = IN_CALL.swap(true, Relaxed);
        life().step_out();
        before
    });
    match life().kept() {
        Some(process) => catena_process::outside(process, call),
        None => lock.released_if_held(call),
    }
    if is_inside && here.is_away() {
        here.enter();
    }
    if let Some(before) = steps_out {
        life().come_back();
        IN_CALL.store(before, Relaxed);
    }
}

/// Makes the thread if it is not there; whether it is. Calls take the lock from then on where the
/// kernel has no barrier, and where threads of the program call in turn: nothing tells a call that
/// any of them may make at any time from one in its turn.
fn is_made(process: &Process) -> bool {
    if STATE.load(Relaxed) != NOT_MADE {
        return STATE.load(Relaxed) == MADE;
    }
    let has_barrier = Barrier::register_own() != Barrier::Missing;
    if !has_barrier || process.owner.get() == Owner::InTurn {
        lock_for_good();
    }
    let signals = Blocked::those_of_the_program();
    let thread = Builder::new()
        .name("catena-beside".to_owned())
        .stack_size(STACK);
    let made = thread.spawn(|| serve()).is_ok();
    drop(signals);
    STATE.store(if made { MADE } else { REFUSED }, Relaxed);
    made
}

/// Room for handlers of the program, too.
const STACK: usize = 1 << 20;

/// Signals of what the thread itself does: a handler of the program's may serve faults of its
/// memory, and a fault that is blocked ends the process.
const FAULTS: [i32; 6] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGSYS,
];

/// Signals that a thread blocks until this is dropped.
struct Blocked(libc::sigset_t);

impl Blocked {
    /// All but [`FAULTS`]: they are for the threads of the program.
    fn those_of_the_program() -> Blocked {
        // SAFETY: both are sets of signals, which the calls fill.
        unsafe {
            let (mut all, mut before) = (std::mem::zeroed(), std::mem::zeroed());
            libc::sigfillset(&raw mut all);
            for fault in FAULTS {
                libc::sigdelset(&raw mut all, fault);
            }
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
            Blocked(before)
        }
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        // SAFETY: a set that the kernel has given.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, std::ptr::null_mut())
        };
    }
}

/// What it sleeps on next.
enum Next {
    /// There may be more to do.
    Again,
    /// Nothing but calls.
    Calls,
    /// The networks, and calls.
    Networks(Sleeper),
    /// Nothing tells of what is awaited soon.
    Looks,
    /// Nothing tells of what comes over some network.
    BlindNetworks,
}

/// Turns of a tenth of a millisecond: the thread, which mostly sleeps, has its core sooner then
/// than a program that computes on the same one hands it over (scheduling by deadlines, Linux 6.12
/// and later; others take no notice).
fn take_short_turns() {
    #[repr(C)]
    struct Attributes {
        size: u32,
        policy: u32,
        flags: u64,
        nice: i32,
        priority: u32,
        runtime: u64,
        deadline: u64,
        period: u64,
    }
    // SAFETY: calls that take no memory but the attributes, which have the size that they say; 0 is
    // this thread.
    unsafe {
        if libc::sched_getscheduler(0) != libc::SCHED_OTHER {
            return;
        }
        let attributes = Attributes {
            size: size_of::<Attributes>() as u32,
            policy: libc::SCHED_OTHER as u32,
            flags: 0,
            nice: libc::getpriority(libc::PRIO_PROCESS, 0),
            priority: 0,
            runtime: 100_000,
            deadline: 0,
            period: 0,
        };
        libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0);
    }
}

/// What the thread does. A panic ends the process: what it had half done is the program's.
extern "C" fn serve() {
    take_short_turns();
    put_off_ends();
    let (mut socket, mut seen) = (None, 0);
    // Naps in a row.
    let mut naps: u32 = 0;
    let mut longest = SLEEPS[0];
    let mut look = Duration::ZERO;
    // Whether it has listened since: then whatever has ended its sleep may be something to do.
    let mut has_listened = false;
    loop {
        let here = life().presence();
        if let Some(socket) = &socket {
            WakeSocket::silence(socket);
        }
        let calls = here.calls();
        let more = calls.wrapping_sub(std::mem::replace(&mut seen, calls));
        let is_roused = more != 0 && IS_ROUSED.swap(false, Relaxed);
        let was_called = more > u32::from(is_roused);
        let latency = Duration::from_nanos(LATENCY.load(Relaxed).max(50_000));
        // Others are to be served as soon as the program is away.
        let is_needed = is_needed();
        let is_due = has_listened && !is_roused || was_called || is_needed || here.is_called();
        let did = (is_due && here.is_away())
            .then(|| life().beside(|process| act(process, here)))
            .flatten();
        has_listened = did.is_some();
        let is_again = matches!(did, Some(Next::Again));
        longest = match was_called || is_again {
            true => SLEEPS[0],
            false => SLEEPS[1].min(longest * 2),
        };
        look = match was_called || !matches!(did, Some(Next::BlindNetworks)) {
            true => latency,
            false => LONGEST_LOOK.min(look * 2).max(latency),
        };
        let limit = IS_LIMITED.load(Relaxed).then_some(longest);
        match did {
            Some(next) => {
                naps = 0;
                match next {
                    Next::Again => {
                        here.run_on();
                        thread::yield_now();
                    }
                    Next::Calls => here.sleep(Sleep::Calls, calls, limit),
                    Next::Looks => here.sleep(Sleep::Calls, calls, Some(latency)),
                    Next::BlindNetworks => here.sleep(Sleep::Calls, calls, Some(look)),
                    Next::Networks(sleeper) => {
                        if socket.is_none() {
                            socket = WakeSocket::new().ok();
                        }
                        match &socket {
                            Some(socket) => {
                                let limit = match sleeper.has_timers() {
                                    true => longest,
                                    false => limit.unwrap_or(Duration::MAX),
                                };
                                let sleeper = sleeper.or(Sleeper::new(Some(socket.fd())));
                                here.sleep_on(Sleep::Calls, calls, socket.waker(), || {
                                    sleeper.sleep(limit);
                                });
                            }
                            None => here.sleep(Sleep::Calls, calls, Some(latency)),
                        }
                    }
                }
            }
            None => {
                if was_called && here.expects() {
                    here.leave_word();
                }
                naps = naps.saturating_add(1);
                let is_away = here.mark();
                if naps < LOOKS || is_away {
                    let nap = match is_needed {
                        true => latency,
                        false => NAPS[1].min(NAPS[0] * (1 << (naps - 1).min(LOOKS))),
                    };
                    let nap = if is_away { nap / 4 } else { nap };
                    here.sleep(Sleep::Nap, calls, Some(nap));
                } else {
                    here.sleep(Sleep::Program, calls, limit);
                    if here.calls() != calls {
                        naps = 0;
                    }
                }
            }
        }
    }
}

/// Does what there is to do, as long as the program is away.
fn act(process: &Process, here: &Presence) -> Next {
    let began = Instant::now();
    let lingers = match process.is_crowded() {
        true => Duration::ZERO,
        false => LINGERS,
    };
    let (mut moved, mut last, mut is_over) = (false, began, false);
    process.engine.after_pause();
    while here.is_away() && !is_over {
        let now = Instant::now();
        match progress(process, false) {
            true => (moved, last) = (true, now),
            false => is_over = !moved || now - last >= lingers,
        }
        if now - began >= TURN {
            break;
        }
    }
    if is_over {
        // Whoever calls from now on wakes it.
        here.rearm();
        // Twice: what hooks have begun transfers go on with.
        let mut looks = (0..2).map(|_| progress(process, true));
        is_over = !looks.any(|moved| moved);
        moved |= !is_over;
    }
    ACTS.wakes.fetch_add(1, Relaxed);
    ACTS.useful.fetch_add(moved.into(), Relaxed);
    ACTS.time
        .fetch_add(began.elapsed().as_nanos() as u64, Relaxed);
    if are_put_off() {
        process::tell_as_it_leaves();
    }
    if !is_over {
        return Next::Again;
    }
    let is_limited = process.collectives().are_some()
        || process.link(|link| link.is_announced())
        || FAULT_TOLERANCE.get();
    IS_LIMITED.store(is_limited, Relaxed);
    HEARS_ALL.store(hears_all(process), Relaxed);
    match process.link(|link| link.net().sleeper()) {
        _ if HEARS_ALL.load(Relaxed) => Next::Calls,
        Some(_) if BLIND.load(Relaxed) != 0 => Next::Looks,
        Some(sleeper) if sleeper.is_blind() => Next::BlindNetworks,
        Some(sleeper) => Next::Networks(sleeper),
        None => Next::Looks,
    }
}

/// Moves what can be moved; true if anything did. `looks` as before a sleep.
fn progress(process: &Process, looks: bool) -> bool {
    if IN_CALL.load(Relaxed) {
        return process.progress_transfers();
    }
    let awaits = |awaited: &mut _| process.requests_await(awaited);
    process.engine.progress_beside(process, looks, awaits)
}
