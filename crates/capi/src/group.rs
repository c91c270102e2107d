//! Groups (MPI-5, chapter 7.3).

use std::ffi::c_int;
use std::sync::Arc;

use catena_abi::{Group, consts};
use catena_core::Objects;
use catena_core::enter;
use catena_objects::group::{Comparison, Group as Members};
use catena_objects::{Result, fail};

use crate::args::{self, array, array_mut, put};
use crate::entry::mpi_fn;

/// The number of entries of an array argument.
pub(crate) fn number(n: c_int) -> Result<usize> {
    match usize::try_from(n) {
        Ok(n) => Ok(n),
        Err(_) => fail!(Arg, "n is {n}: it must not be negative"),
    }
}

/// The number that stands for the result of a comparison.
pub(crate) fn comparison(like: Comparison) -> c_int {
    match like {
        Comparison::Ident => consts::IDENT,
        Comparison::Congruent => consts::CONGRUENT,
        Comparison::Similar => consts::SIMILAR,
        Comparison::Unequal => consts::UNEQUAL,
    }
}

/// Two groups of one call.
fn related(objects: &Objects, a: Group, b: Group) -> Result<(Arc<Members>, Arc<Members>)> {
    let (a, b) = (objects.groups.find(a)?, objects.groups.find(b)?);
    a.check_related(&b)?;
    Ok((a, b))
}

fn translate(objects: &Objects, from: Group, to: Group, ranks: &[c_int]) -> Result<Vec<c_int>> {
    let (from, to) = related(objects, from, to)?;
    let real: Vec<c_int> = ranks
        .iter()
        .copied()
        .filter(|&r| r != consts::PROC_NULL)
        .collect();
    let mut there = from.translate(&real, &to)?.into_iter();
    let mut next = || {
        there
            .next()
            .flatten()
            .map_or(consts::UNDEFINED, |r| r as c_int)
    };
    Ok(ranks
        .iter()
        .map(|&r| if r == consts::PROC_NULL { r } else { next() })
        .collect())
}

mpi_fn! {
    fn MPI_Group_size(group: Group, size: *mut c_int) {
        put(size, enter()?.objects.groups.find(group)?.size() as c_int, "size")
    }

    fn MPI_Group_rank(group: Group, rank: *mut c_int) {
        let mine = enter()?.objects.groups.find(group)?.rank();
        put(rank, mine.map_or(consts::UNDEFINED, |r| r as c_int), "rank")
    }

    fn MPI_Group_translate_ranks(group1: Group, n: c_int, ranks1: *const c_int, group2: Group,
        ranks2: *mut c_int)
    {
        let process = enter()?;
        let n = number(n)?;
        let there = translate(process.objects, group1, group2, array(ranks1, n, "ranks1")?)?;
        array_mut(ranks2, n, "ranks2")?.copy_from_slice(&there);
        Ok(())
    }

    fn MPI_Group_compare(group1: Group, group2: Group, result: *mut c_int) {
        let process = enter()?;
        let (a, b) = related(process.objects, group1, group2)?;
        put(result, comparison(a.compare(&b)), "result")
    }

    fn MPI_Group_union(group1: Group, group2: Group, newgroup: *mut Group) {
        let process = enter()?;
        let (a, b) = related(process.objects, group1, group2)?;
        let new = a.union(&b);
        put(newgroup, process.objects.groups.add(new), "newgroup")
    }

    fn MPI_Group_intersection(group1: Group, group2: Group, newgroup: *mut Group) {
        let process = enter()?;
        let (a, b) = related(process.objects, group1, group2)?;
        let new = a.intersection(&b);
        put(newgroup, process.objects.groups.add(new), "newgroup")
    }

    fn MPI_Group_difference(group1: Group, group2: Group, newgroup: *mut Group) {
        let process = enter()?;
        let (a, b) = related(process.objects, group1, group2)?;
        let new = a.difference(&b);
        put(newgroup, process.objects.groups.add(new), "newgroup")
    }

    fn MPI_Group_incl(group: Group, n: c_int, ranks: *const c_int, newgroup: *mut Group) {
        let process = enter()?;
        let new = process.objects.groups.find(group)?.include(array(ranks, number(n)?, "ranks")?)?;
        put(newgroup, process.objects.groups.add(new), "newgroup")
    }

    fn MPI_Group_excl(group: Group, n: c_int, ranks: *const c_int, newgroup: *mut Group) {
        let process = enter()?;
        let new = process.objects.groups.find(group)?.exclude(array(ranks, number(n)?, "ranks")?)?;
        put(newgroup, process.objects.groups.add(new), "newgroup")
    }

    fn MPI_Group_range_incl(group: Group, n: c_int, triples: *mut [c_int; 3],
        newgroup: *mut Group) {
        let process = enter()?;
        let group = process.objects.groups.find(group)?;
        let new = group.include_ranges(array(triples, number(n)?, "ranges")?)?;
        put(newgroup, process.objects.groups.add(new), "newgroup")
    }

    fn MPI_Group_range_excl(group: Group, n: c_int, triples: *mut [c_int; 3],
        newgroup: *mut Group) {
        let process = enter()?;
        let group = process.objects.groups.find(group)?;
        let ranks = group.expand_ranges(array(triples, number(n)?, "ranges")?)?;
        let new = group.exclude(&ranks)?;
        put(newgroup, process.objects.groups.add(new), "newgroup")
    }

    fn MPI_Group_free(group: *mut Group) {
        let process = enter()?;
        let handle = args::get(group, "group")?;
        // `MPI_GROUP_EMPTY` is what calls give for a group without members, so
        // a program that frees its groups frees it, too.
        process.objects.groups.find(handle)?;
        drop(process.objects.groups.table.remove(handle.0));
        process.other_jobs.part_from_idle(&process);
        put(group, consts::GROUP_NULL, "group")
    }
}
