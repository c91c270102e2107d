//! Contexts that operations use: they stay where they are until the endpoint is
//! closed.

use std::cell::UnsafeCell;
use std::ffi::c_void;

use catena_ofi_sys::Context2;

/// The contexts of all operations. An operation is known by its number.
#[derive(Debug)]
pub(crate) struct Contexts(Box<[UnsafeCell<Context2>]>);

// SAFETY: the provider writes them, and only during its calls; we never look.
unsafe impl Send for Contexts {}

impl Contexts {
    /// As many as there can be operations.
    pub fn new(operations: usize) -> Contexts {
        let empty = || {
            UnsafeCell::new(Context2 {
                internal: [std::ptr::null_mut(); 8],
            })
        };
        Contexts((0..operations).map(|_| empty()).collect())
    }

    /// The context of an operation.
    pub fn of(&self, operation: usize) -> *mut Context2 {
        self.0[operation].get()
    }

    /// The operation with that context, if it is one of ours.
    #[inline(always)]
    pub fn operation(&self, context: *mut c_void) -> Option<usize> {
        let offset = (context as usize).wrapping_sub(self.0.as_ptr() as usize);
        let operation = offset / size_of::<Context2>();
        let sound = offset.is_multiple_of(size_of::<Context2>()) && operation < self.0.len();
        sound.then_some(operation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_known_by_their_contexts() {
        let contexts = Contexts::new(5);
        for operation in 0..5 {
            let context: *mut c_void = contexts.of(operation).cast();
            assert_eq!(contexts.operation(context), Some(operation));
            assert_eq!(contexts.operation(context.wrapping_byte_add(8)), None);
        }
        let end: *mut c_void = contexts.of(4).cast();
        assert_eq!(contexts.operation(end.wrapping_byte_add(64)), None);
        assert_eq!(contexts.operation(std::ptr::null_mut()), None);
    }
}
