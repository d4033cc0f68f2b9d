//! The node kinds of C and C++.

use super::{Role, Table};

pub(super) const TABLE: &Table = &[
    (Role::Function, "function_definition"),
    (
        Role::Specifier,
        "struct_specifier union_specifier enum_specifier",
    ),
    (Role::Value, "declaration type_definition"),
    (Role::Macro, "preproc_function_def preproc_def"),
    (Role::Import, "preproc_include"),
    (Role::Comment, "comment"),
    (
        Role::Block,
        "translation_unit compound_statement declaration_list field_declaration_list \
         enumerator_list initializer_list preproc_if preproc_ifdef preproc_else preproc_elif \
         preproc_elifdef case_statement linkage_specification",
    ),
    (Role::Solid, "argument_list"),
    (Role::Text, "string_literal concatenated_string"),
];

pub(super) const CPP: &Table = &[
    (Role::Specifier, "class_specifier"),
    (Role::Scope, "namespace_definition"),
    (Role::Value, "alias_declaration concept_definition"),
    (Role::Lambda, "lambda_expression"),
    (Role::Text, "raw_string_literal"),
];
