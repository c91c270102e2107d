//! Callers that have proven that they know the secret before this process knows of them: it learns
//! of other processes one by one, and they of it. Such a caller is not welcomed before it is added;
//! until then it sends no packets, and waits.

use catena_fabric::{Peer, ProcessName};
use catena_proof::TAG;

use crate::callers::Unmet;
use crate::end::End;
use crate::init::Tcp;
use crate::link::Stage;
use crate::socket::is_lack;
use crate::target::Target;

impl Tcp {
    /// Adds a process of another job: it may call, and be called once it is
    /// [connected](Tcp::connect).
    ///
    /// # Errors
    /// If it is known already, or its number is another one's.
    pub fn add_peer(&mut self, peer: Peer, name: ProcessName) -> Result<(), String> {
        self.members.add(peer, name)?;
        let numbers = self.members.numbers().max(self.peers.len());
        self.peers.resize_with(numbers, Target::default);
        self.losses.grow(numbers);
        self.losses.forget(peer);
        self.welcome_if_known(name);
        Ok(())
    }

    /// A process that waits is let in, if it is known, and nothing is left of what was before it
    /// was removed.
    pub(crate) fn welcome_if_known(&mut self, name: ProcessName) {
        let known = self.members.peer(name).filter(|peer| {
            let is_there = self.losses.get(*peer).is_none();
            is_there && !self.is_departing(name)
        });
        let waiting = self.unmet.iter().position(|it| it.name == name);
        if let (Some(peer), Some(number)) = (known, waiting) {
            // It may have gone, or gone and come back.
            self.still_unmet(self.unmet[number].at);
            let Some(number) = self.unmet.iter().position(|it| it.name == name) else {
                return;
            };
            let Unmet { at, welcome, .. } = self.unmet.swap_remove(number);
            if let Err(end) = self.welcome_in(at, peer, &welcome) {
                self.ended(at, &end);
            }
        }
    }

    /// The caller of connection `at` has proven itself, and this process knows it: packets may
    /// follow.
    pub(crate) fn welcome_in(
        &mut self,
        at: usize,
        peer: Peer,
        welcome: &[u8; TAG],
    ) -> Result<(), End> {
        let options = self.options();
        let link = self.links[at].as_mut().expect("its caller waits");
        link.socket.apply(options).map_err(End::Failed)?;
        self.say(at, welcome)?;
        self.opened(at, peer);
        Ok(())
    }

    /// The caller of connection `at` has proven itself, and is not known yet. An earlier call of
    /// its own is over.
    pub(crate) fn keep_waiting(&mut self, at: usize, name: ProcessName, welcome: [u8; TAG]) {
        if let Some(earlier) = self.unmet.iter().find(|it| it.name == name) {
            self.remove(earlier.at);
        }
        self.links[at].as_mut().expect("it was just read").stage = Stage::Unmet;
        self.unmet.push(Unmet { name, at, welcome });
    }

    /// Something has happened to the connection of a caller that waits.
    pub(crate) fn still_unmet(&mut self, at: usize) {
        if !self.is_silent(at) {
            self.remove(at);
        }
    }

    /// Whether a caller that is not welcome yet is still there: it has nothing to say meanwhile,
    /// unless it has taken leave.
    pub(crate) fn is_silent(&self, at: usize) -> bool {
        let link = self.links[at].as_ref().expect("its caller waits");
        let more = link.socket.receive(&mut [0]);
        more.is_err_and(|error| is_lack(&error))
    }
}
