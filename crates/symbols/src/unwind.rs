//! The frames of a thread, from its registers and a part of its stack.
//!
//! Files of code say for each instruction where the caller's registers are (`.eh_frame`, for
//! exceptions; DWARF 5, section 6.4). Code that has nothing of the kind is taken to keep frame
//! pointers.

use gimli::{
    BaseAddresses, CfaRule, EhFrame, EhFrameHdr, Evaluation, EvaluationResult, ParsedEhFrameHdr,
    Register, RegisterRule, UnwindContext, UnwindExpression, UnwindSection, Value,
};

use crate::bytes::Bytes;
use crate::elf::Elf;

/// How the registers of a machine are used, by their numbers in DWARF.
struct Machine {
    stack_pointer: usize,
    frame_pointer: usize,
    /// The one that stands for the address to return to.
    back: usize,
    /// Those that a function leaves as they were.
    kept: &'static [usize],
}

#[cfg(not(target_arch = "aarch64"))]
const MACHINE: Machine = Machine {
    stack_pointer: 7,
    frame_pointer: 6,
    back: 16,
    kept: &[3, 6, 12, 13, 14, 15],
};

#[cfg(target_arch = "aarch64")]
const MACHINE: Machine = Machine {
    stack_pointer: 31,
    frame_pointer: 29,
    back: 30,
    kept: &[19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30],
};

/// Bits of an address; others may sign it.
const ADDRESS: u64 = (1 << 48) - 1;

/// Most steps of an expression.
const STEPS: u32 = 1000;

/// What a file says of its callers.
#[derive(Debug)]
pub(crate) struct Callers {
    frames: EhFrame<Bytes>,
    header: Option<ParsedEhFrameHdr<Bytes>>,
    bases: BaseAddresses,
}

impl Callers {
    pub fn new(elf: &Elf) -> Option<Callers> {
        let mut bases = BaseAddresses::default();
        bases = bases.set_eh_frame(elf.section_address(".eh_frame")?);
        if let Some(at) = elf.section_address(".text") {
            bases = bases.set_text(at);
        }
        if let Some(at) = elf.section_address(".eh_frame_hdr") {
            bases = bases.set_eh_frame_hdr(at);
        }
        let mut frames = EhFrame::from(elf.section(".eh_frame")?);
        frames.set_address_size(8);
        let header = elf.section(".eh_frame_hdr");
        let header = header.and_then(|it| EhFrameHdr::from(it).parse(&bases, 8).ok());
        Some(Callers {
            frames,
            header,
            bases,
        })
    }
}

/// A thread on the way from the innermost frame to its first one.
#[derive(Debug)]
pub(crate) struct Walk<'s> {
    /// By their numbers; without the program counter.
    registers: Vec<Option<u64>>,
    /// The instruction, or the one behind a call.
    counter: u64,
    /// Whether it is the instruction itself.
    pub is_exact: bool,
    stack: &'s [u8],
    stack_at: u64,
}

impl<'s> Walk<'s> {
    pub fn new(registers: &[Option<u64>], stack: &'s [u8]) -> Option<Walk<'s>> {
        let counter = (*registers.last()?)?;
        Some(Walk {
            stack_at: (*registers.get(MACHINE.stack_pointer)?)?,
            registers: registers.to_vec(),
            counter,
            is_exact: true,
            stack,
        })
    }

    /// An address in the instruction that the frame is at.
    pub fn at(&self) -> u64 {
        self.counter.wrapping_sub(u64::from(!self.is_exact))
    }

    fn register(&self, number: usize) -> Option<u64> {
        *self.registers.get(number)?
    }

    fn load(&self, at: u64) -> Option<u64> {
        let at = usize::try_from(at.checked_sub(self.stack_at)?).ok()?;
        let bytes = self.stack.get(at..at.checked_add(8)?)?;
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    }

    /// Goes to the caller. The frame's code is of that file, at that address of its own; `None` if
    /// there is no caller, or it cannot be found.
    pub fn step(&mut self, callers: Option<&Callers>, address: u64) -> Option<()> {
        match callers.and_then(|it| self.step_by(it, address)) {
            Some(Stepped::Caller) => Some(()),
            Some(Stepped::Outermost) => None,
            None => self.step_by_pointer(),
        }
    }

    fn step_by(&mut self, callers: &Callers, address: u64) -> Option<Stepped> {
        let Callers {
            frames,
            header,
            bases,
        } = callers;
        let table = header.as_ref().and_then(ParsedEhFrameHdr::table);
        let entry = match table {
            Some(table) => table.fde_for_address(frames, bases, address, EhFrame::cie_from_offset),
            None => frames.fde_for_address(bases, address, EhFrame::cie_from_offset),
        };
        let entry = entry.ok()?;
        let mut context = UnwindContext::new();
        let row = entry.unwind_info_for_address(frames, bases, &mut context, address);
        let row = row.ok()?;
        let evaluate = |expression: UnwindExpression<usize>, initial| {
            let expression = expression.get(frames).ok()?;
            self.evaluate(expression.evaluation(entry.cie().encoding()), initial)
        };
        let frame = match row.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => self
                .register(usize::from(register.0))?
                .wrapping_add_signed(*offset),
            CfaRule::Expression(expression) => evaluate(*expression, None)?,
        };
        let value = |number: usize| {
            let rule = row.register(Register(number as u16));
            match rule {
                None if MACHINE.kept.contains(&number) => self.register(number),
                None | Some(RegisterRule::Undefined) => None,
                Some(RegisterRule::SameValue) => self.register(number),
                Some(RegisterRule::Offset(at)) => self.load(frame.wrapping_add_signed(at)),
                Some(RegisterRule::ValOffset(at)) => Some(frame.wrapping_add_signed(at)),
                Some(RegisterRule::Register(other)) => self.register(usize::from(other.0)),
                Some(RegisterRule::Expression(it)) => self.load(evaluate(it, Some(frame))?),
                Some(RegisterRule::ValExpression(it)) => evaluate(it, Some(frame)),
                Some(RegisterRule::Constant(value)) => Some(value),
                Some(_) => None,
            }
        };
        let back = Register(MACHINE.back as u16);
        if row.register(back) == Some(RegisterRule::Undefined) {
            return Some(Stepped::Outermost);
        }
        let mut registers: Vec<_> = (0..self.registers.len() - 1).map(value).collect();
        let counter = value(MACHINE.back)?;
        // Handlers may run on a stack of their own.
        let is_signal = entry.is_signal_trampoline();
        let pointer = match is_signal {
            true => registers.get(MACHINE.stack_pointer).copied().flatten()?,
            false => frame,
        };
        registers.push(None);
        self.registers = registers;
        self.go_to(counter, pointer, is_signal)
            .map(|()| Stepped::Caller)
            .or(Some(Stepped::Outermost))
    }

    /// As if the frame pointer led to the caller's, and to the address to return to behind it.
    fn step_by_pointer(&mut self) -> Option<()> {
        let frame = self.register(MACHINE.frame_pointer)?;
        if frame < self.register(MACHINE.stack_pointer)? {
            return None;
        }
        let outer = self.load(frame)?;
        let counter = self.load(frame.checked_add(8)?)?;
        for (number, value) in self.registers.iter_mut().enumerate() {
            match number {
                it if it == MACHINE.frame_pointer => *value = Some(outer),
                _ => *value = None,
            }
        }
        self.go_to(counter, frame.checked_add(16)?, false)
    }

    fn go_to(&mut self, counter: u64, pointer: u64, is_exact: bool) -> Option<()> {
        self.counter = counter & ADDRESS;
        self.is_exact = is_exact;
        *self.registers.get_mut(MACHINE.stack_pointer)? = Some(pointer);
        (self.counter != 0).then_some(())
    }

    fn evaluate(&self, mut evaluation: Evaluation<Bytes>, initial: Option<u64>) -> Option<u64> {
        evaluation.set_max_iterations(STEPS);
        if let Some(initial) = initial {
            evaluation.set_initial_value(initial);
        }
        let mut state = evaluation.evaluate().ok()?;
        // Each round has used up a step.
        loop {
            state = match state {
                EvaluationResult::Complete => break,
                EvaluationResult::RequiresMemory { address, size, .. } => {
                    let bits = 8 * u32::from(size);
                    let mask = u64::MAX.checked_shr(64_u32.checked_sub(bits)?)?;
                    let value = Value::Generic(self.load(address)? & mask);
                    evaluation.resume_with_memory(value).ok()?
                }
                EvaluationResult::RequiresRegister { register, .. } => {
                    let number = usize::from(register.0);
                    let value = match number {
                        it if it == MACHINE.back && it + 1 == self.registers.len() => self.counter,
                        it => self.register(it)?,
                    };
                    evaluation
                        .resume_with_register(Value::Generic(value))
                        .ok()?
                }
                _ => return None,
            };
        }
        match evaluation.value_result()? {
            Value::Generic(value) => Some(value),
            _ => None,
        }
    }
}

/// What a step has come to.
enum Stepped {
    Caller,
    /// There is none.
    Outermost,
}
