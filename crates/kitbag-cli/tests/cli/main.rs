//! The binary as a person or a script meets it.

mod fit;
mod run;
mod tokens;
