//! Which jobs are connected, who meets at ports, and for how long.

use super::*;

#[test]
fn jobs_that_part_end_alone_and_leave_their_numbers() {
    let mut server = server(1);
    let alone = std::slice::from_ref(&(0..1));
    let own = places(&server).remove(0);
    let (job, theirs) = second(&mut server, 2);
    let connect = |place: &str, server: &mut Server| {
        let place = place.to_string();
        let rank = thread::spawn(move || Rank::connect(&place).unwrap());
        while !rank.is_finished() {
            server.step();
            thread::yield_now();
        }
        rank.join().unwrap()
    };
    let mut parent = connect(&own, &mut server);
    let mut child = connect(&theirs[0], &mut server);
    assert_eq!(
        server.connected_to(0),
        alone,
        "nobody has learnt of anybody"
    );
    // The job is kept for those who have spawned it, and both sides' words connect them.
    let counts = vec![2];
    let caller = server.spawn_caller(0, 1).unwrap();
    server.spawned(caller, Ok(crate::SpawnAnswer { job, counts }));
    assert!(server.is_awaited(1));
    child.jobs().unwrap().open_port("first").unwrap();
    let first = |side, group| Visit {
        port: "first",
        side,
        value: b"value",
        group,
        timeout: None,
    };
    let ours = [(job, 0)];
    let host = child
        .jobs()
        .unwrap()
        .meet(&first(Side::Host, &ours))
        .unwrap();
    server.step();
    let guest = parent.jobs().unwrap();
    let guest = guest.meet(&first(Side::Guest, &[(0, 0)])).unwrap();
    server.step();
    assert!(parent.jobs().unwrap().learn(job).unwrap().is_none());
    server.step();
    assert!(!server.is_awaited(1));
    assert!(server.is_awaited_at("first"));
    assert_eq!(server.connected_to(0), alone, "it is not confirmed");
    let met = |rank: &mut Rank, ticket| rank.jobs().unwrap().outcome(ticket).unwrap();
    assert_eq!(met(&mut parent, guest), Some(Ok(b"value".to_vec())));
    parent.jobs().unwrap().confirm(guest, Ok(())).unwrap();
    server.step();
    assert_eq!(server.connected_to(0), alone, "the other one has not");
    assert_eq!(met(&mut parent, guest), None);
    assert_eq!(met(&mut child, host), Some(Ok(b"value".to_vec())));
    child.jobs().unwrap().confirm(host, Ok(())).unwrap();
    server.step();
    assert_eq!(met(&mut parent, guest), Some(Ok(Vec::new())));
    assert_eq!(met(&mut child, host), Some(Ok(Vec::new())));
    child.jobs().unwrap().close_port("first").unwrap();
    server.step();
    assert!(!server.is_awaited_at("first"));
    assert_eq!(server.connected_to(0), [0..1, 1..3]);
    assert_eq!(server.connected_to(2), [1..3, 0..1]);
    assert!(child.jobs().unwrap().learn(0).unwrap().is_none());
    // Once one job has parted, the end of the other one does not touch it, which may be slower.
    parent.jobs().unwrap().leave_job(job).unwrap();
    server.step();
    assert_eq!(server.connected_to(0), alone);
    assert_eq!(server.connected_to(1).len(), 1);
    child.jobs().unwrap().leave_job(0).unwrap();
    server.step();
    assert_eq!(server.connected_to(0), alone);
    parent.jobs().unwrap().join(job).unwrap();
    child.jobs().unwrap().join(0).unwrap();
    parent.jobs().unwrap().leave_job(7).unwrap();
    server.step();
    assert_eq!(server.connected_to(1), [1..3, 0..1]);
    // One that ends without having parted leaves its job connected.
    server.left(1);
    assert_eq!(server.connected_to(0), [0..1, 1..3]);
    assert_eq!(server.connected_to(2), [1..3, 0..1]);
    child.jobs().unwrap().join(0).unwrap();
    server.step();

    // Its end is told to those who knew it, and the numbers are given to the next.
    assert_eq!(parent.jobs().unwrap().gone().unwrap(), []);
    server.forget(0);
    // For those who meet the job is kept before they have said anything.
    child.jobs().unwrap().leave_job(0).unwrap();
    parent.jobs().unwrap().leave_job(job).unwrap();
    child.jobs().unwrap().open_port("port").unwrap();
    let host = [(job, 0), (job, 1)];
    let visit = |side, group| Visit {
        port: "port",
        side,
        value: b"value",
        group,
        timeout: None,
    };
    let come = visit(Side::Host, &host);
    let waits = child.jobs().unwrap().meet(&come).unwrap();
    server.step();
    let come = visit(Side::Guest, &[(0, 0)]);
    let comes = parent.jobs().unwrap().meet(&come).unwrap();
    server.step();
    assert_eq!(server.connected_to(0), alone);
    assert!(server.is_awaited(2) && server.is_awaited(0));
    // One of the two cannot go on with the other: both are told, and nobody is waited for.
    parent.jobs().unwrap().confirm(comes, Err("why")).unwrap();
    server.step();
    assert_eq!(met(&mut parent, comes), Some(Err("why".to_string())));
    assert_eq!(met(&mut child, waits), Some(Err("why".to_string())));
    assert!(!server.is_awaited(2) && !server.is_awaited(0));
    // Who ends meanwhile cannot, either.
    let waits = child
        .jobs()
        .unwrap()
        .meet(&visit(Side::Host, &host))
        .unwrap();
    server.step();
    let comes = parent
        .jobs()
        .unwrap()
        .meet(&visit(Side::Guest, &[(0, 0)]))
        .unwrap();
    server.step();
    child.jobs().unwrap().confirm(waits, Ok(())).unwrap();
    server.step();
    server.left(0);
    assert!(matches!(met(&mut child, waits), Some(Err(_))));
    assert_eq!(server.connected_to(1), std::slice::from_ref(&(1..3)));
    assert!(matches!(met(&mut parent, comes), Some(Err(_))));
    parent.jobs().unwrap().join(job).unwrap();
    server.step();
    assert!(!server.is_awaited(2));
    server.forget(2);
    server.give_numbers_back(1..3);
    assert_eq!(parent.jobs().unwrap().gone().unwrap(), [job]);
    assert_eq!(server.connected_to(1), []);
    let next = |server: &mut Server, job_id, size| {
        let node_of = vec![0; size as usize].into();
        let job = Job {
            size,
            job_id,
            node_of,
            ..Job::singleton("host".to_string(), 2)
        };
        let first = server.reserve(size);
        server.add(first, job, vec![0; size as usize]).unwrap();
        first
    };
    let forget = |server: &mut Server, numbers: std::ops::Range<u32>| {
        server.forget(numbers.start);
        server.give_numbers_back(numbers);
    };
    assert_eq!(next(&mut server, 5, 1), 1);
    assert_eq!(next(&mut server, 6, 3), 2);
    forget(&mut server, 1..2);
    assert_eq!(next(&mut server, 7, 2), 5, "two do not fit where one was");
    assert_eq!(next(&mut server, 8, 1), 1);
    forget(&mut server, 2..5);
    forget(&mut server, 1..2);
    assert_eq!(next(&mut server, 9, 4), 1, "what adjoins is one");
}

#[test]
fn who_waits_at_a_port_may_lose_patience() {
    let mut server = server(1);
    let place = places(&server).remove(0);
    let rank = thread::spawn(move || Rank::connect(&place).unwrap());
    while !rank.is_finished() {
        server.step();
        thread::yield_now();
    }
    let mut rank = rank.join().unwrap();
    rank.jobs().unwrap().open_port("port").unwrap();
    let mut come = |timeout| {
        let visit = Visit {
            port: "port",
            side: Side::Guest,
            value: b"",
            group: &[],
            timeout,
        };
        rank.jobs().unwrap().meet(&visit).unwrap()
    };
    let limit = std::time::Duration::from_secs(5);
    let (patient, late) = (come(None), come(Some(limit)));
    server.step();
    let until = server.next_time().unwrap();
    server.expire(until - limit / 2);
    assert_eq!(rank.jobs().unwrap().outcome(late).unwrap(), None);
    server.expire(until);
    let why = rank
        .jobs()
        .unwrap()
        .outcome(late)
        .unwrap()
        .unwrap()
        .unwrap_err();
    assert!(why.contains("'port' for 5 s"), "{why}");
    // That the port is open, and that its patience is at an end.
    assert_eq!(server.take_told(), [0, 0]);
    assert_eq!(server.next_time(), None);
    assert_eq!(rank.jobs().unwrap().outcome(patient).unwrap(), None);
}

/// Numbers of processes come again, and a question of the new job is answered by nothing that was
/// said of the old one.
#[test]
fn an_answer_that_comes_after_the_end_of_its_job_is_dropped() {
    let mut server = server(1);
    let next = |server: &mut Server, job_id| {
        let job = Job {
            size: 1,
            job_id,
            node_of: [0].into(),
            ..Job::singleton("host".to_string(), 2)
        };
        let first = server.reserve(1);
        server.add(first, job, vec![0]).unwrap();
        first
    };
    let number = next(&mut server, 5);
    assert_eq!(server.ask(1, number, "link"), None, "nobody has said");
    server.forget(number);
    assert_eq!(server.answer(number, "link", b"where the old one was"), []);
    server.give_numbers_back(number..number + 1);
    assert_eq!(next(&mut server, 6), number);
    assert_eq!(
        server.ask(1, number, "link"),
        None,
        "the new one has not said"
    );
}

#[test]
fn what_was_spawned_is_told_to_nobody_who_has_the_number_of_the_caller() {
    let mut server = server(1);
    let next = |server: &mut Server, job_id| {
        let job = Job {
            size: 1,
            job_id,
            node_of: [0].into(),
            ..Job::singleton("host".to_string(), 2)
        };
        let first = server.reserve(1);
        server.add(first, job, vec![0]).unwrap();
        let place = server.place(first);
        let rank = thread::spawn(move || Rank::connect(&place).unwrap());
        while !rank.is_finished() {
            server.step();
            thread::yield_now();
        }
        (first, rank.join().unwrap())
    };
    let request = crate::SpawnRequest::default;
    let (number, mut first) = next(&mut server, 5);
    first.jobs().unwrap().spawn(&request()).unwrap();
    server.step();
    let caller = server.take_spawn_calls()[0].caller;
    server.forget(number);
    server.give_numbers_back(number..number + 1);
    let (again, mut second) = next(&mut server, 6);
    assert_eq!(again, number);
    let ticket = second.jobs().unwrap().spawn(&request()).unwrap();
    server.step();
    let counts = vec![1];
    let answer = |job| crate::SpawnAnswer {
        job,
        counts: counts.clone(),
    };
    server.spawned(caller, Ok(answer(7)));
    assert_eq!(second.jobs().unwrap().outcome(ticket).unwrap(), None);
    let own = server.take_spawn_calls()[0].caller;
    server.spawned(own, Ok(answer(8)));
    let told = second.jobs().unwrap().outcome(ticket).unwrap();
    assert_eq!(told, Some(Ok(answer(8).to_bytes())));
}

/// Groups of one job that meet have nothing to confirm, so nothing is kept of it.
#[test]
fn groups_of_one_job_just_meet() {
    let mut server = server(2);
    let mut ranks: Vec<Rank> = Vec::new();
    for place in places(&server) {
        let rank = thread::spawn(move || Rank::connect(&place).unwrap());
        while !rank.is_finished() {
            server.step();
            thread::yield_now();
        }
        ranks.push(rank.join().unwrap());
    }
    let job = ranks[0].job().job_id;
    ranks[0].jobs().unwrap().open_port("port").unwrap();
    let mut tickets = Vec::new();
    for (rank, side) in (0..).zip([Side::Host, Side::Guest]) {
        let visit = Visit {
            port: "port",
            side,
            value: b"value",
            group: &[(job, rank)],
            timeout: None,
        };
        let jobs = ranks[rank as usize].jobs().unwrap();
        tickets.push(jobs.meet(&visit).unwrap());
        server.step();
    }
    for (rank, ticket) in ranks.iter_mut().zip(tickets) {
        let met = rank.jobs().unwrap().outcome(ticket).unwrap();
        assert_eq!(met, Some(Ok(b"value".to_vec())));
    }
    ranks[0].jobs().unwrap().close_port("port").unwrap();
    server.step();
    assert!(!server.is_awaited_at("port"));
}
