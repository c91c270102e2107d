//! The numbers of communicators, windows and files in the table of a thread.

use std::ffi::CStr;

use catena_profile::layout::{MEMBERS, NO_GROUP};

use crate::groups::{Members, ask};
use crate::thread::Thread;

impl Thread {
    /// The number of the communicator, window or file of that handle; [`NO_GROUP`] if it is none,
    /// or there is no room.
    #[inline]
    pub fn group_of(&mut self, kind: u32, handle: usize) -> u32 {
        match self.groups.known(handle) {
            Some(number) => number,
            None => self.look(kind, handle),
        }
    }

    #[cold]
    fn look(&mut self, kind: u32, handle: usize) -> u32 {
        let number = match self.groups.lasting(kind, handle) {
            Some(number) => number,
            None => match ask(kind, handle) {
                Some((members, name)) => self.add_group(members, &name),
                None => NO_GROUP,
            },
        };
        self.groups.note(handle, number);
        number
    }

    /// Notes a file that was opened.
    pub fn open_file(&mut self, handle: usize, name: &CStr) {
        let name = name.to_string_lossy();
        self.add_group(Members::of_file(handle, &name), &name);
    }

    fn add_group(&mut self, members: Members, name: &str) -> u32 {
        let mut first = [0; MEMBERS];
        for (to, rank) in first.iter_mut().zip(&members.ranks) {
            *to = u32::try_from(*rank).unwrap_or(u32::MAX);
        }
        let (kind, hash, size) = (members.kind, members.hash, members.len() as u32);
        let Some((number, new)) = self.groups.add(members) else {
            return NO_GROUP;
        };
        let Some(nth) = new else {
            return number;
        };
        let group = self.group(number as usize);
        let text = name.as_bytes();
        // The end of a long name tells more.
        let text = &text[text.len().saturating_sub(group.name.len())..];
        group.kind = kind;
        group.hash = hash;
        group.nth = nth;
        group.size = size;
        group.members = first;
        group.name[..text.len()].copy_from_slice(text);
        group.name_len = text.len() as u32;
        self.front().groups = number + 1;
        number
    }
}
