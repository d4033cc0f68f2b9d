//! The node kinds of C#.

use super::{Role, Table};

pub(super) const TABLE: &Table = &[
    (
        Role::Function,
        "method_declaration constructor_declaration destructor_declaration operator_declaration \
         conversion_operator_declaration local_function_statement",
    ),
    (
        Role::Type,
        "class_declaration interface_declaration struct_declaration record_declaration \
         enum_declaration delegate_declaration",
    ),
    (
        Role::Scope,
        "namespace_declaration file_scoped_namespace_declaration",
    ),
    (
        Role::Value,
        "property_declaration indexer_declaration variable_declarator",
    ),
    (
        Role::Lambda,
        "lambda_expression anonymous_method_expression",
    ),
    (Role::Import, "using_directive"),
    (Role::Comment, "comment"),
    (Role::Attribute, "attribute_list"),
    (
        Role::Block,
        "compilation_unit block declaration_list enum_member_declaration_list accessor_list \
         switch_body switch_section initializer_expression preproc_if preproc_else preproc_elif",
    ),
    (Role::Solid, "argument_list"),
    (
        Role::Text,
        "string_literal raw_string_literal verbatim_string_literal",
    ),
];
