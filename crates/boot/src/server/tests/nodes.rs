//! Servers of several nodes, one below the other.

use super::*;

/// One server of two, with the rank that it has.
fn branch(node: u32, rank: u32) -> (Server, Rank) {
    let job = Job {
        size: 2,
        node_of: vec![0, 1].into(),
        hosts: vec!["one".to_string(), "two".to_string()].into(),
        ..Job::singleton(String::new(), 2)
    };
    let mut server = Server::open(job, node, vec![0; 2]).unwrap();
    let place = server.place(rank);
    let rank = thread::spawn(move || Rank::connect(&place).unwrap());
    while !rank.is_finished() {
        server.step();
        thread::yield_now();
    }
    (server, rank.join().unwrap())
}

/// Takes what a branch has for the root there, and what comes back.
fn exchange(root: &mut Server, branch: &mut Server) {
    root.step();
    for event in branch.step() {
        if let Event::Call { rank, kind, body } = event {
            root.call(rank, kind, &body).unwrap();
        }
    }
    for (number, frame) in root.take_outward() {
        branch.pass_on(number, frame.to_vec());
    }
}

#[test]
fn processes_of_two_nodes_meet_at_a_port_of_the_first() {
    let ((mut root, mut one), (mut leaf, mut two)) = (branch(0, 0), branch(1, 1));
    leaf.set_branch();
    two.jobs().unwrap().open_port("port").unwrap();
    exchange(&mut root, &mut leaf);
    let visit = |side, value| Visit {
        port: "port",
        side,
        value,
        group: &[],
        timeout: None,
    };
    let guest = one.jobs().unwrap().meet(&visit(Side::Guest, b"from one"));
    let host = two.jobs().unwrap().meet(&visit(Side::Host, b"from two"));
    exchange(&mut root, &mut leaf);
    let met = |rank: &mut Rank, ticket| rank.jobs().unwrap().outcome(ticket).unwrap();
    assert_eq!(met(&mut one, guest.unwrap()), Some(Ok(b"from two".into())));
    assert_eq!(met(&mut two, host.unwrap()), Some(Ok(b"from one".into())));
    // That its port is open, and whom it has met there.
    assert_eq!(leaf.take_told(), [1, 1]);

    // The memory of a job comes from the server of the node.
    let other = Job {
        size: 2,
        job_id: 5,
        node_of: vec![1, 0].into(),
        hosts: vec!["one".to_string(), "two".to_string()].into(),
        parent: Some("spawn:5".to_string()),
        ..Job::singleton(String::new(), 2)
    };
    let first = root.reserve(2);
    root.add_spawned(first, other.clone(), vec![0; 2]).unwrap();
    leaf.add_spawned(first, other, vec![0; 2]).unwrap();
    assert!(two.jobs().unwrap().learn(5).unwrap().is_none());
    exchange(&mut root, &mut leaf);
    let told = two.jobs().unwrap().learn(5).unwrap().expect("an answer");
    assert_eq!((&*told.node_of, told.size), (&[1, 0][..], 2));
    assert!(told.segment.is_some() && told.spawned);
    assert_eq!(&*told.hosts, ["one", "two"]);
    assert_eq!(root.connected_to(1), [0..2, 2..4]);

    // It closes with the process that has opened it, which had not parted from the job.
    root.left(1);
    let late = one.jobs().unwrap().meet(&visit(Side::Guest, b"")).unwrap();
    root.step();
    assert!(matches!(met(&mut one, late), Some(Err(_))));
    assert_eq!(root.connected_to(1), [0..2, 2..4]);
    assert!(root.call(0, FrameKind::Fence.into(), &[]).is_err());
}
