//! Removing processes that were added. The other end of a connection is told so, behind all that
//! waits in it, by what is no frame; the connection ends when that end has closed it, which says
//! that it has read this, or after the time limit. A process that was removed and is added again is
//! called, and welcomed, when its former connections are over: so both ends begin anew, or neither
//! does.

use std::time::Instant;

use catena_fabric::{Peer, ProcessName};

use crate::callers::Departing;
use crate::frame::GOODBYE;
use crate::init::Tcp;
use crate::link::Stage;
use crate::socket::is_lack;

/// Bytes that are read at once of what nobody wants any more.
const ROOM: usize = 16 << 10;

/// Whether the other end of a connection takes this process for one that it may know.
fn is_heard(stage: &Stage) -> bool {
    match stage {
        Stage::Open => true,
        Stage::Greeting(handshake) => handshake.has_proven(),
        Stage::Calling | Stage::Unmet | Stage::Departing => false,
    }
}

impl Tcp {
    /// Removes a process that was added; see [`Rail::remove_peer`](catena_fabric::Rail).
    ///
    /// # Errors
    /// If it was not.
    pub fn remove_peer(&mut self, peer: Peer) -> Result<(), String> {
        let name = self.members.remove(peer)?;
        for at in 0..self.links.len() {
            match &self.links[at] {
                Some(it) if it.peer != Some(peer) => {}
                Some(it) if is_heard(&it.stage) => self.depart(at, name),
                Some(_) => self.remove(at),
                None => {}
            }
        }
        self.peers[peer.0 as usize] = Default::default();
        self.again.retain(|it| *it != peer);
        self.closed.retain(|it| *it != peer);
        self.losses.forget(peer);
        let _ = self.losses.add(peer, "it was removed".to_string());
        self.losses.set_known(peer);
        Ok(())
    }

    /// Says farewell over a connection.
    fn depart(&mut self, at: usize, name: ProcessName) {
        for list in [
            &mut self.open,
            &mut self.young,
            &mut self.held,
            &mut self.halves,
        ] {
            list.retain(|&it| it != at);
        }
        let Some(link) = &mut self.links[at] else {
            return;
        };
        if let Some(room) = link.partial.take() {
            self.rooms.give_back(room);
        }
        (link.peer, link.stage) = (None, Stage::Departing);
        (link.held, link.holds, link.retired, link.probe) = (false, false, true, None);
        link.out.add(&GOODBYE);
        link.gather(false);
        if link.deaf.is_some() || link.flush().is_err() {
            return self.remove(at);
        }
        self.wait(at);
        let since = Instant::now();
        self.departing.push(Departing { at, name, since });
    }

    /// Whether a connection to a process of that name is not over that was removed.
    pub(crate) fn is_departing(&self, name: ProcessName) -> bool {
        self.departing.iter().any(|it| it.name == name)
    }

    /// What the other end of such a connection still sends is read by nobody; that it has closed it
    /// says that it knows.
    pub(crate) fn discard(&mut self, at: usize) {
        let mut room = [0; ROOM];
        let Some(link) = &mut self.links[at] else {
            return;
        };
        let more = link.socket.receive(&mut room);
        let is_over = match more {
            Ok(len) => len == 0,
            Err(error) => !is_lack(&error),
        };
        if is_over || link.deaf.is_some() {
            self.departed(at);
        }
    }

    fn departed(&mut self, at: usize) {
        self.remove(at);
        // Those that were added again meanwhile, and have called.
        let unmet = self.unmet.iter().map(|it| it.name);
        for name in unmet.collect::<Vec<_>>() {
            self.welcome_if_known(name);
        }
    }

    /// Ends connections whose other ends have taken too long.
    pub(crate) fn give_up_departing(&mut self, now: Instant) {
        let timeout = self.config.timeout;
        let is_late = |it: &&Departing| now.saturating_duration_since(it.since) > timeout;
        let late = self.departing.iter().find(is_late).map(|it| it.at);
        if let Some(at) = late {
            self.departed(at);
        }
    }
}
