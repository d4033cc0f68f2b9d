//! Kitbag's part of Codex's configuration: a block at the end of the file, between two comments.
//!
//! TOML allows tables in any order, so nothing before the block changes, and removing it restores the file
//! byte for byte.

use super::agent::{HOOKS, quoted};

const BEGIN: &str = "# kitbag: begin (`kitbag init --for codex --remove` takes this out)";
const END: &str = "# kitbag: end";

/// The file with the block at its end, or in the place of an earlier one: other programs may have written
/// after it.
pub(super) fn add(text: &str, program: &str) -> Result<String, String> {
    let parts = parts(text)?;
    // TOML takes a table once, and an entry of the user's own may have other arguments.
    let has_own = match &parts {
        Some(parts) => has_server(&format!("{}{}", parts.before, parts.behind)),
        None => has_server(text),
    };
    let stretch = stretch(program, has_own);
    let with = match parts {
        // Compared by lines: an editor may have changed the line ends.
        Some(parts) if parts.stretch.lines().eq(stretch.lines()) => text.to_owned(),
        Some(parts) => format!("{}{stretch}{}", parts.before, parts.behind),
        None if text.is_empty() => stretch,
        None => format!("{text}\n{stretch}"),
    };
    // The file may define one of our tables in a form that cannot be added to.
    match with.parse::<toml::Table>() {
        Ok(_) => Ok(with),
        Err(error) => Err(error.message().to_owned()),
    }
}

/// Tells if a file starts a server with our name. A subtable such as `[mcp_servers.kitbag.env]` only adds to
/// ours.
fn has_server(text: &str) -> bool {
    let table = text.parse::<toml::Table>().ok();
    let servers = table.as_ref().and_then(|table| table.get("mcp_servers"));
    let server = servers.and_then(|servers| servers.get("kitbag"));
    server.is_some_and(|server| {
        ["command", "url"]
            .iter()
            .any(|key| server.get(key).is_some())
    })
}

/// The file without the block.
pub(super) fn remove(text: &str) -> Result<String, String> {
    Ok(match parts(text)? {
        Some(SplitFile { before, behind, .. }) => {
            // The newline before the block was added with it.
            let line = before.strip_suffix('\n').unwrap_or(before);
            let line = line.strip_suffix('\r').unwrap_or(line);
            format!("{line}{behind}")
        }
        None => text.to_owned(),
    })
}

/// A file, split at the block.
struct SplitFile<'t> {
    before: &'t str,
    stretch: &'t str,
    behind: &'t str,
}

/// Finds the block. An editor may have changed its line ends.
///
/// # Errors
/// When it has no end, or holds something that is not ours.
fn parts(text: &str) -> Result<Option<SplitFile<'_>>, String> {
    let (mut at, mut begin, mut end) = (0, None, None);
    for line in text.split_inclusive('\n') {
        match (begin, line.trim()) {
            (None, BEGIN) => begin = Some(at),
            (Some(_), END) if end.is_none() => end = Some(at + line.len()),
            _ => {}
        }
        at += line.len();
    }
    let Some(begin) = begin else {
        return Ok(None);
    };
    // Without its end nobody knows which of the lines that follow are ours.
    let end = end.ok_or_else(|| format!("the line `{END}` is missing"))?;
    let part = |range| text.get(range).unwrap_or_default();
    let parts = SplitFile {
        before: part(0..begin),
        stretch: part(begin..end),
        behind: part(end..text.len()),
    };
    match foreign(parts.stretch)? {
        Some(key) => Err(format!(
            "`{key}` between Kitbag's two comments is not Kitbag's: move it behind `{END}`"
        )),
        None => Ok(Some(parts)),
    }
}

/// A key in the block that Kitbag never writes: programs that rewrite the file may put theirs there.
fn foreign(stretch: &str) -> Result<Option<String>, String> {
    let stretch: toml::Table = stretch
        .parse()
        .map_err(|error: toml::de::Error| error.message().to_owned())?;
    for (name, value) in &stretch {
        let is_ours = |key: &str, value: &toml::Value| match name.as_str() {
            "mcp_servers" => key == "kitbag",
            "hooks" => is_our_hook(value),
            _ => false,
        };
        let Some(members) = value.as_table() else {
            return Ok(Some(name.clone()));
        };
        if let Some((key, _)) = members.iter().find(|(key, value)| !is_ours(key, value)) {
            return Ok(Some(format!("{name}.{key}")));
        }
    }
    Ok(None)
}

/// Tells whether all hooks of an event are ours.
fn is_our_hook(groups: &toml::Value) -> bool {
    let hooks_of = |group: &toml::Value| group.get("hooks")?.as_array().cloned();
    let is_ours = |hook: &toml::Value| {
        let command = hook.get("command").and_then(toml::Value::as_str);
        command.is_some_and(|command| command.ends_with(COMMAND))
    };
    groups.as_array().is_some_and(|groups| {
        let mut groups = groups.iter().map(hooks_of);
        groups.all(|hooks| hooks.is_some_and(|hooks| hooks.iter().all(is_ours)))
    })
}

/// The arguments after the program.
const COMMAND: &str = " hook --for codex";

/// The block, without the server where the user has one.
fn stretch(program: &str, has_own_server: bool) -> String {
    // A JSON string is also a TOML string.
    let string = |text: &str| serde_json::Value::from(text).to_string();
    let server = match has_own_server {
        true => String::new(),
        false => format!(
            "[mcp_servers.kitbag]\ncommand = {}\nargs = [\"mcp\"]\n",
            string(program)
        ),
    };
    let command = string(&format!("{}{COMMAND}", quoted(program)));
    // Codex has no event for the end of a session.
    // The other events have the same names and timeouts as in Claude Code.
    let hooks = HOOKS.iter().filter(|(event, _)| *event != "SessionEnd");
    let hooks = hooks.map(|(event, timeout)| {
        format!(
            "\n[[hooks.{event}]]\n[[hooks.{event}.hooks]]\ntype = \"command\"\n\
             command = {command}\ntimeout = {timeout}\n"
        )
    });
    let hooks: String = hooks.collect();
    format!("{BEGIN}\n{server}{hooks}{END}\n")
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
            assert_eq!(remove(&with).unwrap(), text);
            let moved = add(&with, "/opt/a b/kitbag").unwrap();
            assert!(
                moved.contains("'/opt/a b/kitbag' hook --for codex"),
                "{moved}"
            );
            assert_eq!(remove(&moved).unwrap(), text);
        }
    }

    #[test]
    fn x11_what_others_wrote_behind_it_stays() {
        let with = add("model = \"gpt-5\"\n", "kitbag").unwrap() + "[tui]\ntheme = \"dark\"\n";
        assert_eq!(
            remove(&with).unwrap(),
            "model = \"gpt-5\"\n[tui]\ntheme = \"dark\"\n"
        );
        assert_eq!(add(&with, "kitbag").unwrap(), with);
    }

    #[test]
    fn x11_the_ends_of_lines_do_not_matter() {
        let text = "model = \"gpt-5\"\n";
        let with = add(text, "kitbag").unwrap();
        let cut = with.trim_end();
        assert_eq!(add(cut, "kitbag").unwrap(), cut);
        assert_eq!(remove(cut).unwrap(), text);
        let windows = with.replace('\n', "\r\n");
        assert_eq!(add(&windows, "kitbag").unwrap(), windows);
        assert_eq!(remove(&windows).unwrap(), "model = \"gpt-5\"\r\n");
    }

    #[test]
    fn x11_what_others_wrote_into_it_is_not_taken_out() {
        let with = add("", "kitbag").unwrap();
        for theirs in [
            "[projects.\"/app\"]\ntrust_level = \"trusted\"\n",
            "[mcp_servers.other]\ncommand = \"x\"\n",
            "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = \"say done\"\n",
        ] {
            let mixed = with.replace(END, &format!("{theirs}{END}"));
            for told in [remove(&mixed), add(&mixed, "kitbag")] {
                assert!(told.unwrap_err().contains("is not Kitbag's"), "{mixed}");
            }
        }
        let endless = with.replace(END, "");
        assert!(remove(&endless).unwrap_err().contains("is missing"));
    }

    #[test]
    fn x11_a_server_of_the_users_own_stays_as_it_is() {
        let text =
            "[mcp_servers.kitbag]\ncommand = \"kitbag\"\nargs = [\"mcp\", \"--sender\", \"me\"]\n";
        let with = add(text, "/opt/kitbag").unwrap();
        let table: toml::Table = with.parse().unwrap();
        assert_eq!(
            table["mcp_servers"]["kitbag"]["args"][2].as_str(),
            Some("me")
        );
        let hook = &table["hooks"]["Stop"][0]["hooks"][0]["command"];
        assert_eq!(hook.as_str(), Some("/opt/kitbag hook --for codex"));
        assert_eq!(add(&with, "/opt/kitbag").unwrap(), with);
        assert_eq!(remove(&with).unwrap(), text);
        // One that was written behind the block, as `codex mcp add` does.
        let behind = add("", "/opt/kitbag").unwrap() + "[mcp_servers.other]\ncommand = \"x\"\n";
        assert_eq!(add(&behind, "/opt/kitbag").unwrap(), behind);
    }

    #[test]
    fn x11_settings_that_a_user_adds_to_our_server_keep_it() {
        let env = "[mcp_servers.kitbag.env]\nKITBAG_LOG = \"debug\"\n";
        let ours = add("", "kitbag").unwrap();
        for with in [format!("{ours}{env}"), format!("{env}\n{ours}")] {
            assert_eq!(add(&with, "kitbag").unwrap(), with);
        }
        let with = add(env, "kitbag").unwrap();
        let table: toml::Table = with.parse().unwrap();
        let server = &table["mcp_servers"]["kitbag"];
        assert_eq!(server["command"].as_str(), Some("kitbag"));
        assert_eq!(server["env"]["KITBAG_LOG"].as_str(), Some("debug"));
        // A server at an address is one of the user's own.
        let remote = "[mcp_servers.kitbag]\nurl = \"https://kitbag.example\"\n";
        assert!(!add(remote, "kitbag").unwrap().contains("args"));
    }

    #[test]
    fn x11_a_file_that_cannot_take_it_is_told() {
        for text in ["mcp_servers = {}\n", "broken ["] {
            assert!(add(text, "kitbag").is_err());
        }
    }
}
