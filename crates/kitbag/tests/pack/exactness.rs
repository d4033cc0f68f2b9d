//! 500 random packs: within the budget by another's count, and the same bytes every time.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use kitbag::core::assembly::AssembleError;
use kitbag::core::tokens::TokenCounter;
use kitbag::pack::{PackError, PackRequest, pack};
use kitbag::tokens::Counter;

use crate::random::{Random, request, write_tree};

const TREES: u64 = 50;
const RUNS: usize = 10;

/// Where a process that only repeats the packs writes what it got.
const REPEAT: &str = "KITBAG_TEST_REPEAT";

#[test]
fn p02_500_random_packs_are_within_budget_and_always_the_same() {
    if let Some(file) = std::env::var_os(REPEAT) {
        let folder = tempfile::tempdir().unwrap();
        let digests = packs(folder.path(), &mut |_, _, _| {});
        fs::write(file, digests.join("\n")).unwrap();
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // In other processes, each with another number of threads, while this one goes on.
    let repeats = ["1", "4"].map(|threads| {
        let file = folder.path().join(threads);
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["exactness::p02_500_random_packs", "--test-threads=1"])
            .env(REPEAT, &file)
            .env("RAYON_NUM_THREADS", threads)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        (threads, file, child)
    });

    let independent = bpe_openai::o200k_base();
    let (mut fitted, mut too_small) = (0, 0);
    let digests = packs(
        &folder.path().join("trees"),
        &mut |request, counter, first| {
            match first {
                Ok(pack) => {
                    let counted = independent.count(pack.prompt());
                    assert!(
                        counted <= request.options.budget.0 as usize,
                        "{counted}: {request:?}"
                    );
                    assert_eq!(counted, pack.decisions.tokens.0 as usize, "{request:?}");
                    fitted += 1;
                }
                Err(error) => {
                    let is_clear = matches!(
                        error,
                        PackError::Assemble(
                            AssembleError::FixedOverBudget { .. }
                                | AssembleError::CriticalOverBudget { .. }
                        )
                    );
                    assert!(is_clear && error.hint().is_some(), "{error}: {request:?}");
                    too_small += 1;
                }
            }
            // Warm: what was parsed is now in the cache.
            let again = told(&pollster::block_on(pack(request, counter)));
            assert_eq!(again, told(first), "{request:?}");
        },
    );
    assert_eq!(digests.len(), 500);
    assert!(
        fitted > 400 && too_small > 0,
        "{fitted} packs, {too_small} too small"
    );

    for (threads, file, child) in repeats {
        let child = child.wait_with_output().unwrap();
        assert!(
            child.status.success(),
            "{}",
            String::from_utf8_lossy(&child.stdout)
        );
        let others = fs::read_to_string(file).unwrap();
        assert_eq!(others.lines().count(), digests.len());
        for (run, (ours, other)) in digests.iter().zip(others.lines()).enumerate() {
            assert_eq!(ours, other, "run {run} with {threads} threads");
        }
    }
}

type Made = Result<kitbag::pack::Pack, PackError>;

/// Makes all packs, each tree with an empty cache; what was told of each, as a hash.
fn packs(
    folder: &Path,
    check: &mut dyn FnMut(&PackRequest, &dyn TokenCounter, &Made),
) -> Vec<String> {
    let counter = Counter::for_model("gpt-4o").unwrap();
    let mut digests = Vec::new();
    for seed in 0..TREES {
        let mut random = Random(seed);
        let root = folder.join(seed.to_string());
        let paths = write_tree(&root, &mut random);
        for run in 0..RUNS {
            let mut request = request(&root, &paths, &mut random);
            request.survey.cache_folder = Some(folder.join(format!("cache-{seed}-{run}")));
            let made = pollster::block_on(pack(&request, &counter));
            check(&request, &counter, &made);
            digests.push(blake3::hash(told(&made).as_bytes()).to_hex().to_string());
        }
    }
    digests
}

/// All that was told.
fn told(made: &Made) -> String {
    match made {
        Ok(pack) => serde_json::to_string(pack).unwrap(),
        Err(error) => error.to_string(),
    }
}
