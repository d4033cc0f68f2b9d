//! Makes the context that templates see of an agent.

use super::Agent;
use crate::value::{Map, Value};

impl Agent {
    /// The fields that templates see as `agent`: those that are set, and never a secret.
    #[must_use]
    pub fn to_context(&self) -> Value {
        let options = self.options.as_ref();
        let always = options.filter(|options| options.as_list().is_some());
        let by_mode = options.filter(|options| options.as_map().is_some());
        // Three forms of the same, since layouts in use test for each of them.
        let provider = (!self.providers.is_empty()).then(|| self.providers.join(", "));
        let raw = match self.providers.as_slice() {
            [one] if !self.provider_is_list => Some(one.as_str().into()),
            list => texts(list),
        };
        present([
            ("id", Some(self.id.as_str().into())),
            // An agent without a name is called by its id.
            ("name", text(self.name.as_ref().or(Some(&self.id)))),
            ("role", text(self.role.as_ref())),
            ("team", text(self.team.as_ref())),
            ("description", text(self.description.as_ref())),
            ("workingDirectory", text(self.working_directory.as_ref())),
            ("capabilities", texts(&self.capabilities)),
            ("specialties", texts(&self.specialties)),
            ("provider", text(provider.as_ref())),
            ("providerList", texts(&self.providers)),
            ("providerRaw", raw),
            ("inline", Some(inline(self))),
            ("model", text(self.model.as_ref())),
            ("options", options.cloned()),
            ("optionsArray", always.cloned()),
            ("optionsByMode", by_mode.cloned()),
            ("remote", self.remote.as_ref().map(remote)),
            ("documents", texts(&self.documents)),
        ])
    }

    /// The fields that templates see as `agentMetadata`.
    #[must_use]
    pub fn metadata(&self) -> Value {
        present([
            ("specialties", texts(&self.specialties)),
            ("capabilities", texts(&self.capabilities)),
            ("description", text(self.description.as_ref())),
        ])
    }

    /// The list that templates see as `skills`: names, or descriptions of each. If the skills are a
    /// map, its `include` is the list.
    #[must_use]
    pub fn skills_context(&self) -> Value {
        let skills = match &self.skills {
            Some(Value::Map(skills)) => skills.get("include"),
            skills => skills.as_ref(),
        };
        let list = skills.and_then(Value::as_list).unwrap_or_default();
        Value::List(list.to_vec())
    }
}

/// The entries of `inline`, and those that may also stand outside of it.
fn inline(agent: &Agent) -> Value {
    let mut inline: Map = agent
        .inline
        .iter()
        .filter(|(key, _)| !is_secret(key))
        // Props are for templates, even if one of them is called `key` or `token`.
        .map(|(key, value)| match key.as_str() {
            "layout" => (key.clone(), value.clone()),
            _ => (key.clone(), without_secrets(value)),
        })
        .collect();
    let layout = agent.layout.as_ref().map(|layout| match &layout.props {
        None => layout.id.as_str().into(),
        Some(props) => Value::map([("id", layout.id.as_str().into()), ("props", props.clone())]),
    });
    for (key, value) in [
        // An entry that is written inside of `inline` stays as it is.
        ("prompt", text(agent.prompt.as_ref())),
        ("model", text(agent.model.as_ref())),
        ("layout", layout),
    ] {
        if let (Some(value), None) = (value, inline.get(key)) {
            inline.insert(key.to_owned(), value);
        }
    }
    Value::Map(inline)
}

/// The remote place, with its keys in the one spelling that templates know.
fn remote(remote: &Value) -> Value {
    let Value::Map(map) = without_secrets(remote) else {
        return Value::Map(Map::new());
    };
    Value::map(map.into_iter().map(|(key, value)| {
        let key = match key.as_str() {
            "agent_id" => String::from("agentId"),
            "timeout_ms" => String::from("timeoutMs"),
            _ => key,
        };
        (key, value)
    }))
}

/// The value without secret entries, and with addresses without their passwords.
fn without_secrets(value: &Value) -> Value {
    match value {
        Value::Map(map) => Value::map(
            map.iter()
                .filter(|(key, _)| !is_secret(key))
                .map(|(key, value)| (key.as_str(), without_secrets(value))),
        ),
        Value::List(list) => Value::List(list.iter().map(without_secrets).collect()),
        Value::Text(text) => Value::Text(without_password(text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn is_secret(key: &str) -> bool {
    // By name alone, so rather too many: a secret that a template prints goes to a provider and
    // into logs.
    let key: String = key
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|letter| letter.to_ascii_lowercase())
        .collect();
    matches!(
        key.as_str(),
        "auth" | "authorization" | "credentials" | "headers" | "key" | "env"
    ) || ["apikey", "accesskey", "privatekey", "secretkey", "token"]
        .iter()
        .chain(&["secret", "password", "passwd", "passphrase"])
        .any(|end| key.ends_with(end))
}

/// Reduces `https://name:password@host` to `https://host`.
fn without_password(text: &str) -> String {
    let shortened = || {
        // Only a text without blanks is an address; a prompt may mention some.
        if text.contains(char::is_whitespace) {
            return None;
        }
        let (scheme, rest) = text.split_once("://")?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at_checked(end)?;
        // The last `@`: a password may contain one.
        let (_, host) = authority.rsplit_once('@')?;
        Some(format!("{scheme}://{host}{path}"))
    };
    shortened().unwrap_or_else(|| text.to_owned())
}

fn present<const N: usize>(fields: [(&str, Option<Value>); N]) -> Value {
    Value::map(
        fields
            .into_iter()
            .filter_map(|(key, value)| Some((key, value?))),
    )
}

fn text(text: Option<&String>) -> Option<Value> {
    text.map(|text| text.as_str().into())
}

fn texts(texts: &[String]) -> Option<Value> {
    (!texts.is_empty()).then(|| texts.to_vec().into())
}
