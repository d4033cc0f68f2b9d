//! Lists the tenants of a store, for its operator.

use jiff::Timestamp;

use crate::error::Result;
use crate::store::{Store, Tenant};

/// A tenant with its amounts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TenantStats {
    /// The tenant.
    pub tenant: Tenant,
    /// The number of senders.
    pub senders: u64,
    /// The number of conversations.
    pub conversations: u64,
    /// The number of messages.
    pub messages: u64,
    /// The time of the latest message.
    pub active: Option<Timestamp>,
}

impl Store {
    /// Lists all tenants of the store by name. Anybody who can read a file can list its tenants. On
    /// a server, row-level security hides tenants from each other: only a superuser or a role with
    /// `BYPASSRLS` can list them.
    ///
    /// # Errors
    /// [`StoreError::TenantsHidden`](crate::StoreError::TenantsHidden) on a server that shows this
    /// user one tenant at a time; otherwise when the store fails.
    pub async fn tenants(&self) -> Result<Vec<TenantStats>> {
        let mut tenants = Vec::new();
        for name in self.tenant_names().await? {
            let tenant: Tenant = name.parse()?;
            let store = self.for_tenant(tenant.clone());
            let count = "SELECT (SELECT count(DISTINCT sender) FROM scope WHERE tenant = $1), \
                         (SELECT count(*) FROM conversation WHERE tenant = $1), \
                         (SELECT count(*) FROM message WHERE tenant = $1), \
                         (SELECT max(active) FROM conversation WHERE tenant = $1)";
            let counted = store.read(async move |tx| tx.query_row(count, ()).await);
            let (senders, conversations, messages, active): (u64, u64, u64, _) = counted.await?;
            tenants.push(TenantStats {
                tenant,
                senders,
                conversations,
                messages,
                active,
            });
        }
        Ok(tenants)
    }

    /// Returns true if the tenant has any row. If not, its name may be mistyped.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn has_tenant(&self) -> Result<bool> {
        let sql = "SELECT 1 FROM tenant WHERE tenant = $1 \
                   UNION ALL SELECT 1 FROM fact WHERE tenant = $1 \
                   UNION ALL SELECT 1 FROM refusal WHERE tenant = $1 \
                   UNION ALL SELECT 1 FROM api_key WHERE tenant = $1 LIMIT 1";
        let found = self.read(async move |tx| tx.query_one::<i64>(sql, ()).await);
        Ok(found.await?.is_some())
    }
}

/// The names of all tenants, whoever asks for them: those with scopes, and those with facts, refusals or
/// keys alone.
pub(crate) const NAMES: &str = "SELECT tenant FROM tenant UNION SELECT tenant FROM fact \
                                UNION SELECT tenant FROM refusal \
                                UNION SELECT tenant FROM api_key ORDER BY tenant";
