//! Swift's node kinds.

use super::{Role, Table};

pub(super) const TABLE: &Table = &[
    (
        Role::Function,
        "function_declaration init_declaration deinit_declaration subscript_declaration \
         protocol_function_declaration",
    ),
    (Role::Type, "class_declaration protocol_declaration"),
    (
        Role::Value,
        "property_declaration typealias_declaration associatedtype_declaration",
    ),
    (Role::Lambda, "lambda_literal"),
    (Role::Import, "import_declaration"),
    (Role::Comment, "comment multiline_comment"),
    (
        Role::Block,
        "source_file function_body statements class_body enum_class_body protocol_body \
         computed_property array_literal dictionary_literal value_arguments switch_statement",
    ),
    (Role::Filled, "switch_entry"),
    (
        Role::Text,
        "line_string_literal multi_line_string_literal raw_string_literal",
    ),
];
