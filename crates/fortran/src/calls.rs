//! C code of the procedures: `calls.c` for those called by address, `sections.c` for those that
//! get descriptors of their buffers. Those that programs call most often stand in files of their
//! own, `calls_often.c` and `sections_often.c`, which are compiled for speed and not for size.
//!
//! A body converts its arguments, calls the function of C, and converts what that has written.
//! What the words in it mean stands in `lib/fortran.h` and `lib/descriptor.h`.

mod extensions;
mod named;
mod way;

pub use extensions::extensions;

use crate::view::{FortranArg, Procedure, Role};
use catena_abi::meaning::{Direction, Length};
use named::{Named, means, named};
use std::fmt::Write;
use way::{Passing, way};

/// Functions on which a nanosecond counts: inline conversions of handles make the library larger.
const OFTEN: &[&str] = &[
    "MPI_Accumulate",
    "MPI_Comm_rank",
    "MPI_Comm_size",
    "MPI_Get",
    "MPI_Iprobe",
    "MPI_Irecv",
    "MPI_Isend",
    "MPI_Put",
    "MPI_Recv",
    "MPI_Send",
    "MPI_Sendrecv",
    "MPI_Start",
    "MPI_Test",
    "MPI_Testall",
    "MPI_Wait",
    "MPI_Waitall",
];

/// The procedures of those that are called often, or the others.
fn called(procedures: &[Procedure], often: bool) -> impl Iterator<Item = &Procedure> {
    procedures
        .iter()
        .filter(move |p| !p.by_hand && OFTEN.contains(&p.name) == often)
}

/// `calls.c`, or `calls_often.c`.
pub fn by_address(procedures: &[Procedure], often: bool) -> String {
    let mut out = head("Procedures that are called by address.", "fortran.h");
    for p in called(procedures, often) {
        let only_sections = p.is_large() && p.has_choice();
        if !only_sections {
            out += &Body::new(p, large_of(procedures, p), false).text();
            names(&mut out, p);
        }
    }
    out
}

/// Functions that libraries with the ABI lack, as MPICH 5.0 and Intel MPI 2021.17 do: the library
/// is loaded without them.
const OPTIONAL: &[&str] = &["MPI_Precv_init_c", "MPI_Psend_init_c"];

/// `sections.c`, or `sections_often.c`.
pub fn by_descriptor(procedures: &[Procedure], often: bool) -> String {
    let mut out = head(
        "Procedures with choice buffers, of which they get descriptors.",
        "descriptor.h",
    );
    for name in OPTIONAL.iter().filter(|_| !often) {
        let _ = writeln!(out, "#pragma weak {name}\n#pragma weak P{name}");
    }
    for p in called(procedures, often).filter(|p| p.has_choice()) {
        out += &Body::new(p, large_of(procedures, p), true).text();
        if p.is_old() {
            let _ = writeln!(out, "NAMES_FTS({})", lower(p));
        }
    }
    out
}

/// The function with large counts, which serves an INTEGER of 8 bytes as well: where both have the
/// same arguments, some of which are longer. A type is made by the small one, for what made it can
/// be asked.
fn large_of<'a>(procedures: &'a [Procedure], p: &Procedure) -> Option<&'a Procedure> {
    let name = format!("{}_c", p.name);
    let large = procedures.iter().find(|q| q.name == name)?;
    let same = p.args.len() == large.args.len()
        && std::iter::zip(&p.args, &large.args).all(|(a, b)| a.name == b.name);
    let longer = large.args.iter().any(|b| is_longer(p, b));
    (same && longer && p.arg("newtype").is_none() && !OPTIONAL.contains(&large.name))
        .then_some(large)
}

/// Whether an argument is an INTEGER of `p`, and has 8 bytes in the large function.
fn is_longer(p: &Procedure, large: &FortranArg) -> bool {
    let wide = [Role::Count, Role::Address, Role::Offset];
    wide.contains(&large.role) && p.arg(&large.name).is_some_and(|a| a.role == Role::Integer)
}

fn head(what: &str, header: &str) -> String {
    format!(
        "/* {what}\n * Made by `cargo xtask gen` from the tables in crates/abi/tables: edit those. \
         */\n\n\
         #include \"{header}\"\n"
    )
}

fn names(out: &mut String, p: &Procedure) {
    let (low, up) = (lower(p), p.bare().to_uppercase());
    if p.is_old() {
        let _ = writeln!(out, "NAMES({low}, {up})");
    }
    if p.is_new() {
        let _ = match (p.is_large(), p.has_choice()) {
            (true, _) => writeln!(out, "NAMES_F08_LARGE({}, {low}, {up})", small(p)),
            (_, true) => writeln!(out, "NAMES_F08_CHOICE({low}, {up})"),
            _ => writeln!(out, "NAMES_F08({low}, {up})"),
        };
    }
    let collective = ["coll", "topology"].contains(&p.chapter);
    if p.is_old() && collective && low.ends_with("_init") {
        let _ = writeln!(out, "NAMES_MPIX({low})");
    }
    if p.is_old() && p.args.iter().any(|a| a.role == Role::Place) {
        let _ = writeln!(out, "NAMES_CPTR({low}, {up})");
    }
}

fn lower(p: &Procedure) -> String {
    p.bare().to_lowercase()
}

/// The name of the procedure without large counts.
fn small(p: &Procedure) -> String {
    lower(p).trim_end_matches("_c").to_string()
}

/// The C code of one procedure in the making.
struct Body<'a> {
    p: &'a Procedure,
    large: Option<&'a Procedure>,
    descriptors: bool,
    parameters: Vec<String>,
    lengths: Vec<String>,
    locals: String,
    before: String,
    /// What comes last before the call: nothing fails in between.
    last: String,
    call: Vec<String>,
    after: String,
    cleanup: String,
    jumps: bool,
    keeps: bool,
}

impl<'a> Body<'a> {
    fn new(p: &'a Procedure, large: Option<&'a Procedure>, descriptors: bool) -> Self {
        let mut body = Body {
            p,
            large,
            descriptors,
            parameters: Vec::new(),
            lengths: Vec::new(),
            locals: String::new(),
            before: String::new(),
            last: String::new(),
            call: Vec::new(),
            after: String::new(),
            cleanup: String::new(),
            jumps: false,
            keeps: false,
        };
        if OPTIONAL.contains(&p.name) || p.is_extension() {
            let missing = format!("!C({})", p.bare());
            body.fail_if(&missing, "MPI_ERR_UNSUPPORTED_OPERATION");
        }
        for arg in &p.args {
            body.argument(arg);
        }
        body
    }

    fn text(self) -> String {
        let name = match (self.descriptors, self.p.is_large()) {
            (false, _) => format!("F({})", lower(self.p)),
            (true, false) => format!("D({})", lower(self.p)),
            (true, true) => format!("D_LARGE({})", small(self.p)),
        };
        let mut parameters = self.parameters;
        parameters.push("Fint *ierror".to_string());
        if !self.descriptors {
            parameters.extend(self.lengths.iter().map(|l| format!("size_t l_{l}")));
        }
        let mut parameters = parameters.join(", ");
        if self.descriptors {
            for l in &self.lengths {
                let _ = write!(parameters, " WORDS_LENGTH({l})");
            }
        }
        let mut out = format!("\nvoid {name}({parameters})\n{{\n");
        out += &self.locals;
        out += "    int code;\n";
        out += &self.before;
        out += &self.last;
        let _ = writeln!(
            out,
            "    code = {}({})({});",
            if self.large.is_some() { "L" } else { "C" },
            self.p.bare(),
            self.call.join(", ")
        );
        out += &self.after;
        if self.jumps {
            out += "done:\n";
        }
        out += &self.cleanup;
        if self.keeps {
            let persistent = u8::from(self.p.name.trim_end_matches("_c").ends_with("_init"));
            let _ = writeln!(
                out,
                "    if (pending)\n        \
                 mpifort_keep(pending, code ? 0 : INT(*request), {persistent});"
            );
        }
        out += "    finish(ierror, code);\n}\n";
        out
    }

    fn local(&mut self, line: &str) {
        let _ = writeln!(self.locals, "    {line}");
    }

    fn before(&mut self, line: &str) {
        let _ = writeln!(self.before, "    {line}");
    }

    fn after(&mut self, line: &str) {
        let _ = writeln!(self.after, "    {line}");
    }

    fn cleanup(&mut self, line: &str) {
        let _ = writeln!(self.cleanup, "    {line}");
    }

    /// Ends the call with an error if the condition holds.
    fn fail_if(&mut self, condition: &str, class: &str) {
        self.jumps = true;
        let comm = match self.p.arg("comm") {
            Some(comm) if comm.role == Role::Handle => "Comm_of(*comm)",
            _ => "MPI_COMM_SELF",
        };
        let _ = write!(
            self.before,
            "    if ({condition}) {{\n        code = mpifort_raise({comm}, {class});\n        \
             goto done;\n    }}\n"
        );
    }

    fn argument(&mut self, arg: &FortranArg) {
        let name = &arg.name;
        let constant = if arg.direction == Direction::In {
            "const "
        } else {
            ""
        };
        match arg.role {
            Role::Choice if self.descriptors => self.descriptor(arg),
            Role::Choice => {
                self.parameters.push(format!("{constant}void *{name}"));
                let call = format!("{}({name})", self.sentinels());
                self.call.push(call);
            }
            Role::Place => {
                self.parameters.push(format!("void *{name}"));
                self.call.push(name.clone());
            }
            Role::Handle if arg.array => self.handles(arg, constant),
            Role::Handle => self.handle(arg, constant),
            Role::Status => self.status(arg, constant),
            Role::Text => self.words(arg, constant),
            Role::Logical => self.logical(arg, constant),
            Role::Position => self.position(arg),
            Role::Weights => self.integers(arg, constant, "WEIGHTS"),
            Role::Integer if arg.pointer && !self.is_wide(arg) && self.typed_of(name).is_none() => {
                if arg.array {
                    self.integers(arg, constant, "ENTRIES");
                } else {
                    self.integer(arg, constant);
                }
            }
            Role::Integer | Role::Address | Role::Count | Role::Offset => {
                self.number(arg, constant);
            }
            Role::Texts | Role::Errcodes | Role::Callback => {
                panic!("{}: {name} is for bodies written by hand", self.p.name)
            }
        }
    }

    /// What gives the address of a buffer, which may be a sentinel.
    fn sentinels(&self) -> &'static str {
        match self.p.chapter {
            "coll" | "topology" => "place",
            _ if self.p.name.contains("ttach") => "attached",
            _ => "buffer",
        }
    }

    fn number(&mut self, arg: &FortranArg, constant: &str) {
        let name = &arg.name;
        let ty = match arg.role {
            Role::Address => "MPI_Aint",
            Role::Count => "MPI_Count",
            Role::Offset => "MPI_Offset",
            _ => "Fint",
        };
        self.parameters.push(format!("{constant}{ty} *{name}"));
        let typed = self.typed_of(name);
        let narrow = arg.role == Role::Integer && !self.is_wide(arg);
        self.call.push(match (typed, arg.pointer) {
            (Some(buffer), _) if narrow => format!("(int)typed_{buffer}.count"),
            (Some(buffer), _) if arg.role == Role::Integer => {
                format!("NUMBER(typed_{buffer}.count)")
            }
            (Some(buffer), _) => format!("typed_{buffer}.count"),
            (None, true) => name.clone(),
            (None, false) if narrow => format!("INT(*{name})"),
            (None, false) => format!("*{name}"),
        });
    }

    /// Whether an INTEGER is as long as an address for the function that is called where it has 8
    /// bytes.
    fn is_wide(&self, arg: &FortranArg) -> bool {
        let large = self.large.and_then(|large| large.arg(&arg.name));
        large.is_some_and(|b| is_longer(self.p, b))
    }

    /// An INTEGER that the function writes.
    fn integer(&mut self, arg: &FortranArg, constant: &str) {
        let name = &arg.name;
        self.parameters.push(format!("{constant}Fint *{name}"));
        self.local(&format!("INTEGER({name})"));
        self.call.push(format!("AT({name})"));
        if arg.direction != Direction::In {
            self.after(&format!("RETURN_INTEGER({name})"));
        }
    }

    /// An array of INTEGERs, which the macro `how` hands over.
    fn integers(&mut self, arg: &FortranArg, constant: &str, how: &str) {
        let name = &arg.name;
        self.parameters.push(format!("{constant}Fint *{name}"));
        let count = self.count(arg);
        let count = match how {
            "WEIGHTS" => format!("is_weights({name}) ? {count} : 0"),
            _ => count,
        };
        self.local(&format!("INTEGERS({name}, {count})"));
        self.fail_if(&format!("NO_INTEGERS({name})"), "MPI_ERR_NO_MEM");
        self.call.push(match name.as_str() {
            "ranges" => format!("(int (*)[3])ENTRIES({name})"),
            _ => format!("{how}({name})"),
        });
        if arg.direction != Direction::In {
            self.after(&format!("RETURN_INTEGERS({name})"));
        }
        self.cleanup(&format!("LEAVE_INTEGERS({name})"));
    }

    fn status(&mut self, arg: &FortranArg, constant: &str) {
        let name = &arg.name;
        self.parameters.push(format!("{constant}Fint *{name}"));
        if arg.array {
            let count = self.count(arg);
            self.local(&format!("STATUSES({name}, {count})"));
            self.fail_if(&format!("NO_STATUSES({name})"), "MPI_ERR_NO_MEM");
            self.call.push(format!("STATUSES_AT({name})"));
            self.after(&format!("RETURN_STATUSES({name})"));
            self.cleanup(&format!("LEAVE_STATUSES({name})"));
            return;
        }
        self.local(&format!("STATUS({name})"));
        self.call.push(match arg.direction {
            Direction::Out => format!("STATUS_AT({name})"),
            _ => format!("STATUS_IN({name})"),
        });
        if arg.direction != Direction::In {
            self.after(&format!("RETURN_STATUS({name})"));
        }
    }

    /// The buffer whose count or type the argument is, if these may change.
    fn typed_of(&self, name: &str) -> Option<&'a str> {
        if !self.descriptors {
            return None;
        }
        let mut buffers = self.p.args.iter().filter(|a| a.role == Role::Choice);
        let found = buffers.find(|a| match way(self.p, a) {
            Passing::Type => a.of.contains(&name),
            Passing::Partitions => a.of[1..].contains(&name),
            Passing::Stride => a.of.last() == Some(&name),
            _ => false,
        });
        found.map(|a| a.name.as_str())
    }

    fn handle(&mut self, arg: &FortranArg, constant: &str) {
        let (name, class) = (&arg.name, class(arg));
        self.parameters.push(format!("{constant}Fint *{name}"));
        if self.p.is_written_later(arg) && class == "Comm" {
            self.pends();
            self.local(&format!("MPI_Comm *c_{name} = NULL;"));
            let place = format!("mpifort_later_comm(&pending, {name}, sizeof *{name})");
            self.fail_if(&format!("!(c_{name} = {place})"), "MPI_ERR_NO_MEM");
            self.call.push(format!("c_{name}"));
            return;
        }
        if !arg.pointer {
            let typed = self
                .typed_of(name)
                .map(|buffer| format!("typed_{buffer}.type"));
            if class == "Request" && self.completes() {
                self.local(&format!("MPI_Request c_{name} = Request_of(*{name});"));
                self.call.push(format!("c_{name}"));
                self.hold(name, &format!("&c_{name}"), "1");
                return;
            }
            self.call
                .push(typed.unwrap_or_else(|| format!("{class}_of(*{name})")));
            return;
        }
        let begin = match arg.direction {
            Direction::Out => "0".to_string(),
            _ => format!("{class}_of(*{name})"),
        };
        self.local(&format!("MPI_{} c_{name} = {begin};", arg.base));
        self.call.push(format!("&c_{name}"));
        self.watch(arg, &format!("&c_{name}"), "1");
        match arg.direction {
            Direction::In => {}
            Direction::InOut => self.after(&format!("{class}_put({name}, c_{name});")),
            // What the call has not written stays as it was.
            Direction::Out => {
                self.after(&format!(
                    "if (c_{name})\n        *{name} = {class}_int(c_{name});"
                ));
            }
        }
    }

    fn handles(&mut self, arg: &FortranArg, constant: &str) {
        let (name, class) = (&arg.name, class(arg));
        let count = self.count(arg);
        self.parameters.push(format!("{constant}Fint *{name}"));
        self.local(&format!(
            "MPI_{} few_{name}[FEW], *c_{name} = few_{name};",
            arg.base
        ));
        self.local(&format!("ptrdiff_t n_{name} = {count};"));
        self.before(&format!(
            "c_{name} = room(few_{name}, sizeof *c_{name}, n_{name});"
        ));
        self.fail_if(&format!("!c_{name}"), "MPI_ERR_NO_MEM");
        let begin = match arg.direction {
            Direction::Out => "0".to_string(),
            _ => format!("{class}_of({name}[i])"),
        };
        let each = format!("for (ptrdiff_t i = 0; i < n_{name}; i++)\n        ");
        self.before(&format!("{each}c_{name}[i] = {begin};"));
        self.call.push(format!("c_{name}"));
        self.watch(arg, &format!("c_{name}"), &format!("n_{name}"));
        match arg.direction {
            Direction::In => {}
            Direction::InOut => self.after(&format!("{each}{class}_put(&{name}[i], c_{name}[i]);")),
            Direction::Out => self.after(&format!(
                "{each}if (c_{name}[i])\n            {name}[i] = {class}_int(c_{name}[i]);"
            )),
        }
        self.cleanup(&format!("leave(few_{name}, c_{name});"));
    }

    /// Whether requests may be complete after the call, of whose sections there may be copies.
    fn completes(&self) -> bool {
        let name = self.p.bare();
        [
            "Wait",
            "Test",
            "Request_free",
            "Request_get_status",
            "Start",
        ]
        .iter()
        .any(|prefix| name.starts_with(prefix) && name != "Test_cancelled")
    }

    /// Has the copies of sections written anew or back, for `count` requests whose handles are at
    /// `handles`.
    fn watch(&mut self, arg: &FortranArg, handles: &str, count: &str) {
        if class(arg) != "Request" || !self.completes() {
            return;
        }
        if self.p.name.starts_with("MPI_Start") {
            self.before(&format!("start({}, {count});", arg.name));
        } else {
            self.hold(&arg.name, handles, count);
        }
    }

    /// Has the copies of requests that the call may complete put aside, as their numbers may mean
    /// others by the time that it returns, and then written back.
    fn hold(&mut self, name: &str, handles: &str, count: &str) {
        if self.p.bare().starts_with("Request_get_status") {
            // It frees no request, and other threads may ask for the same one.
            return self.after(&format!("look_only({name}, {handles}, {count});"));
        }
        self.local("struct held *held = NULL;");
        let _ = writeln!(self.last, "    held = hold({name}, {count});");
        self.after(&format!("look(held, {handles}, {count});"));
    }

    /// The number of entries of an array, before the call.
    fn count(&self, arg: &FortranArg) -> String {
        let count = match arg.length {
            Some(Length::Argument(n)) => format!("*{n}"),
            Some(Length::Triples(n)) => format!("3 * *{n}"),
            Some(Length::Sum(n)) => format!("sum_of({n}, {})", self.count_of(n)),
            Some(Length::Last(n)) => format!("last_of({n}, {})", self.count_of(n)),
            Some(Length::Ranks(comm)) => format!("ranks(Comm_of(*{comm}))"),
            Some(Length::Sources(comm)) => format!("sources(Comm_of(*{comm}))"),
            Some(Length::Destinations(comm)) => format!("destinations(Comm_of(*{comm}))"),
            Some(Length::Dimensions(comm)) => format!("dims(Comm_of(*{comm}))"),
            other => panic!("{}: {} has the length {other:?}", self.p.name, arg.name),
        };
        // With MPI_IN_PLACE there need be no types.
        let of = |a: &&FortranArg| a.role == Role::Choice && a.of.contains(&arg.name.as_str());
        match self.p.args.iter().find(of) {
            Some(buffer) => {
                let at = if self.descriptors { "->base_addr" } else { "" };
                format!("place({}{at}) == MPI_IN_PLACE ? 0 : {count}", buffer.name)
            }
            None => count,
        }
    }

    /// The number of entries of another array.
    fn count_of(&self, name: &str) -> String {
        let arg = self.p.arg(name);
        self.count(arg.unwrap_or_else(|| panic!("{} has no {name}", self.p.name)))
    }

    fn words(&mut self, arg: &FortranArg, constant: &str) {
        let name = &arg.name;
        let (text, length) = if self.descriptors {
            self.parameters.push(format!("WORDS({name})"));
            (format!("WORDS_AT({name})"), format!("LENGTH({name})"))
        } else {
            self.parameters.push(format!("{constant}char *{name}"));
            (name.clone(), format!("l_{name}"))
        };
        self.lengths.push(name.clone());
        self.call.push(format!("c_{name}"));
        if arg.direction == Direction::In {
            let read = if self.p.chapter == "info" {
                "mpifort_word"
            } else {
                "mpifort_text"
            };
            self.local(&format!("char few_{name}[SHORT], *c_{name} = few_{name};"));
            self.before(&format!("c_{name} = {read}({text}, {length}, few_{name});"));
            self.fail_if(&format!("!c_{name}"), "MPI_ERR_NO_MEM");
            self.cleanup(&format!("leave(few_{name}, c_{name});"));
            return;
        }
        match arg.length {
            Some(Length::Constant(max)) => self.local(&format!("char c_{name}[{max}];")),
            Some(Length::AndZero(n)) => {
                self.local(&format!("char few_{name}[FEW], *c_{name} = few_{name};"));
                self.before(&format!(
                    "c_{name} = room(few_{name}, 1, (ptrdiff_t)*{n} + 1);"
                ));
                self.fail_if(&format!("!c_{name}"), "MPI_ERR_NO_MEM");
                self.cleanup(&format!("leave(few_{name}, c_{name});"));
            }
            other => panic!("{}: {name} has the length {other:?}", self.p.name),
        }
        let flag = if self.p.arg("flag").is_some() {
            " && c_flag"
        } else {
            ""
        };
        let length_to = if self.p.arg("resultlen").is_some() {
            "VALUE(resultlen) = "
        } else {
            ""
        };
        self.after(&format!(
            "if (!code{flag})\n        {length_to}mpifort_fill({text}, {length}, c_{name});"
        ));
    }

    fn logical(&mut self, arg: &FortranArg, constant: &str) {
        let name = &arg.name;
        self.parameters.push(format!("{constant}Flogical *{name}"));
        let out = arg.direction != Direction::In;
        if !arg.array {
            if out {
                self.local(&format!("int c_{name} = 0;"));
                self.call.push(format!("&c_{name}"));
                self.after(&format!("*{name} = logical(c_{name});"));
            } else {
                self.call.push(format!("truth(*{name})"));
            }
            return;
        }
        let count = self.count(arg);
        self.local(&format!("int few_{name}[FEW], *c_{name} = few_{name};"));
        self.local(&format!("ptrdiff_t n_{name} = {count};"));
        self.before(&format!(
            "c_{name} = room(few_{name}, sizeof *c_{name}, n_{name});"
        ));
        self.fail_if(&format!("!c_{name}"), "MPI_ERR_NO_MEM");
        let each = format!("for (ptrdiff_t i = 0; i < n_{name}; i++)\n        ");
        self.before(&format!("{each}c_{name}[i] = truth({name}[i]);"));
        self.call.push(format!("c_{name}"));
        if out {
            self.after(&format!("{each}{name}[i] = logical(c_{name}[i]);"));
        }
        self.cleanup(&format!("leave(few_{name}, c_{name});"));
    }

    fn position(&mut self, arg: &FortranArg) {
        let name = &arg.name;
        self.parameters.push(format!("Fint *{name}"));
        if arg.array {
            let count = self.count(arg);
            self.local(&format!("INTEGERS({name}, {count})"));
            self.fail_if(&format!("NO_INTEGERS({name})"), "MPI_ERR_NO_MEM");
            self.call.push(format!("ENTRIES({name})"));
            self.after(&format!(
                "for (int i = 0; counted(code) && i < VALUE(outcount); i++)\n        \
                 position(&ENTRIES({name})[i]);"
            ));
            self.after(&format!("RETURN_INTEGERS({name})"));
            self.cleanup(&format!("LEAVE_INTEGERS({name})"));
        } else {
            self.local(&format!("int c_{name} = MPI_UNDEFINED;"));
            self.call.push(format!("&c_{name}"));
            self.after(&format!("position(&c_{name});\n    *{name} = c_{name};"));
        }
    }

    fn descriptor(&mut self, arg: &FortranArg) {
        let name = &arg.name;
        let address = format!("{}({name}->base_addr)", self.sentinels());
        self.parameters
            .push(format!("const struct descriptor *{name}"));
        self.holds(arg);
        match way(self.p, arg) {
            Passing::Type => {
                let (count, ty) = (arg.of[0], arg.of[1]);
                self.local(&format!(
                    "struct typed typed_{name} = {{*{count}, Type_of(*{ty}), 0}};"
                ));
                let is_run = match self.uses_buffer() {
                    true => format!("is_checked_run({name}, &typed_{name})"),
                    false => format!("is_run({name})"),
                };
                self.made(
                    arg,
                    &is_run,
                    &format!("mpifort_section({name}, &typed_{name})"),
                );
                self.call.push(address);
            }
            Passing::Partitions => {
                let [partitions, count, ty] = arg.of[..] else {
                    panic!("{}: {name} is told by {:?}", self.p.name, arg.of)
                };
                self.local(&format!(
                    "struct typed typed_{name} = {{*{count}, Type_of(*{ty}), 0}};"
                ));
                self.made(
                    arg,
                    &format!("is_run({name})"),
                    &format!("mpifort_partitions({name}, *{partitions}, &typed_{name})"),
                );
                self.call.push(address);
            }
            Passing::Stride => {
                let ty = arg.of[arg.of.len() - 1];
                self.local(&format!(
                    "struct typed typed_{name} = {{0, Type_of(*{ty}), 0}};"
                ));
                self.later(arg, &format!("mpifort_stride({name}, &typed_{name}) && "));
                self.cleanup(&format!("free_typed(&typed_{name});"));
                self.call
                    .push(format!("copy_{name} ? copy_{name} : {address}"));
            }
            Passing::Copy => {
                self.local(&format!("void *copy_{name} = NULL;"));
                self.fail_if(
                    &format!("!is_run({name}) && !(copy_{name} = mpifort_gather({name}))"),
                    "MPI_ERR_NO_MEM",
                );
                self.call
                    .push(format!("copy_{name} ? copy_{name} : {address}"));
                if arg.direction != Direction::In {
                    self.after(&format!(
                        "if (copy_{name})\n        mpifort_scatter({name}, copy_{name});"
                    ));
                }
                self.cleanup(&format!("free(copy_{name});"));
            }
            Passing::Later => {
                self.later(arg, "");
                self.call
                    .push(format!("copy_{name} ? copy_{name} : {address}"));
            }
            Passing::Address => self.call.push(address),
        }
    }

    /// A section with gaps has all elements that the call names, where the buffer means something.
    fn holds(&mut self, arg: &FortranArg) {
        let Named::Condition(holds) = named(self.p, arg) else {
            return;
        };
        let name = &arg.name;
        let means = self.means(arg);
        self.fail_if(
            &format!("!is_run({name}) && {means}!{holds}"),
            "MPI_ERR_BUFFER",
        );
    }

    /// That the buffer means something at this rank, with `&&` behind it: else neither do its count
    /// and its type.
    fn means(&self, arg: &FortranArg) -> String {
        means(self.p, arg).map_or_else(String::new, |means| format!("{means} && "))
    }

    /// A copy that lives until the request is complete, if the section needs one; `needed` is a
    /// further condition, with `&&` behind it.
    fn later(&mut self, arg: &FortranArg, needed: &str) {
        let name = &arg.name;
        self.pends();
        self.local(&format!("void *copy_{name} = NULL;"));
        let writes = u8::from(arg.direction != Direction::In);
        let means = self.means(arg);
        self.fail_if(
            &format!(
                "!is_run({name}) && {means}{needed}\
                 !(copy_{name} = mpifort_later(&pending, {name}, {writes}))"
            ),
            "MPI_ERR_NO_MEM",
        );
    }

    /// Something is left until the request is complete.
    fn pends(&mut self) {
        if !std::mem::replace(&mut self.keeps, true) {
            self.local("struct pending *pending = NULL;");
        }
    }

    /// Whether the call uses all that its count and type name, whatever its other arguments are: in
    /// a collective the buffers of some ranks mean nothing, and with `MPI_NO_OP` no buffer of a
    /// sender does.
    fn uses_buffer(&self) -> bool {
        ["p2p", "datatype", "rma", "io"].contains(&self.p.chapter) && self.p.arg("op").is_none()
    }

    /// A type that `how` makes unless the buffer `is_run`.
    fn made(&mut self, arg: &FortranArg, is_run: &str, how: &str) {
        let (name, means) = (&arg.name, self.means(arg));
        let local = format!("int class_{name} = MPI_SUCCESS;");
        self.local(&local);
        self.fail_if(
            &format!("!{is_run} && {means}(class_{name} = {how})"),
            &format!("class_{name}"),
        );
        self.cleanup(&format!("free_typed(&typed_{name});"));
    }
}

/// The prefix of the functions that convert a handle.
fn class(arg: &FortranArg) -> &str {
    match arg.base.as_str() {
        "Datatype" => "Type",
        other => other,
    }
}
