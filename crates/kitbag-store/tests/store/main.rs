//! What both databases must do alike. Each test runs on SQLite in a temporary folder and on the
//! PostgreSQL server of `cargo xtask test`, as a tenant of its own.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests are test code"
)]

mod altered;
mod apart;
mod backup;
mod closing;
mod crash;
mod edited;
mod extensions;
mod facts;
#[cfg(unix)]
mod faults;
mod filters;
mod forgetting;
mod forgotten_prompts;
mod judge;
mod keys;
mod leases;
#[cfg(feature = "embeddings")]
mod meaning;
mod mended;
mod messages;
mod migrate;
mod place;
mod plans;
mod policies;
#[cfg(unix)]
mod pool;
mod prompts;
mod race;
mod random;
mod recall;
mod refusals;
mod remembered;
mod repair;
#[cfg(unix)]
mod restart;
mod secrets;
mod selected;
#[cfg(unix)]
mod server;
mod shared_texts;
mod splices;
mod statements;
#[cfg(unix)]
mod tls;
mod turns;
mod work;

/// Makes of each `async fn name(store: Store)` two tests, `name::sqlite` and `name::postgres`.
macro_rules! on_both {
    ($($name:ident)*) => {$(
        mod $name {
            #[test]
            fn sqlite() {
                crate::place::on_sqlite(super::$name);
            }

            #[test]
            #[ignore = "needs PostgreSQL: cargo xtask test"]
            fn postgres() {
                crate::place::on_postgres(super::$name);
            }
        }
    )*};
}
pub(crate) use on_both;

/// The same for an `async fn name(first: Store, other: Store)`: two nodes on one database.
macro_rules! on_two {
    ($($name:ident)*) => {$(
        mod $name {
            #[test]
            fn sqlite() {
                crate::place::two_on_sqlite(super::$name);
            }

            #[test]
            #[ignore = "needs PostgreSQL: cargo xtask test"]
            fn postgres() {
                crate::place::two_on_postgres(super::$name);
            }
        }
    )*};
}
pub(crate) use on_two;
