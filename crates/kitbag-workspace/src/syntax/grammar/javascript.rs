//! The node kinds of JavaScript, JSX and TypeScript.

use super::{Role, Table};

pub(super) const TABLE: &Table = &[
    (
        Role::Function,
        "function_declaration generator_function_declaration method_definition",
    ),
    (Role::Type, "class_declaration class"),
    (
        Role::Value,
        "variable_declarator assignment_expression pair",
    ),
    (
        Role::Lambda,
        "arrow_function function_expression generator_function class_static_block",
    ),
    (Role::Import, "import_statement"),
    (Role::MaybeImport, "call_expression export_statement"),
    (Role::Comment, "comment"),
    (Role::Attribute, "decorator"),
    (
        Role::Block,
        "program statement_block class_body switch_body object array arguments",
    ),
    (Role::Clause, "switch_case switch_default"),
    (Role::Text, "string template_string"),
];

pub(super) const JSX: &Table = &[(Role::Markup, "jsx_element"), (Role::Text, "jsx_text")];

/// What JavaScript has and TypeScript names otherwise.
pub(super) const FIELDS: &Table = &[(Role::Value, "field_definition")];

pub(super) const TYPES: &Table = &[
    (
        Role::Function,
        "function_signature method_signature abstract_method_signature",
    ),
    (
        Role::Type,
        "abstract_class_declaration interface_declaration enum_declaration type_alias_declaration",
    ),
    (Role::Scope, "internal_module module"),
    (Role::Value, "public_field_definition"),
    (Role::Block, "interface_body enum_body object_type"),
];
