//! A file of code, and the one beside it that has what was stripped from it.

use std::cell::OnceCell;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::bytes::{Budget, Pages};
use crate::elf::{Elf, Function};
use crate::lines::{self, Inlined};
use crate::maps::{Mapping, Maps};
use crate::units::Units;
use crate::unwind::Callers;
use crate::variables::{self, Home, Memory, Variable};

/// Where systems keep what was stripped from their files.
const DEBUG: &str = "/usr/lib/debug";

/// Most bytes of a file of debug information without a mark of its build.
const UNMARKED: usize = 256 << 20;

/// What may be spent on the tables of a file, and on the symbols of one address.
const STEPS: u64 = 8 << 20;
const BYTES: u64 = 256 << 20;

/// A file of code.
#[derive(Debug)]
pub(crate) struct Object {
    elf: Elf,
    /// What it says of the callers of its functions.
    callers: Option<Callers>,
    /// Where what was stripped from it may be.
    beside: Vec<PathBuf>,
    /// What was stripped from it. It is looked for when it is needed: it may be compressed.
    debug: OnceCell<Option<Elf>>,
    units: OnceCell<Option<Units>>,
}

impl Object {
    pub fn open(maps: &Maps, mapping: &Mapping, budget: &Rc<Budget>) -> Option<Object> {
        let pages = match mapping.is_kernels() {
            true => Pages::of_memory(Maps::kernels()?, budget),
            false => Pages::of_file(maps.open(mapping)?, budget)?,
        };
        budget.with(STEPS, BYTES, || {
            let elf = Elf::new(pages)?;
            Some(Object {
                callers: Callers::new(&elf),
                beside: names_beside(maps, mapping, &elf),
                elf,
                debug: OnceCell::new(),
                units: OnceCell::new(),
            })
        })
    }

    pub fn elf(&self) -> &Elf {
        &self.elf
    }

    pub fn callers(&self) -> Option<&Callers> {
        self.callers.as_ref()
    }

    fn budget(&self) -> &Budget {
        self.elf.pages().budget()
    }

    fn debug(&self) -> Option<&Elf> {
        let debug = self.debug.get_or_init(|| {
            let find = || beside(&self.beside, &self.elf);
            self.budget().with(STEPS, BYTES, find)
        });
        debug.as_ref()
    }

    fn units(&self) -> Option<&Units> {
        let units = self
            .units
            .get_or_init(|| Units::new(&self.elf).or_else(|| Units::new(self.debug()?)));
        units.as_ref()
    }

    /// The functions that an address lies in, as far as the debug information tells.
    pub fn inlined(&self, address: u64) -> Vec<Inlined> {
        let units = self.units();
        units.map_or(Vec::new(), |units| lines::find(units, address))
    }

    /// The variables of the function that an address lies in.
    pub fn variables(&self, address: u64, bias: u64) -> Vec<Variable> {
        let find = |elf: &Elf, name: &str| {
            self.budget()
                .with(STEPS, BYTES, || elf.variable_named(name))
        };
        let named = |name: &str| find(&self.elf, name).or_else(|| find(self.debug()?, name));
        let units = self.units();
        units.map_or(Vec::new(), |it| {
            variables::of_function(it, address, bias, &named)
        })
    }

    /// The variable outside of functions that an address lies in; `code` is an address of the part
    /// of the program that may tell what it is made of.
    pub fn variable(&self, code: u64, address: u64, bias: u64) -> Option<Variable> {
        let find = |elf: &Elf| self.budget().with(STEPS, BYTES, || elf.variable(address));
        let (begin, size) = find(&self.elf).or_else(|| find(self.debug()?))?;
        let told = self
            .units()
            .and_then(|it| variables::of_unit(it, code, begin, bias));
        let mut variable = told.unwrap_or_else(|| Variable {
            name: String::new(),
            home: Home::Fixed(begin.wrapping_add(bias)),
            is_live: true,
            memory: Memory::default(),
        });
        variable.memory.size = Some(size);
        Some(variable)
    }

    /// The function of the file that an address lies in.
    pub fn function(&self, address: u64) -> Option<Function> {
        let find = |elf: &Elf| self.budget().with(STEPS, BYTES, || elf.function(address));
        find(&self.elf).or_else(|| find(self.debug()?))
    }
}

/// Where what was stripped from a file may be.
fn names_beside(maps: &Maps, mapping: &Mapping, elf: &Elf) -> Vec<PathBuf> {
    let mut names = Vec::new();
    if let Some(id) = elf.build_id() {
        let (first, rest) = id.split_at(1);
        let hex = |bytes: &[u8]| {
            bytes
                .iter()
                .map(|it| format!("{it:02x}"))
                .collect::<String>()
        };
        names.push(format!(
            "{DEBUG}/.build-id/{}/{}.debug",
            hex(first),
            hex(rest)
        ));
    }
    if let (Some((name, _)), Some(folder)) = (elf.debug_link(), Path::new(&mapping.path).parent()) {
        let folder = folder.to_string_lossy();
        names.push(format!("{folder}/{name}"));
        names.push(format!("{folder}/.debug/{name}"));
        names.push(format!("{DEBUG}{folder}/{name}"));
    }
    let places = names.into_iter();
    places
        .flat_map(|name| [maps.in_root(&name), PathBuf::from(name)])
        .collect()
}

/// The file that has what was stripped from this one.
fn beside(names: &[PathBuf], elf: &Elf) -> Option<Elf> {
    let id = elf.build_id();
    names.iter().find_map(|name| {
        let pages = Pages::of_file(File::open(name).ok()?, elf.pages().budget())?;
        let debug = Elf::new(Rc::clone(&pages))?;
        let is_of_it = match (&id, debug.build_id()) {
            (Some(id), Some(other)) => *id == other,
            _ => checksum(&pages)? == elf.debug_link()?.1,
        };
        is_of_it.then_some(debug)
    })
}

/// The checksum that the name of a file of debug information comes with.
fn checksum(pages: &Rc<Pages>) -> Option<u32> {
    let mut bytes = pages.all();
    if gimli::Reader::len(&bytes) > UNMARKED {
        return None;
    }
    let mut sum = flate2::Crc::new();
    let mut piece = [0; 16 << 10];
    loop {
        match bytes.read(&mut piece).ok()? {
            0 => return Some(sum.sum()),
            len => sum.update(&piece[..len]),
        }
    }
}
