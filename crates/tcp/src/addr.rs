//! Interfaces and addresses.
//!
//! ```text
//! 0   port (2 bytes)
//! 2   addresses, best first: kind (1 byte, 4 or 6), 4 or 16 bytes
//! ```

use std::ffi::CStr;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Bytes of the addresses of one process, at most.
const MOST: usize = 40;

/// An address of this host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Interface {
    pub name: String,
    pub address: IpAddr,
    /// Which bits are its network.
    mask: u128,
    /// Whether a device of the machine stands behind it.
    device: bool,
    /// Megabits a second, or 0.
    speed: u64,
}

/// An address as bits, the first in front.
fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(it) => u128::from(it.to_bits()) << 96,
        IpAddr::V6(it) => it.to_bits(),
    }
}

impl Interface {
    /// Whether an address lies in its network.
    fn leads_to(&self, address: IpAddr) -> bool {
        let differ = bits(self.address) ^ bits(address);
        self.address.is_ipv4() == address.is_ipv4() && differ & self.mask == 0
    }
}

/// An address of the kernel's; `None` for other families and for those that
/// mean another host elsewhere.
///
/// # Safety
/// Null, or a whole address of the family that it names.
unsafe fn address(at: *const libc::sockaddr) -> Option<IpAddr> {
    if at.is_null() {
        return None;
    }
    // SAFETY: as promised.
    unsafe {
        match i32::from((*at).sa_family) {
            libc::AF_INET => {
                let it = &*at.cast::<libc::sockaddr_in>();
                Some(IpAddr::V4(Ipv4Addr::from_bits(u32::from_be(
                    it.sin_addr.s_addr,
                ))))
            }
            libc::AF_INET6 => {
                let it = &*at.cast::<libc::sockaddr_in6>();
                let it = Ipv6Addr::from(it.sin6_addr.s6_addr);
                (!it.is_unicast_link_local()).then_some(IpAddr::V6(it))
            }
            _ => None,
        }
    }
}

impl Interface {
    /// How good an interface is, a smaller merit being better: devices come before bridges, IPv4
    /// first, the fastest first.
    fn merit(&self) -> (bool, bool, u64) {
        (!self.device, self.address.is_ipv6(), u64::MAX - self.speed)
    }
}

/// Sorts interfaces, the best first; of those that are as good as each other in
/// the order that `order` gives their names.
pub(crate) fn sort(all: &mut [Interface], order: impl Fn(&[&str]) -> Vec<usize>) {
    let mut names: Vec<&str> = Vec::new();
    for it in all.iter() {
        if !names.contains(&it.name.as_str()) {
            names.push(&it.name);
        }
    }
    let ordered: Vec<String> = order(&names).iter().map(|&at| names[at].into()).collect();
    let place = |it: &Interface| ordered.iter().position(|name| *name == it.name);
    all.sort_by_key(|it| (it.merit(), place(it)));
}

/// What this host has, as far as it is of use: its addresses, and why others are
/// passed over.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interfaces {
    /// Under which others may reach it, best first. The loopback is one only where
    /// there is nothing else.
    pub usable: Vec<Interface>,
    /// Names and reasons.
    pub passed: Vec<(String, &'static str)>,
}

/// The interfaces of this host.
pub(crate) fn interfaces() -> Interfaces {
    let mut first = std::ptr::null_mut();
    // SAFETY: the kernel's list, given back below.
    if unsafe { libc::getifaddrs(&mut first) } != 0 {
        return Interfaces::default();
    }
    let (mut all, mut passed, mut at) = (Vec::new(), Vec::new(), first);
    while !at.is_null() {
        // SAFETY: a member of the list, with a name that ends in 0 and
        // addresses of the families that they name.
        let (entry, address, mask, name) = unsafe {
            let entry = &*at;
            let name = CStr::from_ptr(entry.ifa_name).to_string_lossy();
            let mask = self::address(entry.ifa_netmask);
            (entry, self::address(entry.ifa_addr), mask, name)
        };
        at = entry.ifa_next;
        let has = |flag| entry.ifa_flags as i32 & flag != 0;
        if !has(libc::IFF_UP) {
            passed.push((name.into_owned(), "down"));
        } else if !has(libc::IFF_RUNNING) {
            passed.push((name.into_owned(), "not connected"));
        } else if let Some(address) = address {
            let folder = format!("/sys/class/net/{name}");
            let speed = fs::read_to_string(format!("{folder}/speed")).unwrap_or_default();
            all.push(Interface {
                address,
                mask: mask.map_or(u128::MAX, bits),
                device: fs::exists(format!("{folder}/device")).unwrap_or(false),
                speed: speed.trim().parse().unwrap_or(0),
                name: name.into_owned(),
            });
        }
    }
    // SAFETY: ours, and used no more.
    unsafe { libc::freeifaddrs(first) };
    let (mut usable, loops): (Vec<Interface>, Vec<_>) =
        all.into_iter().partition(|it| !it.address.is_loopback());
    if usable.is_empty() {
        usable = loops;
    } else {
        let names = loops.into_iter().map(|it| it.name);
        passed.extend(names.map(|name| (name, "leads nowhere else")));
    }
    sort(&mut usable, |names| (0..names.len()).collect());
    passed.sort_unstable();
    passed.dedup();
    Interfaces { usable, passed }
}

/// The addresses that a process tells the others: as many of those given as there is
/// room for, none twice.
pub(crate) fn told(addresses: impl Iterator<Item = IpAddr>) -> Vec<IpAddr> {
    let (mut told, mut len) = (Vec::new(), size_of::<u16>());
    for address in addresses {
        let more = 1 + if address.is_ipv4() { 4 } else { 16 };
        if len + more <= MOST && !told.contains(&address) {
            len += more;
            told.push(address);
        }
    }
    told
}

/// What a process tells the others: port and addresses, see [`told`].
pub(crate) fn encode(port: u16, addresses: impl Iterator<Item = IpAddr>) -> Vec<u8> {
    let mut out = port.to_le_bytes().to_vec();
    for address in told(addresses) {
        match address {
            IpAddr::V4(it) => {
                out.push(4);
                out.extend(it.octets());
            }
            IpAddr::V6(it) => {
                out.push(6);
                out.extend(it.octets());
            }
        }
    }
    out
}

/// Reads what [`encode`] wrote; `None` if it is damaged or empty.
pub(crate) fn decode(bytes: &[u8]) -> Option<(u16, Vec<IpAddr>)> {
    let (port, mut rest) = bytes.split_first_chunk()?;
    let mut all = Vec::new();
    while let [kind, after @ ..] = rest {
        rest = match kind {
            4 => {
                let (octets, rest) = after.split_first_chunk::<4>()?;
                all.push(IpAddr::from(*octets));
                rest
            }
            6 => {
                let (octets, rest) = after.split_first_chunk::<16>()?;
                all.push(IpAddr::from(*octets));
                rest
            }
            _ => return None,
        };
    }
    (!all.is_empty()).then_some((u16::from_le_bytes(*port), all))
}

/// In which order a process with these interfaces tries to reach one with those
/// addresses: in networks of its own first; addresses that it has itself, as
/// the bridges of many machines have the same, last.
pub(crate) fn in_order(mut theirs: Vec<IpAddr>, ours: &[Interface]) -> Vec<IpAddr> {
    theirs.sort_by_key(|&address| {
        let same = ours.iter().any(|it| it.address == address);
        let near = ours.iter().any(|it| it.leads_to(address));
        (same, !near)
    });
    theirs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interface(address: [u8; 4], len: u32) -> Interface {
        Interface {
            name: "e0".into(),
            address: IpAddr::from(address),
            mask: !(u128::MAX >> len),
            device: true,
            speed: 0,
        }
    }

    #[test]
    fn addresses_survive_the_journey_and_are_short() {
        let all = [
            IpAddr::from([10, 0, 0, 1]),
            IpAddr::from(Ipv6Addr::LOCALHOST),
            IpAddr::from([192, 168, 1, 1]),
        ];
        let bytes = encode(4000, all.into_iter());
        assert_eq!(decode(&bytes), Some((4000, all.to_vec())));
        for cut in [0, 1, 2, 4, 20, bytes.len() - 1] {
            assert_eq!(decode(&bytes[..cut]), None, "{cut}");
        }
        let many = encode(1, all.into_iter().cycle().take(30));
        assert!(many.len() <= MOST && decode(&many).is_some());
    }

    #[test]
    fn networks_in_common_are_tried_first_and_own_addresses_last() {
        let ours = [interface([172, 17, 0, 1], 16), interface([10, 1, 2, 3], 24)];
        let [bridge, far, near] =
            [[172, 17, 0, 1], [10, 9, 0, 1], [10, 1, 2, 200]].map(IpAddr::from);
        assert_eq!(
            in_order(vec![bridge, far, near], &ours),
            [near, far, bridge]
        );
    }

    #[test]
    fn this_host_has_an_address() {
        let Interfaces { usable, passed } = interfaces();
        assert!(!usable.is_empty());
        let local = usable.iter().filter(|it| it.address.is_loopback()).count();
        assert!(local == 0 || local == usable.len());
        let told = passed.iter().any(|(name, _)| name == "lo");
        assert!(told || local > 0, "{passed:?}");
    }

    #[test]
    fn the_order_decides_between_equals() {
        let named = |name: &str, device, last| Interface {
            name: name.into(),
            device,
            ..interface([10, 0, 0, last], 24)
        };
        let mut all = vec![
            named("br0", false, 1),
            named("e0", true, 2),
            named("e1", true, 3),
            named("e1", true, 4),
        ];
        sort(&mut all, |names| (0..names.len()).rev().collect());
        let names: Vec<_> = all.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["e1", "e1", "e0", "br0"]);
    }
}
