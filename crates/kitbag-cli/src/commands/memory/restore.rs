//! `kitbag memory restore`: restores the memory of a backup.

use std::path::{Path, PathBuf};

use kitbag::store::{Existing, Location, Store, StoreError, TenantStats};
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{self, counted, one_line};
use crate::progress::Progress;
use crate::store::StoreArgs;

/// Restores a backup: all of its tenants, or the one that `--tenant` names
///
/// The backup is checked first, and restoring each tenant is rehearsed: nothing is changed if the backup has
/// a problem or the store refuses a tenant. Then each tenant is restored, completely or not at all, and
/// compared with the backup. If one fails, the report says which were restored. A tenant that has anything
/// in the store is refused unless `--replace` is given, which deletes all that it has there.
#[derive(clap::Args)]
#[command(
    after_help = "Example: kitbag memory restore memory-2024-05-01.db --store sqlite:memory.db"
)]
pub(super) struct Args {
    /// The backup
    file: PathBuf,
    /// Delete everything that the backup's tenants have in the store first
    #[arg(long)]
    replace: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The result for one tenant.
#[derive(Serialize)]
struct Row {
    tenant: String,
    messages: u64,
    /// The number of rows that were restored.
    rows: u64,
    /// The reason why nothing of it was restored.
    problem: Option<String>,
}

pub(super) async fn run(args: &Args, place: &StoreArgs) -> Result<(), Failure> {
    let file = args.file.display();
    // Restoring a store into itself with `--replace` would delete what it reads.
    if place.location()?.is_file_of(&args.file) {
        let what = format!("{file} is the store itself");
        return Err(Failure::usage(what).hint("name another store with `--store`"));
    }
    // The store's own words would not say which of the two files is meant.
    let unusable = |error: StoreError| match error {
        StoreError::NoStore { reason, .. } => {
            Failure::new(format_args!("there is no backup {file}: {reason}"))
                .hint("name a file that `kitbag memory backup` wrote")
        }
        StoreError::DamagedFile { reason } => {
            Failure::new(format_args!("the backup {file} is damaged: {reason}"))
                .hint("nothing was restored; try another backup")
        }
        other => other.into(),
    };
    let backup = Store::open_existing(&Location::Sqlite(args.file.clone())).await;
    let backup = backup.map_err(unusable)?;
    let mut tenants = backup.tenants().await.map_err(unusable)?;
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
        // Every tenant is checked before any is restored: a damaged backup must not replace anything.
        let found = backup.for_tenant(one.tenant.clone()).check().await;
        problems.extend(found.map_err(unusable)?);
    }
    if let Some(first) = problems.first() {
        let count = counted(problems.len() as u64, "problem", "problems");
        let what = format!("{file} has {count}, the first being: {}", one_line(first));
        return Err(Failure::new(what).hint(format_args!(
            "nothing was restored; `kitbag memory repair --store sqlite:{file}` repairs a backup"
        )));
    }
    let existing = match args.replace {
        true => Existing::Replace,
        false => Existing::Refuse,
    };
    progress.stage("trying".to_owned());
    let store = place.open_or_make().await?;
    let tenants = accepted(&store, tenants, &args.file, existing).await?;
    progress.stage("restoring".to_owned());
    let mut rows: Vec<Row> = Vec::new();
    let mut failure = None;
    for one in tenants {
        let mut row = Row {
            tenant: one.tenant.to_string(),
            messages: one.messages,
            rows: 0,
            problem: None,
        };
        // Tenants after a failure are not tried, and the report says so.
        if failure.is_some() {
            row.problem = Some("not tried after an earlier failure".to_owned());
        } else {
            match store
                .for_tenant(one.tenant)
                .restore(&args.file, existing)
                .await
            {
                Ok(copied) => row.rows = copied.rows.values().sum(),
                Err(error) => {
                    row.problem = Some(error.to_string());
                    failure = Some(error);
                }
            }
        }
        rows.push(row);
    }
    drop(progress);
    if args.json {
        output::print_json_list("tenants", &rows)?;
    } else {
        rows.iter().for_each(say);
    }
    match failure {
        Some(error) => Err(Failure::new("not all tenants were restored").hint_if(error.hint())),
        None => Ok(()),
    }
}

fn say(row: &Row) {
    let tenant = &row.tenant;
    match &row.problem {
        None => {
            let messages = counted(row.messages, "message", "messages");
            output::say(format_args!("restored {messages} of tenant {tenant}"));
        }
        Some(problem) => {
            let problem = one_line(problem);
            output::say(format_args!(
                "restored nothing of tenant {tenant}: {problem}"
            ));
        }
    }
}

/// The tenants with something in the backup. Fails if the store refuses any of them, and names all that it
/// refuses.
async fn accepted(
    store: &Store,
    tenants: Vec<TenantStats>,
    file: &Path,
    existing: Existing,
) -> Result<Vec<TenantStats>, Failure> {
    let mut accepted = Vec::new();
    let mut refused = Vec::new();
    for one in tenants {
        let tenant = one.tenant.clone();
        match store
            .for_tenant(tenant.clone())
            .rehearse_restore(file, existing)
            .await
        {
            Ok(()) => accepted.push(one),
            // All of the tenant's memory was forgotten before the backup.
            Err(StoreError::Missing { .. }) => {}
            Err(error) => refused.push((tenant, error)),
        }
    }
    let count = refused.len() as u64;
    let Some((tenant, error)) = refused.pop() else {
        return Ok(accepted);
    };
    let hint = match &error {
        StoreError::Invalid { .. } => Some("`--replace` removes what the store has of the tenants"),
        other => other.hint(),
    };
    for (tenant, error) in refused {
        let error = error.to_string();
        output::say(format_args!(
            "tenant {tenant} is refused: {}",
            one_line(&error)
        ));
    }
    let count = counted(count, "tenant is", "tenants are");
    let what = format!("nothing was restored: {count} refused: {tenant}: {error}");
    Err(Failure::new(what).hint_if(hint))
}
