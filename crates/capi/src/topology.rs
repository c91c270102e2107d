//! Process topologies (MPI-5, chapters 8.1 to 8.5).

use std::ffi::c_int;
use std::sync::Arc;

use catena_abi::{Comm, Info, consts};
use catena_core::comm::Comm as CommObj;
use catena_core::enter;
use catena_core::topology::{Adjacent, Graph, Grid, Spread, Topology, dims_create};
use catena_objects::{Result, fail};

use crate::args::{array, array_mut, put};
use crate::comm::put_comm;
use crate::entry::mpi_fn;

/// The length of an array argument.
fn len(n: c_int, name: &str) -> Result<usize> {
    match usize::try_from(n) {
        Ok(n) => Ok(n),
        Err(_) => fail!(Arg, "{name} is {n}: it must not be negative"),
    }
}

/// An array argument and its length.
fn list<'a>(at: *const c_int, n: c_int, name: &str) -> Result<&'a [c_int]> {
    array(at, len(n, name)?, name)
}

/// Stores as much of a list as there is room for.
fn put_list(to: *mut c_int, room: c_int, list: &[c_int], name: &str) -> Result<()> {
    let n = list.len().min(len(room, name)?);
    array_mut(to, n, name)?.copy_from_slice(&list[..n]);
    Ok(())
}

/// Checks that a grid's coordinates fit into the program's arrays.
fn room(grid: &Grid, maxdims: c_int) -> Result<usize> {
    let n = grid.dims.len();
    if len(maxdims, "maxdims")? < n {
        fail!(Arg, "maxdims is {maxdims}, but the grid has {n} dimensions");
    }
    Ok(n)
}

fn rank_in(comm: &CommObj, rank: c_int) -> Result<u32> {
    match u32::try_from(rank) {
        Ok(rank) if rank < comm.size() => Ok(rank),
        _ => fail!(
            Rank,
            "the rank is {rank}, but the communicator has ranks 0 to {}",
            comm.size() - 1
        ),
    }
}

/// A rank, or that there is none.
fn or_null(rank: Option<u32>) -> c_int {
    rank.map_or(consts::PROC_NULL, |rank| rank as c_int)
}

/// A rank, or that the process would have none.
fn or_undefined(rank: Option<u32>) -> c_int {
    rank.map_or(consts::UNDEFINED, |rank| rank as c_int)
}

/// The grid that the arguments describe.
fn grid(comm: &CommObj, ndims: c_int, dims: *const c_int, periods: *const c_int) -> Result<Grid> {
    let (dims, periods) = (list(dims, ndims, "dims")?, list(periods, ndims, "periods")?);
    Grid::new(dims, periods, comm.size())
}

/// The graph that the arguments describe.
fn graph(comm: &CommObj, nnodes: c_int, index: *const c_int, edges: *const c_int) -> Result<Graph> {
    let index = list(index, nnodes, "index")?;
    // An index that leads to fewer is refused.
    let n = index.iter().copied().max().unwrap_or(0).max(0);
    Graph::new(index, list(edges, n, "edges")?, comm.size())
}

fn is_unweighted(weights: *const c_int) -> bool {
    weights as usize == consts::UNWEIGHTED
}

/// Weights of `n` edges; `None` in a graph without weights.
fn weights<'a>(at: *const c_int, n: usize, name: &str) -> Result<Option<&'a [c_int]>> {
    match at as usize {
        consts::UNWEIGHTED => Ok(None),
        consts::WEIGHTS_EMPTY if n != 0 => {
            fail!(Arg, "{name} is MPI_WEIGHTS_EMPTY, but there are {n} edges")
        }
        consts::WEIGHTS_EMPTY => Ok(Some(&[])),
        _ => Ok(Some(array(at, n, name)?)),
    }
}

fn adjacent(
    (sources, source_weights): (&[c_int], *const c_int),
    (destinations, dest_weights): (&[c_int], *const c_int),
) -> Result<Adjacent> {
    let ins = weights(source_weights, sources.len(), "sourceweights")?;
    let outs = weights(dest_weights, destinations.len(), "destweights")?;
    if ins.is_some() != outs.is_some() {
        fail!(
            Arg,
            "only one of sourceweights and destweights is MPI_UNWEIGHTED: a graph has weights \
             or has none"
        );
    }
    Ok(Adjacent {
        sources: sources.to_vec(),
        destinations: destinations.to_vec(),
        weights: ins.zip(outs).map(|(i, o)| (i.to_vec(), o.to_vec())),
    })
}

fn spread<'a>(
    n: c_int,
    sources: *const c_int,
    degrees: *const c_int,
    destinations: *const c_int,
    at_weights: *const c_int,
) -> Result<Spread<'a>> {
    let sources = list(sources, n, "sources")?;
    let degrees = list(degrees, n, "degrees")?;
    let mut edges = 0;
    for (i, &degree) in degrees.iter().enumerate() {
        edges += len(degree, &format!("degrees[{i}]"))?;
    }
    Ok(Spread {
        sources,
        degrees,
        destinations: array(destinations, edges, "destinations")?,
        weights: weights(at_weights, edges, "weights")?,
    })
}

mpi_fn! {
    fn MPI_Topo_test(comm: Comm, status: *mut c_int) on comm {
        let process = enter()?;
        let kind = match process.comm_ref(comm)?.topology.get().map(Arc::as_ref) {
            None => consts::UNDEFINED,
            Some(Topology::Cart(_)) => consts::CART,
            Some(Topology::Graph(_)) => consts::GRAPH,
            Some(Topology::DistGraph(_)) => consts::DIST_GRAPH,
        };
        put(status, kind, "status")
    }

    fn MPI_Dims_create(nnodes: c_int, ndims: c_int, dims: *mut c_int) {
        dims_create(nnodes, array_mut(dims, len(ndims, "ndims")?, "dims")?)
    }

    fn MPI_Cart_create(comm_old: Comm, ndims: c_int, dims: *const c_int, periods: *const c_int,
        reorder: c_int, comm_cart: *mut Comm) on comm_old
    {
        let process = enter()?;
        put_comm(comm_cart, || {
            let comm = process.comm(comm_old)?;
            comm.cart_create(&process, grid(&comm, ndims, dims, periods), reorder != 0)
        })
    }

    fn MPI_Cart_sub(comm: Comm, remain_dims: *const c_int, newcomm: *mut Comm) on comm {
        let process = enter()?;
        put_comm(newcomm, || {
            let comm = process.comm(comm)?;
            let remain = array(remain_dims, comm.grid()?.dims.len(), "remain_dims")?;
            let remain: Vec<bool> = remain.iter().map(|&r| r != 0).collect();
            comm.cart_sub(&process, &remain)
        })
    }

    fn MPI_Cart_map(comm: Comm, ndims: c_int, dims: *const c_int, periods: *const c_int,
        newrank: *mut c_int) on comm
    {
        let process = enter()?;
        let comm = process.comm_ref(comm)?;
        let grid = grid(comm, ndims, dims, periods)?;
        let rank = comm.mapped_rank(&process, grid.size(), || grid.pattern());
        put(newrank, or_undefined(rank), "newrank")
    }

    fn MPI_Cartdim_get(comm: Comm, ndims: *mut c_int) on comm {
        let process = enter()?;
        put(ndims, process.comm_ref(comm)?.grid()?.dims.len() as c_int, "ndims")
    }

    fn MPI_Cart_get(comm: Comm, maxdims: c_int, dims: *mut c_int, periods: *mut c_int,
        coords: *mut c_int) on comm
    {
        let process = enter()?;
        let comm = process.comm_ref(comm)?;
        let grid = comm.grid()?;
        let n = room(grid, maxdims)?;
        array_mut(dims, n, "dims")?.copy_from_slice(&grid.dims);
        for (to, &period) in array_mut(periods, n, "periods")?.iter_mut().zip(&grid.periods) {
            *to = period.into();
        }
        array_mut(coords, n, "coords")?.copy_from_slice(&grid.coords(comm.rank));
        Ok(())
    }

    fn MPI_Cart_rank(comm: Comm, coords: *const c_int, rank: *mut c_int) on comm {
        let process = enter()?;
        let grid = process.comm_ref(comm)?.grid()?;
        let coords = array(coords, grid.dims.len(), "coords")?;
        put(rank, grid.rank(coords)? as c_int, "rank")
    }

    fn MPI_Cart_coords(comm: Comm, rank: c_int, maxdims: c_int, coords: *mut c_int) on comm {
        let process = enter()?;
        let comm = process.comm_ref(comm)?;
        let grid = comm.grid()?;
        let at = grid.coords(rank_in(comm, rank)?);
        array_mut(coords, room(grid, maxdims)?, "coords")?.copy_from_slice(&at);
        Ok(())
    }

    fn MPI_Cart_shift(comm: Comm, direction: c_int, disp: c_int, rank_source: *mut c_int,
        rank_dest: *mut c_int) on comm
    {
        let process = enter()?;
        let comm = process.comm_ref(comm)?;
        let (grid, d) = (comm.grid()?, direction as usize);
        if d >= grid.dims.len() {
            fail!(
                Arg,
                "the direction is {direction}, but the grid has {} dimensions",
                grid.dims.len()
            );
        }
        let disp = i64::from(disp);
        put(rank_source, or_null(grid.ahead(comm.rank, d, -disp)), "rank_source")?;
        put(rank_dest, or_null(grid.ahead(comm.rank, d, disp)), "rank_dest")
    }

    fn MPI_Graph_create(comm_old: Comm, nnodes: c_int, index: *const c_int, edges: *const c_int,
        reorder: c_int, comm_graph: *mut Comm) on comm_old
    {
        let process = enter()?;
        put_comm(comm_graph, || {
            let comm = process.comm(comm_old)?;
            comm.graph_create(&process, graph(&comm, nnodes, index, edges), reorder != 0)
        })
    }

    fn MPI_Graph_map(comm: Comm, nnodes: c_int, index: *const c_int, edges: *const c_int,
        newrank: *mut c_int) on comm
    {
        let process = enter()?;
        let comm = process.comm_ref(comm)?;
        let graph = graph(comm, nnodes, index, edges)?;
        let rank = comm.mapped_rank(&process, graph.index.len() as u32, || graph.pattern());
        put(newrank, or_undefined(rank), "newrank")
    }

    fn MPI_Graphdims_get(comm: Comm, nnodes: *mut c_int, nedges: *mut c_int) on comm {
        let process = enter()?;
        let graph = process.comm_ref(comm)?.graph()?;
        put(nnodes, graph.index.len() as c_int, "nnodes")?;
        put(nedges, graph.edges.len() as c_int, "nedges")
    }

    fn MPI_Graph_get(comm: Comm, maxindex: c_int, maxedges: c_int, index: *mut c_int,
        edges: *mut c_int) on comm
    {
        let process = enter()?;
        let graph = process.comm_ref(comm)?.graph()?;
        put_list(index, maxindex, &graph.index, "maxindex")?;
        put_list(edges, maxedges, &graph.edges, "maxedges")
    }

    fn MPI_Graph_neighbors_count(comm: Comm, rank: c_int, nneighbors: *mut c_int) on comm {
        let process = enter()?;
        let comm = process.comm_ref(comm)?;
        let found = comm.graph()?.neighbors(rank_in(comm, rank)?);
        put(nneighbors, found.len() as c_int, "nneighbors")
    }

    fn MPI_Graph_neighbors(comm: Comm, rank: c_int, maxneighbors: c_int, neighbors: *mut c_int)
        on comm
    {
        let process = enter()?;
        let comm = process.comm_ref(comm)?;
        let found = comm.graph()?.neighbors(rank_in(comm, rank)?);
        put_list(neighbors, maxneighbors, found, "maxneighbors")
    }

    fn MPI_Dist_graph_create_adjacent(comm_old: Comm, indegree: c_int, sources: *const c_int,
        sourceweights: *const c_int, outdegree: c_int, destinations: *const c_int,
        destweights: *const c_int, hints: Info, reorder: c_int, comm_dist_graph: *mut Comm)
        on comm_old
    {
        let process = enter()?;
        let own = process.objects.infos.find(hints).and_then(|_| {
            let sources = list(sources, indegree, "sources")?;
            let destinations = list(destinations, outdegree, "destinations")?;
            adjacent((sources, sourceweights), (destinations, destweights))
        });
        put_comm(comm_dist_graph, || process.comm(comm_old)?.dist_graph_adjacent(&process, own,
            reorder != 0))
    }

    fn MPI_Dist_graph_create(comm_old: Comm, n: c_int, sources: *const c_int, degrees: *const c_int,
        destinations: *const c_int, weights: *const c_int, hints: Info, reorder: c_int,
        comm_dist_graph: *mut Comm) on comm_old
    {
        let process = enter()?;
        let hints = process.objects.infos.find(hints);
        let given = hints.and_then(|_| spread(n, sources, degrees, destinations, weights));
        put_comm(comm_dist_graph, || process.comm(comm_old)?.dist_graph(&process, given,
            reorder != 0))
    }

    fn MPI_Dist_graph_neighbors_count(comm: Comm, indegree: *mut c_int, outdegree: *mut c_int,
        weighted: *mut c_int) on comm
    {
        let process = enter()?;
        let own = process.comm_ref(comm)?.adjacent()?;
        put(indegree, own.sources.len() as c_int, "indegree")?;
        put(outdegree, own.destinations.len() as c_int, "outdegree")?;
        put(weighted, own.weights.is_some().into(), "weighted")
    }

    fn MPI_Dist_graph_neighbors(comm: Comm, maxindegree: c_int, sources: *mut c_int,
        sourceweights: *mut c_int, maxoutdegree: c_int, destinations: *mut c_int,
        destweights: *mut c_int) on comm
    {
        let process = enter()?;
        let own = process.comm_ref(comm)?.adjacent()?;
        put_list(sources, maxindegree, &own.sources, "maxindegree")?;
        put_list(destinations, maxoutdegree, &own.destinations, "maxoutdegree")?;
        if let Some((ins, outs)) = &own.weights {
            if !is_unweighted(sourceweights) {
                put_list(sourceweights, maxindegree, ins, "sourceweights")?;
            }
            if !is_unweighted(destweights) {
                put_list(destweights, maxoutdegree, outs, "destweights")?;
            }
        }
        Ok(())
    }
}
