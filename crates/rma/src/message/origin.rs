//! Operations that are started here and carried out by their target.

use catena_core::Process;
use catena_core::buffer::{RecvBuf, SendBuf};
use catena_datatype::{Datatype, OpKind};
use catena_hang::{self as hang, WaitsFor};
use catena_link::{Sink, Source};
use catena_objects::error::Result;

use super::carry;
use super::codes::{BYTE, codes};
use super::exchange::{self, Pending};
use super::job::{Operation, Spot};
use super::record::{Head, What};
use super::token::Token;
use crate::accumulate::Combine;
use crate::operations::At;
use crate::transfer::unequal;
use crate::window::Window;

/// Longest operation whose bytes are copied when it starts.
pub(super) const COPIED: u64 = 16 << 10;
/// Longest one whose answer is asked for whatever else is under way.
pub(super) const SHORT_ANSWER: u64 = 512;
/// Bytes of records that leave before there is progress.
const GATHER: usize = 8 << 10;
/// Bytes of records that wait for room at most: then an operation waits, too.
const BACKLOG: usize = 4 << 20;

/// What an operation does to the elements.
#[derive(Clone, Copy)]
struct Deed {
    what: What,
    operation: u8,
    elements: u8,
    /// Bytes of an element.
    unit: usize,
}

impl Deed {
    /// One that takes bytes as they are.
    fn plain(what: What) -> Deed {
        Deed {
            what,
            operation: 0,
            elements: BYTE,
            unit: 1,
        }
    }

    fn combine(what: What, kind: OpKind, ty: &Datatype) -> Result<Deed> {
        Combine::new(kind, ty)?;
        let basic = ty.basic().filter(|_| kind != OpKind::NoOp);
        let (operation, elements) = codes(kind, ty);
        Ok(Deed {
            what,
            operation,
            elements,
            unit: basic.map_or(1, |basic| basic.size() as usize),
        })
    }
}

/// The buffer of the program, which lends it until the operation is over.
fn lent(buffer: &SendBuf) -> Result<SendBuf> {
    Ok(match buffer {
        SendBuf::Bytes(at, len) => SendBuf::Bytes(*at, *len),
        SendBuf::Typed(typed) => SendBuf::Typed(typed.clone()),
        SendBuf::Owned(_) => SendBuf::Owned(buffer.to_owned_bytes()?),
    })
}

impl Window {
    /// `MPI_Put` at an address of the target.
    ///
    /// # Errors
    /// `Type` if the sides differ in length, `ProcAborted` if the target is gone.
    pub(crate) fn put_by_message(
        &self,
        process: &Process,
        origin: &SendBuf,
        at: At<'_>,
        addr: u64,
    ) -> Result<()> {
        if origin.len() != at.len() {
            return Err(unequal(origin.len(), at.len()));
        }
        self.start_far(
            process,
            Deed::plain(What::Put),
            (at, addr),
            lent(origin)?,
            None,
        )
    }

    /// `MPI_Get`.
    ///
    /// # Errors
    /// As [`Window::put_by_message`].
    pub(crate) fn get_by_message(
        &self,
        process: &Process,
        origin: &mut RecvBuf,
        at: At<'_>,
        addr: u64,
    ) -> Result<()> {
        if origin.capacity() != at.len() {
            return Err(unequal(origin.capacity(), at.len()));
        }
        let sink = std::mem::replace(origin, RecvBuf::EMPTY);
        let deed = Deed::plain(What::Get);
        self.start_far(process, deed, (at, addr), SendBuf::EMPTY, Some(sink))
    }

    /// `MPI_Accumulate`.
    ///
    /// # Errors
    /// As [`Window::put_by_message`].
    pub(crate) fn accumulate_by_message(
        &self,
        process: &Process,
        kind: OpKind,
        origin: &SendBuf,
        (at, addr): (At<'_>, u64),
    ) -> Result<()> {
        let deed = Deed::combine(What::Combine, kind, at.ty)?;
        if kind == OpKind::NoOp {
            return Ok(());
        }
        if origin.len() != at.len() {
            return Err(unequal(origin.len(), at.len()));
        }
        self.start_far(process, deed, (at, addr), lent(origin)?, None)
    }

    /// `MPI_Get_accumulate`.
    ///
    /// # Errors
    /// As [`Window::put_by_message`].
    pub(crate) fn get_accumulate_by_message(
        &self,
        process: &Process,
        kind: OpKind,
        (origin, result): (&SendBuf, &mut RecvBuf),
        (at, addr): (At<'_>, u64),
    ) -> Result<()> {
        let deed = Deed::combine(What::Fetch, kind, at.ty)?;
        if result.capacity() != at.len() {
            return Err(unequal(result.capacity(), at.len()));
        }
        let source = match kind {
            OpKind::NoOp => SendBuf::EMPTY,
            _ if origin.len() != at.len() => return Err(unequal(origin.len(), at.len())),
            _ => lent(origin)?,
        };
        let sink = std::mem::replace(result, RecvBuf::EMPTY);
        self.start_far(process, deed, (at, addr), source, Some(sink))
    }

    /// `MPI_Compare_and_swap`; `new` and `compare` begin with an element.
    ///
    /// # Errors
    /// As [`Window::put_by_message`].
    pub(crate) fn compare_and_swap_by_message(
        &self,
        process: &Process,
        (new, compare): (&[u8], &[u8]),
        result: &mut RecvBuf,
        (at, addr): (At<'_>, u64),
    ) -> Result<()> {
        let len = at.len() as usize;
        let source = SendBuf::Owned([&compare[..len], &new[..len]].concat().into());
        let sink = std::mem::replace(result, RecvBuf::EMPTY);
        self.start_far(
            process,
            Deed::plain(What::Swap),
            (at, addr),
            source,
            Some(sink),
        )
    }

    /// Starts an operation on elements at an address of the target; with a sink the former bytes come
    /// back.
    fn start_far(
        &self,
        process: &Process,
        deed: Deed,
        (at, addr): (At<'_>, u64),
        source: SendBuf,
        sink: Option<RecvBuf>,
    ) -> Result<()> {
        let (peer, len) = (self.group.member(at.rank as usize), at.len());
        self.check_there(peer)?;
        let far = self.far(at.rank);
        // Nothing else is under way there that has no answer.
        let is_first = !far.dirty.get() && !self.is_under_way(at.rank);
        let is_answered = sink.is_some();
        let is_long = len > if is_answered { SHORT_ANSWER } else { COPIED };
        let mut head = Head {
            a: deed.operation,
            b: deed.elements,
            ..Head::new(deed.what, self.number_at(at.rank))
        };
        let mut token = match is_answered || is_long {
            true => Token::take(peer),
            false => None,
        };
        exchange::with(|exchange| {
            if let Some(sink) = sink {
                head.id = exchange.expect(Pending {
                    sink,
                    left: len,
                    token: token.take(),
                    ..Pending::new(peer, self.number, at.rank)
                });
                far.outstanding.set(far.outstanding.get() + 1);
            } else {
                far.dirty.set(true);
            }
            // What is asked for in parts lends the program's buffer until the last part.
            if is_long {
                far.lent.set(far.lent.get() + 1);
            }
            let operation = Operation {
                head,
                spot: Spot {
                    addr,
                    layout: (!at.ty.is_contiguous()).then(|| (at.ty.clone(), at.count)),
                },
                source,
                len,
                is_answered,
                unit: deed.unit,
                window: self.number,
                rank: at.rank,
                token,
                at: 0,
            };
            exchange.start(peer, operation, is_long);
        });
        let ready = || exchange::with(|exchange| exchange.ready(peer));
        if is_first && far.dirty.get() && len >= GATHER as u64 {
            // It leaves before it is flushed, and with it what the flush will ask, if nothing else comes in between.
            far.dirty.set(false);
            far.early.set(true);
            self.ask_flush(at.rank, What::Flush);
        }
        // With a notification that follows at once it leaves in fewer packets.
        if (is_long || ready() >= GATHER) && !self.notices.follow.get() {
            carry::send(process, peer);
            if ready() > BACKLOG {
                let describe = |process: &Process, waits: &mut WaitsFor| {
                    let need = self.need(process, hang::What::Remote, |it| it == at.rank);
                    waits.needs.push(need);
                };
                process.block(describe, |_| ready() <= BACKLOG / 2);
            }
        }
        Ok(())
    }
}
