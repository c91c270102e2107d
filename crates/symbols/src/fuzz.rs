//! Targets for fuzzing (`fuzz/` at the root of the repository): each takes any bytes for a file of
//! another process, and comes to an end. Not a part of the library.

#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;

use std::rc::Rc;

use crate::bytes::{Budget, Pages};
use crate::elf::Elf;
use crate::lines;
use crate::maps::Maps;
use crate::names;
use crate::units::Units;
use crate::unwind::{Callers, Walk};

/// The name of a folder in `fuzz/corpus`, and what takes its files.
type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: &[Target] = &[
    ("symbols_elf", elf),
    ("symbols_maps", maps),
    ("symbols_name", name),
];

/// A program: what it says of the addresses of its code.
pub fn elf(data: &[u8]) {
    let budget = Rc::new(Budget::default());
    budget.with(1 << 20, 1 << 24, || {
        let Some(elf) = Elf::new(Pages::of_memory(data.to_vec(), &budget)) else {
            return;
        };
        let units = Units::new(&elf);
        let callers = Callers::new(&elf);
        _ = (elf.build_id(), elf.debug_link(), elf.address(64));
        let code = elf.section_address(".text").unwrap_or(0x1000);
        for at in (0..8).map(|it| code.wrapping_add(16 * it)) {
            _ = units.as_ref().map(|it| lines::find(it, at));
            _ = elf.function(at);
            // Registers that point to the stack.
            let registers: Vec<_> = (0..34).map(|it| Some(it << 4)).collect();
            let stack = &data[..data.len().min(4096)];
            if let Some(mut walk) = Walk::new(&registers, stack) {
                while walk.step(callers.as_ref(), at).is_some() && walk.at() > code {}
            }
        }
    });
}

/// A map of memory.
pub fn maps(data: &[u8]) {
    let maps = Maps::parse(1, &String::from_utf8_lossy(data));
    for at in [0, 0x40_1000, u64::MAX] {
        _ = maps.at(at).map(|it| it.offset_of(at));
    }
}

/// A name of a function.
pub fn name(data: &[u8]) {
    let name = String::from_utf8_lossy(data);
    _ = names::readable(&name);
    _ = names::is_mpi(&name);
}
