"""Reads what is run of a client's suite, and what is left out (*-selection.txt)."""


def declared(path, keys):
    """The lines of a declaration, as (key, words, reason): `key words: reason`.

    An indented line goes on with the reason above it; `#` begins a comment.
    """
    entries = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line[0].isspace():
            key, words, reason = entries.pop()
            entries.append((key, words, f"{reason} {line.strip()}"))
            continue
        head, _, reason = line.partition(": ")
        key, *words = head.split()
        if key not in keys:
            raise SystemExit(f"{path}:{number}: '{key}' is none of {', '.join(keys)}")
        entries.append((key, words, reason.strip()))
    return entries
