//! A repository elsewhere, fetched by the user's own git into the cache.
//!
//! Only the latest commit comes, without submodules and without files kept elsewhere. Git asks for
//! credentials as it always does. The copy is used again: another run only fetches what is new.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use kitbag::workspace::cache::{Key, default_folder};

use crate::failure::Failure;
use crate::output::{self, one_line};

/// The folder of a repository, fetched.
pub(super) fn fetch(remote: &str, cache: Option<&Path>) -> Result<PathBuf, Failure> {
    let url = url_of(remote)?;
    let cache = cache.map(Path::to_owned).or_else(default_folder);
    let Some(cache) = cache else {
        return Err(Failure::new("this system has no cache folder")
            .hint("name one with `--cache-dir FOLDER`"));
    };
    let cache = cache.join("remote");
    let folder = cache.join(name_of(&url));
    if folder.join(".git").is_dir() {
        // Without a network an older copy is better than nothing, with a warning.
        if let Err(failed) = update(&folder, &url) {
            output::say(format_args!(
                "warning: `{}` cannot be fetched again, so the earlier copy is used: {failed}",
                shown(remote)
            ));
        }
        return Ok(folder);
    }
    fs::create_dir_all(&cache)
        .map_err(|error| Failure::new(format_args!("cannot make {}: {error}", cache.display())))?;
    // Git writes beside the copy, so that one that was cut off is none.
    let beside = tempfile::TempDir::new_in(&cache)?;
    let whole = beside.path().join("repository");
    clone(&url, &whole).map_err(|failed| {
        Failure::new(format_args!(
            "git cannot fetch `{}`: {failed}",
            shown(remote)
        ))
        .hint("check the address, and that `git clone` can read it; `owner/name` is on GitHub")
    })?;
    match fs::rename(&whole, &folder) {
        // Another run may have been faster.
        Err(_) if folder.join(".git").is_dir() => {}
        renamed => renamed?,
    }
    Ok(folder)
}

/// The address that git is given.
fn url_of(remote: &str) -> Result<String, Failure> {
    let is_name = |name: &str| {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        !name.is_empty() && name.chars().all(is_part) && !name.starts_with(['.', '-'])
    };
    // Checked before URLs: a folder of this shape is named with `--root`.
    if let Some((owner, name)) = remote.split_once('/')
        && is_name(owner)
        && is_name(name)
    {
        return Ok(format!("https://github.com/{owner}/{name}"));
    }
    let is_scp = || {
        let host = remote.split(':').next().unwrap_or_default();
        remote.contains(':') && host.contains('@') && !host.contains('/')
    };
    // `ext::` and its like run programs.
    let is_url = remote.contains("://") && !remote.contains("::");
    if (is_url || is_scp()) && !remote.starts_with('-') {
        return Ok(remote.to_owned());
    }
    let what = format!("`{}` is not the address of a repository", shown(remote));
    Err(Failure::usage(what).hint(
        "use `owner/name` for GitHub, or a URL such as `https://example.com/repo.git`; \
         `--root` takes a folder",
    ))
}

/// The address as it may be shown: a password in it is not.
fn shown(remote: &str) -> String {
    one_line(&kitbag::engine::clean(remote, "").text)
}

/// A folder's name that a person knows again, and that no other address has.
fn name_of(url: &str) -> String {
    // The readable part is for people who look into the cache; the hash makes the name unique.
    let last = url
        .trim_end_matches('/')
        .rsplit(['/', ':'])
        .next()
        .unwrap_or_default();
    let last = last.strip_suffix(".git").unwrap_or(last);
    let name = last
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    let name: String = name.take(40).collect();
    let key = Key::new("remote", &[url.as_bytes()]);
    let hash: String = key
        .as_bytes()
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("{name}-{hash}")
}

fn clone(url: &str, folder: &Path) -> Result<(), String> {
    let mut git = git();
    git.args([
        "clone",
        "--quiet",
        "--depth=1",
        "--single-branch",
        "--no-tags",
        "--template=",
    ]);
    git.arg("--").arg(url).arg(folder);
    run(git)?;
    // The address may have a password, which the copy must not keep.
    let mut forget = self::git();
    forget.arg("-C").arg(folder);
    forget.args(["remote", "remove", "origin"]);
    run(forget)
}

/// Brings the copy to the latest commit.
fn update(folder: &Path, url: &str) -> Result<(), String> {
    let mut fetch = git();
    fetch.arg("-C").arg(folder);
    fetch.args([
        "fetch",
        "--quiet",
        "--depth=1",
        "--no-tags",
        "--",
        url,
        "HEAD",
    ]);
    run(fetch)?;
    let mut reset = git();
    reset.arg("-C").arg(folder);
    reset.args(["reset", "--quiet", "--hard", "FETCH_HEAD"]);
    run(reset)
}

/// Git as the user set it up, but for what a repository may make it run.
fn git() -> Command {
    let mut git = Command::new("git");
    for setting in [
        "core.hooksPath=/dev/null",
        "core.fsmonitor=false",
        "protocol.ext.allow=never",
        "submodule.recurse=false",
    ] {
        // A repository's own configuration may name programs, which a fetch must not start.
        git.args(["-c", setting]);
    }
    for variable in [
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_COMMON_DIR",
    ] {
        // Set when a hook of git runs us, and would point git at the wrong repository.
        git.env_remove(variable);
    }
    // Large files are not text, and fetching them could take longer than all else.
    git.env("GIT_LFS_SKIP_SMUDGE", "1");
    git
}

/// Runs it; what it complains of last says why it failed.
fn run(mut git: Command) -> Result<(), String> {
    let output = git
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output();
    let output = output.map_err(|error| format!("git cannot be run: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rfind(|line| !line.trim().is_empty());
    let last = last.unwrap_or("git gives no reason");
    Err(shown(last.trim_start_matches("fatal: ")))
}
