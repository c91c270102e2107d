//! Which transports there are: `CATENA_LINK`.

use catena_settings::{Text, nearest, setting};

use crate::driver::Network;

setting! {
    /// How ranks reach each other: transports joined by `+`.
    ///
    /// `shm` is shared memory, for ranks on one node. `tcp` is TCP,
    /// `tcp:eth0,eth1` through these interfaces. `ofi:PROVIDER` is a network
    /// through libfabric, `ofi:PROVIDER:DOMAIN,DOMAIN` on these of its domains;
    /// `ofi` alone takes the first provider that leads to other nodes, and a
    /// PROVIDER other than its own `tcp` needs no `ofi:` in front. Interfaces or
    /// domains, at most four, are used together: long messages over all of
    /// them, short ones to a peer over one. `ucx` is a network through UCX,
    /// `ucx:TRANSPORTS` over these of its transports, `ucx:TRANSPORTS:DEVICES` on
    /// these of its devices, as in UCX_TLS and UCX_NET_DEVICES. Of several
    /// networks the first that both ends have joins them. Examples: `shm+tcp`,
    /// `shm+cxi:cxi0,cxi1`, `shm+ofi:tcp+ucx:tcp`. Empty: shared memory on the
    /// node; if the job has several nodes, libfabric where it drives more
    /// than Ethernet, else TCP. Ranks of one node must agree on `shm`. Without
    /// it `MPI_Comm_split_type` puts each rank on a node of its own, whatever
    /// it splits by.
    pub static LINK: Text = Text("");
    scope: Local,
    level: User,
}

/// The transports that a process may use.
///
/// # Examples
/// ```
/// use catena_net::Chain;
///
/// let chain = Chain::parse("shm+tcp")?;
/// assert!(chain.shm && chain.networks.len() == 1);
/// let error = Chain::parse("shm+tpc").expect_err("there is no such transport");
/// assert!(error.contains("did you mean tcp?"));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// The text it was read from.
    pub setting: String,
    /// Shared memory.
    pub shm: bool,
    /// Networks, the first choice first.
    pub networks: Vec<Network>,
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

    /// Reads a chain, written as [`LINK`] says.
    ///
    /// # Errors
    /// What is wrong with it, and what to write instead.
    pub fn parse(text: &str) -> Result<Chain, String> {
        let mut chain = Chain {
            setting: text.to_string(),
            shm: text.is_empty(),
            networks: Vec::new(),
        };
        if text.is_empty() {
            chain.networks = Network::unasked().collect();
            return Ok(chain);
        }
        for part in text.split('+').map(str::trim) {
            let (word, rest) = match part.split_once(':') {
                Some((word, rest)) => (word, Some(rest)),
                None => (part, None),
            };
            match (word, rest) {
                ("", _) => {
                    return Err("a name of a transport is missing, as in shm+ofi:tcp".to_string());
                }
                (SHM, Some(_)) => return Err("nothing can follow after shm:".to_string()),
                (SHM, None) if chain.shm => return Err("shm is named twice".to_string()),
                (SHM, None) => chain.shm = true,
                _ => match Network::named(word, rest) {
                    Some(network) => chain.add(part, network?)?,
                    None => chain.add(part, unnamed(part, word)?)?,
                },
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

/// The word for shared memory.
const SHM: &str = "shm";

/// Reads a part of a chain whose first word is the name of no transport.
fn unnamed(part: &str, word: &str) -> Result<Network, String> {
    let name = word.split(';').next().unwrap_or_default();
    let names = [SHM].into_iter().chain(Network::NAMES.iter().copied());
    let near = nearest(name, names).filter(|near| *near != name);
    let unknown = || match near {
        Some(near) => Err(format!(
            "there is no transport {name}; did you mean {near}?"
        )),
        None => Err(format!("there is no transport {name}")),
    };
    Network::unnamed(part, near).unwrap_or_else(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ofi(provider: &str, domains: &[&str]) -> Network {
        Network::Ofi(catena_ofi::Network::Named {
            provider: Some(provider.to_string()),
            domains: domains.iter().map(|d| d.to_string()).collect(),
        })
    }

    fn tcp(interfaces: &str) -> Network {
        let rest = Some(interfaces).filter(|it| !it.is_empty());
        Network::named("tcp", rest)
            .expect("a network")
            .expect("good names")
    }

    #[test]
    fn chains_are_read() {
        let any = Network::Ofi(catena_ofi::Network::Named {
            provider: None,
            domains: Vec::new(),
        });
        let fast = Network::Ofi(catena_ofi::Network::Fast);
        for (text, shm, networks) in [
            ("", true, vec![fast, tcp("")]),
            ("shm", true, vec![]),
            ("ofi", false, vec![any.clone()]),
            ("shm + ofi", true, vec![any.clone()]),
            ("ofi:tcp", false, vec![ofi("tcp", &[])]),
            ("tcp", false, vec![tcp("")]),
            ("shm+tcp;ofi_rxm", true, vec![ofi("tcp;ofi_rxm", &[])]),
            ("ofi:shm", false, vec![ofi("shm", &[])]),
            ("cxi:c0,c1+shm", true, vec![ofi("cxi", &["c0", "c1"])]),
            ("shm+ofi:cxi:c0", true, vec![ofi("cxi", &["c0"])]),
            ("tcp+shm+ofi", true, vec![tcp(""), any]),
            ("tcp+tcp:lo,e0", false, vec![tcp(""), tcp("lo,e0")]),
        ] {
            let chain = Chain {
                setting: text.to_string(),
                shm,
                networks,
            };
            assert_eq!(Chain::parse(text), Ok(chain), "{text}");
        }
    }

    #[test]
    fn misspelt_transports_are_told() {
        for (text, near) in [
            ("tpc", "tcp"),
            ("shm+ucy", "ucx"),
            ("shn", "shm"),
            ("tpc:eth0", "tcp"),
        ] {
            let error = Chain::parse(text).expect_err(text);
            assert!(
                error.contains(&format!("did you mean {near}?")),
                "{text}: {error}"
            );
        }
        for text in ["udp;ofi_rxd", "cxi", "psm3", "verbs", "sockets", "ofi:tpc"] {
            assert!(Chain::parse(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn chains_may_have_ucx() {
        let some = |name: &str| (!name.is_empty()).then(|| name.to_string());
        for (text, transports, devices) in [
            ("ucx", "", ""),
            ("shm+ucx:tcp", "tcp", ""),
            ("ucx:posix,cma", "posix,cma", ""),
            ("ucx:rc,ud:mlx5_0:1,mlx5_1:1", "rc,ud", "mlx5_0:1,mlx5_1:1"),
            ("shm+ucx:tcp:eth0+ofi:tcp", "tcp", "eth0"),
        ] {
            let chain = Chain::parse(text).expect(text);
            let wanted = catena_ucx::Wanted {
                transports: some(transports),
                devices: some(devices),
            };
            assert_eq!(chain.networks[0], Network::Ucx(wanted), "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused_with_a_reason() {
        for (text, why) in [
            ("+", "is missing"),
            ("shm+", "is missing"),
            ("shm:1", "nothing can follow"),
            ("shm+shm", "twice"),
            ("ucx:", "transport is missing"),
            ("ucx::eth0", "transport is missing"),
            ("ucx:posix,", "transport is missing"),
            ("ucx:tcp:", "device is missing"),
            ("ucx:tcp+ucx:tcp", "ucx:tcp is named twice"),
            ("ofi:tcp+ofi:tcp", "ofi:tcp is named twice"),
            ("ofi:", "provider is missing"),
            ("ofi::lo", "provider is missing"),
            (":lo", "is missing"),
            ("tcp:", "interface is missing"),
            ("tcp:eth0,", "interface is missing"),
            ("tcp:a,b,c,d,e", "at most 4"),
            ("tcp:a,b,a", "a is named twice"),
        ] {
            let error = Chain::parse(text).expect_err(text);
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
