//! Rust's node kinds.

use super::{Role, Table};

pub(super) const TABLE: &Table = &[
    (Role::Function, "function_item function_signature_item"),
    (
        Role::Type,
        "struct_item enum_item union_item trait_item impl_item",
    ),
    (Role::Scope, "mod_item foreign_mod_item"),
    (Role::Value, "const_item static_item type_item"),
    (Role::Macro, "macro_definition"),
    (Role::Import, "use_declaration extern_crate_declaration"),
    (Role::Comment, "line_comment block_comment"),
    (Role::Attribute, "attribute_item inner_attribute_item"),
    (
        Role::Block,
        "source_file block declaration_list field_declaration_list enum_variant_list match_block \
         array_expression field_initializer_list use_list",
    ),
    (Role::Tokens, "token_tree"),
    (Role::Text, "string_literal raw_string_literal"),
];
