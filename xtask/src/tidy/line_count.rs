//! Counts the lines of code in a Rust file: no blank lines, comments or inline test module.
//!
//! Line by line, not a parser: it relies on rustfmt's layout.

/// The number of lines that a reader of the code, not of its tests, has to read.
pub(super) fn code_lines(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let mut count = 0;
    let mut in_block_comment = false;
    for (number, line) in lines.iter().enumerate() {
        let line_text = line.trim();
        if in_block_comment || line_text.starts_with("/*") {
            in_block_comment = !line_text.contains("*/");
        } else if line_text.is_empty() || line_text.starts_with("//") {
            // Nothing to read as code.
        } else if *line == "#[cfg(test)]" && opens_test_module(lines.get(number + 1..)) {
            return count;
        } else {
            count += 1;
        }
    }
    count
}

/// Returns true if a module with a body follows, perhaps behind other attributes.
fn opens_test_module(following: Option<&[&str]>) -> bool {
    let mut following = following.unwrap_or_default().iter();
    let item = following.find(|line| !line.starts_with("#["));
    item.is_some_and(|line| line.starts_with("mod ") && line.ends_with('{'))
}

#[cfg(test)]
mod tests {
    use super::code_lines;

    #[test]
    fn blank_lines_and_comments_do_not_count() {
        let text = "//! Doc.\n\n/// Doc.\nfn a() {\n    // Why.\n    b(); // beside\n}\n";
        assert_eq!(code_lines(text), 3);
        assert_eq!(code_lines("/*\nlong\n*/\nfn a() {}\n/* short */\n"), 1);
        assert_eq!(code_lines(""), 0);
    }

    #[test]
    fn the_inline_test_module_does_not_count() {
        let tests = "mod tests {\n    use super::*;\n\n    fn b() {}\n}\n";
        assert_eq!(
            code_lines(&format!("fn a() {{}}\n\n#[cfg(test)]\n{tests}")),
            1
        );
        let attribute = "#[cfg(test)]\n#[expect(x)]\n";
        assert_eq!(code_lines(&format!("fn a() {{}}\n{attribute}{tests}")), 1);
    }

    #[test]
    fn other_code_for_tests_counts() {
        assert_eq!(code_lines("#[cfg(test)]\nmod tests;\nfn a() {}\n"), 3);
        assert_eq!(
            code_lines("#[cfg(test)]\nextern crate std;\nfn a() {}\n"),
            3
        );
        assert_eq!(
            code_lines("mod a {\n    #[cfg(test)]\n    fn b() {}\n}\n"),
            4
        );
    }
}
