//! The code bases that are packed, fetched once into the target folder.
//!
//! They come by the tools of their distributors, which know from where.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::command::{announce_and_run, git, only_file_in, program};

const DJANGO: &str = "django==5.1";
const LINUX: &str = "linux-source-6.1";

/// Django's source as a git repository with one commit.
pub(in crate::bench) fn django(folder: &Path) -> Result<PathBuf> {
    let tree = once(&folder.join("django"), |tree| {
        let packages = empty(folder.join("django-package"))?;
        // Only Django itself as source: what prepares its package may come built.
        let mut pip = program("python3");
        pip.args(["-m", "pip", "download", "--quiet", "--no-deps"]);
        pip.args(["--no-binary", "django", DJANGO, "--dest"]);
        announce_and_run("django", pip.arg(&packages))?;
        unpack(&only_file_in(&packages)?, tree)?;
        commit_all(tree)
    })?;
    clean(&tree)?;
    Ok(tree)
}

/// Removes what programs left in a repository, such as their caches.
pub(super) fn clean(tree: &Path) -> Result<()> {
    // The second `f` removes nested repositories too.
    announce_and_run("git", git(tree).args(["clean", "-ffdx", "--quiet"]))
}

/// The kernel as its package has it, as a git repository with one commit. The package's `.gitignore`
/// ignores everything but one folder, though every file is tracked.
pub(super) fn linux_repository(folder: &Path) -> Result<PathBuf> {
    once(&folder.join("linux"), |tree| {
        let packages = empty(folder.join("linux-package"))?;
        let mut download = program("apt-get");
        download.args(["download", "--quiet", LINUX]);
        announce_and_run("linux", download.current_dir(&packages))?;
        let (package, unpacked) = (only_file_in(&packages)?, packages.join("unpacked"));
        let mut extract = program("dpkg-deb");
        announce_and_run(
            "linux",
            extract.arg("--extract").args([&package, &unpacked]),
        )?;
        unpack(&unpacked.join(format!("usr/src/{LINUX}.tar.xz")), tree)?;
        commit_all(tree)?;
        fs::remove_dir_all(packages).context("removing the package")
    })
}

/// The same files without that `.gitignore` and without git. They are the same on the disk too, so that
/// both fit into memory.
pub(super) fn linux_plain(folder: &Path, repository: &Path) -> Result<PathBuf> {
    once(&folder.join("linux-plain"), |tree| {
        fs::create_dir(tree)?;
        for entry in fs::read_dir(repository)? {
            let entry = entry?;
            if entry.file_name() != ".git" && entry.file_name() != ".gitignore" {
                let mut copy = program("cp");
                let copied = copy.arg("-al").arg(entry.path()).arg(tree).status()?;
                if !copied.success() {
                    bail!("could not link {}", entry.path().display());
                }
            }
        }
        // A new link changes what git remembers of a file: it would read them all again each time.
        let refresh = ["update-index", "-q", "--refresh"];
        announce_and_run("git", git(repository).args(refresh))
    })
}

/// Makes a folder under another name and names it when it is complete, unless it is there already.
fn once(folder: &Path, make: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
    if !folder.exists() {
        let part = folder.with_extension("part");
        if part.exists() {
            fs::remove_dir_all(&part)?;
        }
        make(&part)?;
        fs::rename(&part, folder)?;
    }
    Ok(folder.to_path_buf())
}

fn empty(folder: PathBuf) -> Result<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// The archive's contents without its outermost folder.
fn unpack(archive: &Path, into: &Path) -> Result<()> {
    fs::create_dir(into)?;
    let mut tar = program("tar");
    tar.args(["--extract", "--file"]).arg(archive);
    tar.args(["--strip-components", "1", "--directory"]);
    announce_and_run("unpack", tar.arg(into))
}

fn commit_all(tree: &Path) -> Result<()> {
    let author = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"];
    // Git would tidy up in the background, while the measurements run.
    let settings = ["-c", "gc.auto=0", "-c", "maintenance.auto=false"];
    let steps: [&[&str]; 4] = [
        &["init", "--quiet"],
        &["add", "--force", "--all"],
        &["commit", "--quiet", "--message", "as it was released"],
        &["gc", "--quiet"],
    ];
    for step in steps {
        announce_and_run("git", git(tree).args(author).args(settings).args(step))?;
    }
    Ok(())
}
