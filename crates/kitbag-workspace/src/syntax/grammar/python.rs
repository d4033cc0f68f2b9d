//! Python's node kinds.

use super::{Role, Table};

pub(super) const TABLE: &Table = &[
    (Role::Function, "function_definition"),
    (Role::Type, "class_definition"),
    (Role::Value, "assignment type_alias_statement"),
    (
        Role::Import,
        "import_statement import_from_statement future_import_statement",
    ),
    (Role::Comment, "comment"),
    (Role::Attribute, "decorator"),
    (
        Role::Block,
        "module block dictionary list tuple set argument_list",
    ),
    (Role::Text, "string concatenated_string"),
];
