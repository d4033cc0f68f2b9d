//! The file that names servers, as Claude Code and others write it.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

/// A file that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("`{file}` cannot be used: {problem}")]
pub struct McpConfigError {
    /// The file.
    pub file: String,
    /// What is wrong with it.
    pub problem: String,
}

/// A server of the file.
pub(super) struct Entry {
    pub(super) server: String,
    /// The program, or why it cannot be started.
    pub(super) launch: Result<Launch, String>,
}

/// A program to start.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Launch {
    pub(super) command: String,
    pub(super) args: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
}

/// A longer file is none that a person wrote.
const LONGEST: u64 = 1 << 20;

pub(super) fn read(
    file: &Path,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<Entry>, McpConfigError> {
    let wrong = |problem: String| McpConfigError {
        file: file.display().to_string(),
        problem,
    };
    let length = std::fs::metadata(file).map_err(|error| wrong(error.to_string()))?;
    if length.len() > LONGEST {
        return Err(wrong(format!("it has more than {LONGEST} bytes")));
    }
    let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
    let json: Value = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let servers = json.get("mcpServers").and_then(Value::as_object);
    let servers = servers.ok_or_else(|| wrong("it has no object `mcpServers`".to_owned()))?;
    let entry = |(server, json): (&String, &Value)| Entry {
        server: server.clone(),
        launch: launch(json, variable),
    };
    Ok(servers.iter().map(entry).collect())
}

fn launch(json: &Value, variable: &dyn Fn(&str) -> Option<String>) -> Result<Launch, String> {
    let text = |value: &Value, name: &str| match value {
        Value::String(text) => expand(text, variable),
        _ => Err(format!("`{name}` is no text")),
    };
    let Some(command) = json.get("command") else {
        return Err(match json.get("url") {
            Some(_) => "it is reached over HTTP (`url`), and only programs (`command`) can be used",
            None => "it has no `command`",
        }
        .to_owned());
    };
    let args = match json.get("args") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(args)) => {
            let args = args.iter().map(|arg| text(arg, "args"));
            args.collect::<Result<_, _>>()?
        }
        Some(_) => return Err("`args` is no list".to_owned()),
    };
    let env = match json.get("env") {
        None | Some(Value::Null) => BTreeMap::new(),
        Some(Value::Object(env)) => {
            let env = env
                .iter()
                .map(|(name, value)| Ok((name.clone(), text(value, "env")?)));
            env.collect::<Result<_, String>>()?
        }
        Some(_) => return Err("`env` is no object".to_owned()),
    };
    Ok(Launch {
        command: text(command, "command")?,
        args,
        env,
    })
}

/// Replaces `${NAME}` and `${NAME:-default}` by variables of the environment.
fn expand(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        expanded.push_str(before);
        let Some((mention, behind)) = after.split_once('}') else {
            return Err(format!("`{text}` has a `${{` that does not end"));
        };
        let (name, default) = match mention.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (mention, None),
        };
        // As in a shell, an empty variable has its default.
        let value = variable(name).filter(|value| default.is_none() || !value.is_empty());
        let value = value.or_else(|| default.map(str::to_owned));
        expanded.push_str(&value.ok_or_else(|| format!("the variable `{name}` is not set"))?);
        rest = behind;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_and_their_defaults_are_expanded() {
        let variable = |name: &str| match name {
            "HOME" => Some("/home/ann".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        let expand = |text| expand(text, &variable);
        assert_eq!(expand("${HOME}/x-${EMPTY}-$A").unwrap(), "/home/ann/x--$A");
        assert_eq!(expand("${EMPTY:-a}${NO:-b}${NO:-}").unwrap(), "ab");
        assert_eq!(expand("${NO}").unwrap_err(), "the variable `NO` is not set");
        assert!(expand("${NO").is_err());
    }

    #[test]
    fn entries_that_cannot_be_used_say_why() {
        let launch = |json: &str| launch(&serde_json::from_str(json).unwrap(), &|_| None);
        let http = launch(r#"{"type": "http", "url": "https://example.com"}"#).unwrap_err();
        assert!(http.contains("over HTTP"), "{http}");
        assert!(launch(r#"{"command": 7}"#).is_err());
        assert!(launch(r#"{"command": "x", "args": "y"}"#).is_err());
        assert!(launch("[]").unwrap_err().contains("no `command`"));
        let whole = launch(r#"{"command": "x", "args": ["y"], "env": {"A": "b"}}"#).unwrap();
        assert_eq!(
            (whole.args, whole.env["A"].as_str()),
            (vec!["y".into()], "b")
        );
    }
}
