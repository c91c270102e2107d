//! Which process gets which rank: known cases, and what holds for all.

use catena_topo::reorder::{DEPTH, Path, Pattern, cost, reorder};
use proptest::prelude::*;

/// Process `p` is on node `nodes[p]`.
fn on(nodes: impl IntoIterator<Item = u32>) -> Vec<Path> {
    let path = |node| {
        let mut path = Path::default();
        path[0] = node;
        path
    };
    nodes.into_iter().map(path).collect()
}

fn nobody_moved(n: usize) -> Vec<u32> {
    (0..n as u32).collect()
}

/// What leaves nodes before and after.
fn crossing(pattern: &Pattern, places: &[Path]) -> (u64, u64) {
    let before = cost(pattern, places, &nobody_moved(places.len()))[0];
    let seats = reorder(pattern, places).unwrap_or(nobody_moved(places.len()).into());
    (before, cost(pattern, places, &seats)[0])
}

#[test]
fn a_round_robin_placement_is_mended() {
    let grid = Pattern::grid(&[4, 4], &[false, false]);
    assert_eq!(crossing(&grid, &on((0..16).map(|p| p % 2))), (12, 4));
    let torus = Pattern::grid(&[4, 4], &[true, true]);
    assert_eq!(crossing(&torus, &on((0..16).map(|p| p % 2))), (16, 8));
    // Four nodes: squares of two by two.
    assert_eq!(crossing(&grid, &on((0..16).map(|p| p % 4))), (12, 8));
    // Eight nodes of eight: cubes.
    let cube = Pattern::grid(&[4, 4, 4], &[false; 3]);
    assert_eq!(crossing(&cube, &on((0..64).map(|p| p % 8))), (96, 48));
}

#[test]
fn full_nodes_in_order_get_squares_where_that_is_better() {
    // Rows of 16 in order cost as much as can be; squares of four by four less.
    let grid = Pattern::grid(&[16, 16], &[false, false]);
    assert_eq!(crossing(&grid, &on((0..256).map(|p| p / 16))), (240, 96));
    // Here rows are as good as anything.
    let grid = Pattern::grid(&[4, 4], &[false, false]);
    assert_eq!(reorder(&grid, &on((0..16).map(|p| p / 8))), None);
}

#[test]
fn packages_of_a_node_count_after_nodes() {
    // Two nodes of two packages of four, dealt out in turn.
    let path = |p: u32| [p % 2, p / 2 % 2, 0, 0];
    let places: Vec<Path> = (0..16).map(path).collect();
    let grid = Pattern::grid(&[4, 4], &[false, false]);
    let seats = reorder(&grid, &places).expect("better");
    assert_eq!(cost(&grid, &places, &seats), [4, 4, 0, 0]);
}

#[test]
fn nodes_may_have_different_numbers_of_ranks() {
    let places = on([0, 1, 0, 0, 1, 2, 2, 0, 0, 0, 1, 1]);
    let line = Pattern::grid(&[12], &[false]);
    assert_eq!(crossing(&line, &places).1, 2);
    let grid = Pattern::grid(&[3, 4], &[false, false]);
    let (before, after) = crossing(&grid, &places);
    assert!(before > after && after <= 8, "{before} {after}");
}

#[test]
fn heavy_edges_of_a_graph_stay_inside() {
    // Pairs (r, r + 4) exchange much, neighbours little.
    let heavy = (0..4).map(|r| (r, r + 4, 100));
    let light = (0..7).map(|r| (r, r + 1, 1));
    let graph = Pattern::graph(8, heavy.chain(light));
    let places = on((0..8).map(|p| p / 2));
    let (before, after) = crossing(&graph, &places);
    assert_eq!(before, 403);
    assert!(after < 100, "{after}");
}

#[test]
fn who_is_near_everybody_keeps_its_rank() {
    let grid = Pattern::grid(&[2, 3], &[true, true]);
    assert_eq!(reorder(&grid, &on([0; 6])), None);
    // Nobody has neighbours.
    assert_eq!(reorder(&Pattern::graph(3, [].into_iter()), &on(0..3)), None);
    assert_eq!(reorder(&Pattern::grid(&[], &[]), &on([7])), None);
}

fn places(n: usize) -> impl Strategy<Value = Vec<Path>> {
    prop::collection::vec(prop::array::uniform::<_, DEPTH>(0u32..3), n)
}

fn grid_and_places() -> impl Strategy<Value = (Vec<u32>, Vec<bool>, Vec<Path>)> {
    let dims = prop::collection::vec(1u32..6, 0..4);
    dims.prop_flat_map(|dims| {
        let n = dims.iter().product::<u32>() as usize;
        let periods = prop::collection::vec(any::<bool>(), dims.len());
        (Just(dims), periods, places(n))
    })
}

type Edges = Vec<(u32, u32, u64)>;

fn graph_and_places() -> impl Strategy<Value = (usize, Edges, Vec<Path>)> {
    (1usize..40).prop_flat_map(|n| {
        let end = 0..n as u32;
        let edges = prop::collection::vec((end.clone(), end, 0u64..9), 0..4 * n);
        (Just(n), edges, places(n))
    })
}

/// It is a permutation, and better than none.
fn check(pattern: &Pattern, places: &[Path]) -> Result<(), TestCaseError> {
    if let Some(seats) = reorder(pattern, places) {
        let mut sorted = seats.to_vec();
        sorted.sort_unstable();
        let stay = nobody_moved(places.len());
        prop_assert_eq!(&sorted, &stay);
        prop_assert!(cost(pattern, places, &seats) < cost(pattern, places, &stay));
        prop_assert_eq!(Some(seats), reorder(pattern, places));
    }
    Ok(())
}

proptest! {
    #[test]
    fn grids_are_permuted_for_the_better((dims, periods, places) in grid_and_places()) {
        check(&Pattern::grid(&dims, &periods), &places)?;
    }

    #[test]
    fn graphs_are_permuted_for_the_better((n, edges, places) in graph_and_places()) {
        check(&Pattern::graph(n, edges.into_iter()), &places)?;
    }
}
