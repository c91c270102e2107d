//! How many bytes a call moves, as far as this rank gives or takes them.

use catena_abi::{Datatype, consts};
use catena_tool::call::{At, Length, Style, Told};

use crate::shape::{Buffer, Shape};
use crate::thread::Thread;
use crate::words::Words;

impl Thread {
    /// The bytes of a call on the group of that number; `None` if it moves none here.
    ///
    /// # Safety
    /// The arguments are as the standard wants them.
    #[inline]
    pub unsafe fn amount(&mut self, shape: &Shape, words: &Words, group: u32) -> Option<u64> {
        let buffer = shape.buffer?;
        if shape
            .to
            .is_some_and(|to| words.int(to) == i64::from(consts::PROC_NULL))
        {
            return None;
        }
        let told = buffer.told;
        if let (Style::Alike, At::All, Length::One, None, Some(count), None) = (
            told.style,
            told.at,
            told.blocks,
            told.more,
            told.count,
            words.call.root,
        ) && (words.word(buffer.at) != consts::IN_PLACE || shape.instead.is_none())
        {
            let count = u64::try_from(words.int(count)).unwrap_or(0);
            return Some(self.bytes(count, words.word(told.ty)));
        }
        // SAFETY: the caller's promise.
        unsafe { self.amount_of_many(shape, buffer, words, group) }
    }

    /// The bytes of so many elements. Where there is none, the type may be anything.
    #[inline]
    fn bytes(&mut self, count: u64, ty: usize) -> u64 {
        match count {
            0 => 0,
            _ => count.wrapping_mul(self.groups.type_size(Datatype(ty))),
        }
    }

    /// # Safety
    /// As for `amount`.
    unsafe fn amount_of_many(
        &mut self,
        shape: &Shape,
        given: Buffer,
        words: &Words,
        group: u32,
    ) -> Option<u64> {
        let members = self.groups.members(group);
        let (ranks, me) = members.map_or((0, -1), |it| (it.len(), it.me));
        let neighbors = members.map_or((0, 0), |it| it.neighbors);
        let is_inter = members.is_some_and(|it| it.is_inter);
        let ranks = match shape.is_of_own {
            true => members.map_or(0, |it| it.own),
            false => ranks,
        };
        if let Some(root) = words.call.root
            && !gives(given.told.at, words.int(root), me, is_inter)
        {
            return None;
        }
        let is_in_place = !is_inter && words.word(given.at) == consts::IN_PLACE;
        let told = match (is_in_place, shape.instead) {
            (true, Some(instead)) => instead.told,
            _ => given.told,
        };
        let blocks = |length: Length| match length {
            Length::One | Length::Own | Length::Other => 1,
            Length::Argument(at) => usize::try_from(words.int(at)).unwrap_or(0),
            Length::Ranks => ranks,
            Length::Sources => neighbors.0,
            Length::Destinations => neighbors.1,
        };
        // Who gives one block has one of those that the other buffer has.
        let is_one = given.told.style == Style::Alike && given.told.blocks == Length::One;
        let count = match told.style {
            Style::Alike => {
                let count = told.count.map_or(1, |count| words.int(count));
                let more = told.more.map_or(1, |more| words.int(more));
                let blocks = blocks(given.told.blocks) as i64;
                count.wrapping_mul(more).wrapping_mul(blocks)
            }
            // SAFETY: the caller's promise: there are as many counts.
            _ => unsafe { entries(told, words, is_one, me, blocks(told.blocks), self) }?,
        };
        let count = u64::try_from(count).unwrap_or(0);
        match told.style {
            // These are bytes already.
            Style::Apart => Some(count),
            _ => Some(self.bytes(count, words.word(told.ty))),
        }
    }
}

/// Whether a rank gives a buffer to a collective with a root. In an intercommunicator the root says
/// so itself, and the number is that of a rank of the other group.
fn gives(at: At, root: i64, me: i32, is_inter: bool) -> bool {
    let is_root = match is_inter {
        true => root == i64::from(consts::ROOT),
        false => root == i64::from(me),
    };
    match at {
        At::Root | At::All => is_root,
        At::Others if is_inter => !is_root && root != i64::from(consts::PROC_NULL),
        At::Others => true,
    }
}

/// The sum of counts in an array, or that of this rank; bytes where each has a type of its own.
///
/// # Safety
/// The arrays have as many entries as there are blocks.
unsafe fn entries(
    told: &Told,
    words: &Words,
    is_one: bool,
    me: i32,
    blocks: usize,
    thread: &mut Thread,
) -> Option<i64> {
    let counts = told.count?;
    let own = usize::try_from(me).unwrap_or(0)..usize::try_from(me + 1).unwrap_or(0);
    let all = match is_one {
        true => own,
        false => 0..blocks,
    };
    let mut sum = 0_i64;
    for block in all {
        // SAFETY: the caller's promise.
        let count = unsafe { words.entry(counts, block) };
        let bytes = match told.style {
            Style::Apart => {
                let types = words.word(told.ty) as *const Datatype;
                if types.is_null() {
                    return None;
                }
                // SAFETY: the caller's promise.
                let ty = unsafe { (*types.add(block)).0 };
                thread.bytes(u64::try_from(count).unwrap_or(0), ty) as i64
            }
            _ => count,
        };
        sum = sum.wrapping_add(bytes);
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_of_intercommunicators_say_so_themselves() {
        let (root, nobody) = (i64::from(consts::ROOT), i64::from(consts::PROC_NULL));
        assert!(gives(At::Root, 2, 2, false) && !gives(At::Root, 2, 1, false));
        assert!(gives(At::All, 2, 2, false) && !gives(At::All, 2, 1, false));
        assert!(gives(At::Others, 2, 2, false) && gives(At::Others, 2, 1, false));
        // The other group's rank 2 is the root.
        assert!(!gives(At::Root, 2, 2, true) && gives(At::Others, 2, 2, true));
        assert!(gives(At::Root, root, 0, true) && !gives(At::Others, root, 0, true));
        assert!(!gives(At::Root, nobody, 0, true) && !gives(At::Others, nobody, 0, true));
    }
}
