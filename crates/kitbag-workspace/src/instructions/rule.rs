//! Rules that say at their head which files they are for.

use globset::GlobBuilder;

/// The text of a file without the settings at its head, if these say that it applies.
///
/// Only `.mdc` and `.instructions.md` files have such settings. One that is neither for all files
/// nor for some is meant to be asked for by name, and does not apply.
pub(super) fn content<'t>(
    path: &str,
    text: &'t str,
    folder: &str,
    targets: &[&str],
) -> Option<&'t str> {
    if !path.ends_with(".mdc") && !path.ends_with(".instructions.md") {
        return Some(text);
    }
    let Some((settings, content)) = front_matter(text) else {
        return Some(text);
    };
    let always = values(settings, "alwaysApply").contains(&"true");
    let mut globs = values(settings, "globs");
    globs.extend(values(settings, "applyTo"));
    let applies = always || globs.iter().any(|glob| matches(glob, folder, targets));
    applies.then_some(content)
}

/// Splits the lines between two `---` off the start of a text.
fn front_matter(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let rest = text.strip_prefix("---")?.trim_start_matches([' ', '\r']);
    let rest = rest.strip_prefix('\n')?;
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        let after = at + line.len();
        if line.trim_end() == "---" {
            return Some((rest.get(..at)?, rest.get(after..)?.trim_start()));
        }
        at = after;
    }
    None
}

/// The values of a setting: `key: a, b`, `key: ["a", "b"]`, or a list in the lines below.
///
/// These settings are often no valid YAML (`globs: *.ts` would be an alias there), and their
/// readers take them line by line too.
fn values<'t>(settings: &'t str, key: &str) -> Vec<&'t str> {
    let mut lines = settings.lines();
    let setting = |line: &'t str| line.strip_prefix(key)?.trim_start().strip_prefix(':');
    let Some(inline) = lines.find_map(setting) else {
        return Vec::new();
    };
    let inline = inline.trim().trim_matches(['[', ']']);
    let below = lines.map_while(|line| line.trim().strip_prefix("- "));
    // A comma inside braces parts alternatives of one glob: `*.{ts,tsx}`.
    split_outside_braces(inline)
        .into_iter()
        .chain(below)
        .map(|value| value.trim().trim_matches(['"', '\'']))
        .filter(|value| !value.is_empty())
        .collect()
}

fn split_outside_braces(list: &str) -> Vec<&str> {
    let mut depth = 0_u32;
    list.split(|c| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
    .collect()
}

/// Tells if a glob is for any of the targets; a glob for all files applies without a target too.
fn matches(glob: &str, folder: &str, targets: &[&str]) -> bool {
    if matches!(glob, "*" | "**" | "**/*") {
        return true;
    }
    // A pattern for a name alone is for that name in any folder.
    let anywhere = format!("**/{glob}");
    let glob = if glob.contains('/') { glob } else { &anywhere };
    let Ok(glob) = GlobBuilder::new(glob).literal_separator(true).build() else {
        return false;
    };
    let matcher = glob.compile_matcher();
    targets.iter().any(|target| {
        // A glob may be meant from the root or from the folder of its file: both are tried.
        let inside = target
            .strip_prefix(folder)
            .map(|rest| rest.trim_start_matches('/'));
        matcher.is_match(target) || inside.is_some_and(|inside| matcher.is_match(inside))
    })
}
