//! Which of the frames is the program's, and how that is written.

use std::fmt;

use crate::names;

/// A line of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The file, with its folder as far as the compiler has told.
    pub path: String,
    /// The line, from 1 on.
    pub line: u32,
}

impl Source {
    /// Whether it comes with the system, the compiler, or a package, so that it is not what a user
    /// looks for.
    fn is_foreign(&self) -> bool {
        let begins = ["/usr/", "/rustc/", "/build/", "/opt/"];
        let has = ["/.cargo/registry/", "/site-packages/", "/include/c++/"];
        begins.iter().any(|it| self.path.starts_with(it))
            || has.iter().any(|it| self.path.contains(it))
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.path.rsplit('/').next().unwrap_or(&self.path);
        write!(f, "{name}:{}", self.line)
    }
}

/// A function that is being executed, or has called the one before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The file that its code is in.
    pub object: String,
    /// Where its code is in that file: the address that the file's own tables use.
    pub address: u64,
    /// Its name in the table of symbols, or in the debug information if it is inlined; as the file
    /// has it.
    pub symbol: Option<String>,
    /// Where it is in the program, if there is debug information.
    pub source: Option<Source>,
}

impl Frame {
    /// The file that its code is in, without its folder.
    pub fn file(&self) -> &str {
        self.object.rsplit('/').next().unwrap_or(&self.object)
    }

    /// Its name as a programmer writes it.
    pub fn function(&self) -> Option<String> {
        self.symbol.as_deref().map(names::readable)
    }

    /// Whether it is a function of MPI's: of a library, or of a tool that stands before one.
    fn is_call(&self) -> bool {
        self.symbol.as_deref().is_some_and(names::is_mpi)
    }

    /// Whether it lies in a library of MPI.
    fn is_library(&self) -> bool {
        ["libmpi", "libcatena", "libpmpi"]
            .iter()
            .any(|it| self.file().starts_with(it))
    }

    /// The function, and where that is not the program's own, its file.
    fn in_object(&self) -> String {
        match self.function() {
            Some(name) if self.is_shared() => format!("{name} in {}", self.file()),
            Some(name) => name,
            None => format!("{}+{:#x}", self.file(), self.address),
        }
    }

    fn is_shared(&self) -> bool {
        self.file().ends_with(".so") || self.file().contains(".so.") || self.object.starts_with('[')
    }

    /// Whether it is a library that comes with the system.
    pub(crate) fn is_systems(&self) -> bool {
        let systems = ["/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/", "["];
        self.is_shared() && systems.iter().any(|it| self.object.starts_with(it))
    }

    /// Whether it is a line that the user works on, as far as can be seen.
    fn is_own(&self) -> bool {
        let source = self.source.as_ref();
        let is_others = self.is_systems() || self.is_library();
        !is_others && source.is_some_and(|it| !it.is_foreign())
    }

    /// Whether it is the program's, or at least no library's.
    fn is_program(&self) -> bool {
        !self.is_shared() && !self.is_python()
    }

    /// Whether it is Python itself.
    fn is_python(&self) -> bool {
        self.file().starts_with("libpython") || self.file().starts_with("python")
    }

    /// Whether it is what connects Python to MPI.
    fn is_binding(&self) -> bool {
        let begins = ["MPI.", "libffi", "_ctypes", "_cffi"];
        begins.iter().any(|it| self.file().starts_with(it))
    }
}

/// `solver.c:88`, `exchange`, `exchange in libsolver.so` or `solver+0x1234`.
impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Some(source) if !self.is_systems() => source.fmt(f),
            _ => f.write_str(&self.in_object()),
        }
    }
}

/// Where a program has called MPI, or is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// There.
    At(Frame),
    /// In code about which the debug information says nothing, or that is a library's, with what
    /// has called it.
    In(Frame, Box<Location>),
    /// In a line of a Python program, in words.
    Python(String),
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::At(frame) => frame.fmt(f),
            Location::In(frame, caller) => write!(f, "{}, called from {caller}", frame.in_object()),
            Location::Python(line) => f.write_str(line),
        }
    }
}

/// The frames without those of MPI at the front.
fn program(mut frames: &[Frame]) -> &[Frame] {
    // A tool may have functions of its own between its `MPI_Recv` and the library's.
    const TOOL: usize = 8;
    loop {
        let Some(first) = frames.first() else {
            return frames;
        };
        if first.is_library() || first.is_call() {
            frames = &frames[1..];
            continue;
        }
        let same = frames.iter().take(TOOL);
        let same = same.take_while(|it| it.object == first.object);
        match same.into_iter().position(Frame::is_call) {
            Some(call) => frames = &frames[call + 1..],
            None => return frames,
        }
    }
}

/// The place among frames, the innermost first; `python` is the innermost line of the interpreter,
/// if there is one.
pub(crate) fn choose(frames: &[Frame], python: &str) -> Option<Location> {
    let frames = program(frames);
    let interpreter = frames.iter().position(Frame::is_python);
    let native = match (python, interpreter) {
        // The frames may not reach up to the interpreter.
        ("", _) | (_, None) => frames,
        (_, Some(end)) => &frames[..end],
    };
    let line = || (!python.is_empty()).then(|| Location::Python(python.into()));
    let native: Vec<_> = native.iter().filter(|it| !it.is_binding()).collect();
    let Some(&first) = native.first() else {
        return line();
    };
    if first.is_own() {
        return Some(Location::At(first.clone()));
    }
    let own = native.iter().position(|it| it.is_own());
    let own = own.or_else(|| native.iter().position(|it| it.is_program()));
    let own = own.filter(|&own| own > 0 || python.is_empty());
    let Some(own) = own else {
        return Some(match line() {
            Some(line) => Location::In(entry(&native).clone(), Box::new(line)),
            None => Location::At(first.clone()),
        });
    };
    let caller = Location::At(native[own].clone());
    if own == 0 {
        return Some(caller);
    }
    Some(
        match native[own].object == first.object && first.source.is_some() {
            // A template, or what was inlined from a header.
            true => caller,
            false => Location::In(entry(&native[..own]).clone(), Box::new(caller)),
        },
    )
}

/// The function of a library that was called, of the frames in that: it is the one that a user
/// knows.
fn entry<'f>(frames: &[&'f Frame]) -> &'f Frame {
    let same = frames.iter().take_while(|it| it.object == frames[0].object);
    same.last().unwrap_or(&frames[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(object: &str, symbol: &str, source: Option<&str>) -> Frame {
        let source = source.map(|path| Source {
            path: path.into(),
            line: 11,
        });
        Frame {
            object: object.into(),
            address: 0,
            symbol: Some(symbol.into()),
            source,
        }
    }

    #[test]
    fn what_the_library_itself_calls_was_called_by_the_program() {
        let frames = [
            frame("[vdso]", "clock_gettime", None),
            frame(
                "/opt/c/libmpi_abi.so.1",
                "monotonic",
                Some("/home/us/convert.rs"),
            ),
            frame(
                "/opt/c/libmpi_abi.so.1",
                "MPI_Wtime",
                Some("/home/us/convert.rs"),
            ),
            frame("/home/me/own", "main", Some("/home/me/own.c")),
        ];
        let place = choose(&frames, "").expect("a place").to_string();
        assert_eq!(place, "clock_gettime in [vdso], called from own.c:11");
        let callback = frame("/home/me/own", "add", Some("/home/me/add.c"));
        let frames = [&[callback], &frames[1..]].concat();
        let place = choose(&frames, "").expect("a place").to_string();
        assert_eq!(
            place, "add.c:11",
            "a function that MPI has called is the program's"
        );
    }
}
