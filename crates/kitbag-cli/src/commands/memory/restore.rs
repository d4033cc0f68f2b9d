//! `kitbag memory restore`: brings back what a backup holds.

use std::path::PathBuf;

use kitbag::store::{Existing, Location, Store, StoreError};
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{self, counted, one_line};
use crate::progress::Progress;
use crate::store::StoreArgs;

/// Brings back what a backup holds, of every tenant in it or of the one that `--tenant` names
///
/// The backup is checked first, and nothing is changed if something is wrong with it. Then each tenant
/// comes back whole or not at all, and is compared with the backup. A tenant that has something in the
/// store already is refused, unless `--replace` is given: then all that it has there goes.
///
/// Example: kitbag memory restore memory-2024-05-01.db --store sqlite:memory.db
#[derive(clap::Args)]
pub(super) struct Args {
    /// The backup
    file: PathBuf,
    /// Removes what the tenants of the backup have in the store
    #[arg(long)]
    replace: bool,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    tenant: String,
    messages: u64,
    rows: u64,
}

pub(super) async fn run(args: &Args, place: &StoreArgs) -> Result<(), Failure> {
    let file = args.file.display();
    if place.location()?.is_file_of(&args.file) {
        let what = format!("{file} is the store itself");
        return Err(Failure::usage(what).hint("name another store with `--store`"));
    }
    let backup = Store::open_existing(&Location::Sqlite(args.file.clone())).await?;
    let mut tenants = backup.tenants().await?;
    if let Some(named) = place.named_tenant()? {
        tenants.retain(|one| one.tenant == named);
        if tenants.is_empty() {
            let what = format!("{file} has nothing of tenant {named}");
            return Err(
                Failure::usage(what).hint("`kitbag memory tenants` of the backup lists them")
            );
        }
    }
    let progress = Progress::start("checking the backup");
    let mut problems = Vec::new();
    for one in &tenants {
        problems.extend(backup.for_tenant(one.tenant.clone()).check().await?);
    }
    if let Some(first) = problems.first() {
        let count = counted(problems.len() as u64, "thing is", "things are");
        let what = format!("{count} wrong with {file}, such as: {}", one_line(first));
        return Err(Failure::new(what).hint(format_args!(
            "nothing was restored; `kitbag memory repair --store sqlite:{file}` mends a backup"
        )));
    }
    let existing = match args.replace {
        true => Existing::Replace,
        false => Existing::Refuse,
    };
    progress.stage("restoring".to_owned());
    let store = place.open_or_make().await?;
    let mut rows = Vec::new();
    for one in tenants {
        let restored = store.for_tenant(one.tenant.clone());
        let copied = match restored.restore(&args.file, existing).await {
            // Everything of it was forgotten before the backup.
            Err(StoreError::Missing { .. }) => continue,
            copied => copied.map_err(refused)?,
        };
        rows.push(Row {
            tenant: one.tenant.to_string(),
            messages: one.messages,
            rows: copied.rows.values().sum(),
        });
    }
    drop(progress);
    if args.json {
        return Ok(output::print_json_list("tenants", &rows)?);
    }
    for row in rows {
        let messages = counted(row.messages, "message", "messages");
        output::say(format_args!("restored {messages} of tenant {}", row.tenant));
    }
    Ok(())
}

/// Why a tenant was not restored.
fn refused(error: StoreError) -> Failure {
    let hint = matches!(error, StoreError::Invalid { .. })
        .then_some("`--replace` removes what the store has of the tenant");
    Failure::from(error).hint_if(hint)
}
