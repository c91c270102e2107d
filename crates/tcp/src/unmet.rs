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
            is_there && !self.begins_anew(*peer, name)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Config;
    use crate::target::Closing;
    use catena_fabric::{Header, LocalPeer, Transport};
    use catena_fabric_tests::{Inbox, until};
    use catena_proof::Secret;

    const A: u32 = 1;
    const B: u32 = 2;
    const C: u32 = 3;

    fn alone(job: u32) -> Tcp {
        let place = LocalPeer {
            me: Peer(0),
            processes: 1,
            job: job.into(),
        };
        let secret = Some(Secret::from_bytes([7; 32]));
        let in_order = |names: &[&str]| (0..names.len()).collect();
        Tcp::open(place, secret, None, in_order, Config::tiny()).expect("a port")
    }

    fn add(to: &mut Tcp, job: u32, other: &Tcp) {
        let name = ProcessName {
            job: job.into(),
            rank: 0,
        };
        to.add_peer(Peer(job), name).expect("it is new");
        let address = other.address().expect("a port");
        to.connect(Peer(job), &address).expect("an address");
    }

    fn call(from: &mut Tcp, to: u32) {
        let header = Header::default();
        let _ = from.try_send(Peer(to), header, &[0u8; 8][..]);
    }

    /// B has removed A, of which A has heard, but not all that B had sent before; then it has added
    /// A again, and calls. Another connection of A's that ends lets nobody in before that is over.
    #[test]
    fn a_peer_that_begins_anew_waits_although_another_one_has_gone() {
        let (mut a, mut b, mut c) = (alone(A), alone(B), alone(C));
        add(&mut a, B, &b);
        add(&mut a, C, &c);
        add(&mut c, A, &a);
        call(&mut c, A);
        let poll = |all: &mut [&mut Tcp]| {
            all.iter_mut()
                .for_each(|it| _ = it.poll(&mut Inbox::default()));
        };
        until(|| {
            poll(&mut [&mut a, &mut c]);
            a.peers[C as usize].link.is_some()
        });
        let turn = a.turn;
        let closing = Closing::left("it has removed this process".to_string(), turn);
        a.peers[B as usize].closing = Some(closing);
        add(&mut b, A, &a);
        call(&mut b, A);
        until(|| {
            poll(&mut [&mut a, &mut b, &mut c]);
            !a.unmet.is_empty()
        });
        a.remove_peer(Peer(C)).expect("it was added");
        until(|| {
            poll(&mut [&mut a, &mut b, &mut c]);
            a.departing.is_empty()
        });
        assert_eq!(a.unmet.len(), 1);
    }
}
