//! The options that choose messages: `--since`, `--until`, `--role`, `--conversation`, `--where`.

use jiff::civil::Date;
use jiff::{Span, Zoned};
use kitbag::core::role::Role;
use kitbag::store::{ConversationKey, MessageFilter, MessageTime};

/// The times between which messages were said.
#[derive(clap::Args)]
pub(super) struct TimeArgs {
    /// Only at or after this time: a date, a time or an age, such as 2024-05-01, 2024-05-01T18:30+02:00,
    /// 12h, 7d or 2w
    #[arg(long, value_name = "TIME", value_parser = parse_since)]
    since: Option<MessageTime>,
    /// Only before this time, written like --since; a date includes its whole day
    #[arg(long, value_name = "TIME", value_parser = parse_until)]
    until: Option<MessageTime>,
}

impl TimeArgs {
    pub(super) fn add_to(&self, filter: &mut MessageFilter) {
        // Only options that are given replace a value, so that several sets of options can be combined.
        filter.since = self.since.or(filter.since);
        filter.until = self.until.or(filter.until);
    }

    pub(super) fn is_given(&self) -> bool {
        self.since.is_some() || self.until.is_some()
    }
}

/// The options that choose messages.
#[derive(clap::Args)]
pub(super) struct FilterArgs {
    #[command(flatten)]
    times: TimeArgs,
    /// Only messages of this role: user, assistant, tool or system; may be repeated
    #[arg(long = "role", value_name = "ROLE", value_parser = parse_role)]
    roles: Vec<Role>,
    /// Only messages of this conversation, by its name or its id, such as 7.12; may be repeated
    #[arg(long = "conversation", value_name = "NAME")]
    conversations: Vec<ConversationKey>,
    /// Only messages with this value in their metadata, such as run_id=r7; may be repeated
    #[arg(long = "where", value_name = "KEY=VALUE", value_parser = parse_pair)]
    metadata: Vec<(String, String)>,
}

impl FilterArgs {
    pub(super) fn filter(&self) -> MessageFilter {
        let mut filter = MessageFilter::default();
        self.times.add_to(&mut filter);
        filter.roles.clone_from(&self.roles);
        filter.conversations.clone_from(&self.conversations);
        filter.metadata = self.metadata.iter().cloned().collect();
        filter
    }
}

/// Parses the beginning of a period.
pub(super) fn parse_since(text: &str) -> Result<MessageTime, String> {
    parse_ago(text)
        .or_else(|| MessageTime::parse(text))
        .ok_or_else(expected)
}

/// Parses the end of a period: for a date, the end of its day.
pub(super) fn parse_until(text: &str) -> Result<MessageTime, String> {
    let text = text.trim();
    let is_date = !text.contains(['T', 't', ' ', ':']);
    match text.parse::<Date>() {
        Ok(date) if is_date => {
            let next = date.tomorrow().map_err(|error| error.to_string())?;
            MessageTime::parse(&next.to_string()).ok_or_else(expected)
        }
        _ => parse_since(text),
    }
}

/// Parses an age as the moment that it reaches back to.
fn parse_ago(text: &str) -> Option<MessageTime> {
    let ago: Span = text.trim().parse().ok()?;
    let ago = ago.is_positive().then_some(ago)?;
    // With a time zone, since a day or a month has no fixed length without one.
    let then = Zoned::now().checked_sub(ago).ok()?;
    Some(then.timestamp().into())
}

fn expected() -> String {
    "expected a date or a time such as 2024-05-01 or 2024-05-01T18:30, or an age such as 7d"
        .to_owned()
}

pub(super) fn parse_role(text: &str) -> Result<Role, String> {
    let roles = [Role::User, Role::Assistant, Role::Tool, Role::System];
    let named = roles.into_iter().find(|role| role.as_str() == text);
    named.ok_or_else(|| "expected user, assistant, tool or system".to_owned())
}

fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("expected a key and a value such as run_id=r7".to_owned()),
    }
}
