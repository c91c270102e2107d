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
    /// in front. Examples: `shm+tcp`, `shm+cxi:cxi0,cxi1`, `ofi:tcp`. Empty:
    /// shared memory on the node, and a network if the job has several nodes.
    /// Ranks of one node must have the same value.
    pub static LINK: Text = Text("");
    scope: Local,
    level: User,
}

/// The settings of the routes.
pub static SETTINGS: &[&dyn Setting] = &[&LINK];

/// The transports that a process may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// Shared memory.
    pub shm: bool,
    /// A network.
    pub network: Option<Ofi>,
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
            shm: false,
            network: None,
        };
        if text.is_empty() {
            chain.shm = true;
            chain.network = Some(Ofi::default());
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
                _ if chain.network.is_some() => {
                    return Err(format!(
                        "{part} is a second network; there can be one beside shm"
                    ));
                }
                ("ofi", rest) => chain.network = Some(Ofi::parse(rest)?),
                _ => chain.network = Some(Ofi::parse(Some(part))?),
            }
        }
        Ok(chain)
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

    fn ofi(provider: &str, domains: &[&str]) -> Option<Ofi> {
        Some(Ofi {
            provider: Some(provider.to_string()),
            domains: domains.iter().map(|d| d.to_string()).collect(),
        })
    }

    #[test]
    fn chains_are_read() {
        let any = Some(Ofi::default());
        for (text, shm, network) in [
            ("", true, any.clone()),
            ("shm", true, None),
            ("ofi", false, any.clone()),
            ("shm + ofi", true, any),
            ("ofi:tcp", false, ofi("tcp", &[])),
            ("tcp", false, ofi("tcp", &[])),
            ("shm+tcp;ofi_rxm", true, ofi("tcp;ofi_rxm", &[])),
            ("ofi:shm", false, ofi("shm", &[])),
            ("cxi:cxi0,cxi1+shm", true, ofi("cxi", &["cxi0", "cxi1"])),
            ("shm+ofi:cxi:cxi0", true, ofi("cxi", &["cxi0"])),
        ] {
            assert_eq!(Chain::parse(text), Ok(Chain { shm, network }), "{text}");
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
            ("tcp+ofi:cxi", "second network"),
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
        let two = ofi("cxi", &["cxi0", "cxi1"]).expect("some");
        let domain = |local| two.wanted(local).domain;
        assert_eq!(domain(0).as_deref(), Some("cxi0"));
        assert_eq!(domain(3).as_deref(), Some("cxi1"));
        assert_eq!(Ofi::default().wanted(3), Wanted::default());
    }
}
