//! The settings for hooks of coding agents: the memory they use, its amount, and their time limit.

use core::time::Duration;

use kitbag_core::tokens::Tokens;

use super::provider::time;
use crate::yaml::Field;

/// The limits of coding agents' hooks.
///
/// ```
/// use kitbag_layout::{Config, HookScope};
///
/// let (config, _) = Config::read("kitbag.yaml", "hooks: {scope: user, budget: 1k, time_limit: 500ms}");
/// assert_eq!(config.hooks.scope(), HookScope::User);
/// assert_eq!(config.hooks.budget().0, 1_000);
/// assert_eq!(config.hooks.time_limit().as_millis(), 500);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HookSettings {
    scope: Option<HookScope>,
    budget: Option<Tokens>,
    time_limit: Option<Duration>,
}

/// The memory that hooks read and extend. A greater value allows less.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum HookScope {
    /// The user's memory, of all projects and of `kitbag chat`.
    User,
    /// The project's memory alone.
    #[default]
    Project,
    /// None: hooks do nothing.
    Off,
}

/// The most tokens that are added to one prompt. They stay in the conversation for good, so the
/// default is small.
const BUDGET: Tokens = Tokens(800);
/// The longest that a prompt waits for memory by default.
const TIME_LIMIT: Duration = Duration::from_secs(2);

impl HookSettings {
    /// The memory to use; by default the project's.
    #[must_use]
    pub fn scope(&self) -> HookScope {
        self.scope.unwrap_or_default()
    }

    /// The memory to use, if a file says so.
    #[must_use]
    pub const fn said_scope(&self) -> Option<HookScope> {
        self.scope
    }

    /// The most tokens that are added to one prompt.
    #[must_use]
    pub fn budget(&self) -> Tokens {
        self.budget.unwrap_or(BUDGET)
    }

    /// The longest that a prompt waits for memory.
    #[must_use]
    pub fn time_limit(&self) -> Duration {
        self.time_limit.unwrap_or(TIME_LIMIT)
    }

    /// Merges a project's settings over its user's.
    pub(super) fn merge(user: Self, project: Self) -> Self {
        Self {
            scope: project.scope.or(user.scope),
            budget: project.budget.or(user.budget),
            time_limit: project.time_limit.or(user.time_limit),
        }
    }

    /// Takes back permissions that the user does not give: somebody else's project must not get at
    /// memories of others.
    pub(super) fn restrict(&mut self, user: &Self) {
        // The greater value allows less.
        self.scope = self.scope.map(|scope| scope.max(user.scope()));
        self.budget = self.budget.map(|budget| budget.min(user.budget()));
        self.time_limit = self.time_limit.map(|limit| limit.min(user.time_limit()));
    }

    pub(super) fn read(field: &Field<'_>) -> Option<Self> {
        field.map()?;
        let scopes = [
            ("project", HookScope::Project),
            ("user", HookScope::User),
            ("off", HookScope::Off),
        ];
        let settings = Self {
            scope: field.read("scope", |field| field.word(&scopes)),
            budget: field.read("budget", tokens),
            time_limit: field.read("time_limit", time),
        };
        field.warn_of_misspelt_keys(&[]);
        Some(settings)
    }
}

pub(super) fn tokens(field: &Field<'_>) -> Option<Tokens> {
    let text = field.scalar()?;
    match text.parse() {
        Ok(tokens) => Some(tokens),
        Err(_) => field.error(format!(
            "`{text}` is not a number of tokens such as 800 or 1k"
        )),
    }
}
