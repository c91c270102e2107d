//! TCP as a network among others: `tcp`, `tcp:eth0,eth1`.

use catena_fabric::network::names;
use catena_fabric::{Opening, Peer, ProcessName, Rail, RailAddress, RailCounters, Sleeper};
use catena_settings::Setting;

use crate::init::Tcp;
use crate::settings::{Config, SETTINGS};

/// A network over TCP, as the chain names it.
///
/// # Examples
/// ```
/// use catena_fabric::Network as _;
/// use catena_tcp::Network;
///
/// assert_eq!(Network::parse(None)?, Network::default());
/// let two = Network::parse(Some("eth0,eth1"))?;
/// assert_eq!(two.rails().count(), 2);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Network {
    /// Names of interfaces, or all.
    interfaces: Vec<String>,
}

impl Network {
    /// The interface of each rail; one rail with `None` for all of them.
    pub fn rails(&self) -> impl Iterator<Item = Option<&str>> {
        let any = self.interfaces.is_empty().then_some(None);
        let named = self.interfaces.iter().map(|it| Some(it.as_str()));
        any.into_iter().chain(named)
    }
}

impl catena_fabric::Network for Network {
    type Rail = Tcp;

    const NAME: &'static str = "tcp";

    fn settings() -> &'static [&'static dyn Setting] {
        SETTINGS
    }

    fn parse(rest: Option<&str>) -> Result<Network, String> {
        let interfaces = rest.map_or(Ok(Vec::new()), |rest| names(Network::NAME, rest))?;
        Ok(Network { interfaces })
    }

    fn unasked() -> Option<Network> {
        Some(Network::default())
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Vec<Tcp>, String> {
        let Opening {
            place,
            secret,
            order,
        } = *opening;
        let config = Config::from_settings();
        let open = |interface| Tcp::open(place, secret.cloned(), interface, order, config);
        let opened = self.rails().map(open).collect::<Result<_, _>>();
        opened.map_err(|error| error.to_string())
    }
}

impl Rail for Tcp {
    const ADDS_PEERS: bool = true;

    fn address(&self) -> Result<RailAddress, String> {
        Ok(RailAddress {
            protocol: self.protocol(),
            bytes: Tcp::address(self).map_err(|error| error.to_string())?,
        })
    }

    fn connect(&mut self, peer: Peer, address: &[u8]) -> Result<(), String> {
        Tcp::connect(self, peer, address).map_err(|error| error.to_string())
    }

    fn add_peer(&mut self, peer: Peer, name: ProcessName) -> Result<(), String> {
        Tcp::add_peer(self, peer, name)
    }

    fn callers(&self) -> Vec<ProcessName> {
        self.unmet.iter().map(|it| it.name).collect()
    }

    fn remove_peer(&mut self, peer: Peer) -> Result<(), String> {
        Tcp::remove_peer(self, peer)
    }

    fn protocol_name(&self, protocol: u64) -> String {
        match protocol == self.protocol() {
            true => "TCP".to_string(),
            false => "TCP as another version of Catena speaks it".to_string(),
        }
    }

    fn about(&self) -> String {
        format!("tcp through {}", Tcp::about(self))
    }

    fn way(&self, peer: Peer) -> Option<String> {
        Tcp::way(self, peer).map(|way| format!("tcp at {way}"))
    }

    fn watches(&self, peer: Peer) -> bool {
        Tcp::watches(self, peer)
    }

    fn is_joined(&self, peer: Peer) -> bool {
        Tcp::watches(self, peer)
    }

    fn mark_lost(&mut self, peer: Peer, cause: String) {
        Tcp::mark_lost(self, peer, cause);
    }

    fn sleeper(&mut self) -> Option<Sleeper> {
        Some(Tcp::sleeper(self))
    }

    fn is_quiet(&mut self) -> bool {
        !self.keeps()
    }

    fn tells_arrival(&self) -> bool {
        true
    }

    fn counters(&self) -> RailCounters {
        let counters = Tcp::counters(self);
        RailCounters {
            packets: counters.sent,
            together: counters.held + counters.waited,
            full: counters.full,
            reads: 0,
            strays: counters.strays,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_interface_is_a_rail() {
        let rails = |rest: Option<&str>| -> Vec<Option<String>> {
            let network = <Network as catena_fabric::Network>::parse(rest).expect("good names");
            network.rails().map(|it| it.map(str::to_string)).collect()
        };
        assert_eq!(rails(None), [None]);
        let both = ["e0", "e1"].map(|name| Some(name.to_string()));
        assert_eq!(rails(Some("e0,e1")), both);
    }
}
