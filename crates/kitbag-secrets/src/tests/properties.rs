//! What holds for every text.

use std::borrow::Cow;
use std::sync::LazyLock;

use proptest::prelude::*;

use super::super::*;
use super::random::Random;
use super::{look_alikes, made_secrets};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_text_keeps_its_lines_and_is_done_at_once(text in any_text(), path in path()) {
        let once = redact(&text, path);
        prop_assert_eq!(once.text.matches('\n').count(), text.matches('\n').count());
        prop_assert_eq!(once.found.is_empty(), matches!(once.text, Cow::Borrowed(_)));
        let twice = redact(&once.text, path);
        prop_assert_eq!(&*twice.text, &*once.text, "found again: {:?}", twice.found);
    }

    #[test]
    fn lines_of_findings_exist_and_rise(text in any_text()) {
        let lines = u32::try_from(text.matches('\n').count()).unwrap() + 1;
        let found = redact(&text, "a.txt").found;
        prop_assert!(found.iter().all(|finding| (1..=lines).contains(&finding.line)));
        prop_assert!(found.is_sorted_by_key(|finding| finding.line));
    }

    #[test]
    fn text_without_keywords_is_borrowed(text in "[bdfgij 0-9\n]{0,200}") {
        prop_assert!(matches!(redact(&text, "a.py").text, Cow::Borrowed(_)));
    }
}

/// Pieces of real-looking secrets, of look-alikes and of nothing in particular, in any order.
fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => any::<prop::sample::Index>().prop_map(|at| at.get(&SECRETS).clone()),
        2 => any::<prop::sample::Index>().prop_map(|at| at.get(&LOOK_ALIKES).clone()),
        3 => prop::sample::select(PIECES).prop_map(str::to_owned),
        2 => "[a-zA-Z0-9+/=_-]{0,60}",
        1 => any::<String>(),
    ];
    (
        prop::collection::vec(piece, 0..8),
        any::<prop::sample::Index>(),
    )
        .prop_map(|(pieces, cut)| {
            // Cut at any character: files are shown in parts.
            let text = pieces.concat();
            let at = text.floor_char_boundary(cut.index(text.len() + 1));
            text.split_at(at).1.to_owned()
        })
}

static SECRETS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let all = (10..14).flat_map(|seed| made_secrets::all(&mut Random::new(seed)));
    all.map(|case| case.text).collect()
});

static LOOK_ALIKES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let all = look_alikes::all(&mut Random::new(14));
    all.into_iter().map(|case| case.text).collect()
});

fn path() -> impl Strategy<Value = &'static str> {
    prop::sample::select(
        &[
            "",
            "a.py",
            ".env",
            "tests/a.yaml",
            "Cargo.lock",
            "日本/ü.md",
        ][..],
    )
}

const PIECES: &[&str] = &[
    "password",
    "token=",
    "secret: ",
    "\"",
    "'",
    "\n",
    "\r\n",
    "://",
    "@",
    ":",
    "=",
    " ",
    "ghp_",
    "eyJ",
    ".eyJ",
    "sk-",
    "AKIA",
    "-----BEGIN PRIVATE KEY-----",
    "-----END PRIVATE KEY-----",
    "[REDACTED:",
    "[REDACTED:github-token]",
    "]",
    "\\n",
    "\\",
    "é",
    "kind: Secret\n",
    "data:\n",
    "---\n",
    "Authorization: ",
    "Bearer ",
    "Basic ",
    ", value=",
    "value: ",
    "<",
    ">",
    "://a:",
    "$6$",
];

#[test]
fn long_lines_take_linear_time() {
    // Each of these made some step look at the rest of the line again and again; all of them
    // together are to pass in a moment.
    for piece in [
        "token=",
        "password='",
        "eyJ",
        "_eyJ",
        "://a:",
        "://a@",
        "secret,\"secret\",",
        "AKIA",
        "Bearer ",
        "kind: Secret\n",
        "-----BEGIN PRIVATE KEY-----",
        "[REDACTED:",
        "sk-",
        "xoxb-",
        "name: key\n",
        "auth ",
        "key-----BEGIN ",
        "login ",
        "1/",
        "ghs_1_eyJ",
    ] {
        let text = piece.repeat(50_000 / piece.len());
        let redacted = redact(&text, ".env");
        assert_eq!(
            redacted.text.matches('\n').count(),
            text.matches('\n').count()
        );
    }
}
