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
use super::job::{self, Spot};
use super::record::{Head, What};
use super::token::Token;
use crate::accumulate::Combine;
use crate::operation::{At, Operation};
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
struct ElementOp {
    what: What,
    operation: u8,
    elements: u8,
    /// Bytes of an element.
    unit: usize,
}

impl ElementOp {
    /// One that takes bytes as they are.
    fn plain(what: What) -> ElementOp {
        ElementOp {
            what,
            operation: 0,
            elements: BYTE,
            unit: 1,
        }
    }

    fn combine(what: What, kind: OpKind, ty: &Datatype) -> Result<ElementOp> {
        Combine::new(kind, ty)?;
        let basic = ty.basic().filter(|_| kind != OpKind::NoOp);
        let (operation, elements) = codes(kind, ty);
        Ok(ElementOp {
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
        SendBuf::Numbers(run) => SendBuf::Bytes(run.0, run.1),
        SendBuf::Owned(_) => SendBuf::Owned(buffer.to_owned_bytes()?),
    })
}

impl Window {
    /// Starts an operation that the target carries out at an address of its own.
    ///
    /// # Errors
    /// `Type` if the sides differ in length, `Op` if the operation is not for such elements,
    /// `ProcAborted` if the target is gone.
    #[inline(never)]
    pub(crate) fn by_message(
        &self,
        process: &Process,
        operation: Operation<'_>,
        at: At<'_>,
        addr: u64,
    ) -> Result<()> {
        let same = |len: u64| match len == at.len() {
            true => Ok(()),
            false => Err(unequal(len, at.len())),
        };
        let (deed, source, sink) = match operation {
            Operation::Put(origin) => {
                same(origin.len())?;
                (ElementOp::plain(What::Put), lent(origin)?, None)
            }
            Operation::Get(into) => {
                same(into.capacity())?;
                (ElementOp::plain(What::Get), SendBuf::EMPTY, Some(into))
            }
            Operation::Combine(kind, origin) => {
                let deed = ElementOp::combine(What::Combine, kind, at.ty)?;
                if kind == OpKind::NoOp {
                    return Ok(());
                }
                same(origin.len())?;
                (deed, lent(origin)?, None)
            }
            Operation::Fetch(kind, origin, result) => {
                let deed = ElementOp::combine(What::Fetch, kind, at.ty)?;
                same(result.capacity())?;
                let source = match kind {
                    OpKind::NoOp => SendBuf::EMPTY,
                    _ => {
                        same(origin.len())?;
                        lent(origin)?
                    }
                };
                (deed, source, Some(result))
            }
            Operation::Swap {
                new,
                compare,
                result,
            } => {
                let len = at.len() as usize;
                let both = SendBuf::Owned([&compare[..len], &new[..len]].concat().into());
                (ElementOp::plain(What::Swap), both, Some(result))
            }
        };
        let sink = sink.map(|it| std::mem::replace(it, RecvBuf::EMPTY));
        self.start_far(process, deed, (at, addr), source, sink)
    }

    /// Starts an operation on elements at an address of the target; with a sink the former bytes
    /// come back.
    fn start_far(
        &self,
        process: &Process,
        deed: ElementOp,
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
            let operation = job::Operation {
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
            // It leaves before it is flushed, and with it what the flush will ask, if nothing else
            // comes in between.
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
