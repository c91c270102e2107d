//! Files of words: `-file`, `-configfile`.

/// The words of a line: blanks separate them, but within quotes or behind a backslash; `#` before a
/// word begins a comment.
///
/// # Errors
/// If a quote is not closed.
pub fn words(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('"') | None, '\\') => word.get_or_insert_default().extend(rest.next()),
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => break,
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    match quote {
        Some(open) => Err(format!("the quote {open} is not closed")),
        None => Ok(words),
    }
}

/// The lines of a file that have words; a backslash at the end joins a line with the next one.
///
/// # Errors
/// The number of a line that is wrong, and why.
pub fn lines(text: &str) -> Result<Vec<Vec<String>>, String> {
    let mut lines = Vec::new();
    let mut open = String::new();
    for (line, number) in text.lines().zip(1..) {
        match line.trim_end().strip_suffix('\\') {
            Some(begun) => open += &format!("{begun} "),
            None => {
                let line = std::mem::take(&mut open) + line;
                lines.push(words(&line).map_err(|why| format!("line {number}: {why}"))?);
            }
        }
    }
    lines.push(words(&open)?);
    lines.retain(|line| !line.is_empty());
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_as_in_a_shell() {
        let of = |line| words(line).map(|words| words.join("|"));
        assert_eq!(of(" -n 2  a # b").as_deref(), Ok("-n|2|a"));
        assert_eq!(
            of("a'b c'd \"e \\\" f\" '' g\\ h x#y").as_deref(),
            Ok("ab cd|e \" f||g h|x#y")
        );
        assert!(words("a 'b").is_err());
    }

    #[test]
    fn lines_may_be_joined() {
        let read = lines("# two\n-n 1 a \\\n  b\n\n-n 2 c\n").unwrap();
        assert_eq!(read, [vec!["-n", "1", "a", "b"], vec!["-n", "2", "c"]]);
        assert!(lines("a\n'b").unwrap_err().starts_with("line 2"));
    }
}
