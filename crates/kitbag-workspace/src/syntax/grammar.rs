//! The meaning of the node kinds of each grammar. The tables stand in one file per language; languages of
//! a family share one.

use std::sync::LazyLock;

use serde::Deserialize;

use super::imports::Importer;
use crate::language::Language;
use crate::table;

/// The part that a node plays for units and outlines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) enum Role {
    /// Nothing in itself; something may stand inside.
    Other,
    /// A list of statements, members or entries: a cut may stand between its children, and some
    /// of them can be left out.
    Block,
    /// A list that may not become empty: the first of its members stays.
    Filled,
    /// A list in which a cut may stand, but of which nothing can be left out: arguments where no
    /// comma may stand behind the last one, an expression that is a body.
    Solid,
    /// The arguments of a macro: signs of any kind.
    Tokens,
    /// Markup: a comment in it stands in braces.
    Markup,
    /// A node that holds statements without being a list for an outline: a branch of a condition.
    Clause,
    /// A function or method; without a body it is only a definition.
    Function,
    /// A class, struct, enum, trait, interface.
    Type,
    /// A type if it has a body, the mention of one if not.
    Specifier,
    /// A namespace or module: its members matter, not itself.
    Scope,
    /// A constant, variable, field or entry: it is what its value is.
    Value,
    /// A macro of the preprocessor.
    Macro,
    /// A function without a name.
    Lambda,
    /// An import.
    Import,
    /// A possible import: a call of `require`, an export from elsewhere.
    MaybeImport,
    /// A comment.
    Comment,
    /// An attribute or decorator that stands before what it belongs to.
    Attribute,
    /// A string or other leaf that may span lines.
    Text,
    /// The text of a here-document, which comes after the statement that announces it, on lines of its own.
    HereText,
    /// A word or sign of the language.
    Sign,
    /// A sign that parts or ends what stands in a list.
    Separator,
}

impl Role {
    /// Tells if a cut may stand between its children.
    pub(super) const fn is_list(self) -> bool {
        self.is_block() || matches!(self, Self::Clause)
    }

    /// Tells if its children are read as statements, members or entries.
    pub(super) const fn is_block(self) -> bool {
        matches!(
            self,
            Self::Block | Self::Filled | Self::Solid | Self::Tokens | Self::Markup
        )
    }
}

/// A grammar and the roles of its nodes.
pub(super) struct Grammar {
    pub(super) language: tree_sitter::Language,
    pub(super) importer: Importer,
    /// By the id of the node's kind.
    roles: Vec<Role>,
}

impl Grammar {
    fn new(
        language: impl Into<tree_sitter::Language>,
        importer: Importer,
        tables: &[&'static str],
    ) -> Self {
        let language = language.into();
        let kinds = 0..u16::try_from(language.node_kind_count()).unwrap_or(u16::MAX);
        let mut roles: Vec<Role> = kinds
            .map(|kind| match language.node_kind_for_id(kind) {
                _ if language.node_kind_is_named(kind) => Role::Other,
                Some("," | ";" | "\n" | "&") => Role::Separator,
                _ => Role::Sign,
            })
            .collect();
        // A later table overrides an earlier one: that of C++ comes after that of C.
        for (kind, role) in tables.iter().copied().flat_map(table::rows) {
            let id = language.id_for_node_kind(kind, true);
            // A grammar may rename a node kind in an update; tests then fail here.
            debug_assert!(id != 0, "the grammar has no node kind `{kind}`");
            if let Some(slot) = roles.get_mut(usize::from(id)) {
                *slot = role;
            }
        }
        Self {
            language,
            importer,
            roles,
        }
    }

    /// Tells if something with this role is read where it stands in a function; a possible
    /// import is found by its words, except where any command may be one.
    pub(super) const fn counts_in_functions(&self, role: Role) -> bool {
        match role {
            Role::Function
            | Role::Type
            | Role::Specifier
            | Role::Scope
            | Role::Macro
            | Role::Lambda
            | Role::Import => true,
            Role::MaybeImport => matches!(self.importer, Importer::Bash),
            // Their properties can be computed.
            Role::Value => matches!(
                self.importer,
                Importer::Dotted | Importer::CSharp | Importer::Php
            ),
            _ => false,
        }
    }

    /// The role of a node.
    pub(super) fn role(&self, node: tree_sitter::Node<'_>) -> Role {
        self.roles
            .get(usize::from(node.kind_id()))
            .copied()
            // Only what could not be parsed has a kind that is in no table.
            .unwrap_or(Role::Block)
    }
}

/// The grammar of a language; none where the structure is read without one.
pub(super) fn of(language: Language) -> Option<&'static Grammar> {
    macro_rules! grammar {
        ($grammar:path, $importer:ident, $($table:literal)+) => {{
            static GRAMMAR: LazyLock<Grammar> = LazyLock::new(|| {
                let tables = [$(include_str!(concat!("grammar/", $table, ".txt"))),+];
                Grammar::new($grammar, Importer::$importer, &tables)
            });
            Some(&*GRAMMAR)
        }};
    }
    match language {
        Language::Rust => grammar!(tree_sitter_rust::LANGUAGE, Rust, "rust"),
        Language::Python => grammar!(tree_sitter_python::LANGUAGE, Python, "python"),
        Language::JavaScript => {
            grammar!(tree_sitter_javascript::LANGUAGE, JavaScript, "ecmascript" "jsx" "javascript")
        }
        Language::TypeScript => {
            grammar!(tree_sitter_typescript::LANGUAGE_TYPESCRIPT, JavaScript, "ecmascript" "typescript")
        }
        Language::Tsx => {
            grammar!(tree_sitter_typescript::LANGUAGE_TSX, JavaScript, "ecmascript" "jsx" "typescript")
        }
        Language::Go => grammar!(tree_sitter_go::LANGUAGE, Go, "go"),
        Language::Java => grammar!(tree_sitter_java::LANGUAGE, Dotted, "java"),
        Language::C => grammar!(tree_sitter_c::LANGUAGE, C, "c"),
        Language::Cpp => grammar!(tree_sitter_cpp::LANGUAGE, C, "c" "cpp"),
        Language::CSharp => grammar!(tree_sitter_c_sharp::LANGUAGE, CSharp, "csharp"),
        Language::Ruby => grammar!(tree_sitter_ruby::LANGUAGE, Ruby, "ruby"),
        Language::Php => grammar!(tree_sitter_php::LANGUAGE_PHP, Php, "php"),
        Language::Bash => grammar!(tree_sitter_bash::LANGUAGE, Bash, "bash"),
        Language::Kotlin => grammar!(tree_sitter_kotlin_ng::LANGUAGE, Dotted, "kotlin"),
        Language::Swift => grammar!(tree_sitter_swift::LANGUAGE, Dotted, "swift"),
        Language::Scala => grammar!(tree_sitter_scala::LANGUAGE, Dotted, "scala"),
        Language::Lua => grammar!(tree_sitter_lua::LANGUAGE, Lua, "lua"),
        Language::Markdown => None,
    }
}
