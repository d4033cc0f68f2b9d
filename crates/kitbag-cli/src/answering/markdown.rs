//! Light styling of Markdown for a terminal, while the text comes.
//!
//! Headings and bold words are bold, code is coloured, and the marks of fences and lists are set off.
//! Every character stays in its place, including the marks: without the escape sequences the output is
//! the text. A few characters wait until the next one decides their meaning.

const BOLD: &str = "\u{1b}[1m";
const NO_BOLD: &str = "\u{1b}[22m";
const DIM: &str = "\u{1b}[2m";
const CODE: &str = "\u{1b}[36m";
const NO_CODE: &str = "\u{1b}[39m";
const PLAIN: &str = "\u{1b}[0m";

/// Styles a text piece by piece.
#[derive(Debug, Default)]
pub(super) struct Markdown {
    line: Line,
    /// Characters that wait for the next.
    held: String,
    /// The sign and the length of the fence that is open.
    fence: Option<(char, usize)>,
    is_bold: bool,
    is_code: bool,
}

/// The kind of a line, as far as it has come.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// Not decided yet: all of it is held.
    #[default]
    Begun,
    Words,
    /// All of it has one style: a heading, or code in a fence.
    Whole,
    /// A fence, which opens unless its sign comes again.
    Fence(char, usize),
}

/// The kind of line that a beginning makes.
enum Beginning {
    Undecided,
    Words,
    Heading,
    Fence(char, usize),
    /// An item of a list; its mark ends here.
    Item,
}

impl Markdown {
    /// Adds text without control sequences, and returns the styled text to print.
    pub(super) fn push(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len() + 16);
        for c in text.chars() {
            match c {
                '\n' => self.end_line(&mut out),
                c => self.add(c, &mut out),
            }
        }
        out
    }

    /// Ends the text, and returns the rest to print.
    pub(super) fn end(&mut self) -> String {
        let mut out = String::new();
        self.finish_line(&mut out);
        out
    }

    fn end_line(&mut self, out: &mut String) {
        self.finish_line(out);
        out.push('\n');
    }

    fn finish_line(&mut self, out: &mut String) {
        let held = std::mem::take(&mut self.held);
        match self.line {
            Line::Begun => self.finish_begun(&held, out),
            Line::Fence(sign, length) => {
                self.fence = Some((sign, length));
                out.push_str(PLAIN);
            }
            Line::Whole => out.push_str(PLAIN),
            Line::Words => {
                out.push_str(&held);
                if self.is_bold || self.is_code {
                    out.push_str(PLAIN);
                }
            }
        }
        self.line = Line::Begun;
        // Styles end with the line: a mark that a model never closes must not style the rest of the answer.
        (self.is_bold, self.is_code) = (false, false);
    }

    /// Ends a line of which nothing is printed yet.
    fn finish_begun(&mut self, held: &str, out: &mut String) {
        let (sign, length) = run_of(held.trim_matches(' '));
        let is_fence = length >= 3 && matches!(sign, '`' | '~');
        // A closing fence has nothing after its signs.
        let is_fence = is_fence && held.trim_matches(' ').chars().all(|c| c == sign);
        let style = match self.fence {
            Some((open, shortest)) if is_fence && open == sign && length >= shortest => {
                self.fence = None;
                DIM
            }
            Some(_) => CODE,
            None if is_fence => {
                self.fence = Some((sign, length));
                DIM
            }
            None => "",
        };
        out.push_str(style);
        out.push_str(held);
        if !style.is_empty() {
            out.push_str(PLAIN);
        }
    }

    fn add(&mut self, c: char, out: &mut String) {
        match self.line {
            Line::Whole => out.push(c),
            Line::Fence(sign, _) => {
                out.push(c);
                if c == sign {
                    // The sign again: this is no fence but inline code with three backticks.
                    self.line = Line::Whole;
                }
            }
            Line::Words => self.add_word(c, out),
            Line::Begun => {
                self.held.push(c);
                self.begin(out);
            }
        }
    }

    /// Decides the kind of a line as soon as its beginning shows it.
    fn begin(&mut self, out: &mut String) {
        let beginning = match self.fence {
            Some((sign, _)) => match self.held.chars().all(|c| c == sign || c == ' ') {
                true => Beginning::Undecided,
                false => {
                    self.begin_whole(CODE, out);
                    return;
                }
            },
            None => beginning(&self.held),
        };
        match beginning {
            Beginning::Undecided => {}
            Beginning::Heading => self.begin_whole(BOLD, out),
            Beginning::Fence(sign, length) => {
                self.begin_whole(DIM, out);
                self.line = Line::Fence(sign, length);
            }
            Beginning::Item => {
                let held = std::mem::take(&mut self.held);
                out.extend([BOLD, &held, NO_BOLD]);
                self.line = Line::Words;
            }
            Beginning::Words => {
                self.line = Line::Words;
                // The held characters are words after all, and may begin bold text or code.
                for c in std::mem::take(&mut self.held).chars() {
                    self.add_word(c, out);
                }
            }
        }
    }

    fn begin_whole(&mut self, style: &str, out: &mut String) {
        out.push_str(style);
        out.push_str(&std::mem::take(&mut self.held));
        self.line = Line::Whole;
    }

    /// Adds a character of words. Stars are held until it is clear what they do.
    fn add_word(&mut self, c: char, out: &mut String) {
        match (self.held.as_str(), c) {
            // One star may be a bullet, a product or half of a mark for bold: the next character decides.
            ("", '*') if !self.is_code => self.held.push(c),
            ("*", '*') if self.is_bold => {
                self.held.clear();
                self.is_bold = false;
                out.extend(["**", NO_BOLD]);
            }
            ("*", '*') => self.held.push(c),
            // Bold begins before a word: `2 ** 3` and a line of stars stay as they are.
            ("**", c) if !c.is_whitespace() && c != '*' => {
                self.held.clear();
                self.is_bold = true;
                out.extend([BOLD, "**"]);
                self.add_word(c, out);
            }
            ("", '`') => {
                self.is_code = !self.is_code;
                match self.is_code {
                    true => out.extend([CODE, "`"]),
                    false => out.extend(["`", NO_CODE]),
                }
            }
            ("", c) => out.push(c),
            (_, c) => {
                out.push_str(&std::mem::take(&mut self.held));
                self.add_word(c, out);
            }
        }
    }
}

fn beginning(held: &str) -> Beginning {
    let text = held.trim_start_matches(' ');
    let (first, length) = run_of(text);
    let behind = text.chars().nth(length);
    match (first, length, behind) {
        ('\0', ..) => Beginning::Undecided,
        // The line may end here or go on: `#` alone is no heading, and `**` is no item.
        ('#', 1..=6, None) | ('`' | '~', _, None) | ('-' | '*' | '+', 1, None) => {
            Beginning::Undecided
        }
        ('#', 1..=6, Some(' ')) => Beginning::Heading,
        ('`' | '~', 3.., Some(_)) => Beginning::Fence(first, length),
        ('-' | '*' | '+', 1, Some(' ')) => Beginning::Item,
        ('0'..='9', ..) => numbered(text),
        _ => Beginning::Words,
    }
}

/// The beginning of a line that starts with a digit.
fn numbered(text: &str) -> Beginning {
    let behind = text.trim_start_matches(|c: char| c.is_ascii_digit());
    match (text.len() - behind.len(), behind) {
        // At most three digits: a longer number at the beginning of a line is a year or an amount.
        (1..=3, "" | "." | ")") => Beginning::Undecided,
        (1..=3, ". " | ") ") => Beginning::Item,
        _ => Beginning::Words,
    }
}

/// The first character and how often it comes in a row; NUL of an empty text.
fn run_of(text: &str) -> (char, usize) {
    let first = text.chars().next().unwrap_or('\0');
    (first, text.chars().take_while(|c| *c == first).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn styled(text: &str) -> String {
        let mut markdown = Markdown::default();
        let mut out = markdown.push(text);
        out.push_str(&markdown.end());
        out
    }

    /// Shows the styles by names that a reader can see.
    fn seen(text: &str) -> String {
        let names = [
            (BOLD, "{b}"),
            (NO_BOLD, "{/b}"),
            (DIM, "{dim}"),
            (CODE, "{c}"),
            (NO_CODE, "{/c}"),
            (PLAIN, "{/}"),
        ];
        let mut out = styled(text);
        for (style, name) in names {
            out = out.replace(style, name);
        }
        out
    }

    #[test]
    fn o08_markdown_is_set_off() {
        let text = "# Soup\nBoil **the water** and `salt` it. 2 ** 3\n- one\n10. ten\n```sh\nls *.rs\n```\ndone";
        assert_eq!(
            seen(text),
            "{b}# Soup{/}\nBoil {b}**the water**{/b} and {c}`salt`{/c} it. 2 ** 3\n{b}- {/b}one\n{b}10. {/b}ten\n\
             {dim}```sh{/}\n{c}ls *.rs{/}\n{dim}```{/}\ndone"
        );
    }

    #[test]
    fn o08_what_looks_like_markdown_and_is_none_stays_plain() {
        for text in [
            "#hash", "-1", "2026 was", "1.5 l", "a * b", "", "***", "\n\n", "   ",
        ] {
            assert_eq!(styled(text), text);
        }
        assert_eq!(seen("```a``` b\nplain"), "{dim}```a``` b{/}\nplain");
        assert_eq!(seen("**open\nnext"), "{b}**open{/}\nnext");
    }

    #[test]
    fn o08_words_are_not_held_up() {
        let mut markdown = Markdown::default();
        assert_eq!(markdown.push("Good mor"), "Good mor");
        assert_eq!(markdown.push("ning*"), "ning");
        assert_eq!(markdown.push(" to"), "* to");
    }

    /// All texts of up to this many of these parts, in every cut.
    #[test]
    fn o08_no_character_is_lost_moved_or_added_however_the_text_is_cut() {
        let parts = ["#", " ", "*", "`", "```", "\n", "a", "-", "1", ".", "~~~"];
        let mut texts = vec![String::new()];
        for _ in 0..5 {
            let longer = texts
                .iter()
                .flat_map(|text| parts.map(|part| format!("{text}{part}")));
            let longer: Vec<String> = longer.collect();
            for text in &longer {
                let whole = styled(text);
                let mut bare = whole.clone();
                for style in [BOLD, NO_BOLD, DIM, CODE, NO_CODE, PLAIN] {
                    bare = bare.replace(style, "");
                }
                assert_eq!(&bare, text);
                let mut markdown = Markdown::default();
                let mut pieces: String = text
                    .chars()
                    .map(|c| markdown.push(c.encode_utf8(&mut [0; 4])))
                    .collect();
                pieces.push_str(&markdown.end());
                assert_eq!(pieces, whole, "{text:?}");
            }
            texts = longer;
            // Every text of four parts, and a sample of those of five.
            if texts.len() > 10_000 {
                texts = texts.into_iter().step_by(7).collect();
            }
        }
    }
}
