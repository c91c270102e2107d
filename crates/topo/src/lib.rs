//! Row 2: the hardware that processes run on, and which of it each is given.
//!
//! | module     | what                                                            |
//! |------------|-----------------------------------------------------------------|
//! | `resource` | kinds of hardware resource                                      |
//! | `sysfs`    | what Linux tells of this machine                                |
//! | `xml`      | what hwloc has told of any machine                              |
//! | `machine`  | the resources of a machine, and its network cards               |
//! | `place`    | where one process may run                                       |
//! | `policy`   | how ranks are to be mapped, ordered and bound, as users say it  |
//! | `map`      | the CPUs of each rank by such a policy                          |
//! | `picture`  | the map, drawn in text                                          |
//! | `reorder`  | which process gets which rank of a grid or graph                |
//!
//! Read `machine` first, then `policy` and `map`.

#![forbid(unsafe_code)]

#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzz;
mod machine;
mod map;
mod picture;
mod place;
mod policy;
pub mod reorder;
mod resource;
mod sysfs;
mod xml;

pub use catena_base::Cpus;
pub use machine::{Machine, Nic};
pub use map::{MapError, Node, Seats, Spot, map, seats};
pub use picture::picture;
pub use place::{ProcessPlace, Within};
pub use policy::{Bind, By, Order, Policy};
pub use resource::Resource;
pub use xml::XmlError;
