//! Which network cards are near to this process.

use std::cell::OnceCell;

use catena_topo::{Cpus, Machine};

/// Where this process is on its machine.
#[derive(Debug)]
pub struct Near {
    /// Its number on the node.
    number: usize,
    /// The CPUs that it may use.
    cpus: Cpus,
    /// Read when there is something to choose from.
    machine: OnceCell<Machine>,
}

impl Near {
    /// Of the calling process, number `number` on its node.
    pub fn here(number: usize) -> Near {
        Near {
            number,
            cpus: Cpus::allowed().unwrap_or_default(),
            machine: OnceCell::new(),
        }
    }

    /// In which order this process is to use what has these names; see
    /// [`Machine::order`].
    pub fn order(&self, names: &[&str]) -> Vec<usize> {
        match names {
            [] | [_] => (0..names.len()).collect(),
            _ => {
                let machine = self.machine.get_or_init(Machine::whole);
                machine.order(names, &self.cpus, self.number)
            }
        }
    }
}
