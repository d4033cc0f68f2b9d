//! What is put comes back or is missed, whatever happens to the folder.

use std::collections::BTreeMap;
use std::fs::File;
use std::process::Command;
use std::time::{Duration, SystemTime};

use proptest::prelude::*;

use super::segment::FRESH;
use super::*;

fn cache_in(folder: &Path) -> Cache {
    Cache::open(Some(folder.to_owned()), MAX_BYTES)
}

fn key(number: u64) -> Key {
    Key::new("test/1", &[&number.to_le_bytes()])
}

/// A value that its number determines, of some kilobytes.
fn value(number: u64) -> BTreeMap<String, Vec<u64>> {
    let row = |at| {
        (
            format!("row {at}"),
            (0..100).map(|x| x * number + at).collect(),
        )
    };
    (0..number % 9).map(row).collect()
}

#[test]
fn a_value_comes_back_in_another_run() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..20 {
        cache_in(folder.path()).put(&key(number), &value(number));
    }
    let later = cache_in(folder.path());
    for number in 0..20 {
        assert_eq!(later.get(&key(number)), Some(value(number)));
    }
    assert_eq!(later.get::<u64>(&key(20)), None);
}

#[test]
fn keys_keep_their_parts_apart() {
    let keys = [
        Key::new("a", &[b"bc"]),
        Key::new("ab", &[b"c"]),
        Key::new("a", &[b"b", b"c"]),
        Key::new("a", &[b"bc", b""]),
    ];
    for (at, key) in keys.iter().enumerate() {
        assert!(!keys[at + 1..].contains(key));
    }
}

#[test]
fn a_place_that_cannot_be_written_is_a_disabled_cache() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "in the way").unwrap();
    let cache = cache_in(&file.join("below"));
    cache.put(&key(1), &1);
    assert_eq!(cache.get::<u64>(&key(1)), None);
}

#[test]
fn a_failed_put_is_a_miss_later() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("cache");
    let cache = cache_in(&folder);
    fs::remove_dir(&folder).unwrap();
    cache.put(&key(1), &1);
    cache.put(&key(2), &2);
    cache.flush();
    assert_eq!(cache.get::<u64>(&key(1)), None);
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("new/cache");
    cache_in(&folder).put(&key(1), &1);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&only_file(&folder)), 0o600);
    assert_eq!(mode(&folder), 0o700);
}

/// A file with some entries, and what is read when its bytes are others.
struct Tampered {
    folder: tempfile::TempDir,
    whole: Vec<u8>,
}

type Value = BTreeMap<String, Vec<u64>>;

impl Tampered {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache_in(folder.path());
        (1..4).for_each(|number| cache.put(&key(number), &value(number)));
        drop(cache);
        let whole = fs::read(only_file(folder.path())).unwrap();
        Self { folder, whole }
    }

    /// How many of the three come back; any that does must be right.
    fn read(&self, bytes: &[u8]) -> usize {
        fs::write(only_file(self.folder.path()), bytes).unwrap();
        let cache = cache_in(self.folder.path());
        let found = (1..4).filter_map(|number| {
            let found: Value = cache.get(&key(number))?;
            assert_eq!(found, value(number));
            Some(found)
        });
        found.count()
    }
}

#[test]
fn a_torn_file_misses_what_it_lacks() {
    let tampered = Tampered::new();
    assert_eq!(tampered.read(&tampered.whole), 3);
    let mut last = 0;
    for length in 0..tampered.whole.len() {
        let found = tampered.read(&tampered.whole[..length]);
        assert!((last..3).contains(&found), "{found} with {length} bytes");
        last = found;
    }
    assert_eq!(last, 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_flipped_bit_is_a_miss(at in any::<prop::sample::Index>(), bit in 0..8_u8) {
        let tampered = Tampered::new();
        let mut bytes = tampered.whole.clone();
        let at = at.index(bytes.len());
        bytes[at] ^= 1_u8 << bit;
        prop_assert!(tampered.read(&bytes) < 3);
    }

    #[test]
    fn arbitrary_bytes_are_a_miss(bytes in prop::collection::vec(any::<u8>(), 0..300), kept in 0..120_usize) {
        let tampered = Tampered::new();
        let bytes = [&tampered.whole[..kept], &bytes].concat();
        prop_assert_eq!(tampered.read(&bytes), 0);
    }

    #[test]
    fn a_value_of_another_type_does_not_panic(text in any::<String>()) {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache_in(folder.path());
        cache.put(&key(1), &text);
        cache.flush();
        // Whatever it reads as: the key's kind is there to keep types apart.
        let _ = cache.get::<Value>(&key(1));
        let _ = cache.get::<(u8, Option<bool>)>(&key(1));
        prop_assert_eq!(cache.get::<String>(&key(1)), Some(text));
    }
}

#[test]
fn a_value_under_another_key_is_a_miss() {
    // The index names the key of one for the value of the other, with all else in order.
    let folder = tempfile::tempdir().unwrap();
    let mut forged = Unwritten::default();
    forged.add(key(1), &entry::encode(&key(2), &2_u64).unwrap());
    forged.write_to(folder.path()).unwrap();
    assert_eq!(cache_in(folder.path()).get::<u64>(&key(1)), None);
}

#[test]
fn a_damaged_copy_does_not_hide_a_good_one() {
    let folder = tempfile::tempdir().unwrap();
    cache_in(folder.path()).put(&key(1), &value(1));
    let first = only_file(folder.path());
    let cache = cache_in(folder.path());
    cache.put(&key(1), &value(1));
    cache.put(&key(2), &value(2));
    drop(cache);
    for damaged in files(folder.path()) {
        let whole = fs::read(&damaged).unwrap();
        let mut bytes = whole.clone();
        let at = bytes.len()
            - if damaged == first {
                1
            } else {
                1 + entry::encode(&key(2), &value(2)).unwrap().len()
            };
        bytes[at] ^= 1;
        fs::write(&damaged, bytes).unwrap();
        assert_eq!(cache_in(folder.path()).get(&key(1)), Some(value(1)));
        fs::write(&damaged, whole).unwrap();
    }
}

#[test]
fn the_limit_holds_and_what_was_used_last_stays() {
    let folder = tempfile::tempdir().unwrap();
    let start = SystemTime::now() - 3 * FRESH;
    let run = |number: u64, limit| {
        Cache::open(Some(folder.path().to_owned()), limit)
            .put(&key(number), &vec![number as u8; 10_000]);
    };
    for number in 0..10 {
        let before = files(folder.path());
        run(number, 1_000_000);
        let new = files(folder.path())
            .into_iter()
            .find(|file| !before.contains(file))
            .unwrap();
        age(&new, start + Duration::from_secs(number));
    }
    // The oldest is used again, which makes it the newest.
    let reader = cache_in(folder.path());
    assert_eq!(reader.get(&key(0)), Some(vec![0_u8; 10_000]));
    run(10, 105_000);
    let left = cache_in(folder.path());
    let kept: Vec<u64> = (0..11)
        .filter(|number| left.get::<Vec<u8>>(&key(*number)).is_some())
        .collect();
    assert_eq!(kept, [0, 4, 5, 6, 7, 8, 9, 10]);
}

#[test]
fn a_long_run_keeps_the_limit_too() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(Some(folder.path().to_owned()), 100_000);
    for number in 0..300 {
        cache.put(&key(number), &vec![7_u8; 1000]);
        assert!(size(folder.path()) <= 100_000);
    }
    assert!(size(folder.path()) > 50_000);
    assert!(cache.get::<Vec<u8>>(&key(299)).is_some());
}

#[test]
fn many_small_runs_leave_few_files_and_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..100 {
        cache_in(folder.path()).put(&key(number), &number);
        assert!(files(folder.path()).len() <= 33);
    }
    let cache = cache_in(folder.path());
    assert!((0..100).all(|number| cache.get(&key(number)) == Some(number)));
    assert!(size(folder.path()) < 100 * 100 + 33 * 50);
}

#[test]
fn merging_what_is_all_the_same_keeps_it() {
    let folder = tempfile::tempdir().unwrap();
    // One file holds all that the thirty-odd others do.
    let cache = cache_in(folder.path());
    (0..40).for_each(|number| cache.put(&key(number), &number));
    drop(cache);
    for number in 0..40 {
        cache_in(folder.path()).put(&key(number), &number);
    }
    let cache = cache_in(folder.path());
    assert!((0..40).all(|number| cache.get(&key(number)) == Some(number)));
}

#[test]
fn debris_goes_and_what_is_not_ours_stays() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let foreign = at("photo.v1", &[0; 100_000]);
    let later = at(&format!("{}.v2", "ab".repeat(32)), &[0; 100_000]);
    let damaged = at(&format!("{}.v1", "cd".repeat(32)), &[0; 100_000]);
    let debris = at("unfinished-Crash1", b"half of a fi");
    let young = at("unfinished-Other2", b"another process is at it");
    age(&debris, SystemTime::now() - Duration::from_secs(7200));
    cache_in(folder.path()).put(&key(1), &1);
    assert!(!debris.exists() && !damaged.exists());
    assert!(young.exists() && foreign.exists() && later.exists());
    Cache::open(Some(folder.path().to_owned()), 1).put(&key(2), &2);
    assert_eq!(
        cache_in(folder.path()).get::<u64>(&key(1)),
        None,
        "one byte is too little for any"
    );
    assert!(young.exists() && foreign.exists() && later.exists());
}

#[test]
fn a_use_is_noted_once_a_day() {
    let folder = tempfile::tempdir().unwrap();
    cache_in(folder.path()).put(&key(1), &1);
    let file = only_file(folder.path());
    let modified = || fs::metadata(&file).unwrap().modified().unwrap();
    let lately = SystemTime::now() - FRESH / 2;
    age(&file, lately);
    assert_eq!(cache_in(folder.path()).get(&key(1)), Some(1));
    assert_eq!(modified(), lately);
    age(&file, lately - FRESH);
    assert_eq!(cache_in(folder.path()).get(&key(1)), Some(1));
    assert!(modified() > lately);
}

#[test]
fn processes_and_threads_share_a_folder() {
    const FOLDER: &str = "KITBAG_TEST_SHARED_CACHE";
    if let Some(folder) = std::env::var_os(FOLDER) {
        return hammer(Path::new(&folder));
    }
    let folder = tempfile::tempdir().unwrap();
    let process = || {
        Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "cache::tests::processes_and_threads_share_a_folder",
            ])
            .env(FOLDER, folder.path())
            .output()
    };
    std::thread::scope(|scope| {
        let processes: Vec<_> = (0..3).map(|_| scope.spawn(process)).collect();
        hammer(folder.path());
        for process in processes {
            let output = process.join().unwrap().unwrap();
            assert!(
                output.status.success(),
                "{}",
                String::from_utf8_lossy(&output.stdout)
            );
        }
    });
    assert!(count_kept(folder.path()) > 0);
}

/// The number of entries that come back from a newly opened cache; any that does must be right.
fn count_kept(folder: &Path) -> usize {
    let cache = cache_in(folder);
    let kept = (0..90).filter(|number| {
        let found: Option<Value> = cache.get(&key(*number));
        found.is_some_and(|found| {
            assert_eq!(found, value(*number));
            true
        })
    });
    kept.count()
}

/// Eight threads, each with a cache of its own, put and get the same few entries while the limit is
/// passed again and again.
fn hammer(folder: &Path) {
    std::thread::scope(|scope| {
        for thread in 0..8 {
            scope.spawn(move || {
                for round in 0..5 {
                    let cache = Cache::open(Some(folder.to_owned()), 60_000);
                    for turn in 0..40 {
                        let number = (turn * 7 + thread * 13 + round) % 90;
                        let found: Option<Value> = cache.get(&key(number));
                        assert!(found.is_none_or(|found| found == value(number)));
                        cache.put(&key(number), &value(number));
                    }
                    cache.flush();
                }
            });
        }
    });
}

fn age(file: &Path, to: SystemTime) {
    let file = File::options().write(true).open(file).unwrap();
    file.set_modified(to).unwrap();
}

/// The files that hold entries.
fn files(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    files
        .filter(|file| file.extension().is_some_and(|extension| extension == "v1"))
        .collect()
}

fn only_file(folder: &Path) -> PathBuf {
    let files = files(folder);
    assert_eq!(files.len(), 1);
    files.into_iter().next().unwrap()
}

fn size(folder: &Path) -> u64 {
    files(folder)
        .iter()
        .map(|file| fs::metadata(file).unwrap().len())
        .sum()
}
