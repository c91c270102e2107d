//! Which transports there are: `CATENA_LINK`.

use catena_ofi::Wanted;
use catena_settings::{Setting, Text, setting};

setting! {
    /// How ranks reach each other: transports joined by `+`.
    ///
    /// `shm` is shared memory, for ranks on one node. `ofi:PROVIDER` is a
    /// network through libfabric, `ofi:PROVIDER:DOMAIN,DOMAIN` on these of its
    /// domains, which the ranks of a node take in turn; `ofi` alone takes the
    /// first provider that leads to other nodes, and a PROVIDER needs no `ofi:`
    /// in front. Of several networks the first that both ends have joins them.
    /// Examples: `shm+tcp`, `shm+cxi:cxi0,cxi1`, `ofi:tcp+ofi:udp;ofi_rxd`. Empty:
    /// shared memory on the node, and a network if the job has several nodes.
    /// Ranks of one node must agree on `shm`.
    pub static LINK: Text = Text("");
    scope: Local,
    level: User,
}

/// The settings of the routes.
pub static SETTINGS: &[&dyn Setting] = &[&LINK];

/// The transports that a process may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The text it was read from.
    pub setting: String,
    /// Shared memory.
    pub shm: bool,
    /// Networks, the first choice first.
    pub networks: Vec<Network>,
}

/// A network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Network {
    /// Through libfabric.
    Ofi(Ofi),
}

/// A network through libfabric.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ofi {
    /// Name of the provider, or the first that will do.
    provider: Option<String>,
    /// Names of domains, or the first that will do.
    domains: Vec<String>,
}

impl Ofi {
    /// What the process opens that is number `local` on its node.
    pub fn wanted(&self, local: usize) -> Wanted {
        let count = self.domains.len().max(1);
        Wanted {
            provider: self.provider.clone(),
            domain: self.domains.get(local % count).cloned(),
        }
    }
}

impl Chain {
    /// What [`LINK`] says.
    ///
    /// # Errors
    /// What is wrong with it, and what to write instead.
    pub fn from_settings() -> Result<Chain, String> {
        let text = LINK.get();
        Chain::parse(&text).map_err(|why| format!("CATENA_LINK={}: {why}", &*text))
    }

    /// Reads a chain.
    fn parse(text: &str) -> Result<Chain, String> {
        let mut chain = Chain {
            setting: text.to_string(),
            shm: text.is_empty(),
            networks: Vec::new(),
        };
        if text.is_empty() {
            chain.networks.push(Network::Ofi(Ofi::default()));
            return Ok(chain);
        }
        for part in text.split('+').map(str::trim) {
            let (name, rest) = match part.split_once(':') {
                Some((name, rest)) => (name, Some(rest)),
                None => (part, None),
            };
            match (name, rest) {
                ("", _) => {
                    return Err("a name of a transport is missing, as in shm+ofi:tcp".to_string());
                }
                ("shm", Some(_)) => return Err("nothing can follow after shm:".to_string()),
                ("shm", None) if chain.shm => return Err("shm is named twice".to_string()),
                ("shm", None) => chain.shm = true,
                ("ucx", _) => {
                    return Err(
                        "this build has no ucx; name a network through libfabric, such as \
                                ofi:tcp"
                            .to_string(),
                    );
                }
                ("ofi", rest) => chain.add(part, Network::Ofi(Ofi::parse(rest)?))?,
                _ => chain.add(part, Network::Ofi(Ofi::parse(Some(part))?))?,
            }
        }
        Ok(chain)
    }

    /// Appends a network, which `part` of the text names.
    fn add(&mut self, part: &str, network: Network) -> Result<(), String> {
        if self.networks.contains(&network) {
            return Err(format!("{part} is named twice"));
        }
        self.networks.push(network);
        Ok(())
    }
}

impl Ofi {
    /// Reads what stands after `ofi:`.
    fn parse(rest: Option<&str>) -> Result<Ofi, String> {
        let Some(rest) = rest else {
            return Ok(Ofi::default());
        };
        let (provider, domains) = match rest.split_once(':') {
            Some((provider, domains)) => (provider, domains.split(',').collect()),
            None => (rest, Vec::new()),
        };
        if provider.is_empty() {
            return Err("the name of a provider is missing, as in ofi:tcp".to_string());
        }
        if domains.contains(&"") {
            return Err(format!(
                "the name of a domain is missing, as in {provider}:eth0"
            ));
        }
        Ok(Ofi {
            provider: Some(provider.to_string()),
            domains: domains.into_iter().map(str::to_string).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ofi(provider: &str, domains: &[&str]) -> Ofi {
        Ofi {
            provider: Some(provider.to_string()),
            domains: domains.iter().map(|d| d.to_string()).collect(),
        }
    }

    #[test]
    fn chains_are_read() {
        let any = Ofi::default();
        let tcp = ofi("tcp", &[]);
        for (text, shm, networks) in [
            ("", true, vec![any.clone()]),
            ("shm", true, vec![]),
            ("ofi", false, vec![any.clone()]),
            ("shm + ofi", true, vec![any.clone()]),
            ("ofi:tcp", false, vec![tcp.clone()]),
            ("tcp", false, vec![tcp.clone()]),
            ("shm+tcp;ofi_rxm", true, vec![ofi("tcp;ofi_rxm", &[])]),
            ("ofi:shm", false, vec![ofi("shm", &[])]),
            ("cxi:c0,c1+shm", true, vec![ofi("cxi", &["c0", "c1"])]),
            ("shm+ofi:cxi:c0", true, vec![ofi("cxi", &["c0"])]),
            ("tcp+shm+ofi", true, vec![tcp.clone(), any]),
            ("tcp+tcp:lo", false, vec![tcp, ofi("tcp", &["lo"])]),
        ] {
            let networks = networks.into_iter().map(Network::Ofi).collect();
            let chain = Chain {
                setting: text.to_string(),
                shm,
                networks,
            };
            assert_eq!(Chain::parse(text), Ok(chain), "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused_with_a_reason() {
        for (text, why) in [
            ("+", "is missing"),
            ("shm+", "is missing"),
            ("shm:1", "nothing can follow"),
            ("shm+shm", "twice"),
            ("shm+ucx", "no ucx"),
            ("shm+ofi:tcp+ucx:tcp", "no ucx"),
            ("tcp+ofi:tcp", "ofi:tcp is named twice"),
            ("ofi:", "provider is missing"),
            ("ofi::lo", "provider is missing"),
            (":lo", "is missing"),
            ("tcp:", "domain is missing"),
            ("tcp:eth0,", "domain is missing"),
        ] {
            let error = Chain::parse(text).expect_err(text);
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn ranks_of_a_node_take_domains_in_turn() {
        let two = ofi("cxi", &["cxi0", "cxi1"]);
        let domain = |local| two.wanted(local).domain;
        assert_eq!(domain(0).as_deref(), Some("cxi0"));
        assert_eq!(domain(3).as_deref(), Some("cxi1"));
        assert_eq!(Ofi::default().wanted(3), Wanted::default());
    }
}
