//! Errors of providers, with advice.
//!
//! No message holds a key: the words of a server are searched for it before they get here.

use std::time::Duration;

use kitbag_core::context::ContextError;

/// An error of asking a provider.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderError {
    /// No provider is known for a model.
    #[error("no provider is known for the model `{model}`")]
    UnknownModel {
        model: String,
        /// The names of providers that are known.
        known: Vec<String>,
    },
    /// The provider has no model to ask for.
    #[error("no model is named for the provider `{provider}`")]
    NoModel { provider: String },
    /// A folder's own configuration wants to send something off the machine, or to read a key.
    #[error(
        "the provider `{provider}` is defined by a file of this folder, which could come from anybody, and {problem}"
    )]
    Untrusted {
        provider: String,
        /// The effect that it would have.
        problem: &'static str,
    },
    /// A folder's own configuration names a model of a provider that its user has not chosen.
    #[error(
        "the model `{model}` is named by a file of this folder, which could come from anybody, and `{provider}`, \
         which you have not chosen, {problem}"
    )]
    UntrustedModel {
        model: String,
        provider: String,
        /// The effect that it would have.
        problem: &'static str,
    },
    /// There is no key.
    #[error("no key for `{provider}`: {place} {problem}")]
    NoKey {
        provider: String,
        /// The place that was looked at.
        place: String,
        problem: String,
        /// The variable to set, where that would help.
        variable: Option<String>,
    },
    /// A setting of a provider cannot be used.
    #[error("the provider `{provider}` cannot be used: {problem}")]
    Setting { provider: String, problem: String },
    /// A context that no provider should see.
    #[error(transparent)]
    Context(ContextError),
    /// There is no connection.
    #[error("cannot connect to {address}: {problem}")]
    Connect { address: String, problem: String },
    /// The server's certificate is not to be trusted.
    #[error("the certificate of {address} cannot be trusted: {problem}")]
    Certificate { address: String, problem: String },
    /// Something took too long.
    #[error("{address}: {stage} within {} s", seconds(.after))]
    Timeout {
        address: String,
        /// The missing event.
        stage: Stage,
        /// For so long.
        after: Duration,
    },
    /// The request was refused.
    #[error("{address} answered {status}{}", said(.message))]
    Status {
        address: String,
        status: u16,
        /// The provider's own words about it.
        message: String,
        /// When to come back, as the provider says.
        retry_after: Option<Duration>,
    },
    /// The provider reports an error in the midst of its answer.
    #[error("the provider broke off: {message}")]
    BrokeOff {
        /// Its own words about it.
        message: String,
    },
    /// The connection ended before the answer did.
    #[error("the answer was cut off: {problem}")]
    Cut {
        /// The known facts about it.
        problem: String,
    },
    /// The answer has neither words nor calls of tools.
    #[error("the model {}{}", empty(*.is_reasoned), ended(.stop.as_deref()))]
    Empty {
        /// True if it reasoned.
        is_reasoned: bool,
        /// The reason why it ended, if it is known.
        stop: Option<String>,
    },
    /// The answer cannot be understood.
    #[error("the answer cannot be read: {problem}")]
    Malformed { problem: String },
    /// There is no such program.
    #[error("the program `{program}` cannot be run: {problem}")]
    NoProgram { program: String, problem: String },
    /// A program that answers failed.
    #[error("`{program}` failed: {problem}")]
    Program {
        program: String,
        /// Its own words about it.
        problem: String,
    },
    /// The file of a script cannot be used.
    #[error("the script `{file}` {problem}")]
    Script { file: String, problem: String },
}

/// The missing event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// A connection.
    Connect,
    /// The first byte of an answer.
    FirstByte,
    /// The next piece of an answer.
    Idle,
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Connect => "no connection",
            Self::FirstByte => "no answer",
            Self::Idle => "nothing more came",
        })
    }
}

impl ProviderError {
    /// The remedy.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::UnknownModel { known, .. } => format!(
                "write `provider/model`; the providers are {}, and `providers:` in kitbag.yaml \
                 defines more",
                known.join(", ")
            ),
            Self::NoModel { .. } => {
                "name one, or give the provider a `model` in kitbag.yaml".to_owned()
            }
            Self::Untrusted { .. } => {
                "define it in your own configuration, or name the file if you trust it".to_owned()
            }
            Self::UntrustedModel { .. } => {
                "name a model in your own configuration, or name the file if you trust it".to_owned()
            }
            Self::NoKey { variable, .. } => match variable {
                Some(name) => format!("set {name}, or say under `providers:` where the key is"),
                None => "say under `providers:` where the key is: `key: {env: NAME}`".to_owned(),
            },
            Self::Connect { .. } => {
                "check the address, and HTTPS_PROXY and NO_PROXY if there is a proxy".to_owned()
            }
            Self::Certificate { .. } => {
                "check the address; SSL_CERT_FILE names a file with the certificates of authorities to trust"
                    .to_owned()
            }
            Self::Timeout { stage, .. } => {
                let name = match stage {
                    Stage::Connect => "connect",
                    Stage::FirstByte => "first_byte",
                    Stage::Idle => "idle",
                };
                format!("`timeouts: {{{name}: …}}` of the provider in kitbag.yaml allows more")
            }
            Self::Status {
                status,
                retry_after,
                ..
            } => return status_hint(*status, *retry_after),
            Self::Empty { stop, .. } if stop.as_deref() == Some("max_tokens") => {
                "`request: {max_tokens: …}` of the provider in kitbag.yaml allows more, or a smaller \
                 `budget_tokens` leaves more of it for words"
                    .to_owned()
            }
            Self::BrokeOff { .. } | Self::Cut { .. } | Self::Empty { .. } => "ask again".to_owned(),
            Self::Malformed { .. } => {
                "check that the provider's `kind` and `base_url` fit each other".to_owned()
            }
            Self::NoProgram { .. } => {
                "install Claude Code, or name the program as `command` of the provider in kitbag.yaml"
                    .to_owned()
            }
            Self::Program { program, .. } => {
                format!("run `{program}` in a terminal to see that it works and is logged in")
            }
            Self::Script { .. } => {
                "each line is an object such as `{\"when\": \"hello\", \"text\": \"Hi.\"}`"
                    .to_owned()
            }
            Self::Setting { .. } | Self::Context(_) => return None,
        })
    }
}

fn status_hint(status: u16, retry_after: Option<Duration>) -> Option<String> {
    Some(match (status, retry_after) {
        (401 | 403, _) => "check the key, and that it is one of this provider".to_owned(),
        (404, _) => "check the model's name and the provider's `base_url`".to_owned(),
        (429, Some(after)) => format!("the provider asks to wait {} s", seconds(&after)),
        (429 | 500..=599, _) => "try again later".to_owned(),
        (413, _) => "ask with a smaller budget".to_owned(),
        _ => return None,
    })
}

const fn empty(is_reasoned: bool) -> &'static str {
    match is_reasoned {
        true => "reasoned and then said nothing",
        false => "said nothing",
    }
}

fn ended(stop: Option<&str>) -> String {
    match stop {
        None | Some("end") => String::new(),
        Some(stop) => format!(": it ended with `{stop}`"),
    }
}

fn said(message: &str) -> String {
    match message.is_empty() {
        true => String::new(),
        false => format!(": {message}"),
    }
}

fn seconds(time: &Duration) -> String {
    match (time.as_secs(), time.subsec_millis()) {
        (seconds, 0) => seconds.to_string(),
        (seconds, millis) => format!("{seconds}.{millis:03}"),
    }
}
