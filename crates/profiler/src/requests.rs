//! Whom requests wait for.

use catena_abi::consts;

/// How many requests are kept, those begun last of those that share a place.
const KEPT: usize = 1024;

/// What is known of a request.
#[derive(Clone, Copy, Default)]
pub struct Request {
    /// Its handle, which is set when it is noted.
    pub handle: usize,
    /// The other rank, in the communicator; `ANY_SOURCE` if it is not known yet.
    pub peer: i32,
    /// The number of the communicator.
    pub group: u32,
    /// The bytes that it sends each time; `None` if it receives.
    pub sends: Option<u64>,
}

/// The requests of a thread.
#[derive(Default)]
pub struct Requests(Vec<Request>);

impl Requests {
    fn place(handle: usize) -> usize {
        (handle >> 3 ^ handle >> 13) % KEPT
    }

    /// Notes one.
    pub fn add(&mut self, handle: usize, request: Request) {
        if handle == consts::REQUEST_NULL.0 {
            return;
        }
        if self.0.is_empty() {
            self.0 = vec![Request::default(); KEPT];
        }
        self.0[Requests::place(handle)] = Request { handle, ..request };
    }

    /// What is known of one.
    #[inline]
    pub fn get(&self, handle: usize) -> Option<Request> {
        let known = self.0.get(Requests::place(handle))?;
        (known.handle == handle).then_some(*known)
    }
}
