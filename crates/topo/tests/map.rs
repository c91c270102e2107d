//! Mapping on a node like those of Frontier: one package of 64 cores with two
//! threads each, four NUMA nodes, eight L3 caches, and four network cards.

use catena_topo::{Cpus, Machine, MapError, Node, Policy, Resource, map, picture, seats};

/// Network cards and the NUMA nodes that they are attached to, through their
/// graphics processors.
const NICS: [(&str, u32); 4] = [("cxi0", 3), ("cxi1", 1), ("cxi2", 0), ("cxi3", 2)];

fn mask(cpus: &Cpus) -> String {
    let mut words = [0u32; 4];
    for cpu in cpus.iter() {
        words[cpu as usize / 32] |= 1 << (cpu % 32);
    }
    let hex = words.iter().rev().map(|word| format!("0x{word:08x}"));
    hex.collect::<Vec<_>>().join(",")
}

/// Cores `first` to `first + count`, with both threads of each.
fn cores(first: u32, count: u32) -> Cpus {
    (first..first + count)
        .flat_map(|core| [core, core + 64])
        .collect()
}

/// As hwloc 2 writes it: memory and devices beside the caches.
fn xml() -> String {
    let object = |kind: &str, cpus: &Cpus, inner: &str| {
        format!(
            "<object type=\"{kind}\" cpuset=\"{}\">{inner}</object>",
            mask(cpus)
        )
    };
    let core = |core: u32| {
        let threads = [core, core + 64].map(|cpu| object("PU", &cpu.into(), ""));
        let core = object("Core", &cores(core, 1), &threads.concat());
        format!("<object type=\"L2Cache\" cpuset=\"0x0\"/>{core}")
    };
    let cache = |at: u32| {
        let inner: String = (at * 8..at * 8 + 8).map(core).collect();
        object("L3Cache", &cores(at * 8, 8), &inner)
    };
    let numa = |at: u32| {
        let (name, _) = NICS.iter().find(|(_, numa)| *numa == at).expect("one each");
        let cpus = cores(at * 16, 16);
        let nic = format!(
            "<object type=\"Bridge\"><object type=\"PCIDev\">\
             <object type=\"OSDev\" name=\"{name}\" osdev_type=\"3\"/></object></object>"
        );
        let memory = object("NUMANode", &cpus, "");
        let caches = [cache(at * 2), cache(at * 2 + 1)].concat();
        object("Group", &cpus, &(memory + &caches + &nic))
    };
    let package = object(
        "Package",
        &cores(0, 64),
        &(0..4).map(numa).collect::<String>(),
    );
    let all = mask(&cores(0, 64));
    format!(
        "<?xml version=\"1.0\"?><!DOCTYPE topology SYSTEM \"hwloc2.dtd\"><topology version=\"2.0\">\
         <object type=\"Machine\" cpuset=\"{all}\" allowed_cpuset=\"{all}\">{package}</object>\
         </topology>"
    )
}

fn nodes(count: usize) -> Vec<Node> {
    let machine = Machine::from_xml(&xml()).expect("a topology");
    let node = |index| Node {
        name: format!("n{index}"),
        machine: machine.clone(),
        slots: 64,
    };
    (0..count).map(node).collect()
}

fn policy(by: &str, order: &str, bind: &str) -> Policy {
    let mut policy = Policy::default();
    if !by.is_empty() {
        policy.map_by(by).expect("a mapping");
    }
    if !order.is_empty() {
        policy.rank_by(order).expect("an order");
    }
    if !bind.is_empty() {
        policy.bind_to(bind).expect("a binding");
    }
    policy
}

/// CPUs of the ranks of a node, and whether there is a note about them.
fn on_one(by: &str, bind: &str, ranks: usize, threads: Option<u32>) -> Vec<String> {
    let node = nodes(1).remove(0);
    let seats = seats(&node, ranks, threads, &policy(by, "", bind)).expect("seats");
    let list = |cpus: Option<Cpus>| cpus.map_or("free".to_string(), |cpus| cpus.to_string());
    seats.cpus.into_iter().map(list).collect()
}

#[test]
fn the_machine_is_read_and_survives_the_journey() {
    let machine = Machine::from_xml(&xml()).expect("a topology");
    let counts = Resource::ALL.map(|resource| machine.of(resource).len());
    assert_eq!(counts, [1, 1, 4, 8, 0, 0, 64, 128]);
    assert_eq!(Machine::parse(&machine.to_text()).as_ref(), Some(&machine));
    let half = machine.restricted(&cores(8, 16));
    assert_eq!(half.of(Resource::NumaNode), [cores(8, 8), cores(16, 8)]);
    assert_eq!(half.of(Resource::Core).len(), 16);
    assert_eq!(Machine::parse(&half.to_text()), Some(half));
}

#[test]
fn the_usual_way_to_use_such_a_node() {
    let firsts = |step: u32| {
        (0..64)
            .step_by(step as usize)
            .map(|c| format!("{c},{}", c + 64))
    };
    assert!(
        on_one("ppr:1:l3cache", "core", 8, None)
            .into_iter()
            .eq(firsts(8))
    );
    assert!(on_one("l3cache", "core", 8, None).into_iter().eq(firsts(8)));
    // Without a word each rank has its share, here a cache of its own.
    let shares = (0..8).map(|at| cores(at * 8, 8).to_string());
    assert!(on_one("", "", 8, None).into_iter().eq(shares.clone()));
    assert!(on_one("", "", 8, Some(8)).into_iter().eq(shares.clone()));
    assert!(on_one("l3cache", "", 8, Some(7)).into_iter().eq(shares));
    // Shares do not reach over the borders of caches.
    let five = [(0, 8), (8, 8), (16, 16), (32, 16), (48, 16)];
    let five = five.map(|(first, count)| cores(first, count).to_string());
    assert_eq!(on_one("", "", 5, None), five);
    assert_eq!(on_one("", "", 3, None)[1], cores(16, 16).to_string());
    // But for threads.
    assert_eq!(on_one("", "", 5, Some(10))[1], cores(12, 13).to_string());
    assert!(on_one("core", "", 64, None).into_iter().eq(firsts(1)));
}

#[test]
fn threads_have_room() {
    let linear = (0..16).map(|at| cores(at * 4, 4).to_string());
    assert!(
        on_one("hybrid:linear", "", 16, Some(4))
            .into_iter()
            .eq(linear.clone())
    );
    assert!(on_one("core:PE=4", "", 16, None).into_iter().eq(linear));
    let numa = |at: u32| cores(at * 16, 3).to_string();
    assert_eq!(on_one("hybrid:numa", "", 2, Some(3)), [numa(0), numa(1)]);
    // Two hardware threads are one core.
    assert_eq!(on_one("hybrid:compact", "", 2, Some(2)), ["0,64", "1,65"]);
    // More than a cache has cores for: what is around it.
    let around = cores(0, 16).to_string();
    assert_eq!(on_one("ppr:1:l3cache", "", 1, Some(9)), [around]);
    assert_eq!(on_one("", "", 2, Some(33)), ["free", "free"]);
}

#[test]
fn more_ranks_than_cores_are_free() {
    assert!(on_one("", "", 65, None).iter().all(|cpus| cpus == "free"));
    let seats = seats(&nodes(1)[0], 65, None, &policy("core", "", "core")).expect("seats");
    assert!(seats.cpus.iter().all(Option::is_none));
    let note = seats.note.expect("it was asked for");
    assert!(
        note.contains("65 ranks would need 65 cores, and there are 64 cores"),
        "{note}"
    );
    assert_eq!(on_one("", "hwthread", 3, None), ["0", "64", "1"]);
    assert_eq!(on_one("", "none", 2, None), ["free", "free"]);
}

#[test]
fn several_nodes_are_filled_or_dealt_to() {
    let nodes_of = |by: &str, order: &str, ranks: Option<u32>, slots: u32| {
        let mut nodes = nodes(2);
        nodes[0].slots = slots;
        let spots = map(&nodes, ranks, &policy(by, order, "none")).expect("a map");
        let nodes = spots.iter().map(|spot| spot.node.to_string());
        nodes.collect::<String>()
    };
    assert_eq!(nodes_of("slot", "", Some(6), 4), "000011");
    assert_eq!(nodes_of("node", "", Some(6), 4), "010101");
    assert_eq!(nodes_of("node", "", Some(6), 2), "010111");
    assert_eq!(nodes_of("slot", "node", Some(6), 4), "010100");
    assert_eq!(nodes_of("ppr:1:numa", "", None, 4), "00001111");
    assert_eq!(nodes_of("ppr:2:node", "", Some(3), 1), "001");
    assert_eq!(nodes_of("slot", "", Some(70), 2).matches('0').count(), 4);
}

#[test]
fn ranks_are_numbered_as_wanted() {
    let numas = |order: &str| {
        let (nodes, policy) = (nodes(2), policy("ppr:2:numa", order, ""));
        let spots = map(&nodes, Some(16), &policy).expect("a map");
        let cpus = seats(&nodes[0], 8, None, &policy).expect("seats").cpus;
        let numa = |seat: usize| {
            cpus[seat]
                .as_ref()
                .and_then(Cpus::first)
                .map(|cpu| cpu / 16)
        };
        let places = spots
            .iter()
            .map(|s| format!("{}{}", s.node, numa(s.seat).expect("bound")));
        places.collect::<Vec<_>>().join(" ")
    };
    let filled = "00 00 01 01 02 02 03 03 10 10 11 11 12 12 13 13";
    assert_eq!(numas(""), filled);
    assert_eq!(numas("fill"), filled);
    assert_eq!(
        numas("span"),
        "00 01 02 03 10 11 12 13 00 01 02 03 10 11 12 13"
    );
    assert_eq!(
        numas("node"),
        "00 10 00 10 01 11 01 11 02 12 02 12 03 13 03 13"
    );
}

#[test]
fn what_cannot_be_is_told() {
    let fails = |by: &str, ranks| {
        let error = map(&nodes(2), Some(ranks), &policy(by, "", "")).expect_err(by);
        error.to_string()
    };
    let error = fails("l2cache", 1);
    assert!(
        error.contains("node n0 has, or tells of, no l2cache"),
        "{error}"
    );
    let error = fails("ppr:1:l3cache", 17);
    assert!(
        error.contains("makes 16 ranks") && error.contains("17"),
        "{error}"
    );
    let error = seats(&nodes(1)[0], 9, None, &policy("ppr:1:l3cache", "", ""));
    let (node, asked, most) = (Some("n0".to_string()), 9, 8);
    assert_eq!(error, Err(MapError::TooMany { node, asked, most }));
}

#[test]
fn each_rank_has_a_network_card_nearby() {
    let node = nodes(1).remove(0);
    let names = |cpus: &Cpus| {
        let near = node.machine.nearest(cpus);
        near.iter().map(|nic| nic.name.clone()).collect::<Vec<_>>()
    };
    for (name, numa) in NICS {
        assert_eq!(names(&cores(numa * 16, 1)), [name]);
        assert_eq!(names(&cores(numa * 16, 16)), [name]);
    }
    // Halfway between all of them.
    assert_eq!(names(&cores(0, 64)).len(), 4);
}

#[test]
fn ranks_use_the_nearest_card_first_and_share_those_that_are_equally_near() {
    let machine = nodes(1).remove(0).machine;
    let domains = ["lo", "cxi0", "cxi1-rdm", "cxi2", "cxi3", "cxi22"];
    let first = |cpus: &Cpus, number| domains[machine.order(&domains, cpus, number)[0]];
    // A rank on each L3 cache, as with a graphics processor each.
    let taken: Vec<_> = (0..8)
        .map(|rank| first(&cores(rank * 8, 8), rank as usize))
        .collect();
    let [a, b, c, d] = ["cxi2", "cxi1-rdm", "cxi3", "cxi0"];
    assert_eq!(taken, [a, a, b, b, c, c, d, d]);
    let all = machine.order(&domains, &cores(0, 8), 5);
    assert_eq!(all, [3, 1, 2, 4, 0, 5], "what is no card comes last");
    // Not bound: each of the four is taken as often, by all or by each fourth.
    for step in [1, 4] {
        let mut taken: Vec<_> = (0..16)
            .map(|rank| first(&cores(0, 64), rank * step))
            .collect();
        taken.sort_unstable();
        assert!(taken.chunks(4).all(|four| four[0] == four[3]), "{taken:?}");
    }
    assert_eq!(machine.order(&["lo", "docker0"], &cores(0, 8), 3), [0, 1]);
}

#[test]
fn maps_are_drawn() {
    let node = nodes(1).remove(0);
    let ranks = [
        (3, Some(Cpus::from(0))),
        (11, Some(cores(16, 1))),
        (12, None),
    ];
    assert_eq!(
        picture(&node, &ranks, true),
        "node n0: 3 ranks on 1 package, 4 NUMA nodes, 8 L3 caches, 64 cores, 128 hardware threads
  rank  3  [+.......|........][........|........][........|........][........|........]  CPU 0  near cxi2
  rank 11  [........|........][#.......|........][........|........][........|........]  CPUs 16,80  near cxi1
  rank 12  not bound
"
    );
    assert!(picture(&node, &ranks, false).ends_with("\n  rank  3\n  rank 11\n  rank 12\n"));
}

/// A machine of two packages with four cores each, and with NUMA nodes that have these CPUs, inside
/// or beside each other.
fn with_memories(memories: &[&str]) -> Result<Machine, String> {
    let object = |kind: &str, cpus: &str| format!("<object type=\"{kind}\" cpuset=\"{cpus}\"/>");
    let cores: String = (0..8)
        .map(|cpu| object("PU", &format!("{:#x}", 1 << cpu)))
        .collect();
    let memories: String = memories.iter().map(|it| object("NUMANode", it)).collect();
    let packages = object("Package", "0xf") + &object("Package", "0xf0");
    let text = format!(
        "<topology version=\"2.0\"><object type=\"Machine\" cpuset=\"0xff\" \
         allowed_cpuset=\"0xff\">\
         {packages}{memories}{cores}</object></topology>"
    );
    Machine::from_xml(&text).map_err(|error| error.to_string())
}

#[test]
fn memory_of_two_kinds_is_one_place() {
    let places = |memories: &[&str]| {
        let machine = with_memories(memories).expect("a topology");
        let nodes = machine.of(Resource::NumaNode).iter();
        nodes.map(Cpus::to_string).collect::<Vec<_>>().join(" ")
    };
    // DRAM and HBM of each package; memory without CPUs; HBM of halves; HBM of a half alone.
    assert_eq!(places(&["0xf", "0xf", "0xf0", "0xf0"]), "0-3 4-7");
    assert_eq!(places(&["0xf", "0x0", "0xf0", "0x0"]), "0-3 4-7");
    assert_eq!(
        places(&["0xff", "0x3", "0xc", "0x30", "0xc0"]),
        "0-1 2-3 4-5 6-7"
    );
    assert_eq!(places(&["0xf", "0x3", "0xf0"]), "0-1 2-3 4-7");
    let error = with_memories(&["0x7", "0xe"]).unwrap_err();
    assert!(error.contains("a part of another one"), "{error}");
    // Ranks are placed by them.
    let node = Node {
        name: "n0".to_string(),
        machine: with_memories(&["0xf", "0xf", "0xf0", "0xf0"]).unwrap(),
        slots: 8,
    };
    let seats = seats(&node, 2, None, &policy("numa", "", "numa")).expect("seats");
    let bound = seats.cpus.into_iter().map(|cpus| cpus.unwrap().to_string());
    assert_eq!(bound.collect::<Vec<_>>(), ["0-3", "4-7"]);
}

#[test]
fn files_that_are_no_topology_are_refused() {
    for (text, words) in [
        ("", "no XML"),
        ("<html/>", "no topology"),
        ("<topology/>", "no processing unit"),
        (
            "<topology><object type=\"PU\" cpuset=\"0x3\" allowed_cpuset=\"0x4\"/></topology>",
            "leaves none of its CPUs",
        ),
        (
            "<topology><object type=\"PU\" cpuset=\"0x3\"/><object type=\"PU\" \
             cpuset=\"0x1\"/></topology>",
            "two objects",
        ),
    ] {
        let error = Machine::from_xml(text).expect_err(text).to_string();
        assert!(error.contains(words) && error.contains("lstopo"), "{error}");
    }
}
