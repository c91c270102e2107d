//! Whether the other ends of connections answer.
//!
//! Where nothing is under way the kernel asks the other end by itself, and gives up. Where
//! something is, this process judges: a host is lost if its kernel has acknowledged nothing for the
//! time limit although it was asked more than once, by what is sent again or by probes of a window
//! that is full. A process that is too busy to read, or stopped, has a kernel that answers: that
//! says it has no room, for as long as it takes.
//!
//! The kernel asks about a full window ever more seldom, up to once in two minutes. So a connection
//! that has heard nothing for a quarter of the limit gets a second one, which carries nothing, to
//! where the peer listens ([`Probe`]): its silence is the host's, too, if it has ever been
//! answered; a door between the two may let only one of them call.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::init::Tcp;
use crate::link::Stage;
use crate::liveness::Probe;

/// Times that the kernel has asked in vain, at least.
const ASKED: u32 = 2;

/// What is known of an other end from which something is awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Answers,
    /// It has answered nothing for long, but was hardly asked either.
    Unasked,
    Silent,
}

/// Judges one that has acknowledged nothing for so long, although it was asked so often.
fn judge(silent: Duration, asked: u32, timeout: Duration) -> Verdict {
    if silent >= timeout && asked >= ASKED {
        return Verdict::Silent;
    }
    match silent >= timeout / 4 {
        true => Verdict::Unasked,
        false => Verdict::Answers,
    }
}

impl Tcp {
    /// Looks whether the other ends answer from which something is awaited. Cost: two system calls
    /// for each connection, once in a while.
    #[cold]
    #[inline(never)]
    pub(crate) fn judge(&mut self) {
        self.judged = self.looked;
        for at in 0..self.links.len() {
            if let Err(cause) = self.judge_one(at) {
                let link = self.links[at].as_ref().expect("just judged");
                let cause = format!("{cause} (to {})", link.socket.there);
                if let Some(peer) = link.peer {
                    self.lose(peer, cause);
                }
            }
        }
    }

    fn judge_one(&mut self, at: usize) -> Result<(), String> {
        let timeout = self.config.timeout;
        let Some(link) = &mut self.links[at] else {
            return Ok(());
        };
        let (Stage::Open, Some(peer)) = (&link.stage, link.peer) else {
            return Ok(());
        };
        let silence = link
            .socket
            .is_unacknowledged()
            .then(|| link.socket.silence());
        let Some((silent, asked)) = silence.flatten() else {
            (link.probe, link.awaited) = (None, None);
            return Ok(());
        };
        // The last acknowledgement may be long ago where nothing was sent meanwhile.
        let silent = silent.min(link.awaited.get_or_insert_with(Instant::now).elapsed());
        match judge(silent, asked, timeout) {
            Verdict::Answers => link.probe = None,
            Verdict::Silent => {
                return Err(format!("it has not answered for {} s", silent.as_secs()));
            }
            Verdict::Unasked => {
                let target = &self.peers[peer.0 as usize];
                if !target.addresses.is_empty() {
                    let to = SocketAddr::from((link.socket.there, target.port));
                    let probe = link
                        .probe
                        .get_or_insert_with(|| Box::new(Probe::call(to, timeout)));
                    return probe.look(to, timeout, true);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_window_that_is_answered_is_no_silence() {
        let limit = Duration::from_secs(60);
        let judge = |seconds, asked| judge(Duration::from_secs(seconds), asked, limit);
        assert_eq!(judge(1, 0), Verdict::Answers);
        assert_eq!(judge(10, 7), Verdict::Answers, "a slow network");
        // The kernel asks once in two minutes by now, and has just asked again.
        assert_eq!([judge(110, 0), judge(120, 1)], [Verdict::Unasked; 2]);
        assert_eq!(judge(60, 8), Verdict::Silent);
    }
}
