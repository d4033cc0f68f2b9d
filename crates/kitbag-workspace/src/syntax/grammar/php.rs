//! PHP's node kinds.

use super::{Role, Table};

pub(super) const TABLE: &Table = &[
    (Role::Function, "function_definition method_declaration"),
    (
        Role::Type,
        "class_declaration interface_declaration trait_declaration enum_declaration anonymous_class",
    ),
    (Role::Scope, "namespace_definition"),
    (
        Role::Value,
        "const_declaration property_declaration assignment_expression array_element_initializer",
    ),
    (Role::Lambda, "anonymous_function arrow_function"),
    (
        Role::Import,
        "namespace_use_declaration include_expression include_once_expression require_expression \
         require_once_expression",
    ),
    (Role::Sign, "php_tag"),
    (Role::Comment, "comment"),
    (Role::Attribute, "attribute_list"),
    (
        Role::Block,
        "program compound_statement declaration_list enum_declaration_list switch_block match_block \
         array_creation_expression arguments colon_block case_statement",
    ),
    (Role::Text, "heredoc nowdoc string encapsed_string"),
];
