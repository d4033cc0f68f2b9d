//! The tenants of a database, for a user whom row-level security does not bind.

use super::Postgres;
use super::error::failed;
use crate::error::{Result, StoreError};
use crate::tenants::NAMES;

impl Postgres {
    /// The names of all tenants. All other work is done in a role that sees one tenant; this needs
    /// the connection's user to be exempt from row-level security.
    pub(crate) async fn tenants(&self) -> Result<Vec<String>> {
        let mut client = self.connection().await?;
        let sql = "SELECT current_user::text, rolsuper OR rolbypassrls \
                   FROM pg_roles WHERE rolname = current_user";
        let user = client.query_typed_one(sql, &[]).await.map_err(failed)?;
        // Under row-level security the list would be empty, which would pass for a store without
        // tenants.
        if !user.try_get::<_, bool>(1).map_err(failed)? {
            let user = user.try_get(0).map_err(failed)?;
            return Err(StoreError::TenantsHidden { user });
        }
        let transaction = client.build_transaction().read_only(true);
        let transaction = transaction.start().await.map_err(failed)?;
        let path = "SET LOCAL search_path TO kitbag";
        transaction.batch_execute(path).await.map_err(failed)?;
        let rows = transaction.query_typed(NAMES, &[]).await.map_err(failed)?;
        let names = rows.iter().map(|row| row.try_get(0).map_err(failed));
        names.collect()
    }
}
