//! Java's node kinds.

use super::{Role, Table};

pub(super) const TABLE: &Table = &[
    (
        Role::Function,
        "method_declaration constructor_declaration compact_constructor_declaration",
    ),
    (
        Role::Type,
        "class_declaration interface_declaration enum_declaration record_declaration \
         annotation_type_declaration",
    ),
    (Role::Value, "field_declaration constant_declaration"),
    (Role::Lambda, "lambda_expression static_initializer"),
    (Role::Import, "import_declaration"),
    (Role::Comment, "line_comment block_comment"),
    (
        Role::Block,
        "program block class_body interface_body enum_body enum_body_declarations constructor_body \
         switch_block switch_block_statement_group annotation_type_body array_initializer",
    ),
    (Role::Solid, "argument_list"),
    (Role::Text, "string_literal"),
];
