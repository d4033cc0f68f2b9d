//! `kitbag key list`: the keys of a tenant, without their secrets.

use jiff::Timestamp;
use kitbag::store::Key;

use crate::failure::Failure;
use crate::output::{self, grouped, one_line};
use crate::store::StoreArgs;

/// Lists the keys of a tenant, including revoked and expired ones
#[derive(clap::Args)]
#[command(after_help = "Example: kitbag key list --tenant shop")]
pub(super) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: &Args, place: &StoreArgs) -> Result<(), Failure> {
    let store = place.open().await?;
    let keys = store.keys().await?;
    if args.json {
        return Ok(output::print_json_list("keys", &keys)?);
    }
    if keys.is_empty() {
        let tenant = store.tenant();
        output::say(format_args!("tenant {tenant} has no keys"));
    }
    let now = Timestamp::now();
    let limit = |limit: Option<u32>| limit.map(grouped).unwrap_or_default();
    let row = |key: &Key| {
        [
            key.id.clone(),
            one_line(&key.name),
            key.scopes.to_string(),
            limit(key.requests_per_minute),
            limit(key.tokens_per_minute),
            key.created.strftime("%Y-%m-%d").to_string(),
            state(key, now),
        ]
    };
    let header = [
        "key",
        "name",
        "scopes",
        "requests/min",
        "tokens/min",
        "made",
        "state",
    ];
    Ok(output::print(&output::grid(&header, keys.iter().map(row)))?)
}

fn state(key: &Key, now: Timestamp) -> String {
    match (key.revoked, key.expires) {
        (Some(revoked), _) => format!("revoked {}", revoked.strftime("%Y-%m-%d")),
        (None, Some(expires)) if expires <= now => {
            format!("expired {}", expires.strftime("%Y-%m-%d"))
        }
        (None, Some(expires)) => format!("until {}", expires.strftime("%Y-%m-%d")),
        (None, None) => "valid".to_owned(),
    }
}
