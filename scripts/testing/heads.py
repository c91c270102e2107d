"""Reads the heads of the tests in C and in Fortran: how each program is run, and what it must do then.

scripts/run-tests describes what may stand there. Whatever is not understood is a mistake, which is
told with its file and line before anything runs: a clause that is ignored is a test that cannot
fail.
"""

import re
import shlex
import signal


class Mistake(Exception):
    """What is wrong with a line of a head."""


def status(text):
    if not re.fullmatch(r"\d+", text) or int(text) > 255:
        raise Mistake(f"{text!r} is no exit status: write a number from 0 to 255")
    return int(text)


def seconds(text):
    if not re.fullmatch(r"\d+(\.\d+)?", text) or float(text) == 0:
        raise Mistake(f"{text!r} is no number of seconds")
    return float(text)


def count(text):
    if not re.fullmatch(r"[1-9]\d*", text):
        raise Mistake(f"{text!r} is no number of hosts")
    return text


def gibibytes(text):
    if not re.fullmatch(r"\d+(\.\d+)? GiB", text):
        raise Mistake(f"{text!r} is no size: write it as in `5 GiB`")
    return float(text.split()[0])


def regex(text):
    try:
        return re.compile(text, re.M)
    except re.error as error:
        raise Mistake(f"{text!r} is no regular expression: {error}") from None


def lines(text):
    number, _, pattern = text.partition(" ")
    if not re.fullmatch(r"[1-9]\d*", number) or not pattern:
        raise Mistake(f"{text!r} is not the number of the lines and what each of them matches")
    return int(number), regex(pattern)


def signal_name(text):
    if f"SIG{text}" not in signal.Signals.__members__:
        raise Mistake(f"{text!r} is no signal: write its name without SIG")
    return signal.Signals[f"SIG{text}"]


def words(text):
    try:
        return shlex.split(text)
    except ValueError as error:
        raise Mistake(f"{text!r} cannot be cut into words: {error}") from None


def one_of(*known):
    def read(text):
        if text not in known:
            raise Mistake(f"{text!r} is unknown; there is {', '.join(known)}")
        return text
    return read


# What reads the argument of a clause; None where there is no argument.
CLAUSES = {"fails": None, "exit": status, "says": regex, "never says": regex, "lines": lines,
           "ends": seconds, "signal": signal_name, "input": str}
SEVERAL = ("says", "never says")
# What reads the value of a key; those of `run` and `alone` are read by Run.
KEYS = {"only": one_of("catena"), "memory": gibibytes, "needs": str, "compiler": str, "hosts": count,
        "time": seconds, "cc": words, "preload": str, "build": one_of("shared"), "also": str,
        "refused": regex, "waits": str}
# These say how the program is built, which its variants share.
OF_PROGRAM = ("cc", "also", "build", "compiler", "refused")
# How a comment begins, by the suffix of the file.
COMMENTS = {".c": "//", ".cc": "//", ".f90": "!"}
END = re.compile(r"\s*;(?:\s+|$)")


def quoted(text, at):
    """Where the quotes end that begin at `at`."""
    end = text.find(text[at], at + 1)
    if end < 0:
        raise Mistake(f"a quote is not closed: {text[at:]}")
    return end + 1


def split(text):
    """The command, and the clauses after it, each as its name and its argument."""
    at = 0
    while at < len(text) and not END.match(text, at):
        at = quoted(text, at) if text[at] in "'\"" else at + 1
    command, clauses = text[:at].strip(), []
    while at < len(text):
        at = END.match(text, at).end()
        if at == len(text):
            break
        name = re.compile(r"never says\b|[^\s;']*").match(text, at)[0]
        begin = at = at + len(name)
        while at < len(text) and text[at] == " ":
            at += 1
        if text[at:at + 1] == "'":
            begin, at = at, quoted(text, at)
            argument = text[begin + 1:at - 1]
            if at < len(text) and not END.match(text, at):
                raise Mistake(f"a `;` is missing after the quote, before: {text[at:].strip()}")
        else:
            end = END.search(text, at)
            at = end.start() if end else len(text)
            argument = text[begin:at].strip()
        clauses.append((name, argument))
    return command, clauses


class Run:
    """One `run` or `alone` line: the command, and what it must do. `options` come before those of the line."""

    def __init__(self, kind, text, options=""):
        self.kind = kind
        command, clauses = split(text)
        command = f"{options} {command}".strip()
        self.words = words(command)
        if kind == "alone":
            for word in self.words:
                if not re.fullmatch(r"[A-Za-z_]\w*=.*", word, re.S):
                    raise Mistake(f"{word!r} is not NAME=value, and a program alone has no options")
        self.wants = {name: [] for name in SEVERAL}
        for name, argument in clauses:
            self.add(name, argument)
        if "fails" in self.wants and "exit" in self.wants:
            raise Mistake("`fails` and `exit` exclude each other")
        # Without what it says, which is long; that tells those of one program apart, mostly.
        shown = [f"{name} {argument}".strip() for name, argument in clauses if name not in SEVERAL]
        self.title = "; ".join([f"{kind} {command}".strip(), *shown])

    def add(self, name, argument):
        if name not in CLAUSES:
            raise Mistake(f"unknown clause {name!r}: there are {', '.join(CLAUSES)}; a text with "
                          "\"; \" in it stands in single quotes")
        read = CLAUSES[name]
        if read is None and argument:
            raise Mistake(f"`{name}` has no argument, here it has {argument!r}")
        if read and not argument:
            raise Mistake(f"`{name}` lacks its argument")
        value = read(argument) if read else True
        if name in SEVERAL:
            self.wants[name].append(value)
        elif name in self.wants:
            raise Mistake(f"`{name}` stands twice")
        else:
            self.wants[name] = value


class Test:
    """A program, how it is run, and under which name: that of its file, or a variant's."""

    def __init__(self, path, line=1, name=None, options="", keys=()):
        self.path, self.line, self.name = path, line, name or path.stem
        self.options, self.keys, self.runs = options, dict(keys), []

    @property
    def is_never_run(self):
        return not self.runs and not {"build", "refused"} & set(self.keys)

    def add(self, word, value):
        """A line of the head: a key and what stands behind it."""
        if word in ("run", "alone"):
            run = Run(word, value, self.options)
            if run.title in [other.title for other in self.runs]:
                raise Mistake(f"`{run.title}` stands twice")
            self.runs.append(run)
        elif word in self.keys:
            raise Mistake(f"`{word}:` stands twice")
        elif not value:
            raise Mistake(f"`{word}:` lacks its value")
        else:
            self.keys[word] = KEYS[word](value)

    def variant(self, line, value):
        """The test that begins where a head says `variant: NAME [options]`."""
        name, _, options = value.partition(" ")
        if not re.fullmatch(r"[A-Za-z]\w*", name):
            raise Mistake("`variant:` lacks the name of a test")
        words(options)
        return Test(self.path, line, name, options.strip(),
                    {key: self.keys[key] for key in OF_PROGRAM if key in self.keys})


class Head:
    """What the first lines of a source file say: its test, and its variants."""

    def __init__(self, path):
        self.path, self.tests, self.mistakes = path, [Test(path)], []
        within, known, mark = True, {"run", "alone", "variant", *KEYS}, COMMENTS[path.suffix]
        other = r"|/?\*" if mark == "//" else ""
        for number, line in enumerate(path.read_text().splitlines(), 1):
            within = within and line.startswith(mark)
            found = re.match(rf"\s*(?:{mark}{other}) *([A-Za-z]+) ?:(?:\s+(.*))?$", line)
            if not found:
                continue
            word, value = found[1], (found[2] or "").strip()
            try:
                if within and (word.islower() or word.lower() in known):
                    self.line(number, word, value, known)
                elif word in known:
                    raise Mistake(f"`{word}:` stands below the head of the file")
            except Mistake as mistake:
                self.mistakes.append(f"{path}:{number}: {mistake}")
        for test in self.tests:
            if test.is_never_run:
                self.mistakes.append(f"{path}:{test.line}: never run: write `{mark} run:`, `{mark} refused:` "
                                     f"or `{mark} build: shared`")

    def line(self, number, word, value, known):
        if word not in known:
            raise Mistake(f"unknown key `{word}:`: there are {', '.join(sorted(known))}; words of a "
                          "comment begin the line without a colon")
        if word == "variant":
            self.tests.append(self.tests[0].variant(number, value))
        elif len(self.tests) > 1 and word in OF_PROGRAM:
            raise Mistake(f"`{word}:` is of the program, for all its variants: write it above the first")
        else:
            self.tests[-1].add(word, value)


def namesakes(tests):
    """A mistake for each test that has the name of one before it."""
    first = {}
    for test in tests:
        before = first.setdefault(test.name, test)
        if before is not test:
            yield f"{test.path}:{test.line}: there is a test `{test.name}` in {before.path}, too"


def read(folder):
    """The tests of all sources in a folder and the folders in it, and the mistakes in their heads."""
    heads = [Head(p) for p in sorted(folder.rglob("*")) if p.suffix in COMMENTS
             and not p.name.startswith("with_")]
    tests = [test for head in heads for test in head.tests]
    mistakes = [mistake for head in heads for mistake in head.mistakes]
    mistakes += namesakes(tests)
    tools = {test.name for test in tests if "build" in test.keys}
    mistakes += [f"{test.path}:{test.line}: no tool {test.keys['preload']}.c with `// build: shared`"
                 for test in tests if test.keys.get("preload") not in {None, *tools}]
    return tests, mistakes
