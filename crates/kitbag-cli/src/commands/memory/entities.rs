//! `kitbag memory entities`: the things that a conversation is about, as its agent registered them.

use kitbag::core::entity::{EntityContext, EntitySnapshot, get_entity_context};
use kitbag::store::ConversationId;
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{self, one_line};
use crate::store::{self, StoreArgs};

/// Lists the entities of a conversation
///
/// Entities are what an agent read, made or changed in a conversation: active ones were met in the
/// last turns, generated ones are not saved yet, retained ones are kept for a reason.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The conversation, such as 7.12
    conversation: ConversationId,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    conversation: String,
    #[serde(flatten)]
    entities: EntityContext,
}

pub(super) async fn run(args: &Args, place: &StoreArgs) -> Result<(), Failure> {
    let store = place.open().await?;
    let layers = store.layers(args.conversation).await;
    let registry = layers.map_err(store::failure)?.id_registry;
    let entities = get_entity_context(&registry, registry.current_turn());
    if args.json {
        let conversation = args.conversation.to_string();
        return Ok(output::print_json(&Report {
            conversation,
            entities,
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
    let rows: Vec<_> = rows.collect();
    if rows.is_empty() {
        output::say(format_args!("no entity is registered in {}", args.conversation));
        return Ok(());
    }
    let header = ["ref", "tier", "status", "turns", "label", "kept because"];
    Ok(output::print(&output::grid(&header, rows))?)
}

fn row(tier: &str, entity: &EntitySnapshot) -> [String; 6] {
    [
        one_line(&entity.reference),
        tier.to_owned(),
        entity.status.to_string(),
        format!("{} to {}", entity.turn_created, entity.turn_last_ref),
        one_line(&entity.label),
        entity
            .retention_reason
            .as_deref()
            .map(one_line)
            .unwrap_or_default(),
    ]
}
