//! Files that were opened, and answers that were found.

use std::collections::HashMap;
use std::rc::Rc;

use catena_trace::Sample;

use crate::bytes::Budget;
use crate::maps::{Mapping, Maps};
use crate::object::Object;
use crate::place::{Frame, Location, choose};
use crate::unwind::Walk;
use crate::variables::Variable;

/// Most files, and most answers, that are kept.
const OBJECTS: usize = 64;
const ANSWERS: usize = 4096;

/// What may be spent on a stack's debug information.
const STEPS: u64 = 32 << 20;
const BYTES: u64 = 1 << 30;

/// Most frames of a stack that are looked at.
const FRAMES: usize = 64;

/// Finds places of addresses. It keeps files open, and up to 64 MiB of them and 256 MiB of what was
/// compressed: so it is made for a report, and dropped then.
///
/// Cost: a first address of a program takes from a millisecond to tens of them where it has much
/// debug information, the same address again some hundred nanoseconds. It waits as long as file
/// systems do.
#[derive(Debug, Default)]
pub struct Symbols {
    budget: Rc<Budget>,
    /// By the file, as the kernel writes it; `None` where it cannot be read.
    objects: HashMap<String, Option<Object>>,
    /// By the file and the address in it.
    answers: HashMap<(String, u64), Vec<Frame>>,
}

impl Symbols {
    /// Nothing is known yet.
    pub fn new() -> Symbols {
        Symbols::default()
    }

    /// Where the program is, for a user, or has called MPI: of the addresses that a thread's calls
    /// return to, the innermost first. `python` is the line of the Python program that it is in, in
    /// words, or empty. `None` if nothing can be told.
    ///
    /// Frames of MPI and of tools that stand before it are passed over. What is told is the line,
    /// where there is debug information, else the function, else the address in its file. Where the
    /// innermost function is that of a library without debug information, the line of the program
    /// that has called it is told as well.
    pub fn place(&mut self, maps: &Maps, frames: &[u64], python: &str) -> Option<Location> {
        choose(&self.stack(maps, frames), python)
    }

    /// Addresses of the frames of a thread that was asked where it is, the innermost first, as
    /// [`place`](Symbols::place) and [`stack`](Symbols::stack) take them. They end where the copy
    /// of its stack does, or where nothing tells of the caller. Cost: some ten microseconds a
    /// frame, and what it takes to open a file once.
    pub fn unwind(&mut self, maps: &Maps, sample: &Sample) -> Vec<u64> {
        let budget = Rc::clone(&self.budget);
        budget.with(STEPS, BYTES, || {
            let mut found = Vec::new();
            let Some(mut walk) = Walk::new(&sample.registers, &sample.stack) else {
                return found;
            };
            while found.len() < FRAMES {
                let at = walk.at();
                found.push(at.wrapping_add(1));
                let mapping = maps.at(at);
                let object = mapping.and_then(|it| Some((self.object(maps, it)?, it)));
                let located = object.and_then(|(object, mapping)| {
                    let address = object.elf().address(mapping.offset_of(at))?;
                    Some((object.callers(), address))
                });
                let (callers, address) = located.unwrap_or((None, at));
                if walk.step(callers, address).is_none() {
                    break;
                }
            }
            found
        })
    }

    /// The variables that the function has that a frame is of, as far as they have places in
    /// memory, those of outer blocks first; `frame` is as [`place`](Symbols::place) takes it. Cost:
    /// some milliseconds.
    pub fn variables(&mut self, maps: &Maps, frame: u64) -> Vec<Variable> {
        let budget = Rc::clone(&self.budget);
        budget.with(STEPS, BYTES, || {
            let found = self.located(maps, frame);
            found.map_or(Vec::new(), |(object, code, bias)| {
                object.variables(code, bias)
            })
        })
    }

    /// The variable outside of functions that an address lies in, of the file that the code of a
    /// frame is in.
    pub fn variable(&mut self, maps: &Maps, frame: u64, address: u64) -> Option<Variable> {
        let budget = Rc::clone(&self.budget);
        budget.with(STEPS, BYTES, || {
            let (object, code, bias) = self.located(maps, frame)?;
            object.variable(code, address.wrapping_sub(bias), bias)
        })
    }

    /// The file that the code of a frame is in, where it is there, and how far the file was moved.
    fn located(&mut self, maps: &Maps, frame: u64) -> Option<(&Object, u64, u64)> {
        let at = frame.checked_sub(1)?;
        let mapping = maps.at(at)?;
        let object = self.object(maps, mapping)?;
        let code = object.elf().address(mapping.offset_of(at))?;
        Some((object, code, at.wrapping_sub(code)))
    }

    /// All frames, the innermost first, with inlined functions. Addresses without a file are left
    /// out.
    pub fn stack(&mut self, maps: &Maps, frames: &[u64]) -> Vec<Frame> {
        let budget = Rc::clone(&self.budget);
        budget.with(STEPS, BYTES, || {
            let frames = frames.iter().take(FRAMES);
            // An address after a call may be that of the next line, or of the next function.
            let frames = frames.filter_map(|&at| self.frames(maps, at.checked_sub(1)?));
            frames.flatten().collect()
        })
    }

    /// The functions that an address of an instruction lies in.
    fn frames(&mut self, maps: &Maps, at: u64) -> Option<Vec<Frame>> {
        let mapping = maps.at(at)?;
        let offset = mapping.offset_of(at);
        let key = (mapping.file.clone(), offset);
        if let Some(known) = self.answers.get(&key) {
            return Some(known.clone());
        }
        let found = frames_in(self.object(maps, mapping), mapping, offset);
        if self.answers.len() >= ANSWERS {
            self.answers.clear();
        }
        self.answers.insert(key, found.clone());
        Some(found)
    }

    fn object(&mut self, maps: &Maps, mapping: &Mapping) -> Option<&Object> {
        if self.objects.len() >= OBJECTS && !self.objects.contains_key(&mapping.file) {
            self.objects.clear();
        }
        let object = self.objects.entry(mapping.file.clone());
        let object = object.or_insert_with(|| Object::open(maps, mapping, &self.budget));
        object.as_ref()
    }
}

/// The functions that a byte of a file lies in.
fn frames_in(object: Option<&Object>, mapping: &Mapping, offset: u64) -> Vec<Frame> {
    let frame = |address| Frame {
        object: mapping.path.clone(),
        address,
        symbol: None,
        source: None,
    };
    let located = object.and_then(|object| Some((object, object.elf().address(offset)?)));
    let Some((object, address)) = located else {
        return vec![frame(offset)];
    };
    // Nobody works on the lines of the system.
    let inlined = match frame(address).is_systems() {
        true => Vec::new(),
        false => object.inlined(address),
    };
    let mut frames: Vec<_> = inlined
        .into_iter()
        .map(|it| Frame {
            symbol: it.function,
            source: it.source,
            ..frame(address)
        })
        .collect();
    if frames.is_empty() {
        frames.push(frame(address));
    }
    if let Some(last) = frames.last_mut() {
        last.symbol = object.function(address).map(|it| it.name);
    }
    frames
}
