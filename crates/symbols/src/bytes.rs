//! Files in pages, read when they are needed, and what may be spent on one question.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::rc::Rc;

use gimli::{Error, LittleEndian, Reader, ReaderOffsetId, Result};

/// Bytes of a page.
const PAGE: usize = 16 << 10;

/// Pages that are kept at once.
const PAGES: usize = 4096;

/// Most bytes of a text.
pub(crate) const TEXT: usize = 4 << 10;

/// What may still be spent, and what is kept.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    /// Reads of some bytes each.
    steps: Cell<u64>,
    /// Pages from files.
    pages: Cell<u64>,
    /// Pages in memory.
    kept: Cell<usize>,
    /// Bytes of sections that were decompressed.
    inflated: Cell<u64>,
}

/// Most bytes of sections that were decompressed, of all files.
const INFLATED: u64 = 256 << 20;

impl Budget {
    /// What a task gives that may spend that much, and nothing of what is left for others.
    pub fn with<T>(&self, steps: u64, bytes: u64, task: impl FnOnce() -> T) -> T {
        let left = self.steps.replace(steps);
        let left = (left, self.pages.replace(bytes / PAGE as u64));
        let done = task();
        self.steps.set(left.0);
        self.pages.set(left.1);
        done
    }

    /// Takes room for that many bytes that are decompressed, if there is any.
    pub fn inflate(&self, bytes: u64) -> Option<()> {
        let all = self.inflated.get().checked_add(bytes)?;
        (all <= INFLATED).then(|| self.inflated.set(all))
    }

    fn spend(of: &Cell<u64>, count: u64) -> Result<()> {
        of.set(of.get().checked_sub(count).ok_or(Error::Io)?);
        Ok(())
    }
}

#[derive(Debug)]
enum Kind {
    File(File),
    Memory(Rc<[u8]>),
}

/// A file, or bytes in memory.
#[derive(Debug)]
pub(crate) struct Pages {
    kind: Kind,
    len: usize,
    pages: RefCell<HashMap<usize, Rc<[u8]>>>,
    budget: Rc<Budget>,
}

impl Pages {
    pub fn of_file(file: File, budget: &Rc<Budget>) -> Option<Rc<Pages>> {
        let about = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
        Some(Pages::new(
            Kind::File(file),
            usize::try_from(about.len()).ok()?,
            budget,
        ))
    }

    pub fn of_memory(bytes: Vec<u8>, budget: &Rc<Budget>) -> Rc<Pages> {
        let len = bytes.len();
        Pages::new(Kind::Memory(bytes.into()), len, budget)
    }

    fn new(kind: Kind, len: usize, budget: &Rc<Budget>) -> Rc<Pages> {
        Rc::new(Pages {
            kind,
            len,
            pages: RefCell::default(),
            budget: Rc::clone(budget),
        })
    }

    pub fn budget(&self) -> &Rc<Budget> {
        &self.budget
    }

    /// All of it.
    pub fn all(self: &Rc<Self>) -> Bytes {
        Bytes {
            pages: Rc::clone(self),
            at: 0,
            end: self.len,
            page: (0, Rc::from([])),
        }
    }

    /// Some bytes around a place, and where they begin.
    fn page(&self, at: usize) -> Result<(usize, Rc<[u8]>)> {
        let file = match &self.kind {
            Kind::Memory(bytes) => return Ok((0, Rc::clone(bytes))),
            Kind::File(file) => file,
        };
        let begin = at / PAGE * PAGE;
        if let Some(page) = self.pages.borrow().get(&begin) {
            return Ok((begin, Rc::clone(page)));
        }
        Budget::spend(&self.budget.pages, 1)?;
        let mut page = vec![0; PAGE.min(self.len - begin)];
        file.read_exact_at(&mut page, begin as u64)
            .map_err(|_| Error::Io)?;
        let page: Rc<[u8]> = page.into();
        if self.budget.kept.get() >= PAGES {
            self.forget();
        }
        self.budget.kept.set(self.budget.kept.get() + 1);
        self.pages.borrow_mut().insert(begin, Rc::clone(&page));
        Ok((begin, page))
    }

    /// Gives the memory of its pages back.
    pub fn forget(&self) {
        let mut pages = self.pages.borrow_mut();
        let kept = &self.budget.kept;
        kept.set(kept.get().saturating_sub(pages.len()));
        *pages = HashMap::new();
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        self.forget();
    }
}

/// Some of the bytes of a file, read from the front.
#[derive(Clone, Debug)]
pub(crate) struct Bytes {
    pages: Rc<Pages>,
    at: usize,
    end: usize,
    /// The page that was read last, and where it begins.
    page: (usize, Rc<[u8]>),
}

impl Bytes {
    /// Those that begin there.
    pub fn part(&self, offset: u64, len: u64) -> Option<Bytes> {
        let at = self.at.checked_add(usize::try_from(offset).ok()?)?;
        let end = at.checked_add(usize::try_from(len).ok()?)?;
        let page = (0, Rc::from([]));
        let pages = Rc::clone(&self.pages);
        (end <= self.end).then_some(Bytes {
            pages,
            at,
            end,
            page,
        })
    }

    /// The text that begins there, up to its 0; shorter if it is very long.
    pub fn text(&self, offset: u64) -> Option<String> {
        let left = (self.end - self.at) as u64;
        let part = self.part(offset, left.checked_sub(offset)?.min(TEXT as u64))?;
        let bytes = part.to_slice().ok()?;
        let text = bytes.split(|&byte| byte == 0).next()?;
        Some(String::from_utf8_lossy(text).into_owned())
    }

    /// The bytes of the file at a place, as far as one page reaches.
    fn piece(&mut self, at: usize) -> Result<&[u8]> {
        let (begin, page) = &self.page;
        if at < *begin || at >= begin + page.len() {
            self.page = self.pages.page(at)?;
        }
        let (begin, page) = &self.page;
        page.get(at - begin..).ok_or(Error::Io)
    }

    fn copy(&mut self, mut at: usize, mut to: &mut [u8]) -> Result<()> {
        while !to.is_empty() {
            let piece = self.piece(at)?;
            let len = piece.len().min(to.len());
            let (now, left) = to.split_at_mut(len);
            now.copy_from_slice(&piece[..len]);
            at += len;
            to = left;
        }
        Ok(())
    }

    fn check(&self, len: usize) -> Result<usize> {
        match len <= self.end - self.at {
            true => Ok(self.at + len),
            false => Err(Error::UnexpectedEof(self.offset_id())),
        }
    }
}

impl std::io::Read for Bytes {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let len = to.len().min(self.end - self.at);
        self.copy(self.at, &mut to[..len])
            .map_err(std::io::Error::other)?;
        self.at += len;
        Ok(len)
    }
}

impl Reader for Bytes {
    type Endian = LittleEndian;
    type Offset = usize;

    fn endian(&self) -> LittleEndian {
        LittleEndian
    }

    fn len(&self) -> usize {
        self.end - self.at
    }

    fn empty(&mut self) {
        self.end = self.at;
    }

    fn truncate(&mut self, len: usize) -> Result<()> {
        self.end = self.check(len)?;
        Ok(())
    }

    fn offset_from(&self, base: &Self) -> usize {
        self.at.saturating_sub(base.at)
    }

    fn offset_id(&self) -> ReaderOffsetId {
        ReaderOffsetId(self.at as u64)
    }

    fn lookup_offset_id(&self, id: ReaderOffsetId) -> Option<usize> {
        let at = usize::try_from(id.0).ok()?;
        (self.at..=self.end)
            .contains(&at)
            .then(|| at.saturating_sub(self.at))
    }

    fn find(&self, byte: u8) -> Result<usize> {
        let mut bytes = self.clone();
        let mut at = self.at;
        while at < self.end {
            Budget::spend(&self.pages.budget.steps, 1)?;
            let piece = bytes.piece(at)?;
            let piece = &piece[..piece.len().min(self.end - at)];
            if let Some(found) = piece.iter().position(|&it| it == byte) {
                return Ok(at + found - self.at);
            }
            at += piece.len();
        }
        Err(Error::UnexpectedEof(self.offset_id()))
    }

    fn skip(&mut self, len: usize) -> Result<()> {
        self.at = self.check(len)?;
        Ok(())
    }

    fn split(&mut self, len: usize) -> Result<Self> {
        let end = self.check(len)?;
        let mut first = self.clone();
        first.end = end;
        self.at = end;
        Ok(first)
    }

    fn to_slice(&self) -> Result<Cow<'_, [u8]>> {
        // What asks for that is short: texts, notes.
        let len = (self.end - self.at).min(1 << 20);
        let mut bytes = vec![0; len];
        self.clone().copy(self.at, &mut bytes)?;
        Ok(bytes.into())
    }

    fn to_string(&self) -> Result<Cow<'_, str>> {
        let bytes = self.to_slice()?.into_owned();
        let text = String::from_utf8(bytes).map_err(|_| Error::BadUtf8)?;
        Ok(text.into())
    }

    fn to_string_lossy(&self) -> Result<Cow<'_, str>> {
        Ok(String::from_utf8_lossy(&self.to_slice()?)
            .into_owned()
            .into())
    }

    fn read_slice(&mut self, to: &mut [u8]) -> Result<()> {
        let end = self.check(to.len())?;
        Budget::spend(&self.pages.budget.steps, 1)?;
        let at = self.at - self.page.0.min(self.at);
        match self.page.1.get(at..at + to.len()) {
            Some(piece) if self.at >= self.page.0 => to.copy_from_slice(piece),
            _ => self.copy(self.at, to)?,
        }
        self.at = end;
        Ok(())
    }
}
