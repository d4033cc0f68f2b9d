//! The file that names servers, as Claude Code and others write it.

mod endpoint;

use std::collections::BTreeMap;
use std::path::Path;

use http::{HeaderMap, Uri};
use kitbag::provider::Secret;
use serde_json::Value;

/// A file that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("`{file}` cannot be used: {problem}")]
pub struct McpConfigError {
    /// The file.
    pub file: String,
    /// The problem with it.
    pub problem: String,
}

/// A server of the file.
pub(super) struct Entry {
    pub(super) server: String,
    /// The way to reach it, or why there is none.
    pub(super) route: Result<Route, String>,
}

/// The way to reach a server.
pub(super) enum Route {
    /// A program is started.
    Program(Launch),
    /// A server that runs already is asked over HTTP.
    Http(Endpoint),
}

/// A program to start.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Launch {
    pub(super) command: String,
    pub(super) args: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
}

/// A server over HTTP. Its address and the values of its headers may hold keys, so that it has no debug output.
pub(super) struct Endpoint {
    pub(super) address: Uri,
    pub(super) headers: HeaderMap,
    /// The values that are kept out of everything that is shown.
    pub(super) secrets: Vec<Secret>,
    /// True if the file says that it speaks the transport that streamable HTTP replaced.
    pub(super) is_legacy_sse: bool,
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
    // Looked at before reading, since the file may be anybody's.
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
        // An entry that is wrong is reported when its server is started, and the others are used.
        route: route(json, variable),
    };
    Ok(servers.iter().map(entry).collect())
}

/// Agents leave `type` out, or write it, so that the other fields tell more.
fn route(json: &Value, variable: &dyn Fn(&str) -> Option<String>) -> Result<Route, String> {
    match (json.get("command"), json.get("url")) {
        (Some(command), None) => launch(command, json, variable).map(Route::Program),
        (None, Some(url)) => endpoint::read(url, json, variable).map(Route::Http),
        // Clients disagree on which of them wins, so neither is guessed.
        (Some(_), Some(_)) => Err("it has a `command` and a `url`: keep one of them".to_owned()),
        (None, None) => Err("it has no `command` and no `url`".to_owned()),
    }
}

fn text(
    value: &Value,
    name: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<String, String> {
    match value {
        Value::String(text) => expand(text, variable),
        _ => Err(format!("`{name}` is no text")),
    }
}

fn launch(
    command: &Value,
    json: &Value,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Launch, String> {
    let text = |value: &Value, name: &str| text(value, name, variable);
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
pub(super) fn expand(
    text: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<String, String> {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        expanded.push_str(before);
        // Passed on as it is, it would reach the server as a key that looks almost right.
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
        let launch = |json: &str| match route(&serde_json::from_str(json).unwrap(), &|_| None) {
            Ok(Route::Program(launch)) => Ok(launch),
            Ok(Route::Http(_)) => Err("over HTTP".to_owned()),
            Err(problem) => Err(problem),
        };
        assert!(launch(r#"{"command": 7}"#).is_err());
        assert!(launch(r#"{"command": "x", "args": "y"}"#).is_err());
        assert!(launch(r#"{"command": "x", "url": "http://y"}"#).is_err());
        assert!(launch("[]").unwrap_err().contains("no `command`"));
        let whole = launch(r#"{"command": "x", "args": ["y"], "env": {"A": "b"}}"#).unwrap();
        assert_eq!(
            (whole.args, whole.env["A"].as_str()),
            (vec!["y".into()], "b")
        );
    }
}
