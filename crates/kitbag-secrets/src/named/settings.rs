//! Reads names with values line by line: `NAME=value`, `name: value`, `"name": "value"`, and values
//! without a name in lists, blocks and further lines. It knows no format: everything that is no
//! name, comment, section or bracket counts as a value.

use std::ops::Range;

use super::super::MARKER;
use super::super::value::closing;
use super::ValueForm;

/// The state that earlier lines leave for the next one.
#[derive(Default)]
pub(super) struct Settings {
    /// The quote of a value that continues on the next line.
    open: Option<char>,
    /// True if the line before ended in a backslash.
    continued: bool,
    /// The indentation of the line that opened a YAML block, and true once a line of it was read.
    block: Option<(usize, bool)>,
}

impl Settings {
    pub(super) fn line(&mut self, line: &str, add: &mut dyn FnMut(Range<usize>, ValueForm)) {
        let indent = blank(line);
        let mut from = indent;
        // A value in quotes may go over lines, and everything up to its end is secret.
        if let Some(quote) = self.open {
            let end = closing(line, quote);
            let until = end.unwrap_or(line.len());
            add(indent.min(until)..until, ValueForm::More);
            let Some(end) = end else { return };
            self.open = None;
            from = end + 1;
        } else if self.continued {
            add(indent..line.len(), ValueForm::More);
            self.continued = line.ends_with('\\');
            return;
        } else if let Some((outer, begun)) = self.block
            // A blank line does not end a block.
            && (indent > outer || indent == line.len())
        {
            add(
                indent..line.len(),
                if begun {
                    ValueForm::More
                } else {
                    ValueForm::First
                },
            );
            self.block = Some((outer, begun || indent < line.len()));
            return;
        } else if line.get(indent..).is_some_and(is_shown) {
            self.block = None;
            return;
        }
        self.block = None;
        let mut listed = false;
        while let Some(rest) = line.get(from..)
            && (rest == "-" || rest.starts_with("- "))
        {
            listed = true;
            from += 1 + blank(rest.get(1..).unwrap_or_default());
        }
        // A list item may be a block without a name.
        if listed && is_block(line.get(from..).unwrap_or_default()) {
            self.block = Some((indent, false));
            return;
        }
        self.values(line, from, listed, add);
    }

    /// Reads the values of a line. In JSON there may be several.
    fn values(
        &mut self,
        line: &str,
        mut from: usize,
        listed: bool,
        add: &mut dyn FnMut(Range<usize>, ValueForm),
    ) {
        let (mut is_flow, mut is_value) = (false, false);
        while let Some(rest) = line.get(from..)
            && let Some(first) = rest.chars().next()
        {
            // Only up to the end of the item, so that a long line is not read again for each.
            let item = || match is_flow && !is_value {
                true => rest.split([',', ']', '}']).next().unwrap_or_default(),
                false => rest,
            };
            let is_after_blank = line.get(..from).is_some_and(|l| l.ends_with([' ', '\t']));
            if let Some(marker) = marker(rest) {
                from += marker;
                is_value = false;
            } else if first.is_whitespace() || matches!(first, '[' | ']' | '{' | '}' | ',') {
                is_flow |= matches!(first, '[' | '{');
                is_value &= first.is_whitespace();
                from += first.len_utf8();
            } else if first == '#' && is_after_blank && !is_value {
                return;
            } else if matches!(first, '"' | '\'' | '`') {
                let inner = rest.get(1..).unwrap_or_default();
                // Without its end on this line the value goes on in the next.
                let Some(end) = closing(inner, first) else {
                    add(from + 1..line.len(), ValueForm::Quoted);
                    self.open = Some(first);
                    return;
                };
                let behind = inner.get(end + 1..).unwrap_or_default();
                let sign = behind.trim_start().starts_with([':', '=']);
                if sign && !is_value {
                    from += end + 3 + blank(behind);
                    is_value = true;
                } else {
                    add(from + 1..from + 1 + end, ValueForm::Quoted);
                    from += end + 2;
                    is_value = false;
                }
            } else if !is_value && let Some(sign) = separator(item(), listed, from > 0 || is_flow) {
                from += sign;
                is_value = true;
                let behind = line.get(from..).unwrap_or_default().trim_start();
                if line.get(..from).is_some_and(|l| l.ends_with(':')) && is_block(behind) {
                    self.block = Some((blank(line), false));
                    return;
                }
            } else {
                let item = item();
                let end = item.find(" #").unwrap_or(item.len());
                let value = rest.get(..end).unwrap_or_default();
                let value = value.trim_end_matches([' ', ',', '\t']);
                add(from..from + value.len(), ValueForm::Bare);
                // A backslash at the end joins the next line to the value.
                self.continued = rest.ends_with('\\');
                if is_value || !is_flow {
                    return;
                }
                from += end.max(1);
            }
        }
    }
}

/// Returns true if a line has no value: a comment, a section, or the end of a document.
fn is_shown(line: &str) -> bool {
    let head = line.find([' ', '\t']).map_or(line, |_| {
        let end = line.find(" #").or_else(|| line.find(" ;"));
        line.get(..end.unwrap_or(line.len())).unwrap_or_default()
    });
    let inner = head
        .trim_end()
        .strip_prefix('[')
        .and_then(|head| head.strip_suffix(']'));
    let inner = inner.map(|name| name.strip_prefix('[').unwrap_or(name).trim_start());
    line.starts_with(['#', ';'])
        || matches!(line, "---" | "...")
        || inner.is_some_and(|name| name.starts_with(char::is_alphabetic) && !name.contains(','))
}

/// Returns true for a sign that opens a YAML block: `|`, `>-`, `|2+`.
fn is_block(value: &str) -> bool {
    let value = value.split(" #").next().unwrap_or_default().trim_end();
    let signs = value.strip_prefix(['|', '>']);
    signs.is_some_and(|signs| {
        let mut bytes = signs.bytes();
        signs.len() <= 2 && bytes.all(|byte| matches!(byte, b'+' | b'-' | b'1'..=b'9'))
    })
}

/// The offset of the first value, behind its separator. In an item of a list only a colon
/// separates, and `=` at the end of other text is base64 padding.
fn separator(text: &str, listed: bool, inside: bool) -> Option<usize> {
    let bytes = text.as_bytes();
    // `=` at the end of a value is the padding of base64.
    let tail = text.trim_end_matches(['=', ',', ']', '}', ' ']).len();
    let is_padding = |at: usize| at >= tail && (inside || bytes.get(at + 1) == Some(&b'='));
    let is_sign = |(at, byte): (usize, &u8)| match byte {
        b'=' => !listed && !is_padding(at),
        b':' => {
            let before = at.checked_sub(1).and_then(|at| bytes.get(at));
            before == Some(&b'"') || matches!(bytes.get(at + 1), None | Some(b' ' | b'\t'))
        }
        _ => false,
    };
    let mut signs = bytes.iter().enumerate();
    signs.position(is_sign).map(|at| at + 1)
}

/// The length of the marker at the beginning of a text.
fn marker(text: &str) -> Option<usize> {
    let kind = text.strip_prefix(MARKER)?;
    let is_end = |c: char| !c.is_ascii_alphanumeric() && c != '-';
    let end = kind.find(is_end)?;
    let closes = kind.get(end..)?.starts_with(']');
    closes.then_some(MARKER.len() + end + 1)
}

fn blank(text: &str) -> usize {
    text.len() - text.trim_start().len()
}
