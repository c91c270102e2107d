//! A peer as this process reaches it, and an attempt to.

use std::collections::VecDeque;
use std::io;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use crate::addr::{self, Interface};
use crate::socket::{is_lack, is_silence};

/// Greetings that a peer may hang up on before it counts as a stranger.
pub(crate) const REFUSALS: u32 = 3;
/// Calls that end before they were heard, at least, before a peer counts as out of
/// reach.
pub(crate) const DROPS: u32 = 16;
/// The first pause before a call is made again; each is twice as long as the one
/// before, up to 128 of the first.
pub(crate) const PAUSE: Duration = Duration::from_millis(1);

/// How long a peer that has closed its connection counts as alive: the launcher
/// may know why, and says it better.
const GRACE: Duration = Duration::from_millis(500);
/// Polls in which all is read that a peer had sent.
const LOOKS: u64 = 64;

/// A peer as this process reaches it.
#[derive(Debug, Default)]
pub(crate) struct Target {
    pub(crate) port: u16,
    /// Empty until the peer is known.
    pub(crate) addresses: Vec<IpAddr>,
    /// The connection that is sent over.
    pub(crate) link: Option<usize>,
    pub(crate) calling: Option<Box<Calling>>,
    /// It is about to count as gone.
    pub(crate) closing: Option<Closing>,
    /// It has removed this process.
    pub(crate) has_left: bool,
}

/// A peer that is about to count as gone.
#[derive(Debug)]
pub(crate) struct Closing {
    /// When something was last heard of it.
    pub(crate) since: Instant,
    pub(crate) cause: String,
    /// Something that was sent to it is lost: it is gone, even if it calls again.
    pub(crate) loses: bool,
    /// Its host says that it has let go of its connection.
    pub(crate) has_ended: bool,
    /// It has removed this process.
    pub(crate) has_left: bool,
    /// When this began, and the number of the last poll before.
    begun: (Instant, u64),
}

impl Closing {
    pub(crate) fn new(cause: String, loses: bool, has_ended: bool, turn: u64) -> Closing {
        let now = Instant::now();
        Closing {
            since: now,
            begun: (now, turn),
            cause,
            loses,
            has_ended,
            has_left: false,
        }
    }

    /// Of a peer that has removed this process.
    pub(crate) fn left(cause: String, turn: u64) -> Closing {
        Closing {
            has_left: true,
            ..Closing::new(cause, true, false, turn)
        }
    }

    /// Whether it has been waited for long enough. One that goes on sending although something is
    /// lost has had time to tell what it had sent before.
    pub(crate) fn is_over(&self, now: Instant, turn: u64) -> bool {
        let (begun, before) = self.begun;
        let after = |since| now.saturating_duration_since(since);
        after(self.since) >= GRACE || after(begun) >= 10 * GRACE && turn - before > LOOKS
    }

    /// Whether there is nothing to wait for but what it had sent.
    pub(crate) fn is_certain(&self) -> bool {
        self.has_left || self.loses && !self.has_ended
    }
}

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Miss {
    /// Nobody listens there: the peer has ended, if it was there.
    Refused,
    /// Nobody has answered yet.
    Silent,
    /// This process lacks what a connection needs.
    Lacking,
    /// It is of no use to call there.
    Useless,
}

impl Miss {
    /// What an error of the kernel's means, of a call at an address.
    pub(crate) fn of(error: &io::Error, at: IpAddr) -> Miss {
        match error.kind() {
            io::ErrorKind::ConnectionRefused => Miss::Refused,
            // Also where this host has no addresses of that kind.
            io::ErrorKind::AddrNotAvailable if at.is_ipv6() => Miss::Silent,
            kind if is_silence(kind) => Miss::Silent,
            _ if is_lack(error) => Miss::Lacking,
            _ => Miss::Useless,
        }
    }
}

/// An attempt to reach a peer.
#[derive(Debug)]
pub(crate) struct Calling {
    /// When it began.
    begun: Instant,
    /// Addresses that were not tried yet, or are to be tried again.
    rest: VecDeque<IpAddr>,
    /// Those that have not answered.
    silent: VecDeque<IpAddr>,
    pub(crate) at: IpAddr,
    /// The connection that is being made; none during a pause.
    pub(crate) link: Option<usize>,
    pub(crate) again: Again,
    /// What came of the addresses that were tried.
    pub(crate) tried: Vec<String>,
    /// Whether one has refused, and whether one has not answered.
    refused: bool,
    unanswered: bool,
}

impl Calling {
    /// One at these addresses, of which there is one at least.
    pub(crate) fn new(addresses: Vec<IpAddr>, now: Instant) -> Calling {
        Calling {
            begun: now,
            at: addresses[0],
            rest: addresses.into(),
            silent: VecDeque::new(),
            link: None,
            again: Again::new(now),
            tried: Vec::new(),
            refused: false,
            unanswered: false,
        }
    }

    /// Goes on with the next address: those that have not answered are tried again, for `timeout`.
    /// False if there is none left.
    pub(crate) fn next(&mut self, now: Instant, timeout: Duration) -> bool {
        let late = now.saturating_duration_since(self.begun) >= timeout;
        if self.rest.is_empty() && !late {
            self.rest = std::mem::take(&mut self.silent);
        }
        let Some(at) = self.rest.pop_front() else {
            return false;
        };
        if at != self.at {
            let pauses = self.again.pauses;
            self.at = at;
            self.again = Again {
                pauses,
                ..Again::new(now)
            };
        }
        true
    }

    /// Whether no other address is left.
    pub(crate) fn is_last(&self) -> bool {
        self.rest.is_empty() && self.silent.is_empty()
    }

    /// A call at the present address has missed: whether the peer is called again after a pause.
    pub(crate) fn missed(&mut self, miss: Miss, now: Instant, timeout: Duration) -> bool {
        match miss {
            Miss::Refused => self.refused = true,
            Miss::Useless => {}
            Miss::Lacking => {
                self.rest.push_front(self.at);
                self.again.pause(now);
                return true;
            }
            Miss::Silent => {
                self.unanswered = true;
                self.silent.push_back(self.at);
                let late = now.saturating_duration_since(self.begun) >= timeout;
                if self.rest.is_empty() && !late {
                    self.again.pause(now);
                    return true;
                }
            }
        }
        false
    }

    /// The peer has hung up on a call of this `age`, which it had `heard` or not: whether it is
    /// called again there after a pause.
    pub(crate) fn hung_up(
        &mut self,
        heard: bool,
        age: Duration,
        now: Instant,
        timeout: Duration,
    ) -> bool {
        let again = self.again.goes_on(heard, age, now, timeout);
        if again {
            self.rest.push_front(self.at);
        }
        again
    }

    /// Keeps what came of the present address.
    pub(crate) fn note(&mut self, why: &str) {
        let at = format!("{}: ", self.at);
        self.tried.retain(|it| !it.starts_with(&at));
        self.tried.push(at + why);
    }

    /// Whether all say that the peer is not there, after it could not be reached.
    pub(crate) fn has_ended(&self) -> bool {
        self.refused && !self.unanswered
    }
}

/// Calls at one address that were hung up on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Again {
    /// When the first one was made.
    pub(crate) begun: Instant,
    /// How many calls had been heard before.
    pub(crate) refused: u32,
    /// How many calls had not been heard.
    pub(crate) dropped: u32,
    /// How many pauses were made.
    pauses: u32,
    /// When the next one is due.
    pub(crate) next: Instant,
}

impl Again {
    pub(crate) fn new(now: Instant) -> Again {
        Again {
            begun: now,
            refused: 0,
            dropped: 0,
            pauses: 0,
            next: now,
        }
    }

    /// The next call is made after a pause.
    pub(crate) fn pause(&mut self, now: Instant) {
        let doublings = self.pauses.min(7);
        self.pauses += 1;
        self.next = now + (PAUSE * (1 << doublings));
    }

    /// A call of this `age` was hung up on, which had been `heard` or not; whether
    /// another one is to be made. A host may be out of reach for `timeout`. If the call
    /// is older, it was this process that did not answer, as it was computing: that
    /// does not count.
    pub(crate) fn goes_on(
        &mut self,
        heard: bool,
        age: Duration,
        now: Instant,
        timeout: Duration,
    ) -> bool {
        if age > timeout {
            self.next = now;
            return true;
        }
        self.refused += u32::from(heard);
        self.dropped += u32::from(!heard);
        self.pause(now);
        let late = now.saturating_duration_since(self.begun) > timeout;
        self.refused < REFUSALS && (self.dropped < DROPS || !late)
    }
}

impl Target {
    /// Learns where it is.
    pub(crate) fn learn(&mut self, address: &[u8], ours: &[Interface]) -> Option<()> {
        let (port, all) = addr::decode(address)?;
        (self.port, self.addresses) = (port, addr::in_order(all, ours));
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(60);

    #[test]
    fn a_peer_that_refuses_is_not_asked_for_ever() {
        let begun = Instant::now();
        let mut again = Again::new(begun);
        let mut calls = 1;
        while again.goes_on(true, Duration::ZERO, begun, TIMEOUT) {
            calls += 1;
        }
        assert_eq!(calls, REFUSALS);
    }

    #[test]
    fn a_peer_with_too_many_callers_is_called_until_the_timeout() {
        let begun = Instant::now();
        let mut again = Again::new(begun);
        let (mut now, mut pauses) = (begun, Vec::new());
        while again.goes_on(false, Duration::ZERO, now, TIMEOUT) {
            pauses.push(again.next - now);
            now = again.next;
        }
        assert!(now - begun > TIMEOUT && now - begun < 2 * TIMEOUT);
        assert_eq!(pauses[..3], [1, 2, 4].map(|n| n * PAUSE));
        assert_eq!(pauses.iter().max(), Some(&(128 * PAUSE)));
    }

    #[test]
    fn a_process_that_computes_for_long_does_not_give_up() {
        let begun = Instant::now();
        let mut again = Again::new(begun);
        for n in 1..100 {
            let now = begun + 2 * n * TIMEOUT;
            assert!(again.goes_on(true, 2 * TIMEOUT, now, TIMEOUT));
            assert_eq!(again.next, now, "at once");
        }
    }

    fn calling(addresses: &[[u8; 4]], now: Instant) -> Calling {
        let addresses = addresses.iter().map(|it| IpAddr::from(*it)).collect();
        Calling::new(addresses, now)
    }

    /// That of this process, as bridges of many machines have the same, refuses; the other one
    /// answers late.
    #[test]
    fn an_address_that_does_not_answer_is_tried_again_although_another_one_refuses() {
        let begun = Instant::now();
        let mut calling = calling(&[[10, 0, 0, 1], [172, 17, 0, 1]], begun);
        let mut now = begun;
        let mut tries = 0;
        while calling.next(now, TIMEOUT) {
            tries += 1;
            let miss = match calling.at.to_string().starts_with("10.") {
                true => Miss::Silent,
                false => Miss::Refused,
            };
            now += Duration::from_secs(2);
            calling.missed(miss, now, TIMEOUT);
            calling.note("why");
        }
        assert!(now - begun >= TIMEOUT && tries > 25, "{tries}");
        assert_eq!((calling.tried.len(), calling.has_ended()), (2, false));
    }

    #[test]
    fn a_process_that_lacks_descriptors_calls_for_as_long() {
        let begun = Instant::now();
        let mut calling = calling(&[[10, 0, 0, 1]], begun);
        let mut now = begun;
        for _ in 0..2000 {
            assert!(calling.next(now, TIMEOUT));
            let lacks = io::Error::from_raw_os_error(libc::EMFILE);
            assert!(calling.missed(Miss::of(&lacks, calling.at), now, TIMEOUT));
            now = calling.again.next;
        }
        assert!(now - begun > 2 * TIMEOUT);
        assert!(calling.next(now, TIMEOUT));
        let refuses = io::Error::from(io::ErrorKind::ConnectionRefused);
        assert!(!calling.missed(Miss::of(&refuses, calling.at), now, TIMEOUT));
        assert!(!calling.next(now, TIMEOUT) && calling.has_ended());
    }
}
