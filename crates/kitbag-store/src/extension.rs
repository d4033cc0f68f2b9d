//! Values of extensions between turns, for a conversation or for a tenant. They are written with the end of a turn
//! and never apart from it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::conversation::Conversation;
use crate::error::{Result, StoreError};
use crate::id::ConversationId;
use crate::secrets::Secrets;
use crate::state::{self, Part};
use crate::store::Store;
use crate::transaction::Tx;
use crate::value::Value;

/// The values of each extension, by its name and by their keys.
pub type ExtensionValues = BTreeMap<String, BTreeMap<String, Json>>;

/// The values that extensions keep for a conversation, and for its tenant.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ExtensionState {
    /// The values of the conversation.
    pub conversation: ExtensionValues,
    /// The values of the tenant.
    pub tenant: ExtensionValues,
}

/// The owner of the changed values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum KeptFor {
    /// One conversation's.
    Conversation,
    /// All conversations'.
    Tenant,
}

/// A value that an extension sets or removes.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ExtensionChange {
    /// The owner of the value.
    pub kept_for: KeptFor,
    /// The extension.
    pub extension: String,
    /// The key.
    pub key: String,
    /// The value; none removes it.
    pub value: Option<Json>,
}

impl ExtensionChange {
    /// A change of an extension's value.
    #[must_use]
    pub fn new(
        kept_for: KeptFor,
        extension: impl Into<String>,
        key: impl Into<String>,
        value: Option<Json>,
    ) -> Self {
        Self {
            kept_for,
            extension: extension.into(),
            key: key.into(),
            value,
        }
    }

    pub(crate) fn masked(mut self, secrets: Secrets) -> Self {
        self.value = self.value.map(|value| secrets.masked_value(value));
        self.key = secrets.masked_name(self.key);
        self
    }
}

/// The values of a conversation, as a part of its state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct ConversationValues(pub(crate) ExtensionValues);

impl Part for ConversationValues {
    const KIND: &'static str = "extensions";
}

impl Store {
    /// The values that extensions keep for a conversation and its tenant.
    ///
    /// # Errors
    /// When there is no such conversation, or the store fails.
    pub async fn extension_state(&self, id: ConversationId) -> Result<ExtensionState> {
        self.read(async move |tx| {
            Conversation::get(tx, id).await?;
            let conversation = state::load::<ConversationValues>(tx, id).await?;
            Ok(ExtensionState {
                conversation: conversation.unwrap_or_default().0,
                tenant: of_tenant(tx).await?,
            })
        })
        .await
    }
}

async fn of_tenant(tx: &mut Tx<'_>) -> Result<ExtensionValues> {
    let sql = "SELECT extension, key, json FROM extension_state WHERE tenant = $1 \
               ORDER BY extension, key";
    let mut values = ExtensionValues::new();
    for (extension, key, json) in tx.query::<(String, String, String)>(sql, ()).await? {
        let value = serde_json::from_str(&json).map_err(|error| {
            let what = format!("`{key}` of the extension {extension}: {error}");
            StoreError::damaged("extension_state", what)
        })?;
        values.entry(extension).or_default().insert(key, value);
    }
    Ok(values)
}

/// Applies the changes of a turn. Its conversation is locked; of a tenant's values the last turn to end counts.
pub(crate) async fn apply(
    tx: &mut Tx<'_>,
    id: ConversationId,
    changes: &[ExtensionChange],
) -> Result<()> {
    let (own, shared): (Vec<_>, Vec<_>) = changes
        .iter()
        .partition(|change| change.kept_for == KeptFor::Conversation);
    if !own.is_empty() {
        let mut values = state::load::<ConversationValues>(tx, id)
            .await?
            .unwrap_or_default();
        for change in own {
            let of_extension = values.0.entry(change.extension.clone()).or_default();
            match &change.value {
                Some(value) => of_extension.insert(change.key.clone(), value.clone()),
                None => of_extension.remove(&change.key),
            };
        }
        values.0.retain(|_, values| !values.is_empty());
        state::save(tx, id, &values).await?;
    }
    for change in shared {
        let named = (change.extension.as_str(), change.key.as_str());
        let Some(value) = &change.value else {
            let sql =
                "DELETE FROM extension_state WHERE tenant = $1 AND extension = $2 AND key = $3";
            tx.execute(sql, named).await?;
            continue;
        };
        let into = "extension_state (tenant, extension, key, scope, conversation, json)";
        let or = "ON CONFLICT (tenant, extension, key) DO UPDATE SET scope = excluded.scope, \
                  conversation = excluded.conversation, json = excluded.json";
        let row = (named.0, named.1, id, Value::Body(value.to_string()));
        tx.insert_or(into, or, [row]).await?;
    }
    Ok(())
}

/// Forgets the values of a conversation, and those of the tenant that its turns or its sender's others on the
/// channel wrote, for which `is_gone` holds.
pub(crate) async fn forget(
    tx: &mut Tx<'_>,
    id: ConversationId,
    is_gone: impl Fn(&Json) -> bool,
) -> Result<()> {
    if let Some(mut values) = state::load::<ConversationValues>(tx, id).await? {
        for of_extension in values.0.values_mut() {
            of_extension.retain(|_, value| !is_gone(value));
        }
        state::save(tx, id, &values).await?;
    }
    let sql = "SELECT extension, key, json FROM extension_state WHERE tenant = $1 AND scope = $2 \
               ORDER BY extension, key";
    for (extension, key, json) in tx.query::<(String, String, String)>(sql, id.scope).await? {
        // One that cannot be read may hold anything.
        let value = serde_json::from_str(&json);
        if value.is_ok_and(|value| !is_gone(&value)) {
            continue;
        }
        let sql = "DELETE FROM extension_state WHERE tenant = $1 AND extension = $2 AND key = $3";
        tx.execute(sql, (extension, key)).await?;
    }
    Ok(())
}
