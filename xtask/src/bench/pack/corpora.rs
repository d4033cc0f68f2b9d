//! The code bases that are packed, fetched once into the target folder.
//!
//! They come by the tools of their distributors, which know from where.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::command::{announce_and_run, program};

const DJANGO: &str = "django==5.1";
const LINUX: &str = "linux-source-6.1";

/// Django's source as a git repository with one commit.
pub(super) fn django(folder: &Path) -> Result<PathBuf> {
    let tree = once(&folder.join("django"), |tree| {
        let packages = empty(folder.join("django-package"))?;
        // Only Django itself as source: what prepares its package may come built.
        announce_and_run(
            "django",
            program("python3")
                .args(["-m", "pip", "download", "--quiet", "--no-deps"])
                .args(["--no-binary", "django", DJANGO, "--dest"])
                .arg(&packages),
        )?;
        unpack(&only_file_in(&packages)?, tree)?;
        commit_all(tree)
    })?;
    clean(&tree)?;
    Ok(tree)
}

/// Removes what programs left in a repository, such as their caches.
pub(super) fn clean(tree: &Path) -> Result<()> {
    let mut git = program("git");
    git.arg("-C").arg(tree);
    announce_and_run("git", git.args(["clean", "-ffdx", "--quiet"]))
}

/// The kernel as its package has it, as a git repository with one commit. The package's `.gitignore`
/// ignores everything but one folder, though every file is tracked.
pub(super) fn linux_repository(folder: &Path) -> Result<PathBuf> {
    once(&folder.join("linux"), |tree| {
        let packages = empty(folder.join("linux-package"))?;
        let mut download = Command::new("apt-get");
        announce_and_run(
            "linux",
            download
                .args(["download", "--quiet", LINUX])
                .current_dir(&packages),
        )?;
        let package = only_file_in(&packages)?;
        let unpacked = packages.join("unpacked");
        announce_and_run(
            "linux",
            program("dpkg-deb")
                .arg("--extract")
                .args([&package, &unpacked]),
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
        let mut git = program("git");
        git.arg("-C").arg(repository);
        announce_and_run("git", git.args(["update-index", "-q", "--refresh"]))
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

fn only_file_in(folder: &Path) -> Result<PathBuf> {
    let mut entries = fs::read_dir(folder)?;
    match (entries.next(), entries.next()) {
        (Some(entry), None) => Ok(entry?.path()),
        _ => bail!("{} should hold one file", folder.display()),
    }
}

/// The archive's contents without its outermost folder.
fn unpack(archive: &Path, into: &Path) -> Result<()> {
    fs::create_dir(into)?;
    announce_and_run(
        "unpack",
        program("tar")
            .arg("--extract")
            .arg("--file")
            .arg(archive)
            .args(["--strip-components", "1", "--directory"])
            .arg(into),
    )
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
        let mut git = program("git");
        git.arg("-C").arg(tree).args(author).args(settings);
        announce_and_run("git", git.args(step))?;
    }
    Ok(())
}
