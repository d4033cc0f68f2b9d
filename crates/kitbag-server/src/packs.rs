//! The folders that packs may be made of, and what is kept of them between packs.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use kitbag::workspace::resident::Resident;
use tokio::sync::Semaphore;
use tokio::task::JoinError;

use crate::refusal::Refusal;

/// The folders of a server. Without any, nothing can be packed.
#[derive(Debug)]
pub(crate) struct Packs {
    /// Without links, so that a path can be compared with them.
    roots: Vec<PathBuf>,
    /// The folder that was packed last is the last.
    residents: Mutex<Vec<(PathBuf, Arc<Resident>)>>,
    /// A pack takes all of a processor for a while.
    at_once: Arc<Semaphore>,
}

/// The most folders to keep in memory.
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
            at_once: Arc::new(Semaphore::new(processors)),
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
        let known = residents.iter().position(|(known, _)| known == folder);
        let resident = match known {
            Some(place) => residents.remove(place).1,
            None => Arc::default(),
        };
        if residents.len() >= MOST {
            residents.remove(0);
        }
        residents.push((folder.to_owned(), Arc::clone(&resident)));
        resident
    }

    /// Runs the work of a pack when it is its turn. It goes on when nobody waits for it any more, and keeps its turn
    /// until it ends: clients that leave would else start as many as they like.
    pub(crate) async fn in_turn<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, JoinError> {
        let at_once = Arc::clone(&self.at_once);
        let turn = at_once.acquire_owned().await;
        let work = async move {
            let done = work.await;
            drop(turn);
            done
        };
        tokio::spawn(work).await
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

    #[tokio::test]
    async fn work_that_nobody_waits_for_keeps_its_turn() {
        let packs = Packs::default();
        let turns = packs.at_once.available_permits();
        let (end, ended) = tokio::sync::oneshot::channel::<()>();
        let mut left = Box::pin(packs.in_turn(async move { drop(ended.await) }));
        assert!(futures_util::poll!(&mut left).is_pending());
        drop(left);
        assert_eq!(packs.at_once.available_permits(), turns - 1);
        end.send(()).unwrap();
        while packs.at_once.available_permits() < turns {
            tokio::task::yield_now().await;
        }
    }

    #[test]
    fn the_folder_that_was_packed_longest_ago_goes_first() {
        let packs = Packs::default();
        let first = packs.resident(Path::new("z"));
        for name in 0..MOST {
            packs.resident(Path::new(&name.to_string()));
            if name == 3 {
                assert!(Arc::ptr_eq(&first, &packs.resident(Path::new("z"))));
            }
        }
        assert!(Arc::ptr_eq(&first, &packs.resident(Path::new("z"))));
    }

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
