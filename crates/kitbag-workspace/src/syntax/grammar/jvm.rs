//! The node kinds of Kotlin and Scala.

use super::{Role, Table};

pub(super) const KOTLIN: &Table = &[
    (Role::Function, "function_declaration secondary_constructor"),
    (
        Role::Type,
        "class_declaration object_declaration companion_object",
    ),
    (Role::Value, "property_declaration type_alias"),
    (
        Role::Lambda,
        "lambda_literal anonymous_function anonymous_initializer",
    ),
    (Role::Import, "import"),
    (Role::Comment, "line_comment block_comment"),
    (
        Role::Block,
        "source_file block class_body enum_class_body value_arguments \
         when_expression collection_literal",
    ),
    (Role::Solid, "function_body"),
    (Role::Text, "string_literal multiline_string_literal"),
];

pub(super) const SCALA: &Table = &[
    (Role::Function, "function_definition function_declaration"),
    (
        Role::Type,
        "class_definition object_definition trait_definition enum_definition package_object \
         given_definition",
    ),
    (Role::Scope, "package_clause"),
    (
        Role::Value,
        "val_definition var_definition val_declaration var_declaration type_definition",
    ),
    (Role::Lambda, "lambda_expression"),
    (Role::Import, "import_declaration export_declaration"),
    (Role::Comment, "comment block_comment"),
    (Role::Attribute, "annotation"),
    (
        Role::Block,
        "compilation_unit template_body block case_block enum_body \
         arguments extension_definition",
    ),
    (Role::Filled, "indented_block indented_cases"),
    (Role::Text, "string interpolated_string"),
];
