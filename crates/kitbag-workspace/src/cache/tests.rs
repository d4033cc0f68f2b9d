//! A cache may lose entries, but never tells anything wrong.

use super::*;
use proptest::prelude::*;

fn cache(folder: &Path) -> Cache {
    Cache::open(Some(folder.to_owned()), CacheLimits::default())
}

fn key(name: &str) -> Key {
    Key::new("test", &[name.as_bytes()])
}

#[test]
fn what_was_put_is_got_also_by_another_process() {
    let folder = tempfile::tempdir().unwrap();
    cache(folder.path()).put(&key("a"), &vec!["x".to_owned()]);
    let got: Option<Vec<String>> = cache(folder.path()).get(&key("a"));
    assert_eq!(got, Some(vec!["x".to_owned()]));
    assert_eq!(cache(folder.path()).get::<Vec<String>>(&key("b")), None);
}

#[test]
fn parts_of_a_key_are_kept_apart() {
    assert_ne!(Key::new("k", &[b"ab", b"c"]), Key::new("k", &[b"a", b"bc"]));
    assert_ne!(Key::new("k", &[b"a"]), Key::new("l", &[b"a"]));
}

#[test]
fn an_entry_in_the_place_of_another_is_a_miss() {
    let folder = tempfile::tempdir().unwrap();
    let cache = cache(folder.path());
    cache.put(&key("a"), &1_u32);
    cache.put(&key("b"), &2_u32);
    fs::copy(
        cache.place(&key("a")).unwrap(),
        cache.place(&key("b")).unwrap(),
    )
    .unwrap();
    assert_eq!(cache.get::<u32>(&key("b")), None);
}

#[test]
fn a_place_that_cannot_be_written_keeps_nothing_and_fails_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let cache = cache(&file);
    cache.put(&key("a"), &1_u32);
    assert_eq!(cache.get::<u32>(&key("a")), None);
    assert_eq!(cache.failures(), 1);
}

#[test]
fn the_size_is_bounded_and_the_oldest_go_first() {
    let folder = tempfile::tempdir().unwrap();
    let limits = CacheLimits { bytes: 100_000 };
    for round in 0..20_u64 {
        let cache = Cache::open(Some(folder.path().to_owned()), limits);
        let name = round.to_string();
        cache.put(&key(&name), &vec![7_u8; 10_000]);
        let file = File::options()
            .write(true)
            .open(cache.place(&key(&name)).unwrap())
            .unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(round))
            .unwrap();
    }
    let cache = Cache::open(Some(folder.path().to_owned()), limits);
    let kept: Vec<u64> = (0..20)
        .filter(|round| cache.place(&key(&round.to_string())).unwrap().exists())
        .collect();
    assert!(kept.len() <= 10, "{kept:?}");
    assert_eq!(kept.last(), Some(&19), "the newest stays");
    assert!(!kept.contains(&0), "the oldest goes");
}

#[test]
fn many_at_once_never_read_a_wrong_value() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for worker in 0..8_u32 {
            let folder = folder.path();
            scope.spawn(move || {
                let cache = Cache::open(Some(folder.to_owned()), CacheLimits { bytes: 20_000 });
                for round in 0..200_u32 {
                    let number = (worker + round) % 16;
                    let key = key(&number.to_string());
                    cache.put(&key, &vec![number; 200]);
                    if let Some(got) = cache.get::<Vec<u32>>(&key) {
                        assert_eq!(got, vec![number; 200]);
                    }
                }
            });
        }
    });
}

proptest! {
    #[test]
    fn damage_is_a_miss(at in 0_usize..400, bit in 0..8, cut in 0_usize..400) {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(folder.path());
        let value = vec!["some text".to_owned(); 20];
        cache.put(&key("a"), &value);
        let place = cache.place(&key("a")).unwrap();
        let whole = fs::read(&place).unwrap();
        let mut flipped = whole.clone();
        let at = at % flipped.len();
        flipped[at] ^= 1 << bit;
        fs::write(&place, &flipped).unwrap();
        prop_assert_eq!(cache.get::<Vec<String>>(&key("a")), None);
        fs::write(&place, &whole[..cut % whole.len()]).unwrap();
        prop_assert_eq!(cache.get::<Vec<String>>(&key("a")), None);
    }
}
