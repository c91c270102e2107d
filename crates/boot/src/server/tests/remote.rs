//! Servers of two launchers, whose processes meet at a port.

use catena_proof::Secret;

use super::*;
use crate::remote::Word;
use crate::server::far::Heard;

/// A launcher with a job of one process.
struct Launcher {
    server: Server,
    rank: Rank,
    job: u64,
}

impl Launcher {
    fn new(job: u64) -> Launcher {
        let world = Job {
            job_id: job,
            ..Job::singleton("host".to_string(), 1)
        };
        let mut server = Server::open(world, 0, vec![0]).unwrap();
        server.greet(0, Secret::from_bytes([7; 32]));
        let place = server.place(0);
        let rank = thread::spawn(move || Rank::connect(&place).unwrap());
        while !rank.is_finished() {
            server.step();
            thread::yield_now();
        }
        let rank = rank.join().unwrap();
        Launcher { server, rank, job }
    }

    fn jobs(&mut self) -> &mut dyn crate::Jobs {
        self.rank.jobs().unwrap()
    }

    fn come(&mut self, side: Side) -> u32 {
        let group = [(self.job, 0)];
        let visit = Visit {
            port: "port@there",
            side,
            value: b"value",
            group: &group,
            timeout: None,
        };
        let ticket = self.jobs().meet(&visit).unwrap();
        self.server.step();
        for visit in self.server.take_visits() {
            self.server.visit(visit, 0);
        }
        ticket
    }
}

/// Has each hear what the other says, until both are silent; what was said of failures.
fn talk(a: &mut Launcher, b: &mut Launcher) -> Vec<Heard> {
    let mut failures = Vec::new();
    loop {
        a.server.step();
        b.server.step();
        let words = [a.server.take_words(), b.server.take_words()];
        if words.iter().all(Vec::is_empty) {
            return failures;
        }
        for (words, to) in words.into_iter().zip([&mut b.server, &mut a.server]) {
            for (_, word) in words {
                let heard = to.hear_abroad(0, word, &mut Vec::new());
                failures.extend(Some(heard).filter(|it| *it != Heard::Done));
            }
        }
    }
}

/// Has the two meet, and each learn of the other's job.
fn connect(host: &mut Launcher, guest: &mut Launcher) {
    let (waits, comes) = (host.come(Side::Host), guest.come(Side::Guest));
    talk(host, guest);
    let jobs = (host.job, guest.job);
    for (it, ticket, other) in [(&mut *host, waits, jobs.1), (&mut *guest, comes, jobs.0)] {
        assert!(matches!(it.jobs().outcome(ticket), Ok(Some(Ok(_)))));
        if it.jobs().learn(other).unwrap().is_none() {
            it.server.step();
            let told = it.jobs().learn(other).unwrap().expect("an answer");
            assert!(told.remote);
        } else {
            it.jobs().join(other).unwrap();
        }
        it.jobs().confirm(ticket, Ok(())).unwrap();
    }
    talk(host, guest);
    for (it, ticket) in [(host, waits), (guest, comes)] {
        assert_eq!(it.jobs().outcome(ticket).unwrap(), Some(Ok(Vec::new())));
    }
}

#[test]
fn the_end_of_a_job_abroad_touches_nobody_once_one_of_the_two_has_parted() {
    let (mut host, mut guest) = (Launcher::new(5), Launcher::new(9));
    host.jobs().open_port("port@there").unwrap();
    host.server.step();
    connect(&mut host, &mut guest);
    assert_eq!(host.server.tied_to(9), [0]);
    guest.server.tell_failure(0, "why");
    let failed = || vec![Heard::Failed(9, "why".to_string())];
    assert_eq!(talk(&mut host, &mut guest), failed());

    // The slower one hears that the other has parted.
    guest.jobs().leave_job(5).unwrap();
    talk(&mut host, &mut guest);
    assert_eq!(host.server.tied_to(9), []);
    guest.server.tell_failure(0, "why");
    assert_eq!(talk(&mut host, &mut guest), []);

    // What was said then does not count when they meet again.
    host.jobs().leave_job(9).unwrap();
    talk(&mut host, &mut guest);
    connect(&mut host, &mut guest);
    assert_eq!(
        (host.server.tied_to(9), guest.server.tied_to(5)),
        (vec![0], vec![0])
    );
    guest.server.tell_failure(0, "why");
    assert_eq!(talk(&mut host, &mut guest), failed());

    // One that ends without having parted is connected as long as its job is there.
    guest.server.left(0);
    guest.server.tell_failure(0, "why");
    assert_eq!(talk(&mut host, &mut guest), failed());
    assert_eq!(host.server.lose_launcher(0, "it was killed"), [0]);
    let word = Word::Parted { job: 9, from: 5 };
    assert_eq!(
        host.server.hear_abroad(0, word, &mut Vec::new()),
        Heard::Done
    );
}
