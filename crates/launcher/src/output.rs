//! What the ranks write: kept apart by lines, and passed on without ever
//! blocking the launcher.
//!
//! ```text
//! rank's pipe ──► Lines (one per rank and stream) ──► Sink (stdout or stderr)
//! ```
//!
//! Where stdout and stderr lead to the same place, one sink serves both, so that lines stay whole
//! there, too.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt::Display;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

pub use catena_base::tell;
use catena_boot::{Interest, Poller};

use crate::sys::{self, Writer};

/// Above this, a sink asks for no more, bytes.
const FULL: usize = 1 << 20;

/// A line that gets longer than this is passed on in parts, bytes.
const LONG_LINE: usize = 1 << 20;

/// Identifies a stream of a rank.
pub type StreamId = u64;

/// Where output goes: the launcher's own stdout or stderr.
#[derive(Debug)]
pub struct Sink {
    /// What is not written yet.
    queue: VecDeque<u8>,
    to: Writer,
    /// The stream whose unfinished line was passed on last.
    open: Option<StreamId>,
    /// Whether the poller watches for room; `None` if it cannot, as for a
    /// file, which always has room.
    watched: Option<bool>,
    /// Whether all that was written has arrived.
    settled: bool,
    token: u64,
    /// Nobody reads any more, or writing failed.
    closed: Option<io::ErrorKind>,
}

impl Sink {
    /// One whose poller events carry `token`.
    pub fn new(fd: BorrowedFd<'_>, token: u64, poller: &Poller) -> io::Result<Sink> {
        let to = Writer::new(fd)?;
        let watched = match poller.add(&to, token, Interest::Write) {
            Ok(()) => poller.remove(&to).is_ok().then_some(false),
            Err(_) => None,
        };
        Ok(Sink {
            queue: VecDeque::new(),
            to,
            open: None,
            watched,
            settled: true,
            token,
            closed: None,
        })
    }

    /// Whether it should be given no more for now.
    pub fn is_full(&self) -> bool {
        self.queue.len() > FULL
    }

    /// Whether its reader had not taken everything when it was flushed last.
    pub fn is_behind(&self) -> bool {
        self.watched == Some(true)
    }

    /// Whether everything is written, or never will be.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.settled
    }

    /// Why nothing more can be written, if so.
    pub fn closed(&self) -> Option<io::ErrorKind> {
        self.closed
    }

    /// Writes as much as can be written at once.
    pub fn flush(&mut self, poller: &Poller) {
        while !self.queue.is_empty() {
            let (rest, _) = self.queue.as_slices();
            match self.to.write(rest) {
                Ok(n) => drop(self.queue.drain(..n)),
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted => {}
                    io::ErrorKind::WouldBlock => break,
                    kind => self.close(kind),
                },
            }
        }
        if self.closed.is_none() {
            match self.to.settle() {
                Ok(settled) => self.settled = settled,
                Err(error) => self.close(error.kind()),
            }
        }
        let waiting = !self.is_empty();
        if self.watched.is_some_and(|watched| watched != waiting) {
            // Both calls are on a descriptor that the poller took before.
            let _ = match waiting {
                true => poller.add(&self.to, self.token, Interest::Write),
                false => poller.remove(&self.to),
            };
            self.watched = Some(waiting);
        }
    }

    /// Drops what is not written yet and all that comes.
    pub fn give_up(&mut self) {
        if !self.is_empty() {
            self.close(io::ErrorKind::TimedOut);
        }
    }

    fn close(&mut self, why: io::ErrorKind) {
        self.closed.get_or_insert(why);
        self.queue = VecDeque::new();
        self.settled = true;
    }

    /// Adds a line of the launcher's own, without its end.
    pub fn tell(&mut self, text: &str) {
        self.line(StreamId::MAX, b"", format!("{text}\n").as_bytes());
    }

    /// Writes a line of the launcher's own past what waits or was given up, as far as there is
    /// room.
    pub fn tell_at_once(&self, text: &str) {
        let _ = self.to.write(format!("{text}\n").as_bytes());
    }

    fn push(&mut self, bytes: &[u8]) {
        if self.closed.is_none() {
            self.queue.extend(bytes);
        }
    }

    /// Adds a part of a line, or all of it, from `from`.
    fn line(&mut self, from: StreamId, tag: &[u8], line: &[u8]) {
        match self.open {
            Some(other) if other == from => {}
            Some(_) => {
                self.push(b"\n");
                self.push(tag);
            }
            None => self.push(tag),
        }
        self.push(line);
        self.open = if line.ends_with(b"\n") {
            None
        } else {
            Some(from)
        };
    }
}

/// Both streams of the launcher.
#[derive(Debug)]
pub struct Sinks {
    /// One, or two where the streams lead to different places.
    all: Vec<Sink>,
}

impl Sinks {
    /// Those of two streams, whose poller events carry `token` and the one after it.
    pub fn new(streams: [BorrowedFd<'_>; 2], token: u64, poller: &Poller) -> io::Result<Sinks> {
        let [out, error] = streams;
        let mut all = vec![Sink::new(out, token, poller)?];
        if !sys::is_same(out, error) {
            all.push(Sink::new(error, token + 1, poller)?);
        }
        Ok(Sinks { all })
    }

    /// That of stdout (0) or stderr (1).
    pub fn of(&mut self, which: usize) -> &mut Sink {
        let which = which.min(self.all.len() - 1);
        &mut self.all[which]
    }

    /// Each of them once.
    pub fn iter(&self) -> impl Iterator<Item = &Sink> {
        self.all.iter()
    }

    /// Each of them once.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Sink> {
        self.all.iter_mut()
    }

    /// Adds lines of the launcher's own to stderr, without the end of the last one. They are
    /// written when there is room, and nothing waits for that.
    pub fn tell(&mut self, text: impl Display) {
        self.of(1).tell(&text.to_string());
    }

    /// Passes on what there is of a process's unfinished lines.
    pub fn end_lines<'a>(&mut self, of: impl IntoIterator<Item = &'a mut Lines>, merge: bool) {
        for (which, lines) in of.into_iter().enumerate() {
            lines.flush(self.of(if merge { 0 } else { which }));
        }
    }
}

/// What the lines of a stream begin with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tag {
    /// Whether with the time at which they are shown.
    pub stamp: bool,
    /// And with these words.
    pub text: Vec<u8>,
}

impl Tag {
    /// What a line begins with that is shown now.
    fn now(&self) -> Cow<'_, [u8]> {
        match self.stamp {
            false => Cow::Borrowed(&self.text),
            true => {
                let time = sys::local_time() + " ";
                Cow::Owned([time.as_bytes(), &self.text].concat())
            }
        }
    }
}

/// Gathers the lines of one stream of a rank.
#[derive(Debug)]
pub struct Lines {
    id: StreamId,
    tag: Tag,
    /// The beginning of a line whose end has not come yet.
    partial: Vec<u8>,
}

impl Lines {
    /// The lines of stream `id`, each to begin with `tag`.
    pub fn new(id: StreamId, tag: Tag) -> Lines {
        Lines {
            id,
            tag,
            partial: Vec::new(),
        }
    }

    /// Whether a line has begun that was not passed on.
    pub fn has_partial(&self) -> bool {
        !self.partial.is_empty()
    }

    /// Takes what the rank wrote and passes whole lines on.
    pub fn push(&mut self, bytes: &[u8], sink: &mut Sink) {
        let Some(end) = bytes.iter().rposition(|&b| b == b'\n') else {
            self.partial.extend_from_slice(bytes);
            if self.partial.len() > LONG_LINE {
                self.flush(sink);
            }
            return;
        };
        let tag = self.tag.now();
        for line in bytes[..=end].split_inclusive(|&b| b == b'\n') {
            if self.partial.is_empty() {
                sink.line(self.id, &tag, line);
            } else {
                let mut whole = std::mem::take(&mut self.partial);
                whole.extend_from_slice(line);
                sink.line(self.id, &tag, &whole);
            }
        }
        self.partial.extend_from_slice(&bytes[end + 1..]);
    }

    /// Passes on what there is of an unfinished line.
    pub fn flush(&mut self, sink: &mut Sink) {
        if !self.partial.is_empty() {
            let partial = std::mem::take(&mut self.partial);
            sink.line(self.id, &self.tag.now(), &partial);
        }
    }
}

/// The launcher's own stream that a sink writes to.
pub fn own_stream(error: bool) -> BorrowedFd<'static> {
    use std::sync::OnceLock;
    static OUT: OnceLock<io::Stdout> = OnceLock::new();
    static ERR: OnceLock<io::Stderr> = OnceLock::new();
    if error {
        ERR.get_or_init(io::stderr).as_fd()
    } else {
        OUT.get_or_init(io::stdout).as_fd()
    }
}

/// Writes a line to stderr as far as there is room: for those that serve others, who must not wait
/// for its reader.
pub fn tell_at_once(text: &str) {
    if let Ok(to) = Writer::new(own_stream(true)) {
        let _ = to.write(format!("{text}\n").as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    struct Fixture {
        sink: Sink,
        poller: Poller,
        read: io::PipeReader,
        write: io::PipeWriter,
    }

    fn fixture() -> Fixture {
        let (read, write) = io::pipe().unwrap();
        let poller = Poller::new().unwrap();
        let sink = Sink::new(write.as_fd(), 0, &poller).unwrap();
        Fixture {
            sink,
            poller,
            read,
            write,
        }
    }

    impl Fixture {
        fn text(mut self) -> String {
            self.sink.flush(&self.poller);
            assert!(self.sink.is_empty());
            drop((self.write, self.sink));
            let mut text = String::new();
            self.read.read_to_string(&mut text).unwrap();
            text
        }
    }

    fn tag(text: &str) -> Tag {
        Tag {
            stamp: false,
            text: text.into(),
        }
    }

    #[test]
    fn lines_may_begin_with_the_time() {
        let mut f = fixture();
        let stamp = true;
        let text = b"[0] ".to_vec();
        let mut a = Lines::new(0, Tag { stamp, text });
        a.push(b"x\n", &mut f.sink);
        let text = f.text();
        let (time, rest) = text.split_at("2026-11-28 22:50:01.123".len());
        assert_eq!(rest, " [0] x\n");
        let digits: String = time
            .chars()
            .map(|c| if c.is_ascii_digit() { '0' } else { c })
            .collect();
        assert_eq!(digits, "0000-00-00 00:00:00.000");
    }

    #[test]
    fn lines_of_two_ranks_stay_whole() {
        let mut f = fixture();
        let mut a = Lines::new(0, tag("[0] "));
        let mut b = Lines::new(1, tag("[1] "));
        a.push(b"one tw", &mut f.sink);
        b.push(b"uno\ndos\ntr", &mut f.sink);
        a.push(b"o\nthree", &mut f.sink);
        b.push(b"es\n", &mut f.sink);
        assert!(a.has_partial() && !b.has_partial());
        a.flush(&mut f.sink);
        assert_eq!(
            f.text(),
            "[1] uno\n[1] dos\n[0] one two\n[1] tres\n[0] three"
        );
    }

    #[test]
    fn a_prompt_is_ended_when_another_rank_writes() {
        let mut f = fixture();
        let mut a = Lines::new(0, tag(""));
        let mut b = Lines::new(1, tag(""));
        a.push(b"name? ", &mut f.sink);
        a.flush(&mut f.sink);
        a.push(b"and age? ", &mut f.sink);
        a.flush(&mut f.sink);
        b.push(b"hello\n", &mut f.sink);
        a.push(b"thanks\n", &mut f.sink);
        assert_eq!(f.text(), "name? and age? \nhello\nthanks\n");
    }

    #[test]
    fn two_streams_into_one_pipe_are_one() {
        let (read, write) = io::pipe().unwrap();
        let (_, other) = io::pipe().unwrap();
        let poller = Poller::new().unwrap();
        let apart = Sinks::new([write.as_fd(), other.as_fd()], 0, &poller).unwrap();
        assert_eq!(apart.iter().count(), 2);
        let again = write.try_clone().unwrap();
        let mut both = Sinks::new([write.as_fd(), again.as_fd()], 0, &poller).unwrap();
        assert_eq!(both.iter().count(), 1);
        let mut lines = [0, 1].map(|id| Lines::new(id, tag("")));
        lines[0].push(b"on", both.of(0));
        lines[1].push(b"two\n", both.of(1));
        both.tell("the launcher");
        lines[0].push(b"e\nla", both.of(0));
        both.end_lines(&mut lines, false);
        both.tell("more");
        both.iter_mut().for_each(|sink| sink.flush(&poller));
        drop((both, apart, write, again));
        let mut text = String::new();
        (&read).read_to_string(&mut text).unwrap();
        assert_eq!(text, "two\nthe launcher\none\nla\nmore\n");
    }

    #[test]
    fn a_full_pipe_does_not_block() {
        let mut f = fixture();
        let mut a = Lines::new(0, tag(""));
        let line = [b"x".repeat(999), b"\n".to_vec()].concat();
        for _ in 0..3000 {
            a.push(&line, &mut f.sink);
        }
        f.sink.flush(&f.poller);
        assert!(f.sink.is_full());
        let mut got = Vec::new();
        while !f.sink.is_empty() {
            assert_eq!(f.sink.watched, Some(true));
            let mut buffer = [0; 8192];
            let n = f.read.read(&mut buffer).unwrap();
            got.extend_from_slice(&buffer[..n]);
            f.sink.flush(&f.poller);
        }
        assert_eq!(f.sink.watched, Some(false));
        drop((f.write, f.sink));
        f.read.read_to_end(&mut got).unwrap();
        assert_eq!(got.len(), 3_000_000);
    }

    #[test]
    fn memory_does_not_grow_while_the_reader_is_a_little_behind() {
        let mut f = fixture();
        let mut a = Lines::new(0, tag(""));
        let line = [b"x".repeat(999), b"\n".to_vec()].concat();
        let mut buffer = vec![0; 1000];
        for _ in 0..20_000 {
            a.push(&line, &mut f.sink);
            f.sink.flush(&f.poller);
            if f.sink.queue.len() > 100_000 {
                f.read.read_exact(&mut buffer).unwrap();
            }
        }
        assert!(!f.sink.is_empty() && f.sink.queue.capacity() < 1 << 20);
    }

    #[test]
    fn a_reader_that_is_gone_is_noticed() {
        let mut f = fixture();
        drop(f.read);
        let mut a = Lines::new(0, tag(""));
        a.push(b"x\n", &mut f.sink);
        f.sink.flush(&f.poller);
        assert_eq!(f.sink.closed(), Some(io::ErrorKind::BrokenPipe));
        assert!(f.sink.is_empty());
    }
}
