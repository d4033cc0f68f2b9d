//! `kitbag key create`: a new key, which is shown once.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned};
use kitbag::store::{KEY_RANDOMNESS, Key, KeyScope, KeyScopes, KeySecret, NewKey};
use serde::Serialize;

use crate::failure::Failure;
use crate::output;
use crate::store::StoreArgs;

/// Creates a key and prints it once: the store keeps only its hash
#[derive(clap::Args)]
#[command(after_help = "Examples:
  kitbag key create laptop
  kitbag key create ci --scope read --expires 90d --requests-per-minute 60")]
pub(super) struct Args {
    /// A name for people, such as laptop or ci
    name: String,
    /// Rights of the key, separated by commas: proxy (requests to models; with read they get memory, with
    /// write they extend it), read (packs, prompts, memory), write (asking, remembering, forgetting), admin
    /// (everything, and metrics)
    #[arg(
        long = "scope",
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "proxy,read,write"
    )]
    scopes: Vec<KeyScope>,
    /// Limit the requests per minute, on each node of a server
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    requests_per_minute: Option<u32>,
    /// Limit the tokens per minute of prompts and answers together, on each node of a server
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    tokens_per_minute: Option<u32>,
    /// Expiry: a date, or a time from now such as 90d or 12h [default: none]
    #[arg(long, value_name = "TIME", value_parser = parse_expiry)]
    expires: Option<Timestamp>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    /// The only place where it is ever shown.
    secret: &'a str,
    tenant: String,
    #[serde(flatten)]
    key: Key,
}

pub(super) async fn run(args: &Args, place: &StoreArgs) -> Result<(), Failure> {
    let store = place.open_or_make().await?;
    let mut random = [0; KEY_RANDOMNESS];
    getrandom::fill(&mut random).map_err(|error| {
        Failure::new(format_args!("the system gives no random numbers: {error}"))
    })?;
    let secret = KeySecret::new(store.tenant().clone(), random);
    let scopes: KeyScopes = args.scopes.iter().copied().collect();
    let mut new = NewKey::new(&args.name, scopes);
    new.requests_per_minute = args.requests_per_minute;
    new.tokens_per_minute = args.tokens_per_minute;
    new.expires = args.expires;
    let key = store.create_key(new, &secret, Timestamp::now()).await?;
    if args.json {
        return Ok(output::print_json(&Report {
            secret: secret.expose(),
            tenant: store.tenant().to_string(),
            key,
        })?);
    }
    output::say(format_args!(
        "created key {} of tenant {}; save it now, it is not shown again",
        key.id,
        store.tenant()
    ));
    Ok(output::print(secret.expose())?)
}

fn parse_expiry(text: &str) -> Result<Timestamp, String> {
    let now = Zoned::now();
    let text = text.trim();
    let expires = match (text.parse::<Span>(), text.parse::<Date>()) {
        (Ok(span), _) => now.checked_add(span).ok().map(|zoned| zoned.timestamp()),
        (_, Ok(date)) => date
            .to_zoned(TimeZone::system())
            .ok()
            .map(|zoned| zoned.timestamp()),
        _ => text.parse().ok(),
    };
    expires
        .filter(|expires| *expires > now.timestamp())
        .ok_or_else(|| "expected a time in the future, such as 90d or 2030-01-31".to_owned())
}
