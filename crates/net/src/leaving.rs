//! Leaving, and what is still owed then.

use catena_fabric::Peer;

use crate::bridge::Bridge;
use crate::networks::Networks;
use crate::routes::Routes;

impl<S, R> Routes<S, R> {
    /// As [`Networks::leave_together`], from all of them.
    ///
    /// # Errors
    /// What the exchange says.
    pub fn leave_together(&mut self) -> Result<bool, String> {
        let mut all = true;
        for networks in self.networks_mut() {
            all &= networks.leave_together()?;
        }
        // Other jobs do not wait for each other: what is on its way to them is all that is owed.
        for bridge in &mut self.bridges {
            all &= bridge.is_delivered();
        }
        Ok(all)
    }

    /// This process leaves: [`Routes::is_delivered`] is asked from now on.
    pub fn leave(&mut self) {
        self.stays = false;
    }

    /// This process has ended the world model, so nobody gets anything of it on what that had.
    pub fn end(&mut self) {
        self.shm.iter().for_each(|shm| shm.say_left(true));
    }

    /// This process stays after all: see [`Networks::stay`]. Whoever waits for
    /// [`Routes::is_delivered`] waits no more.
    pub fn stay(&mut self) {
        self.stays = true;
        self.shm.iter().for_each(|shm| shm.say_left(false));
        self.networks_mut().for_each(Networks::stay);
    }

    /// As [`Networks::is_delivered`], over all of them; over those to other jobs `alone`, where the
    /// processes of this one's own know by themselves that it leaves, and need nothing.
    pub fn is_delivered(&mut self, alone: bool) -> bool {
        if self.stays {
            return true;
        }
        let own = self.networks.as_mut().filter(|_| !alone);
        let own = own.is_none_or(|it| it.is_delivered());
        let others = self.bridges.iter_mut().map(Bridge::is_delivered);
        others.fold(own, |all, one| all & one)
    }

    /// Whether something has come from a peer over a network, and it has not said since that it
    /// leaves: what is sent to it unasked is not taken for a sign that it has died.
    pub fn is_in_contact(&self, peer: Peer) -> bool {
        let far = self.far(peer);
        far.is_some_and(|(networks, number)| networks.is_in_contact(number))
    }

    /// Whether all that this process has sent over networks has arrived; `None` if that is not
    /// known, as a network only tells what has left.
    pub fn has_all_arrived(&mut self) -> Option<bool> {
        let (mut is_quiet, mut is_told) = (true, true);
        for networks in self.networks_mut() {
            is_quiet &= networks.is_quiet();
            is_told &= networks.tells_arrival();
        }
        (is_told || !is_quiet).then_some(is_quiet)
    }

    /// Whether something that was posted would be lost if this process ended now, or its end would
    /// seem a death.
    pub fn keeps(&mut self) -> bool {
        self.networks.as_mut().is_some_and(|it| it.keeps())
            || self.bridges.iter_mut().any(Bridge::keeps)
    }

    /// As [`Networks::is_delivered`], to the processes of another job, from which this one has
    /// parted. Where the network itself sees to it that nothing is lost nobody needs to wait for
    /// that.
    pub fn is_delivered_to(&mut self, job: u64) -> bool {
        let mut to_it = self.bridges.iter_mut().filter(|it| it.job == job);
        to_it.all(|it| it.connected || it.networks.tells_arrival() || it.is_delivered())
    }
}
