//! How a function is written that no version of the ABI has.

/// Defines functions, and exports each as `MPIX_name` and `PMPIX_name`, as `catena_MPIX_name` for
/// the layers of other binary interfaces, and, where one is given in brackets, under the name of
/// the standard that is to come.
///
/// `on object` names the argument whose error handler is called. A name given as `MPIX_Put |
/// MPIX_Put_c` makes two functions, in which `Num` is the type of counts (`int` or `MPI_Count`).
macro_rules! extension {
    ($(
        $(#[$attr:meta])*
        fn $name:ident $(| $large:ident)? $([$also:ident])? ($($arg:ident: $ty:ty),* $(,)?) on $on:ident $body:block
    )*) => {$(
        $crate::extension::extension!(@forms [$($large)?] $(#[$attr])* $name [$($also)?] ($($arg: $ty),*) $on $body);
    )*};
    (@forms [] $(#[$attr:meta])* $name:ident [$($also:ident)?] ($($arg:ident: $ty:ty),*) $on:ident $body:block) => {
        $(#[$attr])*
        #[allow(non_snake_case, reason = "the name of the function")]
        #[allow(clippy::too_many_arguments, reason = "as many as the standard gives the like")]
        #[inline(never)]
        extern "C" fn $name($($arg: $ty),*) -> ::core::ffi::c_int {
            let object = $on;
            let body = move || -> ::catena_objects::Result<()> { $body };
            match body() {
                Ok(()) => ::catena_abi::consts::SUCCESS,
                Err(error) => $crate::errors::raise(
                    stringify!($name),
                    $crate::errors::On::from(object),
                    error,
                ),
            }
        }
        $crate::extension::extension!(@export $name "" $name ($($arg: $ty),*));
        $crate::extension::extension!(@export $name "P" $name ($($arg: $ty),*));
        $crate::extension::extension!(@export $name "catena_" $name ($($arg: $ty),*));
        $crate::extension::extension!(@also [$($also)?] $name ($($arg: $ty),*));
    };
    (@forms [$large:ident] $(#[$attr:meta])* $name:ident [] ($($arg:ident: $ty:ty),*) $on:ident $body:block) => {
        #[allow(non_snake_case, reason = "the name of the function")]
        #[allow(clippy::useless_conversion, reason = "the body serves the large form, too")]
        mod $name {
            use super::*;
            type Num = ::core::ffi::c_int;
            $crate::extension::extension!(@forms [] $(#[$attr])* $name [] ($($arg: $ty),*) $on $body);
        }
        #[allow(non_snake_case, reason = "the name of the function")]
        #[allow(clippy::useless_conversion, reason = "the body serves the small form, too")]
        mod $large {
            use super::*;
            type Num = ::catena_abi::Count;
            $crate::extension::extension!(@forms [] $(#[$attr])* $large [] ($($arg: $ty),*) $on $body);
        }
    };
    (@also [] $($rest:tt)*) => {};
    (@also [$also:ident] $name:ident $args:tt) => {
        $crate::extension::extension!(@export $name "" $also $args);
        $crate::extension::extension!(@export $name "P" $also $args);
    };
    (@export $name:ident $prefix:literal $symbol:ident ($($arg:ident: $ty:ty),*)) => {
        const _: () = {
            // SAFETY: no other library may define names that begin so, and each is here once.
            #[unsafe(export_name = concat!($prefix, stringify!($symbol)))]
            #[allow(clippy::too_many_arguments, reason = "as many as the standard gives the like")]
            extern "C" fn exported($($arg: $ty),*) -> ::core::ffi::c_int {
                $name($($arg),*)
            }
        };
    };
}

pub(crate) use extension;
