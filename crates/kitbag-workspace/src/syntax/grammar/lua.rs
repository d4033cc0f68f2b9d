//! Lua's node kinds.

use super::{Role, Table};

pub(super) const TABLE: &Table = &[
    (Role::Function, "function_declaration"),
    (Role::Value, "assignment_statement field"),
    (Role::Lambda, "function_definition"),
    (Role::MaybeImport, "function_call"),
    (Role::Comment, "comment"),
    (Role::Block, "chunk block table_constructor"),
    (Role::Solid, "arguments"),
    (Role::Text, "string"),
];
