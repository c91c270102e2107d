//! libfabric as a network among others: `ofi`, `ofi:PROVIDER`, `ofi:PROVIDER:DOMAIN,DOMAIN`, and
//! the name of a provider alone.

use std::net::SocketAddr;

use catena_fabric::network::names;
use catena_fabric::{
    Opening, Peer, ProcessName, Rail, RailAddress, RailCounters, Sleeper, introduction,
};
use catena_settings::Setting;

use crate::error::OfiError;
use crate::init::Ofi;
use crate::provider::Wanted;
use crate::settings::SETTINGS;

/// Providers of libfabric whose names are near to those of transports.
const PROVIDERS: [&str; 8] = ["udp", "cxi", "opx", "efa", "gni", "psm", "bgq", "lnx"];

/// Where Linux shows devices that do more than TCP.
const DEVICES: [&str; 2] = ["/sys/class/infiniband", "/sys/class/cxi"];

fn has_entries(folder: &str) -> bool {
    std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
}

/// A network through libfabric, as the chain names it.
///
/// # Examples
/// ```
/// use catena_fabric::Network as _;
/// use catena_ofi::{Network, Wanted};
///
/// let network = Network::parse(Some("cxi:cxi0,cxi1"))?;
/// let domains: Vec<_> = network.rails().map(|rail| rail.domain).collect();
/// assert_eq!(domains, [Some("cxi0".to_string()), Some("cxi1".to_string())]);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Network {
    /// This provider, or the first that will do, over these of its domains, or the first that will
    /// do.
    Named {
        /// Name of the provider.
        provider: Option<String>,
        /// Names of domains.
        domains: Vec<String>,
    },
    /// Whichever does more than TCP, if the machine has devices for that.
    Fast,
}

impl Network {
    /// What is to be opened: one thing at least.
    pub fn rails(&self) -> impl Iterator<Item = Wanted> {
        let (provider, domains) = match self {
            Network::Named { provider, domains } => (provider.clone(), domains.clone()),
            Network::Fast => (None, Vec::new()),
        };
        let any = domains.is_empty().then_some(None);
        let named = domains.into_iter().map(Some);
        any.into_iter().chain(named).map(move |domain| Wanted {
            provider: provider.clone(),
            domain,
        })
    }
}

impl catena_fabric::Network for Network {
    type Rail = Ofi;

    const NAME: &'static str = "ofi";

    fn settings() -> &'static [&'static dyn Setting] {
        SETTINGS
    }

    fn parse(rest: Option<&str>) -> Result<Network, String> {
        let Some(rest) = rest else {
            return Ok(Network::Named {
                provider: None,
                domains: Vec::new(),
            });
        };
        let (provider, domains) = match rest.split_once(':') {
            Some((provider, domains)) => (provider, names(provider, domains)?),
            None => (rest, Vec::new()),
        };
        if provider.is_empty() {
            return Err("the name of a provider is missing, as in ofi:tcp".to_string());
        }
        Ok(Network::Named {
            provider: Some(provider.to_string()),
            domains,
        })
    }

    /// The name of a provider needs no `ofi:` in front, unless it may be a transport that is
    /// misspelt.
    fn parse_unnamed(part: &str, near: Option<&str>) -> Option<Result<Network, String>> {
        let word = part.split([':', ';']).next().unwrap_or_default();
        let is_known = PROVIDERS.contains(&word.trim_end_matches(|c: char| c.is_ascii_digit()));
        match near {
            Some(near) if !is_known => Some(Err(format!(
                "there is no transport {word}; did you mean {near}? A provider of libfabric with \
                 that name is written ofi:{word}"
            ))),
            _ => Some(Network::parse(Some(part))),
        }
    }

    fn unasked() -> Option<Network> {
        Some(Network::Fast)
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Vec<Ofi>, String> {
        let is_alone = opening.place.processes == 1;
        if is_alone && opening.secret.is_none() {
            return Err(introduction::NO_SECRET.to_string());
        }
        let open = |rail: Wanted| {
            let mut ofi = Ofi::open(opening.place, &rail, opening.order)?;
            if let (true, Some(secret)) = (is_alone, opening.secret) {
                ofi.meet_others(opening.place, secret.clone());
            }
            Ok::<Ofi, OfiError>(ofi)
        };
        if *self == Network::Fast {
            let has_device = DEVICES.iter().any(|folder| has_entries(folder));
            let first = self.rails().next().filter(|_| has_device);
            let opened = first.and_then(|rail| open(rail).ok());
            return Ok(opened.into_iter().filter(|ofi| !ofi.is_plain()).collect());
        }
        let opened = self.rails().map(open).collect::<Result<_, _>>();
        opened.map_err(|error| error.to_string())
    }
}

impl Rail for Ofi {
    const ADDS_PEERS: bool = true;

    fn address(&self) -> Result<RailAddress, String> {
        let (protocol, version) = self.protocol();
        Ok(RailAddress {
            protocol: u64::from(protocol) << 32 | u64::from(version),
            bytes: Ofi::address(self).map_err(|error| error.to_string())?,
        })
    }

    fn connect(&mut self, peer: Peer, address: &[u8]) -> Result<(), String> {
        Ofi::connect(self, peer, address).map_err(|error| error.to_string())
    }

    fn add_peer(&mut self, peer: Peer, name: ProcessName) -> Result<(), String> {
        Ofi::add_peer(self, peer, name)
    }

    fn callers(&self) -> Vec<ProcessName> {
        let added = self.added.iter();
        added.flat_map(|it| it.introductions.callers()).collect()
    }

    fn add_caller(&mut self, peer: Peer, name: ProcessName) -> Result<(), String> {
        Ofi::add_caller(self, peer, name)
    }

    fn remove_peer(&mut self, peer: Peer) -> Result<(), String> {
        Ofi::remove_peer(self, peer)
    }

    fn has_let_go(&self, peer: Peer) -> bool {
        self.added.as_ref().is_none_or(|it| it.has_let_go(peer))
    }

    fn protocol_name(&self, protocol: u64) -> String {
        let name = Ofi::protocol_name(self, (protocol >> 32) as u32);
        format!("{name} {}", protocol as u32)
    }

    fn about(&self) -> String {
        format!("ofi:{} through {}", self.provider(), self.domain())
    }

    fn listens_at(&self, address: &[u8]) -> Option<SocketAddr> {
        Ofi::listens_at(self, address)
    }

    fn mark_lost(&mut self, peer: Peer, cause: String) {
        Ofi::mark_lost(self, peer, cause);
    }

    fn sleeper(&mut self) -> Option<Sleeper> {
        Ofi::sleeper(self)
    }

    fn is_quiet(&mut self) -> bool {
        Ofi::is_quiet(self)
    }

    fn counters(&self) -> RailCounters {
        Ofi::counters(self).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_domain_is_a_rail() {
        let parse = <Network as catena_fabric::Network>::parse;
        let domains = |rest| -> Vec<_> {
            let network = parse(rest).expect("good names");
            network.rails().map(|it| it.domain).collect()
        };
        let both = ["cxi0", "cxi1"].map(|name| Some(name.to_string()));
        assert_eq!(domains(Some("cxi:cxi0,cxi1")), both);
        assert_eq!(domains(None), [None]);
    }
}
