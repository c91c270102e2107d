//! UCX as a network among others: `ucx`, `ucx:TRANSPORTS`, `ucx:TRANSPORTS:DEVICES`.
//!
//! UCX makes rails of its own of the devices that it is given, and knows itself which are near.

use catena_fabric::{
    Opening, Peer, ProcessName, Rail, RailAddress, RailCounters, Sleeper, introduction,
};
use catena_settings::Setting;

use crate::init::Ucx;
use crate::settings::SETTINGS;
use crate::wanted::Wanted;

/// A network through UCX, as the chain names it.
pub use crate::wanted::Wanted as Network;

impl catena_fabric::Network for Wanted {
    type Rail = Ucx;

    const NAME: &'static str = "ucx";

    fn settings() -> &'static [&'static dyn Setting] {
        SETTINGS
    }

    fn parse(rest: Option<&str>) -> Result<Wanted, String> {
        let (transports, devices) = match rest.map(|rest| (rest, rest.split_once(':'))) {
            None => (None, None),
            Some((rest, None)) => (Some(rest), None),
            Some((_, Some((transports, devices)))) => (Some(transports), Some(devices)),
        };
        for (what, names, example) in [
            ("transport", transports, "ucx:tcp"),
            ("device", devices, "ucx:tcp:eth0"),
        ] {
            if names.is_some_and(|names| names.split(',').any(str::is_empty)) {
                return Err(format!("the name of a {what} is missing, as in {example}"));
            }
        }
        Ok(Wanted {
            transports: transports.map(str::to_string),
            devices: devices.map(str::to_string),
        })
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Vec<Ucx>, String> {
        let is_alone = opening.place.processes == 1;
        if is_alone && opening.secret.is_none() {
            return Err(introduction::NO_SECRET.to_string());
        }
        let mut ucx = Ucx::open(opening.place, self).map_err(|error| error.to_string())?;
        if let (true, Some(secret)) = (is_alone, opening.secret) {
            ucx.meet_others(opening.place, secret.clone());
        }
        Ok(vec![ucx])
    }
}

impl Rail for Ucx {
    const ADDS_PEERS: bool = true;

    /// UCX does not notice that a host is gone while something is under way to it over TCP.
    const PROBE_PORT: bool = true;

    fn address(&self) -> Result<RailAddress, String> {
        // Versions of UCX do not understand each other.
        let (major, minor, _) = self.version();
        Ok(RailAddress {
            protocol: u64::from(major) << 32 | u64::from(minor),
            bytes: Ucx::address(self).map_err(|error| error.to_string())?,
        })
    }

    fn connect(&mut self, peer: Peer, address: &[u8]) -> Result<(), String> {
        Ucx::connect(self, peer, address);
        Ok(())
    }

    fn add_peer(&mut self, peer: Peer, name: ProcessName) -> Result<(), String> {
        Ucx::add_peer(self, peer, name)
    }

    fn remove_peer(&mut self, peer: Peer) -> Result<(), String> {
        Ucx::remove_peer(self, peer)
    }

    fn has_let_go(&self, peer: Peer) -> bool {
        self.added.as_ref().is_none_or(|it| it.has_let_go(peer))
    }

    fn protocol_name(&self, protocol: u64) -> String {
        format!("UCX {}.{}", protocol >> 32, protocol as u32)
    }

    fn about(&self) -> String {
        let (major, minor, release) = self.version();
        format!("ucx {major}.{minor}.{release} through what it finds")
    }

    fn watches(&self, peer: Peer) -> bool {
        Ucx::watches(self, peer)
    }

    fn needs_probe_port(&self) -> bool {
        self.is_plain()
    }

    fn may_use(&self, device: &str) -> bool {
        Ucx::may_use(self, device)
    }

    fn mark_lost(&mut self, peer: Peer, cause: String) {
        Ucx::mark_lost(self, peer, cause);
    }

    fn sleeper(&mut self) -> Option<Sleeper> {
        Ucx::sleeper(self)
    }

    fn is_quiet(&mut self) -> bool {
        Ucx::is_quiet(self)
    }

    fn counters(&self) -> RailCounters {
        Ucx::counters(self).into()
    }
}
