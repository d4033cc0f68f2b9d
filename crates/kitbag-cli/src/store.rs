//! The options that name a store, and opening it.
//!
//! Only commands that use memory need this module: the others never open the store, and run without
//! Tokio.

use std::env;
use std::future::Future;

use etcetera::BaseStrategy as _;
use kitbag::Engine;
use kitbag::layout::{MemorySettings, StatedFacts, StoredSecrets};
use kitbag::store::{FactsFromTalk, Location, Secrets, Store, StoreError, Tenant};

use crate::failure::Failure;
use crate::output;
use crate::project;

/// The place of memory, and its tenant.
#[derive(clap::Args, Clone)]
#[command(next_help_heading = "Memory")]
pub(crate) struct StoreArgs {
    /// Store of memory: a file or a postgresql:// address [default: memory.db in Kitbag's data folder]. In an
    /// address, `?pool_size=16&pool_wait=30s` sets the number of connections and the time to wait for one;
    /// `sslmode=verify-full&sslrootcert=FILE` encrypts them and verifies the server
    #[arg(
        long,
        global = true,
        value_name = "LOCATION",
        env = "KITBAG_STORE",
        hide_env_values = true
    )]
    store: Option<String>,
    /// Tenant of the store [default: main]
    #[arg(
        long,
        global = true,
        value_name = "NAME",
        env = "KITBAG_TENANT",
        hide_env_values = true
    )]
    tenant: Option<String>,
}

impl StoreArgs {
    /// Opens the store, and creates it if there is none.
    pub(crate) async fn open_or_make(&self) -> Result<Store, Failure> {
        self.open_at(&self.location()?).await
    }

    /// The same for an engine, with the settings of its project.
    pub(crate) async fn open_or_make_for(&self, engine: &Engine) -> Result<Store, Failure> {
        match engine.project() {
            Some(project) => self.open_or_make_following(&project.config.memory).await,
            None => self.open_or_make().await,
        }
    }

    /// The same with these settings of memory.
    pub(crate) async fn open_or_make_following(
        &self,
        settings: &MemorySettings,
    ) -> Result<Store, Failure> {
        Ok(following(&self.open_or_make().await?, settings))
    }

    /// Opens a store that must exist: a mistyped name should not look like an empty memory. Read access is
    /// enough.
    pub(crate) async fn open(&self) -> Result<Store, Failure> {
        self.open_existing(&self.location()?).await
    }

    /// Opens the store for a command that works without one. `None` if no store is named and none exists.
    pub(crate) async fn open_if_any(&self) -> Result<Option<Store>, Failure> {
        let location = self.location()?;
        match &location {
            // Only the default place may be missing. A store that somebody names must exist.
            Location::Sqlite(file) if !self.is_named() && !file.exists() => Ok(None),
            _ => self.open_existing(&location).await.map(Some),
        }
    }

    /// Opens another store that must exist, for the same tenant.
    pub(crate) async fn open_existing(&self, location: &Location) -> Result<Store, Failure> {
        let tenant = self.tenant()?;
        let store = Store::open_existing(location).await?.for_tenant(tenant);
        if let Some(name) = given(self.tenant.as_deref())
            // A tenant is only a name: a mistyped one looks like an empty memory.
            && !store.has_tenant().await?
        {
            let known = "`kitbag memory tenants` lists all";
            output::say(format_args!("note: there is no tenant `{name}`; {known}"));
        }
        Ok(as_configured(&store))
    }

    /// Opens or creates another store, for the same tenant.
    pub(crate) async fn open_at(&self, location: &Location) -> Result<Store, Failure> {
        let tenant = self.tenant()?;
        let store = Store::open(location).await?.for_tenant(tenant);
        Ok(as_configured(&store))
    }

    /// Tells whether a store is named.
    pub(crate) fn is_named(&self) -> bool {
        given(self.store.as_deref()).is_some()
    }

    fn tenant(&self) -> Result<Tenant, Failure> {
        Ok(self.named_tenant()?.unwrap_or_default())
    }

    /// The tenant, if one is named.
    pub(crate) fn named_tenant(&self) -> Result<Option<Tenant>, Failure> {
        let name = given(self.tenant.as_deref());
        name.map(|name| name.parse().map_err(wrong)).transpose()
    }

    /// Refuses `--store` for a command that names its stores in other arguments. A value of the environment is
    /// meant for the other commands.
    pub(crate) fn refuse_store(&self) -> Result<(), Failure> {
        // clap does not tell an option from its variable, so the values are compared.
        let by_habit = env::var("KITBAG_STORE").ok();
        match &self.store {
            Some(store) if by_habit.as_ref() != Some(store) => Err(Failure::usage(
                "`--store` has no effect here: the two arguments name the stores",
            )
            .hint("leave it out")),
            _ => Ok(()),
        }
    }

    pub(crate) fn location(&self) -> Result<Location, Failure> {
        if let Some(location) = given(self.store.as_deref()) {
            return location.parse().map_err(wrong);
        }
        let folders = etcetera::choose_base_strategy().map_err(|error| {
            Failure::new(format_args!("this system has no data folder: {error}"))
                .hint("name a file with `--store` or in KITBAG_STORE")
        })?;
        let file = folders.data_dir().join("kitbag").join("memory.db");
        Ok(Location::Sqlite(file))
    }
}

/// The store with the settings of `memory` in the kitbag.yaml of this folder.
fn as_configured(store: &Store) -> Store {
    following(store, &project::memory_settings())
}

/// The store with the memory settings of a project.
pub(crate) fn following(store: &Store, settings: &MemorySettings) -> Store {
    let secrets = match settings.secrets {
        Some(StoredSecrets::Keep) => Secrets::Keep,
        // Without a setting the careful choice holds: secrets are masked.
        _ => Secrets::Mask,
    };
    let facts = match settings.facts {
        Some(StatedFacts::Off) => FactsFromTalk::Ignore,
        _ => FactsFromTalk::Draw,
    };
    store.with_secrets(secrets).with_facts_from_talk(facts)
}

/// The given value. An empty variable counts as unset.
fn given(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.is_empty())
}

/// Runs work that needs the store, on a runtime of its own.
pub(crate) fn run<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format_args!("cannot start: {error}")))?
        .block_on(work)
}

impl From<StoreError> for Failure {
    /// A failure of the store, with its hint.
    fn from(error: StoreError) -> Self {
        hinted(Self::new(&error), &error)
    }
}

/// The failure of a value that the store refuses, which is a mistake in the arguments.
#[expect(clippy::needless_pass_by_value, reason = "maps an error")]
pub(crate) fn wrong(error: StoreError) -> Failure {
    hinted(Failure::usage(&error), &error)
}

fn hinted(failure: Failure, error: &StoreError) -> Failure {
    let hint = match error {
        StoreError::NoStore { .. } => Some(
            "`kitbag memory import` and `kitbag ask` create one; `--store` or KITBAG_STORE names another",
        ),
        StoreError::Missing {
            what: "conversation",
            ..
        } => Some("`kitbag memory history` lists conversations"),
        StoreError::Missing {
            what: "message" | "turn",
            ..
        } => Some("`kitbag memory history ID` lists the messages and turns of a conversation"),
        _ => error.hint(),
    };
    failure.hint_if(hint)
}
