//! What a path says about the text in a file.

/// What matters about a file for telling secrets from other values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct File {
    /// Whether values stand without quotes, as in YAML, shell and prose; in code those are names.
    pub(super) bare: bool,
    /// Whether it is a test, an example or a document, whose passwords are made up.
    pub(super) made_up: bool,
    /// Whether it holds logins as words alone.
    pub(super) netrc: bool,
    /// Whether it lists content hashes.
    pub(super) lock: bool,
}

impl File {
    /// Looks at the folders, the name and its extension, in either way of writing paths.
    pub(super) fn of(path: &str) -> Self {
        let path = path.to_ascii_lowercase();
        let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        let mut parts = path.split(['/', '\\', '.', '_', '-']);
        Self {
            bare: !CODE.contains(&extension),
            made_up: DOCUMENTS.contains(&extension) || parts.any(|part| MADE_UP.contains(&part)),
            netrc: matches!(name, ".netrc" | "_netrc" | ".authinfo"),
            lock: LOCKS.contains(&name) || matches!(extension, "lock" | "sum"),
        }
    }
}

#[rustfmt::skip]
const CODE: &[&str] = &[
    "c", "cc", "cjs", "clj", "cpp", "cs", "css", "dart", "erl", "ex", "exs", "go", "graphql", "h", "hpp", "hs", "java",
    "jl", "js", "json", "jsx", "kt", "kts", "less", "lua", "m", "mjs", "ml", "mts", "php", "pl", "proto", "py", "pyi",
    "r", "rb", "rs", "scala", "scss", "sql", "svelte", "swift", "tf", "ts", "tsx", "vue", "zig",
];

const DOCUMENTS: &[&str] = &["adoc", "md", "mdx", "rst"];

#[rustfmt::skip]
const MADE_UP: &[&str] = &[
    "doc", "docs", "e2e", "example", "examples", "fixture", "fixtures", "mock", "mocks", "sample", "samples", "snapshots",
    "spec", "specs", "test", "testdata", "testing", "tests",
];

const LOCKS: &[&str] = &[
    "npm-shrinkwrap.json",
    "package-lock.json",
    "packages.lock.json",
    "pnpm-lock.yaml",
];
