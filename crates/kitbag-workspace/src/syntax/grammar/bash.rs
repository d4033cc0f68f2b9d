//! The node kinds of shell scripts.

use super::{Role, Table};

pub(super) const TABLE: &Table = &[
    (Role::Function, "function_definition"),
    (Role::Value, "variable_assignment"),
    (Role::MaybeImport, "command"),
    (Role::Comment, "comment"),
    (
        Role::Block,
        "program compound_statement do_group case_item case_statement array",
    ),
    (Role::Clause, "if_statement elif_clause else_clause"),
    (Role::Filled, "subshell"),
    (Role::Text, "string raw_string heredoc_body"),
];
