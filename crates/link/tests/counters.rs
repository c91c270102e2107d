//! What is counted is what happened.

mod common;

use catena_link::{Flow, Mode, Plane, Protocol, Sent, Tally};
use catena_sim::{Reads, Seed, Sim};
use common::*;

fn sent(ranks: &mut [Rank], tag: i32, len: usize) -> Sent {
    let data = pattern(1, len);
    ranks[0].send(world(0), Plane::User, 1, tag, Mode::Standard, data)
}

const PROTOCOLS: [Protocol; 3] = [Protocol::Inline, Protocol::Eager, Protocol::Rendezvous];

fn tally(messages: u64, bytes: u64) -> Tally {
    Tally { messages, bytes }
}

#[test]
fn messages_are_counted_by_protocol_and_kept_when_a_communicator_closes() {
    for reads in [Reads::Never, Reads::Whole] {
        let mut ranks = ranks(
            Sim::new(Seed(3)).max_packet(24).eager_max(64).reads(reads),
            2,
        );
        for (tag, len) in [(0, 0), (1, 32), (2, 33), (3, 64), (4, 500)] {
            let (got, _) = recv(&mut ranks, 1, 0, tag, len);
            let out = sent(&mut ranks, tag, len);
            wait(&mut ranks, 1, got);
            if let Sent::Pending(id) = out {
                wait(&mut ranks, 0, id);
            }
        }
        quiesce(&mut ranks);
        let expected = [tally(2, 32), tally(2, 97), tally(1, 500)];
        let by = |flow: Flow| PROTOCOLS.map(|protocol| flow.by(protocol));
        assert_eq!(by(ranks[0].traffic(Some(world(0))).sent), expected);
        assert_eq!(by(ranks[1].traffic(Some(world(1))).received), expected);
        assert_eq!(ranks[1].traffic(None).unexpected, 0);

        let (out, inn) = (*ranks[0].counters(), *ranks[1].counters());
        let (streams, reads) = match reads {
            Reads::Never => (tally(1, 500), tally(0, 0)),
            _ => (tally(0, 0), tally(1, 500)),
        };
        assert_eq!((out.streamed, out.fetched), (streams, reads));
        assert_eq!((inn.asked, inn.got), (streams, reads));

        ranks[0].close(world(0));
        assert_eq!(by(ranks[0].traffic(None).sent), expected);
        assert_eq!(ranks[0].traffic(None).sent.all(), tally(5, 629));
        assert_eq!(ranks[0].traffic(Some(world(0))).sent.all(), tally(0, 0));
    }
}

#[test]
fn queues_are_as_long_as_they_are() {
    let mut ranks = ranks(Sim::new(Seed(3)), 2);
    for tag in 0..5 {
        assert_eq!(sent(&mut ranks, tag, 40), Sent::Done);
    }
    quiesce(&mut ranks);
    assert_eq!(ranks[1].unexpected(None), 5);
    assert_eq!(ranks[1].unexpected(Some(world(1))), 5);
    assert_eq!(ranks[1].unexpected_bytes(), 200);
    assert_eq!(ranks[1].unexpected_peak(), 5);
    for tag in 1..4 {
        let (got, _) = recv(&mut ranks, 1, 0, tag, 40);
        wait(&mut ranks, 1, got);
    }
    assert_eq!(ranks[1].unexpected(None), 2);
    assert_eq!(ranks[1].unexpected_peak(), 5, "since it was last asked");
    assert_eq!(ranks[1].unexpected_peak(), 2);
    assert_eq!(ranks[1].traffic(None).unexpected, 5);

    assert_eq!((ranks[1].posted(None), ranks[1].requests()), (0, 0));
    let (waiting, _) = recv(&mut ranks, 1, 0, 9, 8);
    assert_eq!((ranks[1].posted(None), ranks[1].requests()), (1, 1));
    assert_eq!(ranks[1].posted(Some(world(1))), 1);
    assert_eq!(sent(&mut ranks, 9, 8), Sent::Done);
    wait(&mut ranks, 1, waiting);
    assert_eq!((ranks[1].posted(None), ranks[1].requests()), (0, 0));
}
