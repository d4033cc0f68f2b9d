//! `kitbag memory entities`: the entities that a conversation's agent registered, and the results of steps
//! that it archived.

use kitbag::core::entity::{EntityContext, EntitySnapshot, get_entity_context};
use kitbag::core::reasoning::{ArchiveEntry, CurrentTurn, get_reasoning_trace};
use kitbag::core::stored::ConversationContext;
use kitbag::store::ConversationId;
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{self, one_line};
use crate::store::StoreArgs;

/// Lists the entities of a conversation and its archived results
///
/// Entities are the things that an agent read, made or changed in a conversation: active ones came up in
/// the last turns, generated ones are not saved yet, retained ones are kept for a reason. Results of steps
/// that belong to no entity are archived under a key.
#[derive(clap::Args)]
#[command(after_help = "Example: kitbag memory entities 7.12")]
pub(super) struct Args {
    /// The conversation, such as 7.12
    conversation: ConversationId,
    /// Print the archived result with this key, as JSON
    #[arg(long, value_name = "KEY")]
    archived: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    conversation: String,
    #[serde(flatten)]
    entities: EntityContext,
    archive: Vec<ArchiveEntry>,
}

pub(super) async fn run(args: &Args, place: &StoreArgs) -> Result<(), Failure> {
    let store = place.open().await?;
    let layers = store.layers(args.conversation).await?;
    if let Some(key) = &args.archived {
        // Results are data of an agent's steps, so they are printed as JSON in any case.
        return print_archived(args, &layers, key);
    }
    let registry = &layers.id_registry;
    let entities = get_entity_context(registry, registry.current_turn());
    let archive = get_reasoning_trace(&layers, &CurrentTurn::default()).archive;
    if args.json {
        return Ok(output::print_json(&Report {
            conversation: args.conversation.to_string(),
            entities,
            archive,
        })?);
    }
    let tiers = [
        ("active", &entities.active),
        ("generated", &entities.generated),
        ("retained", &entities.retained),
    ];
    let rows = tiers
        .iter()
        .flat_map(|(tier, entities)| entities.iter().map(move |entity| row(tier, entity)));
    let header = ["ref", "tier", "status", "turns", "label", "kept because"];
    let entities = output::grid(&header, rows);
    if entities.is_empty() {
        let id = args.conversation;
        output::say(format_args!("conversation {id} has no entities in context"));
    }
    let rows = archive.iter();
    let rows = rows.map(|entry| [one_line(&entry.key), one_line(&entry.description)]);
    let mut grids = vec![entities, output::grid(&["archived", "result"], rows)];
    grids.retain(|grid| !grid.is_empty());
    Ok(output::print(&grids.join("\n\n"))?)
}

fn print_archived(args: &Args, layers: &ConversationContext, key: &str) -> Result<(), Failure> {
    if let Some(content) = layers.archived(key) {
        return Ok(output::print_json(&content)?);
    }
    let (id, key) = (args.conversation, one_line(key));
    let hint = format!("`kitbag memory entities {id}` lists the keys");
    let what = format_args!("conversation {id} has nothing archived as `{key}`");
    Err(Failure::new(what).hint(hint))
}

fn row(tier: &str, entity: &EntitySnapshot) -> [String; 6] {
    let reason = entity.retention_reason.as_deref();
    [
        one_line(&entity.reference),
        tier.to_owned(),
        entity.status.to_string(),
        format!("{} to {}", entity.turn_created, entity.turn_last_ref),
        one_line(&entity.label),
        reason.map(one_line).unwrap_or_default(),
    ]
}
