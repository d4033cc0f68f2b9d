//! Kitbag's part of Codex's configuration: a stretch of its own at the end of the file, between two comments.
//!
//! TOML lets tables stand in any order, so that nothing before the stretch is touched, and taking it out
//! gives back the file byte for byte.

use super::agent::{HOOKS, quoted};

const BEGIN: &str = "# kitbag: begin (`kitbag init --for codex --remove` takes this out)\n";
const END: &str = "# kitbag: end\n";

/// The file with the stretch at its end, in the place of an earlier one.
pub(super) fn add(text: &str, program: &str) -> Result<String, String> {
    let without = remove(text);
    let stretch = stretch(program);
    let before = match without.is_empty() {
        true => "",
        false => "\n",
    };
    let with = match without == text {
        true => format!("{text}{before}{stretch}"),
        // It stays where it is: others may have written behind it.
        false => replaced(text, &stretch),
    };
    match with.parse::<toml::Table>() {
        Ok(_) => Ok(with),
        Err(error) => Err(error.message().to_owned()),
    }
}

/// The file without the stretch.
pub(super) fn remove(text: &str) -> String {
    match parts(text) {
        Some((before, behind)) => {
            let before = before.strip_suffix('\n').unwrap_or(before);
            format!("{before}{behind}")
        }
        None => text.to_owned(),
    }
}

fn replaced(text: &str, stretch: &str) -> String {
    match parts(text) {
        Some((before, behind)) => format!("{before}{stretch}{behind}"),
        None => text.to_owned(),
    }
}

/// The texts before and behind the stretch.
fn parts(text: &str) -> Option<(&str, &str)> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, behind) = rest.split_once(END)?;
    Some((before, behind))
}

fn stretch(program: &str) -> String {
    // A string of JSON is one of TOML.
    let string = |text: &str| serde_json::Value::from(text).to_string();
    let server = format!(
        "[mcp_servers.kitbag]\ncommand = {}\nargs = [\"mcp\"]\n",
        string(program)
    );
    let command = string(&format!("{} hook --for codex", quoted(program)));
    // Codex does not tell when a session ends.
    let hooks = HOOKS.iter().filter(|(event, _)| *event != "SessionEnd");
    let hooks = hooks.map(|(event, timeout)| {
        format!(
            "\n[[hooks.{event}]]\n[[hooks.{event}.hooks]]\ntype = \"command\"\n\
             command = {command}\ntimeout = {timeout}\n"
        )
    });
    let hooks: String = hooks.collect();
    format!("{BEGIN}{server}{hooks}{END}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x11_a_file_is_the_same_after_adding_and_removing() {
        for text in [
            "",
            "model = \"gpt-5\"",
            "model = \"gpt-5\" # mine\n\n[mcp_servers.other]\ncommand = \"x\"\n",
        ] {
            let with = add(text, "kitbag").unwrap();
            assert!(with.starts_with(text));
            assert_eq!(
                add(&with, "kitbag").unwrap(),
                with,
                "a second time changes nothing"
            );
            let table: toml::Table = with.parse().unwrap();
            assert_eq!(
                table["mcp_servers"]["kitbag"]["command"].as_str(),
                Some("kitbag")
            );
            let hook = &table["hooks"]["Stop"][0]["hooks"][0]["command"];
            assert_eq!(hook.as_str(), Some("kitbag hook --for codex"));
            assert_eq!(remove(&with), text);
            let moved = add(&with, "/opt/a b/kitbag").unwrap();
            assert!(
                moved.contains("'/opt/a b/kitbag' hook --for codex"),
                "{moved}"
            );
            assert_eq!(remove(&moved), text);
        }
    }

    #[test]
    fn x11_what_others_wrote_behind_it_stays() {
        let with = add("model = \"gpt-5\"\n", "kitbag").unwrap() + "[tui]\ntheme = \"dark\"\n";
        assert_eq!(
            remove(&with),
            "model = \"gpt-5\"\n[tui]\ntheme = \"dark\"\n"
        );
        assert_eq!(add(&with, "kitbag").unwrap(), with);
    }

    #[test]
    fn x11_a_file_that_cannot_take_it_is_told() {
        for text in ["mcp_servers = {}\n", "broken ["] {
            assert!(add(text, "kitbag").is_err());
        }
    }
}
