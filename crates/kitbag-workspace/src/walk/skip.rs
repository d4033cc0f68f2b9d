//! The reasons to leave out a file, and the names that give them.
//!
//! Names that are real source in some projects (`build`, `dist`, `out`, `lib`, `external`, `*.d.ts`)
//! are deliberately absent: an ignore file is the place for those.

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::table::{Meanings, meanings, rows};

/// The reason to leave out a file or a folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[non_exhaustive]
pub enum SkipReason {
    /// A folder with code of other projects.
    Vendored,
    /// A folder that a tool fills and may delete.
    Cache,
    /// A list of resolved dependencies.
    LockFile,
    /// A text to be searched or computed with, not to be read.
    Data,
    /// Text packed for machines, or the map back to its source.
    Minified,
    /// A name that code generators give.
    Generated,
    /// An extension of a format that is no text.
    Binary,
    /// A name that stands for keys or passwords.
    Secrets,
    /// Larger than a context has use for.
    Huge {
        /// Its size in bytes.
        size: u64,
    },
    /// A link to a place inside the root, which is listed there.
    LinkInside {
        /// The path that it leads to, below the root.
        target: String,
    },
    /// A link that leaves the root; it is not followed.
    LinkOutside,
    /// A link that leads nowhere, or in a circle.
    DeadLink,
    /// A pipe, a socket or a device; it is never opened.
    NotAFile,
    /// A name that is no UTF-8.
    Name,
    /// The system would not say more.
    Unreadable {
        /// The system's message.
        message: String,
    },
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Vendored => f.write_str("code of other projects"),
            Self::Cache => f.write_str("made by a tool"),
            Self::LockFile => f.write_str("lock file"),
            Self::Data => f.write_str("data"),
            Self::Minified => f.write_str("minified"),
            Self::Generated => f.write_str("generated"),
            Self::Binary => f.write_str("no text"),
            Self::Secrets => f.write_str("may hold secrets"),
            Self::Huge { size } => write!(f, "too large ({size} bytes)"),
            Self::LinkInside { target } if target.is_empty() => f.write_str("link to the root"),
            Self::LinkInside { target } => write!(f, "link to {target}"),
            Self::LinkOutside => f.write_str("link out of the root"),
            Self::DeadLink => f.write_str("link that leads nowhere"),
            Self::NotAFile => f.write_str("neither a file nor a folder"),
            Self::Name => f.write_str("its name is no UTF-8"),
            Self::Unreadable { message } => write!(f, "unreadable: {message}"),
        }
    }
}

/// Folders that no context ever shows, and that are not reported as skipped.
pub(super) fn never_shown(name: &str) -> bool {
    matches!(
        name,
        ".git" | ".kitbag" | ".hg" | ".svn" | ".jj" | ".bzr" | ".sl" | "CVS" | "_darcs"
    )
}

/// The reason to skip a folder of this name, below a folder named `parent`.
pub(super) fn folder_by_name(name: &str, parent: &str) -> Option<SkipReason> {
    let front_end = "static assets public js css javascripts stylesheets";
    let is_vendored = match name {
        // A front end keeps foreign scripts next to its own.
        "vendor" | "vendors" => front_end.split(' ').any(|known| known == parent),
        "Checkouts" | "Build" => parent == "Carthage",
        // Bundler installs gems into the first, and keeps packed ones in the second.
        "bundle" | "cache" => parent == "vendor",
        _ => false,
    };
    let is_cache = name.ends_with(".egg-info") || name.ends_with(".dSYM");
    let by_shape = || is_cache.then_some(SkipReason::Cache);
    let vendored = is_vendored.then_some(SkipReason::Vendored);
    vendored
        .or_else(|| FOLDERS.get(name).cloned())
        .or_else(by_shape)
}

/// The reason to skip a folder named `name`, below one named `parent`, that holds `child`.
pub(super) fn folder_by_child(name: &str, parent: &str, child: &str) -> Option<SkipReason> {
    let vendored = match child {
        // One crate of a `cargo vendor` folder.
        ".cargo-checksum.json" => true,
        // Go with modules and before them, Composer.
        "modules.txt" | "github.com" | "golang.org" | "autoload.php" => name == "vendor",
        // A project with a licence of its own, where others are kept.
        _ if ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT"]
            .iter()
            .any(|l| child.starts_with(l)) =>
        {
            matches!(
                parent,
                "vendor" | "deps" | "extern" | "external" | "externals"
            )
        }
        _ => false,
    };
    vendored.then_some(SkipReason::Vendored)
}

/// The reason to skip a folder in which a tool left this mark.
pub(super) fn folder_by_mark(child: &str) -> Option<SkipReason> {
    match child {
        "pyvenv.cfg" => Some(SkipReason::Vendored),
        "CACHEDIR.TAG" => Some(SkipReason::Cache),
        _ => None,
    }
}

/// The reason to skip a file of this name.
pub(super) fn file_by_name(name: &str) -> Option<SkipReason> {
    // Before all tables: secrets are left out whatever else the name says.
    if is_environment(name) {
        return Some(SkipReason::Secrets);
    }
    if let Some(reason) = NAMES.get(name) {
        return Some(reason.clone());
    }
    let (stem, extension) = name.rsplit_once('.')?;
    let lower;
    let extension = if extension.bytes().any(|b| b.is_ascii_uppercase()) {
        lower = extension.to_ascii_lowercase();
        lower.as_str()
    } else {
        extension
    };
    if let Some(reason) = EXTENSIONS.get(extension) {
        return Some(reason.clone());
    }
    let is_packed = matches!(
        extension,
        "js" | "mjs" | "cjs" | "css" | "html" | "json" | "svg"
    ) && (stem.ends_with(".min") || stem.ends_with("-min"));
    if is_packed {
        return Some(SkipReason::Minified);
    }
    let mut endings = ENDINGS.get(extension)?.iter();
    let ending = endings.find(|(ending, _)| name.ends_with(ending));
    ending.map(|(_, reason)| reason.clone())
}

static FOLDERS: Meanings<SkipReason> = LazyLock::new(|| meanings(include_str!("skip/folders.txt")));
static NAMES: Meanings<SkipReason> = LazyLock::new(|| meanings(include_str!("skip/names.txt")));
/// In lower case.
static EXTENSIONS: Meanings<SkipReason> =
    LazyLock::new(|| meanings(include_str!("skip/extensions.txt")));
/// By extension, so that a file name is compared with a few endings and not with all.
static ENDINGS: LazyLock<HashMap<&str, Vec<(&str, SkipReason)>>> = LazyLock::new(|| {
    let mut endings: HashMap<_, Vec<_>> = HashMap::new();
    for (ending, reason) in rows(include_str!("skip/endings.txt")) {
        let extension = ending.rsplit('.').next().unwrap_or(ending);
        endings.entry(extension).or_default().push((ending, reason));
    }
    endings
});

/// `.env` and `.env.local`, but not `.env.example`.
fn is_environment(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(".env") else {
        return false;
    };
    let shown = [
        "example", "sample", "template", "dist", "defaults", "schema",
    ];
    match rest.chars().next() {
        None => true,
        Some('.' | '-' | '_') => !rest
            .split(['.', '-', '_'])
            .any(|part| shown.contains(&part)),
        Some(_) => rest == "rc",
    }
}
