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
        let told = buffer.told;
        if let (Style::Alike, At::All, Length::One, None, Some(count)) =
            (told.style, told.at, told.blocks, told.more, told.count)
            && (words.word(buffer.at) != consts::IN_PLACE || shape.instead.is_none())
        {
            let size = self.groups.type_size(Datatype(words.word(told.ty)));
            return Some(
                u64::try_from(words.int(count))
                    .unwrap_or(0)
                    .wrapping_mul(size),
            );
        }
        // SAFETY: the caller's promise.
        unsafe { self.amount_of_many(shape, buffer, words, group) }
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
        let is_in_place = words.word(given.at) == consts::IN_PLACE;
        let told = match (is_in_place, shape.instead) {
            (true, Some(instead)) => instead.told,
            _ => given.told,
        };
        let is_root = words.call.root.is_none_or(|root| {
            let root = words.int(root);
            root == i64::from(me) || root == i64::from(consts::ROOT)
        });
        if given.told.at == At::Root && !is_root {
            return None;
        }
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
            _ => Some(count.wrapping_mul(self.groups.type_size(Datatype(words.word(told.ty))))),
        }
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
        let size = match told.style {
            Style::Apart => {
                let types = words.word(told.ty) as *const Datatype;
                if types.is_null() {
                    return None;
                }
                // SAFETY: the caller's promise.
                thread.groups.type_size(unsafe { *types.add(block) }) as i64
            }
            _ => 1,
        };
        sum = sum.wrapping_add(count.wrapping_mul(size));
    }
    Some(sum)
}
