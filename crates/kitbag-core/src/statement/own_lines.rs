//! The lines of a message that are neither code nor quoted.

/// A line of a text, with the byte at which it begins.
pub(super) struct Line<'t> {
    pub(super) start: usize,
    pub(super) text: &'t str,
}

/// Returns the lines that are the writer's own.
pub(super) fn own_lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut start = 0;
    let mut open: Option<Fence> = None;
    text.split_inclusive('\n').filter_map(move |whole| {
        let line = Line { start, text: whole };
        start += whole.len();
        let begins = whole.trim_start();
        match (&open, Fence::begins(begins)) {
            (Some(fence), _) => {
                if fence.is_ended_by(begins) {
                    open = None;
                }
                None
            }
            (None, Some(fence)) => {
                open = Some(fence);
                None
            }
            // Quotations, tables, markup, JSON and headings.
            (None, None) => (!begins.starts_with(['>', '|', '<', '{', '#'])).then_some(line),
        }
    })
}

/// The line that begins a block of code, as `CommonMark` has it.
struct Fence {
    sign: char,
    length: usize,
}

impl Fence {
    /// Reads the fence that a line begins with, if it opens a block.
    fn begins(line: &str) -> Option<Self> {
        let sign = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let behind = line.trim_start_matches(sign);
        let length = line.len() - behind.len();
        // With another backtick behind, it is code inside a line.
        let is_fence = length >= 3 && !(sign == '`' && behind.contains('`'));
        is_fence.then_some(Self { sign, length })
    }

    /// Tells whether a line ends the block: with at least as many of the same sign, and nothing
    /// behind them. So a block may hold another one with a shorter fence.
    fn is_ended_by(&self, line: &str) -> bool {
        let line = line.trim_end();
        line.len() >= self.length && line.chars().all(|c| c == self.sign)
    }
}
