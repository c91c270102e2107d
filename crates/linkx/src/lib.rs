//! Row 5: LINKx, the link as a provider of libfabric: `liblinkx-fi.so`, found by
//! `FI_PROVIDER_PATH`.
//!
//! One endpoint of libfabric (`FI_EP_RDM`) is one [`Endpoint`](catena_link::Endpoint) of the
//! matching engine above [`Routes`](catena_net::Routes) of its own: shared memory and networks
//! behind one address, one queue of receives and one of completions. Matching, order, rendezvous
//! and the loss of peers are the engine's; this crate translates. Neither MPI nor a launcher is
//! needed.
//!
//! The provider uses the libfabric that has loaded it, whichever other ones are in the process.
//!
//! | of libfabric                    | here                                                        |
//! |---------------------------------|-------------------------------------------------------------|
//! | tagged messages, messages       | two spaces of the engine, matched by [`TagKey`](catena_link::TagKey) |
//! | remote CQ data                  | the seal of a message; in front of it where that has no room |
//! | remote memory, atomics          | requests in a third space, long data in a fourth            |
//! | address                         | the short form of the address record                        |
//!
//! Each module uses only modules further down:
//!
//! | module     | what                                                              |
//! |------------|-------------------------------------------------------------------|
//! | `fabric`   | fabrics and domains, and what is opened in them                   |
//! | `endpoint` | endpoints as objects                                              |
//! | `messages` | the calls of messages and tagged messages                         |
//! | `remote`   | the calls of remote memory                                        |
//! | `atomics`  | the calls of atomics                                              |
//! | `served`   | what an endpoint does for its peers                               |
//! | `core`     | an endpoint itself: the engine, its operations, its peers         |
//! | `serve`    | requests of peers, and what they do to memory here                |
//! | `arithmetic` | atomics on memory here                                          |
//! | `info`     | what is offered: `fi_getinfo`                                     |
//! | `events`   | event queues                                                      |
//! | `memory`   | memory regions                                                    |
//! | `vector`   | address vectors                                                   |
//! | `poll`     | poll sets                                                         |
//! | `mover`    | a thread that makes progress where the program makes no calls     |
//! | `counter`  | counters                                                          |
//! | `queue`    | completion queues                                                 |
//! | `signal`   | descriptors to wait on                                            |
//! | `op`       | one operation, and its memory as the engine sees it               |
//! | `object`   | what all objects have in common                                   |
//! | `networks` | the networks of other providers, and their cards                  |
//! | `links`    | what is linked: `FI_LINKX_LINKS`                                  |
//! | `host`     | the libfabric that has loaded this provider                       |
//! | `sys`      | the structures and tables of libfabric                            |
#![allow(
    clippy::missing_safety_doc,
    reason = "functions that libfabric's tables hold: the manual pages say what callers promise"
)]

mod arithmetic;
mod atomics;
mod core;
mod counter;
mod endpoint;
mod events;
mod fabric;
mod host;
mod info;
mod links;
mod memory;
mod messages;
mod mover;
mod networks;
mod object;
mod op;
mod poll;
mod queue;
mod remote;
mod serve;
mod served;
mod signal;
mod sys;
mod vector;

use std::ffi::c_void;

use sys::Provider;

/// Gives the provider to the libfabric that a place in is known of; null if that is older than
/// 1.17.
extern "C" fn provider_for(caller: *const c_void) -> *const Provider {
    match host::find(caller) {
        Some(version) => fabric::provider(version),
        None => std::ptr::null(),
    }
}

/// What libfabric calls once it has loaded the provider. It hands its return address on, by which
/// its caller is found: there may be several libfabrics in the process, each private to whoever has
/// loaded it.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
#[unsafe(no_mangle)]
extern "C" fn fi_prov_ini() -> *const Provider {
    std::arch::naked_asm!("mov rdi, [rsp]", "jmp {inner}", inner = sym provider_for)
}

/// What libfabric calls once it has loaded the provider; see the one of x86-64.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
#[unsafe(no_mangle)]
extern "C" fn fi_prov_ini() -> *const Provider {
    std::arch::naked_asm!("mov x0, x30", "b {inner}", inner = sym provider_for)
}
