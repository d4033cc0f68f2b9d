//! What both databases must do alike. Each test runs on SQLite in a temporary folder and on the
//! PostgreSQL server of `cargo xtask test`, as a tenant of its own.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests are test code"
)]

mod context;
mod facts;
mod forgetting;
mod place;
mod prompts;
mod recall;
mod turns;

/// Makes of each `async fn name(store: Store)` two tests, `name::sqlite` and `name::postgres`.
macro_rules! on_both {
    ($($name:ident)*) => {$(
        mod $name {
            #[test]
            fn sqlite() {
                crate::place::on_sqlite(super::$name);
            }

            #[test]
            fn postgres() {
                crate::place::on_postgres(super::$name);
            }
        }
    )*};
}
pub(crate) use on_both;
