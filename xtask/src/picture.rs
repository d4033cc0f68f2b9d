//! `cargo xtask picture`: draws `docs/session.md`, a session in a terminal, as `docs/session.svg`.
//!
//! It runs nothing. A test of the command line runs every line of that page and compares what is printed, and
//! `tidy` fails when the picture is not the one of the page.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::command::root;

pub(crate) const PAGE: &str = "docs/session.md";
pub(crate) const PICTURE: &str = "docs/session.svg";

/// Viewers have different monospaced fonts, so that the width of a character is set with `textLength`.
const CHARACTER: f32 = 7.8;
const LINE: usize = 19;
const MARGIN: usize = 18;
const TITLE: usize = 34;

/// Writes the picture.
pub(crate) fn draw() -> Result<()> {
    let root = root();
    fs::write(root.join(PICTURE), drawn(&root)?).with_context(|| format!("writing {PICTURE}"))
}

/// The picture of the page as it is now.
pub(crate) fn drawn(root: &Path) -> Result<String> {
    let page = fs::read_to_string(root.join(PAGE)).with_context(|| format!("reading {PAGE}"))?;
    let session = page
        .split_once("````console\n")
        .and_then(|(_, rest)| rest.split_once("````"));
    match session {
        Some((session, _)) => Ok(svg(session.trim_end())),
        None => bail!("{PAGE} has no block that begins with ````console"),
    }
}

fn svg(session: &str) -> String {
    let lines: Vec<&str> = session.lines().collect();
    let longest = lines.iter().map(|line| line.chars().count()).max();
    let width = length(longest.unwrap_or(0)) + 2 * MARGIN;
    let height = TITLE + lines.len() * LINE + MARGIN;
    let mut svg = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="A session in a terminal">
<rect width="100%" height="100%" rx="9" fill="#1b1e26"/>
<circle cx="20" cy="17" r="5.5" fill="#e0605a"/><circle cx="38" cy="17" r="5.5" fill="#dfb344"/><circle cx="56" cy="17" r="5.5" fill="#58b868"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="13" fill="#c6ccd8" xml:space="preserve">
"##
    );
    for (row, line) in lines.iter().enumerate() {
        if line.is_empty() {
            continue;
        }
        let (y, length) = (TITLE + 13 + row * LINE, length(line.chars().count()));
        // What was typed stands out from what was printed.
        let color = match line.starts_with("$ ") {
            true => r##" fill="#8fd3a7" font-weight="600""##,
            false => "",
        };
        let text = escaped(line);
        let _ = writeln!(
            svg,
            r#"<text x="{MARGIN}" y="{y}" textLength="{length}" lengthAdjust="spacingAndGlyphs"{color}>{text}</text>"#
        );
    }
    svg.push_str("</g>\n</svg>\n");
    svg
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a line of a page has a few hundred characters"
)]
fn length(characters: usize) -> usize {
    (characters as f32 * CHARACTER) as usize
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_the_session_is_drawn_and_none_is_markup() {
        let svg = svg("$ kitbag pack \"a < b & c\"\n\n12 tokens");
        assert_eq!(svg.matches("<text ").count(), 2);
        assert!(svg.contains("\"a &lt; b &amp; c\""), "{svg}");
        assert_eq!(svg.matches("#8fd3a7").count(), 1, "only what was typed");
    }
}
