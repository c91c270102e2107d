//! The networks that other providers of this libfabric drive, and their network cards.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::OnceLock;

use crate::host;
use crate::sys::{Info, flag, mr, num};

/// Providers that reach this node alone, so that they need no link to a network.
const LOCAL: [&str; 3] = ["shm", "sm2", "lnx"];
/// Providers for Ethernet, where the link uses its own `tcp`.
const ETHERNET: [&str; 4] = ["tcp", "sockets", "udp", "net"];
/// It makes datagrams reliable, and never ends what is under way to a peer that is silent.
const RXD: &str = "ofi_rxd";
/// The domain of a node's own messages.
const LOOPBACK: &str = "lo";

thread_local! {
    /// Whether this thread asks for them: the provider itself is asked as well.
    static ASKS: Cell<bool> = const { Cell::new(false) };
}

/// Whether the other providers are being asked, by this thread.
pub fn are_asked() -> bool {
    ASKS.get()
}

/// What other providers offer, as long as the process lives.
struct Offers(*mut Info);

// SAFETY: nobody changes them.
unsafe impl Send for Offers {}
// SAFETY: as above.
unsafe impl Sync for Offers {}

/// A network of another provider's.
struct Network<'a> {
    provider: String,
    domain: String,
    info: &'a Info,
}

/// The networks, asked for once.
fn all() -> Vec<Network<'static>> {
    static OFFERS: OnceLock<Offers> = OnceLock::new();
    let offers = OFFERS.get_or_init(|| {
        ASKS.set(true);
        let offers = ask();
        ASKS.set(false);
        Offers(offers)
    });
    let (mut all, mut at) = (Vec::new(), offers.0);
    // SAFETY: a list of libfabric's, which stays.
    while let Some(info) = unsafe { at.as_ref() } {
        // SAFETY: likewise; texts in it end in 0.
        let (provider, domain) = unsafe {
            let (fabric, domain) = (info.fabric_attr.as_ref(), info.domain_attr.as_ref());
            (
                fabric
                    .map(|it| host::text(it.prov_name))
                    .unwrap_or_default(),
                domain.map(|it| host::text(it.name)).unwrap_or_default(),
            )
        };
        all.push(Network {
            provider,
            domain,
            info,
        });
        at = info.next;
    }
    all
}

/// Asks for what the link can use: reliable datagrams with messages, in whichever mode.
fn ask() -> *mut Info {
    let hints = host::allocinfo();
    // SAFETY: a structure of libfabric's, with all parts, or null.
    unsafe {
        let Some(it) = hints.as_mut() else {
            return null_mut();
        };
        it.caps = flag::MSG | flag::SEND | flag::RECV;
        it.mode = flag::CONTEXT | flag::CONTEXT2;
        (*it.ep_attr).kind = num::EP_RDM;
        (*it.domain_attr).mr_mode = mr::ANY;
        let offers = host::getinfo(hints);
        host::freeinfo(hints);
        offers
    }
}

/// The links to networks that do more than Ethernet, the first choice first.
pub fn links() -> Vec<String> {
    let mut links = Vec::new();
    for Network {
        provider, domain, ..
    } in all()
    {
        let core = core_of(&provider);
        let is_useful = !LOCAL.contains(&core) && !ETHERNET.contains(&core);
        if !is_useful || provider.ends_with(RXD) || domain == LOOPBACK {
            continue;
        }
        let link = format!("shm+{provider}:{domain}");
        if !links.contains(&link) && crate::links::chain(&link).is_ok() {
            links.push(link);
        }
    }
    links
}

/// The provider and the domains that a part of a link names, if it is a network of libfabric's.
fn provider(part: &str) -> Option<(&str, &str)> {
    let (word, rest) = part.split_once(':').unwrap_or((part, ""));
    match word {
        "shm" | "tcp" | "ucx" => None,
        "ofi" => Some(rest.split_once(':').unwrap_or((rest, ""))),
        _ => Some((word, rest)),
    }
}

/// Whether a link has a network that another provider of libfabric's drives.
pub fn are_in(link: &str) -> bool {
    link.split('+').any(|part| provider(part.trim()).is_some())
}

/// Why a link cannot be had, with the remedy, if it names a network of libfabric's whose provider
/// offers nothing here.
pub fn lacking(link: &str) -> Option<String> {
    let asked = link.split('+').filter_map(|part| provider(part.trim()));
    for (name, _) in asked {
        let there = all();
        let is_there = |it: &Network<'_>| it.provider == name || core_of(&it.provider) == name;
        if there.iter().any(is_there) {
            continue;
        }
        let others: BTreeSet<&str> = there.iter().map(|it| &*it.provider).collect();
        let filter = std::env::var("FI_PROVIDER").ok();
        return Some(explain(link, name, filter.as_deref(), &others));
    }
    None
}

/// The words for a link to a network of a provider that offers nothing, where `others` do.
fn explain(link: &str, name: &str, filter: Option<&str>, others: &BTreeSet<&str>) -> String {
    let core = core_of(name);
    let is_shown = |set: &&str| {
        let mut words = set.trim_start_matches('^').split([',', ';']);
        words.any(|it| it.trim() == core) != set.starts_with('^')
    };
    let why = match filter {
        Some(set) if !set.is_empty() && !is_shown(&set) => {
            let remedy = match set.starts_with('^') {
                true => format!("take {core} out of it"),
                false => format!("set FI_PROVIDER={set},{name}"),
            };
            format!("FI_PROVIDER={set} hides it: {remedy}")
        }
        _ if others.is_empty() => format!("no provider of a network does, and {ASK}"),
        _ => {
            let others: Vec<_> = others.iter().copied().collect();
            format!("those that do are {}, and {ASK}", others.join(", "))
        }
    };
    format!("no link {link}: the provider {name} offers no reliable datagrams here; {why}")
}

/// Where to look for what hides a provider.
const ASK: &str = "FI_LOG_LEVEL=info tells why the others do not";

/// The provider that drives the network, without those that are layered upon it.
fn core_of(provider: &str) -> &str {
    provider.split(';').next().unwrap_or_default()
}

/// A copy of the description of the card that a link's first network uses, for an offer of its own;
/// null if its provider describes none.
pub fn card(link: &str) -> *mut c_void {
    let named = |part: &str| {
        let (provider, domains) = provider(part.trim())?;
        let domain = domains.split(',').next().unwrap_or_default();
        let mut all = all().into_iter();
        all.find(|it| it.provider == provider && (domain.is_empty() || it.domain == domain))
    };
    let found = link.split('+').find_map(named);
    let Some(network) = found.filter(|it| !it.info.nic.is_null()) else {
        return null_mut();
    };
    // SAFETY: a copy is ours, and so is what is taken out of it.
    unsafe {
        let copy = host::dupinfo(network.info);
        let Some(it) = copy.as_mut() else {
            return null_mut();
        };
        let card = std::mem::replace(&mut it.nic, null_mut());
        host::freeinfo(copy);
        card
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_of_libfabric_are_found_in_links() {
        let all = [
            "shm",
            "tcp:eth0",
            "ofi:tcp:eth0",
            "verbs;ofi_rxm:mlx5_0,mlx5_1",
            "cxi",
        ];
        let named = all.map(provider);
        let verbs = ("verbs;ofi_rxm", "mlx5_0,mlx5_1");
        let expected = [
            None,
            None,
            Some(("tcp", "eth0")),
            Some(verbs),
            Some(("cxi", "")),
        ];
        assert_eq!(named, expected);
        assert!(are_in("shm + cxi") && !are_in("shm+tcp:eth0"));
    }

    #[test]
    fn what_hides_a_network_is_told() {
        let others = BTreeSet::from(["efa", "psm3"]);
        let told = |name, filter| explain("shm+it", name, filter, &others);
        let hidden = told("verbs;ofi_rxm", Some("linkx"));
        assert!(hidden.contains("set FI_PROVIDER=linkx,verbs;ofi_rxm"));
        let hidden = told("cxi", Some("^verbs,cxi"));
        assert!(hidden.contains("take cxi out of it"), "{hidden}");
        for filter in [None, Some("linkx,cxi"), Some("^verbs")] {
            let lacks = told("cxi", filter);
            assert!(lacks.contains("those that do are efa, psm3"), "{lacks}");
        }
    }
}
