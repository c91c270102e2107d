//! Row 5: collectives of ranks that share memory, without messages.
//!
//! The members of a communicator on one node share a **board**: memory in which each publishes what
//! it has for the others, and reads what they have published. The crate knows neither communicators
//! nor requests: a [`Member`] is told its rank and how many there are, and each call says what it
//! does by the [`Args`](catena_coll::Args) of a collective.
//!
//! [`Member::start`] begins an operation, and [`Op::poll`] does what can be done now; it never
//! blocks or allocates. The memory is behind the trait [`Board`]: a [`View`] is that of a [`Seat`]
//! at the [memory of a node](BoardMemory), in whose place tests put one that notices every mistake.
//!
//! Read `member` first, whose head explains the protocol and proves when memory may be written
//! again, then `op`. Each file uses only files further down:
//!
//! | file       | what                                                             |
//! |------------|------------------------------------------------------------------|
//! | `view`     | a board in shared memory as a member sees it in one operation    |
//! | `seat`     | a member's place: memory, doorbells, processes of the others     |
//! | `pool`     | memory of boards in the segment of a node                        |
//! | `area`     | how long the parts of a board are, and where they lie            |
//! | `lines`    | whether cache lines of a ring are taken when they are read       |
//! | `ways`     | which way long payloads go, as members have agreed               |
//! | `choices`  | which way a member prefers                                       |
//! | `copies`   | by which instructions bytes are copied                           |
//! | `settings` | `CATENA_COLL_DIRECT`, `CATENA_COLL_WEIGH`                        |
//! | `op`       | one operation on its way                                         |
//! | `programs` | what each kind of operation publishes, reads and combines        |
//! | `segment`  | how a payload gets to the others, and how much of it at a time   |
//! | `hear`     | whether what another member has published is of the same call    |
//! | `program`  | what tells one kind of operation from another                    |
//! | `member`   | a member's own view of the board: the protocol, and room         |
//! | `board`    | the memory that the members share                                |
//! | `trouble`  | what can go wrong                                                |
//! | `without_data` | how a member takes part that has no memory                   |
//! | `lacks`    | for which calls a member had no data                             |
//! | `meta`     | the word of a record that tells what its owner called            |
//! | `payload`  | what a member publishes, and where it is                         |
//! | `limits`   | the size of a board                                              |
//! | `rounds`   | barriers that are started again and again                        |
//! | `kind`     | the kinds of operations                                          |
//!
//! `crates/board/README.md` tells who waits for whom, and which way a block goes.

mod area;
mod board;
mod choices;
mod copies;
mod hear;
mod kind;
mod lacks;
mod limits;
mod lines;
mod member;
mod meta;
mod op;
mod payload;
mod pool;
mod program;
mod programs;
mod rounds;
mod seat;
mod segment;
mod settings;
mod trouble;
mod view;
mod ways;
mod without_data;

pub use area::BoardShape;
pub use board::{Asked, Board, FAILED, GONE, LOST, LongOp};
pub use kind::OpKind;
pub use lacks::{add_lack, has_lack};
pub use limits::{INLINE, Limits, ROUNDS};
pub use member::Member;
pub use meta::{Called, Meta};
pub use op::Op;
pub use payload::{IN_LONG, LEFT, Payload, PayloadPlace, SWAPPED};
pub use pool::{BoardMemory, BoardOffset, BoardUse, Pool};
pub use rounds::Rounds;
pub use seat::Seat;
pub use settings::{COLL_DIRECT, COLL_WEIGH, direct_from};
pub use trouble::{Mismatch, Refused, Skipped, Trouble};
pub use view::View;
pub use without_data::WithoutData;
