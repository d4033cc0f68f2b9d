//! `kitbag memory tenants`: lists the tenants of a store.

use jiff::Timestamp;
use kitbag::store::TenantStats;
use serde::Serialize;

use super::senders::day;
use crate::failure::Failure;
use crate::output::{self, grouped};
use crate::store::StoreArgs;

/// Lists the tenants of a store, with counts
///
/// Anyone who can read the file of a store can list its tenants. PostgreSQL hides tenants from each other:
/// there only a superuser, or a role with BYPASSRLS, can list them.
#[derive(clap::Args)]
#[command(after_help = "Example: kitbag memory tenants --store postgresql://postgres@db/kitbag")]
pub(super) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    tenant: String,
    senders: u64,
    conversations: u64,
    messages: u64,
    active: Option<Timestamp>,
}

impl From<TenantStats> for Row {
    fn from(stats: TenantStats) -> Self {
        Self {
            tenant: stats.tenant.to_string(),
            senders: stats.senders,
            conversations: stats.conversations,
            messages: stats.messages,
            active: stats.active,
        }
    }
}

pub(super) async fn run(args: &Args, store: &StoreArgs) -> Result<(), Failure> {
    let tenants = store.open().await?.tenants().await?;
    let rows: Vec<Row> = tenants.into_iter().map(Row::from).collect();
    if args.json {
        return Ok(output::print_json_list("tenants", &rows)?);
    }
    if rows.is_empty() {
        output::say("the store has no tenants yet");
    }
    let row = |row: &Row| {
        [
            row.tenant.clone(),
            grouped(row.senders),
            grouped(row.conversations),
            grouped(row.messages),
            day(row.active),
        ]
    };
    let header = ["tenant", "senders", "conversations", "messages", "latest"];
    Ok(output::print(&output::grid(&header, rows.iter().map(row)))?)
}
