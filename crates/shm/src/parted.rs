//! Jobs that a process has parted from, where the launcher finds them when it matters: when it
//! judges whom a death ends. A message would wake the launcher, which takes longer than all else
//! that a process does to part.
//!
//! The words outlive their process. The process takes one back before it joins the job again, and
//! tells the launcher by a message instead before it meets anybody: the launcher then learns in
//! order what came first.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::Shm;

impl Shm {
    /// Says that this process has parted from a job; false if the launcher has to be told by a
    /// message, as it does not look here, or there is no room.
    pub fn say_parted(&self, job: u64) -> bool {
        if job == 0 || self.segment.front().heeds_parting.load(Acquire) == 0 {
            return false;
        }
        let words = &self.own().who.parted;
        // Nobody else writes them.
        let free = words.iter().find(|word| word.load(Relaxed) == 0);
        free.is_some_and(|word| {
            word.store(job, Release);
            true
        })
    }

    /// Takes back that this process has parted from a job; false if it had not said so here.
    pub fn unsay_parted(&self, job: u64) -> bool {
        let mut words = self.own().who.parted.iter();
        let said = words.find(|word| job != 0 && word.load(Relaxed) == job);
        said.is_some_and(|word| {
            word.store(0, Release);
            true
        })
    }

    /// The jobs that this process has said here to have parted from.
    pub fn parted(&self) -> impl Iterator<Item = u64> + '_ {
        let words = self.own().who.parted.iter();
        words.map(|word| word.load(Relaxed)).filter(|job| *job != 0)
    }
}

#[cfg(test)]
mod tests {
    use catena_fabric::Peer;

    use crate::addr::PARTED;
    use crate::settings::Config;
    use crate::{Notifier, Shm};

    #[test]
    fn the_launcher_finds_what_a_process_has_parted_from() {
        let fd = crate::create_segment().unwrap();
        let attach = |me| {
            let peers = [Peer(0), Peer(1)];
            Shm::attach_with(fd.try_clone().unwrap(), me, &peers, Config::tiny()).unwrap()
        };
        let (a, b) = (attach(0), attach(1));
        assert!(!a.say_parted(7), "nobody looks there");
        let launcher = Notifier::open(fd.try_clone().unwrap(), 2).unwrap();
        launcher.heed_parting();
        assert!(b.say_parted(7) && b.say_parted(9) && !b.say_parted(0));
        assert!(b.unsay_parted(7) && !b.unsay_parted(7) && !a.unsay_parted(9));
        assert!(b.parted().eq([9]) && a.parted().next().is_none());
        assert!((1..PARTED as u64).all(|job| b.say_parted(job)) && !b.say_parted(100));
        drop(b);
        assert!(
            launcher
                .parted(1)
                .eq([1, 9].into_iter().chain(2..PARTED as u64))
        );
        assert_eq!(launcher.parted(0).count() + launcher.parted(2).count(), 0);
    }
}
