//! The list of networks: a crate for one is added here, in one line, and nowhere else in this
//! crate.
//!
//! A line has the number of the network's entries in address records (see
//! [`record`](crate::record)), which no other one ever has, a name, and the type that its crate
//! exports: the trait [`Network`](catena_fabric::Network) says what that shows. What is made of the
//! list is dispatched by a `match`, so packets meet no virtual call. A network that stands on
//! another one, whichever that is, has it as a parameter: the line says which.

/// Calls a macro with its own arguments in braces and, behind them, every network of the list.
macro_rules! networks {
    ($then:ident $($args:tt)*) => {
        $then! {
            { $($args)* }
            { 2, Ofi: catena_ofi::Network }
            { 3, Tcp: catena_tcp::Network }
            { 4, Ucx: catena_ucx::Network }
            #[cfg(feature = "sim")]
            { 127, Sim: catena_sim::Network }
        }
    };
}

/// Evaluates `$call` with the network or rail `$t` of whichever it is.
macro_rules! each {
    ($on:expr, $list:ident, $t:ident => $call:expr) => {
        networks!(each_arm $on, $list, $t => $call)
    };
}

macro_rules! each_arm {
    (
        { $on:expr, $list:ident, $t:ident => $call:expr }
        $( $(#[$attr:meta])* { $kind:literal, $name:ident: $network:ty } )+
    ) => {
        match $on { $( $(#[$attr])* $list::$name($t) => $call, )+ }
    };
}

pub(crate) use {each, each_arm, networks};
