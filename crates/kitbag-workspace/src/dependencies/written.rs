//! Reading manifests that are programs, a line at a time.

/// The quoted strings of a line, in order, without what is escaped in them.
pub(super) fn strings(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.find(['"', '\''])
        && let Some((quote, after)) = rest.get(at..).and_then(|rest| rest.split_at_checked(1))
        && let Some((inside, after)) = after.split_once(quote)
    {
        found.push(inside);
        rest = after;
    }
    found
}

/// The first quoted string of a line.
pub(super) fn first_string(line: &str) -> Option<&str> {
    strings(line).into_iter().next()
}

/// The lines of a text without their comments.
pub(super) fn lines<'t>(text: &'t str, comment: &str) -> impl Iterator<Item = &'t str> {
    text.lines()
        .map(move |line| without_comment(line, comment).trim())
}

/// The first quoted string after `key`, as in `name = "x"`, `:name => 'x'` or `name: "x"`.
pub(super) fn string_after<'t>(line: &'t str, key: &str) -> Option<&'t str> {
    let mut rest = line;
    // An empty key is found everywhere, without an end.
    while !key.is_empty() {
        let (before, after) = rest.split_once(key)?;
        let starts = !before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '-');
        let between = after.trim_start_matches([' ', '\t', ':', '=', '>', '(']);
        let set = between.len() < after.len();
        if let (true, true, Some(quote)) = (starts, set, between.chars().next())
            && matches!(quote, '"' | '\'')
            && let Some((inside, _)) = between.get(1..).and_then(|rest| rest.split_once(quote))
        {
            return Some(inside);
        }
        rest = after;
    }
    None
}

/// A line without its comment. A mark inside a string is no comment.
pub(super) fn without_comment<'t>(line: &'t str, mark: &str) -> &'t str {
    let mut quote = None;
    for (at, c) in line.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if line.get(at..).is_some_and(|rest| rest.starts_with(mark)) => {
                return line.get(..at).unwrap_or(line);
            }
            None if c == '"' || c == '\'' => quote = Some(c),
            None => {}
        }
    }
    line
}

/// The first word of a line and what follows it.
pub(super) fn first_word(line: &str) -> (&str, &str) {
    let line = line.trim_start();
    let end = line
        .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '-')))
        .unwrap_or(line.len());
    line.split_at_checked(end).unwrap_or((line, ""))
}

/// Joins the lines of calls that are broken within their parentheses, so that each is one line.
pub(super) fn joined(text: &str, comment: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut open = 0_usize;
    for line in text.lines() {
        let line = without_comment(line, comment);
        match lines.last_mut() {
            // A call that is never closed must not swallow the file.
            Some(last) if open > 0 && last.len() < 4_000 => {
                last.push(' ');
                last.push_str(line.trim());
            }
            _ => {
                open = 0;
                lines.push(line.to_owned());
            }
        }
        for c in line.chars() {
            match c {
                '(' | '[' => open += 1,
                ')' | ']' => open = open.saturating_sub(1),
                _ => {}
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_found_in_either_quotes() {
        assert_eq!(
            strings(r#"gem 'a', "~> 1", x: "it's""#),
            ["a", "~> 1", "it's"]
        );
        assert_eq!(strings("open 'a"), Vec::<&str>::new());
    }

    #[test]
    fn keys_are_whole_words() {
        assert_eq!(
            string_after(r#"file_path: "x", path: "y""#, "path"),
            Some("y")
        );
        assert_eq!(string_after("s.name = 'x'", "name"), Some("x"));
        assert_eq!(string_after(":path => 'x'", "path"), Some("x"));
        assert_eq!(string_after("path", "path"), None);
    }

    #[test]
    fn a_mark_in_a_string_is_no_comment() {
        assert_eq!(
            without_comment(r#"a "http://b" // c"#, "//"),
            r#"a "http://b" "#
        );
    }

    #[test]
    fn broken_calls_become_one_line() {
        assert_eq!(joined("f(\n  1,\n  2)\ng()", "#"), ["f( 1, 2)", "g()"]);
    }
}
