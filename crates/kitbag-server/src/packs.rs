//! The folders that packs may be made of, and what is kept of them between packs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use kitbag::workspace::resident::Resident;
use tokio::sync::Semaphore;

use crate::refusal::Refusal;

/// The folders of a server. Without any, nothing can be packed.
#[derive(Debug)]
pub(crate) struct Packs {
    /// Without links, so that a path can be compared with them.
    roots: Vec<PathBuf>,
    residents: Mutex<BTreeMap<PathBuf, Arc<Resident>>>,
    /// A pack takes all of a processor for a while.
    pub(crate) at_once: Semaphore,
}

/// So many folders are kept in memory.
const MOST: usize = 8;

impl Packs {
    pub(crate) fn new(roots: Vec<PathBuf>) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, Into::into);
        Self {
            roots: roots
                .into_iter()
                .filter_map(|root| root.canonicalize().ok())
                .collect(),
            residents: Mutex::default(),
            at_once: Semaphore::new(processors),
        }
    }

    /// The folder that a request names: one of the roots, or one below them. A relative path is one below
    /// the first root, and no path is the first root itself. One outside looks as if it were not there.
    pub(crate) fn folder(&self, named: Option<&str>) -> Result<PathBuf, Refusal> {
        let Some(first) = self.roots.first() else {
            let what = "this server packs no folder";
            let hint = "`kitbag serve --root FOLDER`, or `server: {roots: [FOLDER]}`, names one";
            return Err(Refusal::missing(what).hint(hint));
        };
        let named = Path::new(named.unwrap_or(""));
        let folder = first.join(named).canonicalize();
        let folder = folder.ok().filter(|folder| folder.is_dir());
        let folder = folder.filter(|folder| self.roots.iter().any(|root| folder.starts_with(root)));
        folder.ok_or_else(|| {
            let named = named.display().to_string();
            let what = format!("there is no folder `{}`", named.escape_debug());
            Refusal::missing(what).hint("packs are made of the server's roots and what is below")
        })
    }

    /// The state that earlier packs left in memory of a folder.
    pub(crate) fn resident(&self, folder: &Path) -> Arc<Resident> {
        let mut residents = self
            .residents
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if residents.len() >= MOST && !residents.contains_key(folder) {
            residents.pop_first();
        }
        Arc::clone(residents.entry(folder.to_owned()).or_default())
    }
}

impl Default for Packs {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn nothing_outside_the_roots_is_a_folder() {
        let place = tempfile::tempdir().unwrap();
        let inside = place.path().join("code/app");
        let outside = place.path().join("private");
        fs::create_dir_all(&inside).unwrap();
        fs::create_dir_all(&outside).unwrap();
        fs::write(place.path().join("code/file"), "").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(&outside, inside.join("link")).unwrap();
        let packs = Packs::new(vec![place.path().join("code")]);
        for named in [
            None,
            Some(""),
            Some("app"),
            inside.to_str(),
            Some("app/../app"),
        ] {
            assert!(packs.folder(named).is_ok(), "{named:?}");
        }
        for named in [
            "..",
            "../private",
            "/etc",
            "app/link",
            "file",
            "gone",
            "a\0b",
            "%2e%2e",
        ] {
            let refused = packs.folder(Some(named)).unwrap_err();
            assert_eq!(refused.status, http::StatusCode::NOT_FOUND, "{named}");
        }
        assert!(packs.folder(outside.to_str()).is_err());
        assert!(Packs::default().folder(None).is_err());
    }
}
