//! Memory that a network reads and writes without its process's help: the registration of a
//! window's own memory, and the keys by which the others reach theirs.

use std::cell::RefCell;
use std::sync::Arc;

use catena_core::Process;
use catena_core::comm::Comm;
use catena_fabric::{Access, Buf, Peer};
use catena_link::RemoteKeys;
use catena_net::{Region, RegionKeys, Route};
use catena_objects::error::Result;

use crate::settings::RMA_REMOTE;
use crate::tell::tell_all;

/// What is known of the way by which a network reaches a target's memory.
#[derive(Debug, Default)]
pub(crate) enum NetworkPath {
    /// There is none, or the network has refused it.
    #[default]
    None,
    /// The target has these keys; which of them leads there is not known yet.
    Keys(RegionKeys),
    /// By these, for some of put and get.
    Open {
        keys: RemoteKeys,
        puts: bool,
        gets: bool,
    },
}

/// Memory of a target that a network may reach.
#[derive(Debug)]
pub(crate) struct Area {
    /// Its address there.
    pub addr: u64,
    /// Its bytes.
    pub len: u64,
    /// How it is reached.
    pub way: NetworkPath,
}

/// Memory of this process that networks reach.
#[derive(Debug, Default)]
pub(crate) struct Exposed(RefCell<Option<Region>>);

/// A region attached to a dynamic window, which others were told of.
#[derive(Debug)]
pub(crate) struct Shown {
    pub exposed: Exposed,
    /// Who was told.
    pub known_by: Vec<Peer>,
}

impl Exposed {
    /// Registers memory of a window over a communicator, if networks lead to some of its members,
    /// and reach memory.
    pub fn in_window(process: &Process, comm: &Comm, memory: (*mut u8, u64)) -> Exposed {
        match comm.group.members().any(|peer| !is_here(process, peer)) {
            true => Exposed::new(process, memory),
            false => Exposed::default(),
        }
    }

    /// Registers memory, if networks reach it.
    pub fn new(process: &Process, (at, len): (*mut u8, u64)) -> Exposed {
        if len == 0 || at.is_null() || !RMA_REMOTE.get() {
            return Exposed::default();
        }
        let Ok(len) = usize::try_from(len) else {
            return Exposed::default();
        };
        let access = Access::READ | Access::WRITE;
        let region = process.link(|link| {
            let region = link.net().expose(Buf::host(at, len), access);
            if region.keys().of_networks().is_some() {
                return Some(region);
            }
            link.net().withdraw(region);
            None
        });
        Exposed(RefCell::new(region))
    }

    /// The keys, as bytes; none if no network reaches it.
    pub fn keys(&self) -> Vec<u8> {
        let region = self.0.borrow();
        let keys = region.as_ref().and_then(|it| it.keys().of_networks());
        keys.map_or_else(Vec::new, |keys| keys.encode())
    }

    /// Networks reach it no more.
    pub fn withdraw(&self, process: &Process) {
        if let Some(region) = self.0.take() {
            process.link(|link| link.net().withdraw(region));
        }
    }
}

/// Tells all members the keys of this one, of which the longest has `longest` bytes; the ways to
/// theirs, by rank.
///
/// # Errors
/// The errors of the collective by which the members tell each other.
pub(crate) fn tell_keys(
    process: &Process,
    comm: &Arc<Comm>,
    keys: &[u8],
    longest: usize,
) -> Result<Vec<NetworkPath>> {
    let size = comm.size() as usize;
    if longest == 0 {
        return Ok((0..size).map(|_| NetworkPath::None).collect());
    }
    // Whoever has none sends zeros, which say so.
    let mut row = vec![0; longest];
    row[..keys.len()].copy_from_slice(keys);
    let rows = tell_all(process, comm, row)?;
    let way = |row| match RegionKeys::decode(row).and_then(|it| it.of_networks()) {
        Some(keys) => NetworkPath::Keys(keys),
        None => NetworkPath::None,
    };
    Ok(rows.chunks_exact(longest).map(way).collect())
}

/// Whether a process shares this node.
pub(crate) fn is_here(process: &Process, peer: Peer) -> bool {
    let route = process.link(|link| link.net().route(peer));
    matches!(route, Route::Shm | Route::Loopback)
}
