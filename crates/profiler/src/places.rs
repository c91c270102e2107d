//! The numbers of places in the table of a thread.

use crate::site::Found;
use crate::thread::Thread;

impl Thread {
    /// The number of the place of a new entry, and what tells it apart; the number is that behind
    /// the last one if there is no room.
    #[cold]
    pub fn place(&mut self, found: Found, caller: usize, top: usize) -> (u64, u32) {
        if let Some(number) = self.sites.number(found.site) {
            return (found.site, number);
        }
        let (site, addresses, python) = self.sites.tell(found, caller, top);
        if let Some(number) = self.sites.number(site) {
            return (site, number);
        }
        match self.add_place(&addresses, &python) {
            Some(number) => {
                self.sites.set_number(site, number);
                (site, number)
            }
            None => (site, u32::MAX),
        }
    }
}
