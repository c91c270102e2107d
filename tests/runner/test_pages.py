"""scripts/book finds what is wrong with pages, and scripts/try-pages what they show and programs do not say."""

import tempfile
import unittest
from pathlib import Path

import loading

BOOK = loading.script("book")
TRY = loading.script("try-pages")


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


class Book(Folder):
    def test_links_lead_to_files_and_headings(self):
        self.write("b.md", "# B\n\n## What it `does`, and why\n\n## Twice\n\n## Twice\n")
        page = self.write("a.md", "[b](b.md#what-it-does-and-why) [b](b.md#twice-1) [web](https://x.org/y)\n"
                                  "`[no](link.md)`\n```text\n[no](link.md)\n```\n")
        self.assertEqual(list(BOOK.links(page)), [])
        page = self.write("c.md", "[gone](gone.md)\n[b](b.md#how)\n")
        self.assertEqual(list(BOOK.links(page)), ["1: there is no gone.md", "2: b.md has no heading #how"])

    def quoted(self, text):
        self.addCleanup(setattr, BOOK, "ROOT", BOOK.ROOT)
        BOOK.ROOT = self.root
        self.write("p.c", "int a;\nint b;\n\nint c;\n")
        page = self.write(f"{self.id()}.md", f"<!-- from: p.c -->\n```c\n{text}\n```\n")
        BOOK.page.cache_clear()
        return list(BOOK.quotations(page))

    def test_quotations_are_lines_of_the_file(self):
        for good in ("int a;\nint b;", "  int b;\n\n  int c;", "int a;\n/* ... */\nint c;", "int c;"):
            self.assertEqual(self.quoted(good), [], good)
        for bad in ("int d;", "int b;\nint a;", "int a;\n\nint c;", "int c;\n// ...\nint a;"):
            self.assertEqual(len(self.quoted(bad)), 1, bad)


class Pages(Folder):
    def tried(self, text):
        """What differs, over all commands of a page."""
        todo = TRY.commands(f"words\n```console\n{text}\n```\n")
        TRY.run(todo, self.root, self.root)
        return [wrong for command, following in zip(todo, [*todo[1:], None])
                for wrong in TRY.differences(command, following and "$?" in following.text)]

    def test_lines_come_in_any_order_and_dots_stand_for_anything(self):
        for good in ("$ printf 'b\\na 1\\n'\na ...\nb", "$ printf 'a\\nb\\nc\\n'\nc\n...", "$ echo x >f\n$ cat f\nx",
                     "$ cat <<'END'\n> one\n> two\n> END\none\ntwo", "$ printf 'no newline'\nno newline",
                     "$ echo error >&2\nerror"):
            self.assertEqual(self.tried(good), [], good)

    def test_what_is_missing_or_too_much_is_told(self):
        self.assertEqual(self.tried("$ echo a\nb\n..."), ["it does not say: b"])
        self.assertEqual(self.tried("$ echo a; echo b\na"), ["it also says: b"])
        self.assertEqual(self.tried("$ echo a\na\na"), ["it does not say: a"])

    def test_a_status_counts_unless_the_page_shows_it(self):
        self.assertEqual(self.tried("$ exit_with() { return $1; }\n$ exit_with 3\n$ echo $?\n3"), [])
        self.assertEqual(self.tried("$ false"), ["it ends with status 1"])
        self.assertEqual(self.tried("$ exit 1"), ["it did not end"])

    def test_a_page_that_lacks_something_is_skipped(self):
        page = self.write("docs/book/x.md", "<!-- needs: no-such-program -->\n```console\n$ false\n```\n")
        self.assertEqual(TRY.attempt(page, self.root), ("skipped", "there is no no-such-program"))


if __name__ == "__main__":
    unittest.main()
