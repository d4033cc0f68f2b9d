//! A patch in fewer lines: without the lines around a change, with the first changes alone, or with
//! none of them.

use super::FileDiff;

impl FileDiff {
    /// The numbers of lines that came and went.
    #[must_use]
    pub fn changed_lines(&self) -> (usize, usize) {
        let changed = lines(&self.patch).filter(|(_, part)| *part == Part::Change);
        changed.fold((0, 0), |(came, went), (line, _)| {
            match line.starts_with('+') {
                true => (came + 1, went),
                false => (came, went + 1),
            }
        })
    }

    /// The patch without the lines around each change, and with no more changed lines than these;
    /// the rest is counted.
    #[must_use]
    pub fn without_context(&self, most: usize) -> String {
        let mut terse = Terse {
            left: most,
            ..Terse::default()
        };
        for (line, part) in lines(&self.patch) {
            terse.add(line, part);
        }
        terse.end_run();
        if terse.left_out > 0 {
            let note = format!("… ({} more changed lines)\n", terse.left_out);
            terse.shown.push_str(&note);
        }
        terse.shown
    }

    /// The places of the patch: its header and the first line of each hunk.
    #[must_use]
    pub fn places(&self) -> String {
        let places =
            lines(&self.patch).filter(|(_, part)| matches!(part, Part::Header | Part::Hunk));
        places.map(|(line, _)| line).collect()
    }
}

/// The meaning of a line of a patch.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Header,
    Hunk,
    Context,
    Change,
    /// The note that a file does not end in a line break.
    Remark,
}

/// The lines of a patch with their ends, and what each is.
pub(super) fn lines(patch: &str) -> impl Iterator<Item = (&str, Part)> {
    let mut in_hunk = false;
    patch.split_inclusive('\n').map(move |line| {
        let part = match line.as_bytes().first() {
            _ if line.starts_with("@@ ") => Part::Hunk,
            Some(b'+' | b'-') if in_hunk => Part::Change,
            // A setting lets git drop the space of a line that is otherwise blank.
            Some(b' ' | b'\n' | b'\r') if in_hunk => Part::Context,
            Some(b'\\') if in_hunk => Part::Remark,
            _ => Part::Header,
        };
        in_hunk = part != Part::Header;
        (line, part)
    })
}

/// Writes hunks without context as git would.
#[derive(Default)]
struct Terse<'p> {
    shown: String,
    run: Run,
    /// The text behind the numbers of the hunk: most often the function that it is in.
    section: &'p str,
    /// The next line of the file before and after.
    old: u32,
    new: u32,
    left: usize,
    left_out: usize,
}

/// Lines that were changed, with none between them that was not.
#[derive(Default)]
struct Run {
    first: (u32, u32),
    old: u32,
    new: u32,
    lines: String,
}

impl<'p> Terse<'p> {
    fn add(&mut self, line: &'p str, part: Part) {
        match part {
            Part::Header => {
                self.end_run();
                self.shown.push_str(line);
            }
            Part::Hunk => {
                self.end_run();
                (self.old, self.new, self.section) = starts(line);
            }
            Part::Context => {
                self.end_run();
                self.old += 1;
                self.new += 1;
            }
            Part::Change => {
                let (old, new) = if line.starts_with('+') {
                    (0, 1)
                } else {
                    (1, 0)
                };
                if self.left == 0 {
                    self.left_out += 1;
                } else {
                    self.left -= 1;
                    if self.run.lines.is_empty() {
                        self.run.first = (self.old, self.new);
                    }
                    self.run.lines.push_str(line);
                    self.run.old += old;
                    self.run.new += new;
                }
                // Lines that are left out still move the numbers of what follows.
                self.old += old;
                self.new += new;
            }
            // It belongs to the changed line before it, and goes where that goes.
            Part::Remark if self.left_out == 0 => self.run.lines.push_str(line),
            Part::Remark => {}
        }
    }

    fn end_run(&mut self) {
        let run = std::mem::take(&mut self.run);
        if run.old + run.new == 0 {
            return;
        }
        // Where there is no line on a side, git names the one before.
        let side = |first: u32, count: u32| match count {
            0 => format!("{},0", first.saturating_sub(1)),
            1 => first.to_string(),
            _ => format!("{first},{count}"),
        };
        let (old, new) = (side(run.first.0, run.old), side(run.first.1, run.new));
        let section = self.section;
        let hunk = format!("@@ -{old} +{new} @@{section}\n{}", run.lines);
        self.shown.push_str(&hunk);
    }
}

/// The `3`, the `7` and the ` fn a()` of `@@ -3,2 +7,5 @@ fn a()`.
pub(super) fn starts(hunk: &str) -> (u32, u32, &str) {
    let number = |mark: char| {
        let (_, rest) = hunk.split_once(mark)?;
        rest.split([',', ' ']).next()?.parse().ok()
    };
    let section = hunk.splitn(3, "@@").nth(2).unwrap_or_default();
    let [old, new] = ['-', '+'].map(|mark| number(mark).unwrap_or_default());
    (old, new, section.trim_end())
}
