//! Processes whose buffers lie on a device: nothing reads or writes them by address.
//!
//! By itself the test is a job of one process. Started by `mpirun`, it is one of as many
//! ranks, and its messages and collectives go through shared memory.

use catena_abi::consts;
use catena_core::buffer::{RecvBuf, SendBuf};
use catena_core::coll::{Caller, Data};
use catena_core::{enter, init, request};
use catena_link::Mode;
use catena_memory::Kind;
use catena_memory::stand_in::lend;

#[test]
fn messages_and_collectives_move_what_lies_on_a_device() {
    const MOST: usize = 1 << 18;
    let mut source: Vec<i32> = (0..MOST as i32).collect();
    let mut target = vec![0i32; MOST];
    let (from, to) = (lend(Kind::Cuda, &mut source), lend(Kind::Cuda, &mut target));
    init::init(0).expect("a process is a job of its own");
    let process = enter().expect("it was brought up");
    assert_eq!(
        process.unit(consts::INT),
        0,
        "no buffer is taken for the host's"
    );
    let near = 0i32;
    let near = (&raw const near).cast();
    let units = [from.cast_const(), near].map(|at| process.unit_at(consts::INT, at));
    assert_eq!(units[0], 0, "it is on the device");
    assert!([0, 4].contains(&units[1]), "it may be known where it is");
    let int = process
        .objects
        .types
        .committed(consts::INT)
        .expect("predefined");
    let comm = process.comm(consts::COMM_WORLD).expect("predefined");
    let (next, last) = (
        (comm.rank + 1) % comm.size(),
        (comm.rank + comm.size() - 1) % comm.size(),
    );
    // An eager message, and two that start a rendezvous.
    for count in [2, 1 << 14, MOST] {
        let (out, room) = (
            SendBuf::new(from, count as u64, int),
            RecvBuf::new(to, count as u64, int),
        );
        let mut receive = comm.irecv(&process, room, last as i32, 7);
        comm.send(&process, out, next, 7, Mode::Standard)
            .expect("sent");
        let done = request::wait(&process, &mut receive).expect("received");
        assert!(done.error.is_none());
        assert_eq!(target[..count], source[..count]);
        target.fill(-1);
    }
    let caller = Caller {
        process: &process,
        now: true,
    };
    let data = Data {
        buf: to,
        count: MOST as i64,
        ty: consts::INT,
    };
    let left = caller.allreduce(&comm, from, data, consts::SUM);
    if let Some(left) = left.expect("two buffers of as many numbers") {
        left.run(&process).expect("all ranks call it");
    }
    let sum = source.iter().map(|i| i * comm.size() as i32);
    assert!(sum.eq(target.iter().copied()));
    drop(comm);
    assert_eq!(init::finalize(|error| panic!("{error:?}"), None), 0);
}
