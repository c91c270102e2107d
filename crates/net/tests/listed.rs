//! A network that enters through the list alone: the simulator.

mod common;

use catena_fabric_tests::until;
use catena_link::Endpoint;
use catena_net::{Chain, Network, Route};

use common::{exchange_messages, links, over_network};

#[test]
fn messages_arrive_over_a_network_of_the_list() {
    let chain = Chain::parse("shm+sim:7").expect("a network of the list");
    assert!(chain.shm && matches!(chain.networks[..], [Network::Sim(_)]));
    for seed in 0..10 {
        let table = Default::default();
        let mut links = links(over_network(&format!("sim:{seed}"), &table).expect("a port"));
        assert_eq!(links[0].net().route(common::BOTH[1]), Route::Network);
        exchange_messages(&mut links);
        let sent: Vec<_> = links.iter_mut().map(counters).collect();
        assert!(sent.iter().all(|it| *it > 0), "{sent:?}");
    }
}

/// Packets that left over networks.
fn counters(link: &mut Endpoint<common::Ways>) -> u64 {
    let networks = link.net().networks();
    networks.map(|it| it.counters().packets).sum()
}

#[test]
fn a_word_that_names_none_is_told() {
    let error = Chain::parse("shm+sin:7").expect_err("misspelt");
    assert!(error.contains("did you mean sim?"), "{error}");
    let error = Chain::parse("sim:x").expect_err("no seed");
    assert!(error.contains("a seed is a number"), "{error}");
}

#[test]
fn losses_are_told_over_a_network_of_the_list() {
    let table = Default::default();
    let [mut link, other] = links(over_network("sim:99", &table).expect("a port"));
    let peer = common::BOTH[1];
    let sent = common::send(&mut link, 1, &common::Message([7; 8].into()));
    link.net().mark_lost(peer, "the test ended it");
    link.net().look_next();
    until(|| {
        link.progress();
        sent.is_none_or(|it| link.is_done(it))
    });
    link.net().look_next();
    until(|| {
        link.progress();
        let sent = common::send(&mut link, 1, &common::Message([7; 8].into()));
        sent.is_some_and(|it| link.is_done(it) && link.take(it).error.is_some())
    });
    drop(other);
}
