//! One file for each command, named as it is typed.

pub(crate) mod fit;
pub(crate) mod tokens;
