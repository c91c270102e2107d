//! The side of who asks a thread where it is.

use std::fs::{self, File};
use std::io;
use std::mem::offset_of;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::changes::look;
use crate::python::PYTHON_LINE;
use crate::read::View;
use crate::reply::{MARK, REGISTERS, REPLY_AT, Reply, STACK, STACK_POINTER};

/// Where a thread is, at one moment: enough to find its frames.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Registers by their numbers in DWARF (x86-64: 17; AArch64: 31 general ones, and the stack
    /// pointer); the last one is the program counter. Those that are not known are `None`.
    pub registers: Vec<Option<u64>>,
    /// The stack from its pointer on, at most 56 KiB.
    pub stack: Vec<u8>,
    /// The line of a Python program, `script.py:12 in solve`; empty if there is none.
    pub python: String,
}

impl Sample {
    /// Where the stack begins: the address of its first byte.
    pub fn stack_at(&self) -> Option<u64> {
        *self.registers.get(STACK_POINTER)?
    }
}

/// Longest wait for an answer.
const PATIENCE: Duration = Duration::from_millis(100);

/// How often it is looked for.
const PAUSE: Duration = Duration::from_micros(200);

/// What has come of asking a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// It was not disturbed: the kernel tells where it is.
    Told(Sample),
    /// It was asked, by a question of that number.
    Sent(u32),
    /// It cannot be asked, or a signal would end its call early.
    Nobody,
}

impl View<'_> {
    /// Asks where a thread is: of the process that is `pid` here, the thread of that number as
    /// [`threads`](View::threads) has it. It does not wait for the answer, so that many can be
    /// asked at a time: [`answer`](View::answer) has it later.
    ///
    /// A thread that sleeps in the kernel is not disturbed where the kernel tells enough: its
    /// registers are then not known, but for two. (It tells those who may trace the process. For
    /// others, a thread in a call that a signal would end early is let alone, if the kernel tells
    /// that.) One that computes, or runs Python, gets a signal; what that means for a program is
    /// told at [`listen`](crate::listen).
    ///
    /// Nothing is sent to a process that does not handle the signal, as after `exec`. The process
    /// must not have been waited for by its parent meanwhile, for then its number may be another
    /// one's. Cost: some ten microseconds.
    ///
    /// # Errors
    /// If the area cannot be read.
    pub fn ask(&self, pid: u32, thread: u32) -> io::Result<Asked> {
        let signal = self.signal()?;
        let Some(task) = Task::find(pid, thread) else {
            return Ok(Asked::Nobody);
        };
        // Also of Python: its own calls begin again, but not those of its extensions in C.
        if task.state == 'S' {
            match task.sleeping() {
                Asleep::At(sample) => return Ok(Asked::Told(sample)),
                Asleep::InCall => return Ok(Asked::Nobody),
                Asleep::Unknown => {}
            }
        }
        let question = question();
        let is_sent = task.can_answer(signal) && task.send(signal, question);
        Ok(match is_sent {
            true => Asked::Sent(question),
            false => Asked::Nobody,
        })
    }

    /// Asks where a thread is, as [`ask`](View::ask) does, and waits for the answer: for 100 ms,
    /// which a thread may need that shares its core with others. `None` if it does not tell.
    ///
    /// # Errors
    /// If the area cannot be read.
    pub fn sample(&self, pid: u32, thread: u32) -> io::Result<Option<Sample>> {
        let question = match self.ask(pid, thread)? {
            Asked::Told(sample) => return Ok(Some(sample)),
            Asked::Nobody => return Ok(None),
            Asked::Sent(question) => question,
        };
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            if let Some(sample) = self.answer(question)? {
                return Ok(Some(sample));
            }
            std::thread::sleep(PAUSE);
        }
        Ok(None)
    }

    /// The answer to a question, if it is there. It is gone once the process has answered another
    /// one.
    ///
    /// # Errors
    /// If the area cannot be read.
    pub fn answer(&self, question: u32) -> io::Result<Option<Sample>> {
        let answer = look(
            || self.reply_word(offset_of!(Reply, changes)),
            || {
                if self.reply_word(offset_of!(Reply, question))? != question {
                    return Ok(None);
                }
                let mut bytes = vec![0; size_of::<Reply>()];
                self.read_at(&mut bytes, REPLY_AT)?;
                Ok(Some(bytes))
            },
        )?;
        Ok(answer.flatten().and_then(|bytes| sample(&bytes)))
    }

    /// The signal by which a thread is asked; 0 where nobody listens.
    ///
    /// # Errors
    /// If the area cannot be read.
    pub fn signal(&self) -> io::Result<u32> {
        self.reply_word(offset_of!(Reply, signal))
    }

    fn reply_word(&self, at: usize) -> io::Result<u32> {
        let mut bytes = [0; 4];
        self.read_at(&mut bytes, REPLY_AT + at)?;
        Ok(u32::from_ne_bytes(bytes))
    }
}

/// What the bytes of an answer say.
fn sample(bytes: &[u8]) -> Option<Sample> {
    let part = |at: usize, len: usize| bytes.get(at..at.checked_add(len)?);
    let len = |at: usize| Some(u32::from_ne_bytes(part(at, 4)?.try_into().ok()?) as usize);
    let registers = part(offset_of!(Reply, registers), 8 * REGISTERS)?.chunks(8);
    let registers = registers.map(|it| it.try_into().ok().map(u64::from_ne_bytes));
    let stack = len(offset_of!(Reply, stack_len))?.min(STACK);
    let python = len(offset_of!(Reply, python_len))?.min(PYTHON_LINE);
    let python = part(offset_of!(Reply, python), python)?;
    Some(Sample {
        registers: registers.collect(),
        stack: part(offset_of!(Reply, stack), stack)?.to_vec(),
        python: String::from_utf8_lossy(python).into_owned(),
    })
}

/// A number that no other question of this time has.
fn question() -> u32 {
    static LAST: AtomicU32 = AtomicU32::new(0);
    let number = LAST.fetch_add(1, Relaxed) << 22;
    (number ^ std::process::id()).max(1)
}

/// Where a sleeping thread is, as far as the kernel tells.
enum Asleep {
    At(Sample),
    /// In a call that would end early.
    InCall,
    Unknown,
}

/// A thread as it stands here.
#[derive(Debug)]
struct Task {
    pid: u32,
    tid: u32,
    state: char,
    /// Signals that it blocks, and that the process handles: a bit each.
    blocked: u64,
    handled: u64,
}

impl Task {
    /// The thread that has that number in the innermost namespace that it is in.
    fn find(pid: u32, thread: u32) -> Option<Task> {
        if let Some(task) = Task::read(pid, thread, thread) {
            return Some(task);
        }
        let tasks = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
        let numbers = tasks.flatten().filter_map(|it| {
            let name = it.file_name();
            name.to_str()?.parse().ok()
        });
        numbers
            .into_iter()
            .find_map(|tid| Task::read(pid, tid, thread))
    }

    /// The thread `tid`, if it calls itself `own`.
    fn read(pid: u32, tid: u32, own: u32) -> Option<Task> {
        let text = fs::read_to_string(format!("/proc/{pid}/task/{tid}/status")).ok()?;
        let field = |name: &str| {
            let mut lines = text.lines();
            let found = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
            Some(found.trim())
        };
        let signals = |name| u64::from_str_radix(field(name)?, 16).ok();
        let number = field("NSpid")?.split_whitespace().last()?;
        if number.parse() != Ok(own) {
            return None;
        }
        Some(Task {
            pid,
            tid,
            state: field("State")?.chars().next()?,
            blocked: signals("SigBlk")?,
            handled: signals("SigCgt")?,
        })
    }

    /// Whether a signal reaches its handler soon.
    fn can_answer(&self, signal: u32) -> bool {
        let Some(bit) = signal.checked_sub(1).filter(|&bit| bit < 64) else {
            return false;
        };
        let is_handled = self.handled >> bit & 1 == 1 && self.blocked >> bit & 1 == 0;
        is_handled && matches!(self.state, 'R' | 'S' | 'D')
    }

    fn send(&self, signal: u32, question: u32) -> bool {
        // SAFETY: all-zero is a valid one.
        let mut about: About = unsafe { std::mem::zeroed() };
        about.signal = signal as i32;
        about.code = libc::SI_QUEUE;
        about.pid = std::process::id();
        // SAFETY: without arguments.
        about.uid = unsafe { libc::getuid() };
        about.value = u64::from(MARK) << 32 | u64::from(question);
        // SAFETY: what tells of the signal lives as long as the call.
        let sent = unsafe {
            let call = libc::SYS_rt_tgsigqueueinfo;
            libc::syscall(call, self.pid, self.tid, signal, &raw const about)
        };
        sent == 0
    }

    /// Where it is, if it sleeps now.
    fn sleeping(&self) -> Asleep {
        let folder = format!("/proc/{}/task/{}", self.pid, self.tid);
        let calls = || fs::read_to_string(format!("{folder}/syscall")).ok();
        if let Some(before) = calls()
            && let Some(sample) = self.stack_of(&before)
            && calls().as_deref() == Some(&*before)
        {
            return Asleep::At(sample);
        }
        let place = fs::read_to_string(format!("{folder}/wchan")).unwrap_or_default();
        // Functions of the kernel in which calls wait that no handler lets go on.
        let ending = [
            "nanosleep",
            "poll",
            "select",
            "epoll",
            "sigtimedwait",
            "sigsuspend",
            "pause",
            "msgrcv",
            "msgsnd",
            "semtimedop",
            "io_getevents",
            "cqring_wait",
        ];
        match ending.iter().any(|it| place.contains(it)) {
            true => Asleep::InCall,
            false => Asleep::Unknown,
        }
    }

    /// The sample that a line of its file `syscall` leads to: number, six arguments, stack pointer,
    /// program counter.
    fn stack_of(&self, line: &str) -> Option<Sample> {
        let mut words = line.split_whitespace().rev();
        let mut word = || {
            let digits = words.next()?.strip_prefix("0x")?;
            u64::from_str_radix(digits, 16).ok()
        };
        let (counter, at) = (word()?, word()?);
        let memory = File::open(format!("/proc/{}/task/{}/mem", self.pid, self.tid)).ok()?;
        let mut stack = vec![0; STACK];
        let mut len = 0;
        // It ends before where the memory does.
        while len < STACK {
            let page = 4096 - (at as usize + len) % 4096;
            let to = &mut stack[len..STACK.min(len + page)];
            match memory.read_at(to, at.checked_add(len as u64)?) {
                Ok(read) if read > 0 => len += read,
                _ => break,
            }
        }
        stack.truncate(len);
        let mut registers = vec![None; REGISTERS];
        *registers.get_mut(STACK_POINTER)? = Some(at);
        *registers.last_mut()? = Some(counter);
        let python = String::new();
        (len > 0).then_some(Sample {
            registers,
            stack,
            python,
        })
    }
}

/// What a queued signal tells its handler, as the kernel lays it out on machines of 64 bits.
#[repr(C)]
struct About {
    signal: i32,
    error: i32,
    code: i32,
    pad: i32,
    pid: u32,
    uid: u32,
    value: u64,
    rest: [u64; 12],
}

const _: () = assert!(size_of::<About>() == 128);
