//! Go's node kinds.

use super::{Role, Table};

pub(super) const TABLE: &Table = &[
    (Role::Function, "function_declaration method_declaration"),
    (Role::Type, "type_spec type_alias"),
    (Role::Value, "const_spec var_spec"),
    (Role::Lambda, "func_literal"),
    (Role::Import, "import_declaration"),
    (Role::Comment, "comment"),
    (
        Role::Block,
        "source_file block statement_list field_declaration_list interface_type literal_value \
         const_declaration var_declaration var_spec_list expression_switch_statement \
         type_switch_statement select_statement argument_list",
    ),
    (Role::Clause, "import_spec_list"),
    (Role::Text, "raw_string_literal"),
];
