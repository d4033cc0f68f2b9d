//! A folder that nothing read through it can leave.
//!
//! It resolves paths; the caller reads the files.

use std::path::{Component, Path, PathBuf};
use std::{fs, io};

/// A folder whose files are read by relative paths.
#[derive(Debug, Clone)]
pub(crate) struct Root {
    folder: PathBuf,
}

/// An error of resolving a path.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RootError {
    /// The path could lead elsewhere.
    #[error("`{path}` leads out of the documents' root: {reason}")]
    Outside { path: String, reason: &'static str },
    /// The file cannot be read.
    #[error("cannot read `{path}`: {source}")]
    Unreadable { path: String, source: io::Error },
    /// The folder has more than a prompt could ever show.
    #[error("`{path}` has more files or bytes than a document may have; name a folder inside it")]
    TooLarge { path: String },
}

impl RootError {
    /// Returns a function that turns an error of the system into one of this path.
    pub(crate) fn unreadable(path: impl ToString) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_string();
        |source| Self::Unreadable { path, source }
    }
}

impl Root {
    /// Opens a folder. It may itself be a link, but no link inside may lead out of it.
    pub(crate) fn open(folder: &Path) -> Result<Self, RootError> {
        let unreadable = RootError::unreadable(folder.display());
        let folder = fs::canonicalize(folder).map_err(unreadable)?;
        Ok(Self { folder })
    }

    /// The real path of a file or folder, with all links followed.
    pub(crate) fn resolve(&self, path: &str) -> Result<PathBuf, RootError> {
        let outside = |reason| RootError::Outside {
            path: path.chars().take(200).collect(),
            reason,
        };
        // Both spellings, since another program may decode `%2e%2e` after this check.
        for spelling in [path.to_owned(), percent_decoded(path)] {
            if let Some(reason) = reason_to_refuse(&spelling) {
                return Err(outside(reason));
            }
        }
        // The spelling alone proves nothing: a link inside the folder may lead anywhere.
        let found = fs::canonicalize(self.folder.join(path));
        let found = found.map_err(RootError::unreadable(path))?;
        match found.starts_with(&self.folder) {
            true => Ok(found),
            false => Err(outside("a link leads out of it")),
        }
    }

    /// The files of a folder and of those inside, in the order of their paths, without hidden ones
    /// and links; none if there are more than `most`.
    pub(crate) fn files(
        &self,
        folder: &str,
        most: usize,
    ) -> Result<Option<Vec<String>>, RootError> {
        let mut files = Vec::new();
        let mut folders = vec![folder.trim_end_matches('/').to_owned()];
        while let Some(folder) = folders.pop() {
            let unreadable = |error| RootError::unreadable(&folder)(error);
            for entry in fs::read_dir(self.resolve(&folder)?).map_err(unreadable)? {
                let entry = entry.map_err(unreadable)?;
                let name = entry.file_name();
                // A name that is not UTF-8 can neither be shown nor written in a configuration.
                let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else {
                    continue;
                };
                let path = format!("{folder}/{name}");
                let kind = entry.file_type().map_err(unreadable)?;
                if kind.is_dir() {
                    folders.push(path);
                } else if kind.is_file() {
                    files.push(path);
                }
                // Checked while walking, so that a huge folder does not hold up the reading of the project.
                if files.len() + folders.len() > most {
                    return Ok(None);
                }
            }
        }
        files.sort();
        Ok(Some(files))
    }
}

/// The reason to refuse a path by its spelling, if there is one.
fn reason_to_refuse(path: &str) -> Option<&'static str> {
    if path.contains('\0') {
        return Some("it has a NUL character");
    }
    if path.contains("://") {
        return Some("it is an address, not a path");
    }
    // A backslash separates folders on Windows, and a project must mean the same everywhere.
    let path = path.replace('\\', "/");
    let has_drive = path.chars().nth(1) == Some(':');
    for component in Path::new(&path).components() {
        match component {
            Component::ParentDir => return Some("`..` is not allowed"),
            Component::RootDir | Component::Prefix(_) => {
                return Some("it is absolute; give a path inside the root");
            }
            Component::CurDir | Component::Normal(_) => {}
        }
    }
    has_drive.then_some("it is absolute; give a path inside the root")
}

/// The path as a program would read it that takes it for a URL.
fn percent_decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, behind @ ..] = rest {
        let escaped = match (first, behind) {
            (b'%', [high, low, ..]) => std::str::from_utf8(&[*high, *low])
                .ok()
                .and_then(|digits| u8::from_str_radix(digits, 16).ok()),
            _ => None,
        };
        bytes.push(escaped.unwrap_or(*first));
        let length = if escaped.is_some() { 3 } else { 1 };
        rest = rest.get(length..).unwrap_or_default();
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c05_no_path_leads_out_of_the_root() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("secret.md"), "secret").unwrap();
        let inside = folder.path().join("docs");
        fs::create_dir_all(inside.join("sub")).unwrap();
        fs::write(inside.join("sub/a.md"), "a").unwrap();
        let root = Root::open(&inside).unwrap();
        assert!(root.resolve("sub/a.md").is_ok());
        assert!(root.resolve("./sub/./a.md").is_ok());
        for path in [
            "../secret.md",
            "sub/../../secret.md",
            "sub/..",
            "/etc/passwd",
            "..\\secret.md",
            "C:\\secret.md",
            "%2e%2e/secret.md",
            "..%2fsecret.md",
            "%2Fetc%2Fpasswd",
            "sub/%2e%2e/%2e%2e/secret.md",
            "a\0b",
            "%00",
            "file:///etc/passwd",
        ] {
            let error = root.resolve(path).unwrap_err();
            assert!(
                matches!(error, RootError::Outside { .. }),
                "{path}: {error}"
            );
        }
        assert!(matches!(
            root.resolve("missing.md").unwrap_err(),
            RootError::Unreadable { .. }
        ));
    }

    #[cfg(unix)]
    #[test]
    fn c05_a_link_stays_inside_too() {
        use std::os::unix::fs::symlink;

        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("secret.md"), "secret").unwrap();
        let inside = folder.path().join("docs");
        fs::create_dir(&inside).unwrap();
        fs::write(inside.join("a.md"), "a").unwrap();
        symlink(folder.path().join("secret.md"), inside.join("out.md")).unwrap();
        symlink(folder.path(), inside.join("up")).unwrap();
        symlink("a.md", inside.join("b.md")).unwrap();
        symlink("loop.md", inside.join("loop.md")).unwrap();
        let root = Root::open(&inside).unwrap();
        assert!(root.resolve("b.md").is_ok());
        assert!(root.resolve("out.md").is_err());
        assert!(root.resolve("up/secret.md").is_err());
        assert!(root.resolve("loop.md").is_err());
    }
}
