//! The simulator as a network among others: `sim`, `sim:SEED`. It leads to processes that one
//! process plays, as tests do, and is as bad as a network may be.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use catena_fabric::{Opening, Peer, Rail, RailAddress, RailCounters, Sleeper};

use crate::port::Port;
use crate::{Reads, Seed, Sim};

/// A simulated network, as the chain names it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Network {
    seed: u64,
}

/// The ports of the networks that not all processes have opened yet, by job and seed.
static UNCLAIMED: Mutex<BTreeMap<(u64, u64), BTreeMap<u32, Port>>> = Mutex::new(BTreeMap::new());

impl catena_fabric::Network for Network {
    type Rail = Port;

    const NAME: &'static str = "sim";

    fn parse(rest: Option<&str>) -> Result<Network, String> {
        let seed = rest.map_or(Ok(0), str::parse);
        let seed = seed.map_err(|_| "a seed is a number, as in sim:7".to_string())?;
        Ok(Network { seed })
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Vec<Port>, String> {
        let mut unclaimed = UNCLAIMED.lock().unwrap_or_else(PoisonError::into_inner);
        let name = (opening.place.job, self.seed);
        let ports = unclaimed.entry(name).or_insert_with(|| {
            let sim = Sim::new(Seed(self.seed)).unordered().full_one_in(5);
            let ports = sim.reads(Reads::Flaky).ports(opening.place.processes);
            (0..).zip(ports).collect()
        });
        let port = ports.remove(&opening.place.me.0);
        if ports.is_empty() {
            unclaimed.remove(&name);
        }
        let port = port.ok_or("this process has opened the simulated network already")?;
        Ok(vec![port])
    }
}

impl Rail for Port {
    fn address(&self) -> Result<RailAddress, String> {
        Ok(RailAddress {
            protocol: 0,
            bytes: Vec::new(),
        })
    }

    fn connect(&mut self, _peer: Peer, _address: &[u8]) -> Result<(), String> {
        Ok(())
    }

    fn protocol_name(&self, _protocol: u64) -> String {
        "the simulator".to_string()
    }

    fn about(&self) -> String {
        "sim within this process".to_string()
    }

    fn mark_lost(&mut self, peer: Peer, cause: String) {
        Port::mark_lost(self, peer, cause);
    }

    /// Nothing that happens in the simulator wakes anybody.
    fn sleeper(&mut self) -> Option<Sleeper> {
        None
    }

    /// What was posted lies between the two, whatever becomes of its sender.
    fn is_quiet(&mut self) -> bool {
        true
    }

    fn counters(&self) -> RailCounters {
        self.counters
    }
}
