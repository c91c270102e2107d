//! A file of code, and the one beside it that has what was stripped from it.

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
    /// What was stripped from it.
    debug: Option<Elf>,
    units: Option<Units>,
    callers: Option<Callers>,
}

impl Object {
    pub fn open(maps: &Maps, mapping: &Mapping, budget: &Rc<Budget>) -> Option<Object> {
        let pages = match mapping.is_kernels() {
            true => Pages::of_memory(Maps::kernels()?, budget),
            false => Pages::of_file(maps.open(mapping)?, budget)?,
        };
        budget.with(STEPS, BYTES, || {
            let elf = Elf::new(pages)?;
            let own = Units::new(&elf);
            let debug = match own {
                Some(_) => None,
                None => beside(maps, mapping, &elf),
            };
            let units = own.or_else(|| debug.as_ref().and_then(Units::new));
            let callers = Callers::new(&elf);
            Some(Object {
                elf,
                debug,
                units,
                callers,
            })
        })
    }

    pub fn elf(&self) -> &Elf {
        &self.elf
    }

    /// What it says of the callers of its functions.
    pub fn callers(&self) -> Option<&Callers> {
        self.callers.as_ref()
    }

    /// The functions that an address lies in, as far as the debug information tells.
    pub fn inlined(&self, address: u64) -> Vec<Inlined> {
        let units = self.units.as_ref();
        units.map_or(Vec::new(), |units| lines::find(units, address))
    }

    /// The function of the file that an address lies in.
    pub fn function(&self, address: u64) -> Option<Function> {
        let budget = self.elf.pages().budget();
        budget.with(STEPS, BYTES, || {
            let debug = self.debug.as_ref();
            let stripped = debug.and_then(|it| it.function(address));
            stripped.or_else(|| self.elf.function(address))
        })
    }
}

/// The file that has what was stripped from this one.
fn beside(maps: &Maps, mapping: &Mapping, elf: &Elf) -> Option<Elf> {
    let id = elf.build_id();
    let link = elf.debug_link();
    let mut names = Vec::new();
    if let Some(id) = &id {
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
    if let Some((name, _)) = &link {
        let folder = Path::new(&mapping.path).parent()?.to_string_lossy();
        names.push(format!("{folder}/{name}"));
        names.push(format!("{folder}/.debug/{name}"));
        names.push(format!("{DEBUG}{folder}/{name}"));
    }
    let places = names
        .iter()
        .flat_map(|name| [maps.in_root(name), PathBuf::from(name)]);
    places.into_iter().find_map(|name| {
        let pages = Pages::of_file(File::open(name).ok()?, elf.pages().budget())?;
        let debug = Elf::new(Rc::clone(&pages))?;
        let is_of_it = match (&id, debug.build_id()) {
            (Some(id), Some(other)) => *id == other,
            _ => checksum(&pages)? == link.as_ref()?.1,
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
