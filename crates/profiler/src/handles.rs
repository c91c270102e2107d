//! The numbers of communicators, windows and files in the table of a thread.

use std::ffi::CStr;

use catena_profile::layout::{MEMBERS, NO_GROUP, kind};

use crate::groups::{Members, ask, is_object, is_predefined};
use crate::thread::Thread;

/// The name of files that have no line of their own.
const OTHER_FILES: &str = "other files";

impl Thread {
    /// The number of the communicator, window or file of that handle; [`NO_GROUP`] if it is none.
    /// `None`: it has to be asked for, once a call has shown that the handle is good.
    #[inline]
    pub fn group_of(&mut self, kind: u32, handle: usize) -> Option<u32> {
        match self.groups.known(handle) {
            Some(number) => Some(number),
            None if is_predefined(handle) => Some(self.look(kind, handle)),
            None if kind == kind::FILE || !is_object(handle) => Some(NO_GROUP),
            None => None,
        }
    }

    /// Asks for the number of a handle, which is known to be good.
    #[cold]
    pub fn look(&mut self, kind: u32, handle: usize) -> u32 {
        if let Some(number) = self.groups.known(handle) {
            return number;
        }
        self.look_made(kind, handle, None)
    }

    /// Asks for the number of what was just made; `by` tells the calls apart that do so.
    #[cold]
    pub fn look_made(&mut self, kind: u32, handle: usize, by: Option<u64>) -> u32 {
        let number = match ask(kind, handle, by) {
            Some((members, name)) => self.add_group(members, &name),
            None => NO_GROUP,
        };
        self.groups.note(handle, number);
        number
    }

    /// Notes a file that was opened. Of very many names the last ones are one.
    pub fn open_file(&mut self, handle: usize, name: &CStr) {
        let mut name = name.to_string_lossy();
        if self.groups.is_full_of_files() && !self.groups.has_file(&name) {
            name = OTHER_FILES.into();
        }
        let number = self.add_group(Members::of_file(handle, &name), &name);
        self.groups.note(handle, number);
    }

    /// Gives a name to what has that number.
    pub fn rename(&mut self, number: u32, name: &CStr) {
        if self.groups.members(number).is_some() {
            self.name(number, &name.to_string_lossy());
        }
    }

    fn name(&mut self, number: u32, name: &str) {
        let group = self.group(number as usize);
        let text = name.as_bytes();
        // The end of a long name tells more.
        let text = &text[text.len().saturating_sub(group.name.len())..];
        group.name[..text.len()].copy_from_slice(text);
        group.name_len = text.len() as u32;
    }

    fn add_group(&mut self, members: Members, name: &str) -> u32 {
        let mut first = [0; MEMBERS];
        for (to, rank) in first.iter_mut().zip(&members.ranks) {
            *to = u32::try_from(*rank).unwrap_or(u32::MAX);
        }
        let (kind, hash, size) = (members.kind, members.hash, members.len() as u32);
        let Some((number, new)) = self.groups.add(members) else {
            self.front().no_room += 1;
            return NO_GROUP;
        };
        let Some(nth) = new else {
            return number;
        };
        let group = self.group(number as usize);
        group.kind = kind;
        group.hash = hash;
        group.nth = nth;
        group.size = size;
        group.members = first;
        self.name(number, name);
        self.front().groups = number + 1;
        number
    }
}
