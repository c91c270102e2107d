//! Names and networks of this host.

use std::net::ToSocketAddrs;
use std::time::{Duration, Instant};

use catena_launcher::own_addresses;

use crate::finding::{Finding, Weight};

/// After so long a name is slow to be found.
const LONG: Duration = Duration::from_millis(500);

/// Whether the name of this host can be looked up.
pub fn name(host: &str) -> Vec<Finding> {
    let begun = Instant::now();
    let found = (host, 0).to_socket_addrs();
    let taken = begun.elapsed();
    let told = |weight, cause, remedy: String| vec![Finding::new(weight, "name", cause, remedy)];
    match found {
        Err(error) => told(
            Weight::Note,
            format!(
                "the name of this host, {host}, cannot be looked up ({error}): Catena does without, and other software does not"
            ),
            format!("add a line with its address and `{host}` to /etc/hosts"),
        ),
        Ok(_) if taken > LONG => told(
            Weight::Slow,
            format!(
                "looking up the name of this host, {host}, takes {:.1} s",
                taken.as_secs_f64()
            ),
            "name servers that answer first in /etc/resolv.conf, or the host in /etc/hosts"
                .to_string(),
        ),
        Ok(_) => Vec::new(),
    }
}

/// Whether a job can leave this host at all.
pub fn reach() -> Vec<Finding> {
    if !own_addresses().is_empty() {
        return Vec::new();
    }
    vec![Finding::new(
        Weight::Note,
        "network",
        "no interface but the loopback has an address, so jobs stay on this host",
        "see `ip address`; start the container with a network",
    )]
}
