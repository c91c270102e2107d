//! Which transports there are: `CATENA_LINK`.

use catena_link::RAILS;
use catena_settings::{Text, nearest, setting};

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
    /// Through libfabric, if the machine has devices that do more than TCP and
    /// it drives them.
    Fast,
    /// Through UCX.
    Ucx(catena_ucx::Wanted),
    /// Over TCP.
    Tcp(Tcp),
}

/// A network over TCP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tcp {
    /// Names of interfaces, or all.
    interfaces: Vec<String>,
}

impl Tcp {
    /// The interface of each rail; one rail with `None` for all of them.
    pub fn rails(&self) -> impl Iterator<Item = Option<&str>> {
        let any = self.interfaces.is_empty().then_some(None);
        let named = self.interfaces.iter().map(|it| Some(it.as_str()));
        any.into_iter().chain(named)
    }
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
    /// What is to be opened: one thing at least.
    pub fn rails(&self) -> impl Iterator<Item = catena_ofi::Wanted> {
        let any = self.domains.is_empty().then_some(None);
        let named = self.domains.iter().map(Some);
        any.into_iter()
            .chain(named)
            .map(|domain| catena_ofi::Wanted {
                provider: self.provider.clone(),
                domain: domain.cloned(),
            })
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
            chain.networks = vec![Network::Fast, Network::Tcp(Tcp::default())];
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
                ("ucx", rest) => chain.add(part, Network::Ucx(ucx(rest)?))?,
                ("tcp", rest) => {
                    let interfaces = rest.map_or(Ok(Vec::new()), |rest| names("tcp", rest))?;
                    chain.add(part, Network::Tcp(Tcp { interfaces }))?;
                }
                ("ofi", rest) => chain.add(part, Network::Ofi(Ofi::parse(rest)?))?,
                _ => {
                    check_provider(name)?;
                    chain.add(part, Network::Ofi(Ofi::parse(Some(part))?))?;
                }
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
            Some((provider, domains)) => (provider, names(provider, domains)?),
            None => (rest, Vec::new()),
        };
        if provider.is_empty() {
            return Err("the name of a provider is missing, as in ofi:tcp".to_string());
        }
        Ok(Ofi {
            provider: Some(provider.to_string()),
            domains,
        })
    }
}

/// Providers of libfabric whose names are near to those of transports.
const PROVIDERS: [&str; 8] = ["udp", "cxi", "opx", "efa", "gni", "psm", "bgq", "lnx"];

/// Whether what is no transport may be a provider of libfabric, and not a misspelt transport.
fn check_provider(name: &str) -> Result<(), String> {
    let provider = name.split(';').next().unwrap_or_default();
    if PROVIDERS.contains(&provider.trim_end_matches(|c: char| c.is_ascii_digit())) {
        return Ok(());
    }
    match nearest(provider, ["shm", "tcp", "ofi", "ucx"]) {
        Some(near) if near != provider => Err(format!(
            "there is no transport {provider}; did you mean {near}? A provider of libfabric with that name is written ofi:{provider}"
        )),
        _ => Ok(()),
    }
}

/// Reads names separated by commas, which stand after that of a network.
fn names(network: &str, text: &str) -> Result<Vec<String>, String> {
    let names: Vec<_> = text.split(',').map(str::to_string).collect();
    if names.iter().any(String::is_empty) {
        return Err(format!(
            "the name of an interface is missing, as in {network}:eth0"
        ));
    }
    if names.len() > RAILS {
        return Err(format!("at most {RAILS} interfaces can be used together"));
    }
    if let Some(at) = (1..names.len()).find(|&at| names[..at].contains(&names[at])) {
        return Err(format!("{} is named twice", names[at]));
    }
    Ok(names)
}

/// Reads what stands after `ucx:`.
fn ucx(rest: Option<&str>) -> Result<catena_ucx::Wanted, String> {
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
    Ok(catena_ucx::Wanted {
        transports: transports.map(str::to_string),
        devices: devices.map(str::to_string),
    })
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
        let any = Network::Ofi(Ofi::default());
        let ofi = |provider, domains: &[&str]| Network::Ofi(ofi(provider, domains));
        let tcp = |interfaces: &[&str]| {
            let interfaces = interfaces.iter().map(|it| it.to_string()).collect();
            Network::Tcp(Tcp { interfaces })
        };
        for (text, shm, networks) in [
            ("", true, vec![Network::Fast, tcp(&[])]),
            ("shm", true, vec![]),
            ("ofi", false, vec![any.clone()]),
            ("shm + ofi", true, vec![any.clone()]),
            ("ofi:tcp", false, vec![ofi("tcp", &[])]),
            ("tcp", false, vec![tcp(&[])]),
            ("shm+tcp;ofi_rxm", true, vec![ofi("tcp;ofi_rxm", &[])]),
            ("ofi:shm", false, vec![ofi("shm", &[])]),
            ("cxi:c0,c1+shm", true, vec![ofi("cxi", &["c0", "c1"])]),
            ("shm+ofi:cxi:c0", true, vec![ofi("cxi", &["c0"])]),
            ("tcp+shm+ofi", true, vec![tcp(&[]), any]),
            ("tcp+tcp:lo,e0", false, vec![tcp(&[]), tcp(&["lo", "e0"])]),
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

    #[test]
    fn every_domain_is_a_rail() {
        let domains = |ofi: Ofi| ofi.rails().map(|it| it.domain).collect::<Vec<_>>();
        let both = [Some("cxi0".to_string()), Some("cxi1".to_string())];
        assert_eq!(domains(ofi("cxi", &["cxi0", "cxi1"])), both);
        assert_eq!(domains(Ofi::default()), [None]);
        let interfaces = |tcp: &Tcp| {
            tcp.rails()
                .map(|it| it.map(str::to_string))
                .collect::<Vec<_>>()
        };
        let two = Tcp {
            interfaces: both.iter().flatten().cloned().collect(),
        };
        assert_eq!(interfaces(&two), both);
        assert_eq!(interfaces(&Tcp::default()), [None]);
    }
}
