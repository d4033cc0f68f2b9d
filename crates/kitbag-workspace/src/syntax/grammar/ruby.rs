//! Ruby's node kinds.

use super::{Role, Table};

pub(super) const TABLE: &Table = &[
    (Role::Function, "method singleton_method"),
    (Role::Type, "class module"),
    (Role::Scope, "singleton_class"),
    (Role::Value, "assignment"),
    (Role::Lambda, "do_block block lambda"),
    (Role::MaybeImport, "call"),
    (Role::Comment, "comment"),
    (
        Role::Block,
        "program body_statement block_body then else begin hash array argument_list string_array \
         symbol_array case",
    ),
    (Role::Clause, "do ensure"),
    (Role::Text, "string"),
    (Role::HereText, "heredoc_body"),
];
