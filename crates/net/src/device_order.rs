//! In which order a process uses the network cards of its machine.

use std::cell::OnceCell;

use catena_topo::{Cpus, Machine};

/// What the order depends on: where this process is on its machine.
#[derive(Debug)]
pub struct DeviceOrder {
    /// Its number on the node.
    number: usize,
    /// The CPUs that it may use.
    cpus: Cpus,
    /// Read when there is something to choose from.
    machine: OnceCell<Machine>,
}

impl DeviceOrder {
    /// The order for the calling process, which is number `number` on its node.
    pub fn of_process(number: usize) -> DeviceOrder {
        DeviceOrder {
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
