//! The properties of a path that matter for finding secrets in its file.

/// The traits of a file that help to tell secrets from other values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct File {
    /// True if values have no quotes, as in YAML, shell and prose. In code such words are names.
    pub(super) bare: bool,
    /// True for a test, an example or a document, whose passwords are invented.
    pub(super) made_up: bool,
    /// True if it lists content hashes, which look like secrets.
    pub(super) lock: bool,
    /// Set for a configuration or a script, where a password that looks like a word is one.
    pub(super) config: bool,
    /// Set where a value without quotes goes on to the end of its line.
    pub(super) lines: bool,
    /// How it is written, where its name says that all its values are secret.
    pub(super) named: Option<SecretFile>,
}

/// The syntax of a file that is kept for its secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SecretFile {
    /// Names with values.
    Settings,
    /// Names with values, read by a shell.
    Env,
    /// Keys, in armour or as they are.
    Key,
    /// Logins as words alone.
    Netrc,
    Pgpass,
    Htpasswd,
    GitCredentials,
}

impl File {
    /// Judges the folders, the name and the extension, with either separator of paths.
    pub(super) fn of(path: &str) -> Self {
        let path = path.to_ascii_lowercase();
        let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        let parts = || path.split(['/', '\\', '.', '_', '-']);
        let made_up = DOCUMENTS.contains(&extension) || parts().any(|part| MADE_UP.contains(&part));
        let folders = path.strip_suffix(name).unwrap_or_default();
        let mut folders = folders.split(['/', '\\']);
        // What stands in a folder of settings is one of them, whatever its own name says.
        let is_configured = |name: &str| {
            let mut parts = name.split(['.', '_', '-']);
            parts.any(|part| CONFIGURE.contains(&part))
        };
        let is_below = folders.any(|folder| CONFIG_FOLDERS.contains(&folder));
        let is_config = CONFIGS.contains(&extension)
            || matches!(name, "config" | "containerfile" | "dockerfile")
            || matches!(extension, "json" | "xml") && (is_below || is_configured(name))
            || extension == "php" && is_below;
        Self {
            bare: !CODE.contains(&extension),
            made_up,
            lock: LOCKS.contains(&name) || matches!(extension, "lock" | "sum"),
            config: is_config && !made_up && !parts().any(|part| WORDED.contains(&part)),
            lines: matches!(extension, "yaml" | "yml" | "properties"),
            named: SecretFile::of(name, extension),
        }
    }
}

impl SecretFile {
    fn of(name: &str, extension: &str) -> Option<Self> {
        // First, since `example.com.key` is the key of a host.
        let is_ssh = !matches!(extension, "pub")
            && !CODE.contains(&extension)
            && SSH.iter().any(|ssh| {
                let rest = name.strip_prefix(ssh);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-', '_']))
            });
        let is_host = name.starts_with("ssh_host_") && name.ends_with("_key");
        if is_ssh || is_host || matches!(extension, "pem" | "key" | "ppk" | "p8") {
            return Some(Self::Key);
        }
        let mut parts = name.split(['.', '-', '_']);
        if parts.any(|part| SHOWN.contains(&part)) {
            return None;
        }
        let stem = name.split('.').next().unwrap_or_default();
        let is_env = name.strip_prefix(".env").is_some_and(|rest| {
            rest.is_empty() || rest == "rc" || rest.starts_with(['.', '-', '_'])
        });
        let is_kept = matches!(stem, "credentials" | "secrets") && FORMATS.contains(&extension)
            || stem.starts_with("client_secret") && extension == "json";
        match name {
            ".netrc" | "_netrc" | ".authinfo" => Some(Self::Netrc),
            ".pgpass" | "pgpass.conf" => Some(Self::Pgpass),
            ".htpasswd" => Some(Self::Htpasswd),
            ".git-credentials" => Some(Self::GitCredentials),
            _ if is_env || extension == "env" => Some(Self::Env),
            _ if is_kept || SETTINGS.contains(&name) => Some(Self::Settings),
            _ => None,
        }
    }
}

/// Returns true if a file is kept for its secrets by its name, such as `.env`, `.npmrc` and
/// `id_rsa`.
pub(super) fn is_secret(path: &str) -> bool {
    path.to_ascii_lowercase().ends_with(".kdbx") || File::of(path).named.is_some()
}

/// The beginnings of the names of SSH keys.
const SSH: &[&str] = &["id_dsa", "id_ecdsa", "id_ed25519", "id_rsa"];

/// Parts of a name that mark a template with values to fill in.
const SHOWN: &[&str] = &[
    "example", "sample", "template", "dist", "defaults", "schema",
];

/// Files with names and values.
#[rustfmt::skip]
const SETTINGS: &[&str] = &[
    ".boto", ".dev.vars", ".dockercfg", ".dockerconfigjson", ".my.cnf", ".npmrc", ".passwd-s3fs", ".pypirc", ".s3cfg",
    ".secret", ".secrets", ".smbcredentials", ".terraformrc", ".vault-pass", ".vault-password", ".vault_pass",
    ".vault_pass.txt", ".vault_password", "credentials", "rclone.conf", "terraform.rc",
];

/// The extensions of `credentials` and `secrets` that are not code.
const FORMATS: &[&str] = &["env", "ini", "json", "properties", "toml", "yaml", "yml"];

#[rustfmt::skip]
const CODE: &[&str] = &[
    "c", "cc", "cjs", "clj", "cpp", "cs", "css", "dart", "erl", "ex", "exs", "go", "graphql", "h", "hpp", "hs", "java",
    "jl", "js", "json", "jsx", "kt", "kts", "less", "lua", "m", "mjs", "ml", "mts", "php", "pl", "proto", "py", "pyi",
    "r", "rb", "rs", "scala", "scss", "sql", "svelte", "swift", "tf", "ts", "tsx", "vue", "zig",
];

/// The extensions of settings and scripts.
#[rustfmt::skip]
const CONFIGS: &[&str] = &[
    "bash", "cfg", "cnf", "conf", "config", "dockerfile", "env", "hcl", "ini", "properties", "sh", "tfvars", "toml",
    "yaml", "yml", "zsh",
];

/// Parts of a name that make JSON and XML settings.
const CONFIGURE: &[&str] = &[
    "appsettings",
    "application",
    "conf",
    "config",
    "settings",
    "web",
];

/// The folders in which files of any format are settings.
const CONFIG_FOLDERS: &[&str] = &[
    "conf",
    "conf.d",
    "config",
    "configs",
    "configuration",
    "settings",
];

/// Parts of a path below which values are words to be read by people.
#[rustfmt::skip]
const WORDED: &[&str] = &[
    "i18n", "l10n", "lang", "langs", "language", "languages", "locale", "locales", "messages", "translation",
    "translations",
];

const DOCUMENTS: &[&str] = &["adoc", "md", "mdx", "rst"];

#[rustfmt::skip]
const MADE_UP: &[&str] = &[
    "doc", "docs", "e2e", "example", "examples", "fixture", "fixtures", "mock", "mocks", "sample", "samples", "snapshots",
    "spec", "specs", "test", "testdata", "testing", "tests",
];

#[rustfmt::skip]
const LOCKS: &[&str] = &["npm-shrinkwrap.json", "package-lock.json", "packages.lock.json", "pnpm-lock.yaml"];
