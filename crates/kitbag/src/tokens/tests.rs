//! Counters against an independent implementation, and the promises that counts keep.

mod odd_strings;

use std::fs;
use std::path::Path;

use kitbag_core::tokens::{Exactness, TokenCounter, Tokens};
use proptest::prelude::*;

use super::{Counter, CounterError, ModelProfile, Vocabulary, VocabularyError};
use odd_strings::ODD_STRINGS;

fn counter(vocabulary: Vocabulary) -> Counter {
    Counter::for_vocabulary(vocabulary).unwrap()
}

/// Compares both OpenAI vocabularies with the other implementation.
fn check_exact(text: &str) {
    let references = [
        (Vocabulary::O200kBase, bpe_openai::o200k_base()),
        (Vocabulary::Cl100kBase, bpe_openai::cl100k_base()),
    ];
    for (vocabulary, reference) in references {
        let expected = u32::try_from(reference.count(text)).unwrap();
        let beginning: String = text.chars().take(60).collect();
        assert_eq!(
            counter(vocabulary).count(text),
            Tokens(expected),
            "{vocabulary}: {beginning:?}, {} bytes",
            text.len()
        );
    }
}

fn for_each_source(folder: &Path, check: &mut impl FnMut(&str)) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if !name.starts_with('.') && name != "target" {
                for_each_source(&path, check);
            }
        } else if [".rs", ".toml", ".md", ".json"]
            .iter()
            .any(|end| name.ends_with(end))
        {
            check(&fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn p02_counts_are_exact_on_real_text() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut together = String::new();
    for_each_source(&project, &mut |text| {
        check_exact(text);
        together.push_str(text);
    });
    check_exact(&together);
}

#[test]
fn p02_counts_are_exact_on_odd_strings() {
    for text in ODD_STRINGS {
        check_exact(text);
        check_exact(&text.repeat(7));
    }
    check_exact(&ODD_STRINGS.concat());
    check_exact(&ODD_STRINGS.join("\n"));
}

#[test]
fn p02_counts_are_exact_on_giant_runs() {
    for pattern in [
        " ",
        "\n",
        "\t ",
        "a",
        "=",
        "ab",
        "the",
        "Ж",
        "привет",
        "中",
        "一丁丂",
        "\n  ",
        "/\n",
        "\u{3000}\u{3000}他。\n",
    ] {
        check_exact(&pattern.repeat(300_000 / pattern.len()));
    }
}

proptest! {
    #[test]
    fn p02_counts_are_exact_on_arbitrary_text(text in any::<String>()) {
        check_exact(&text);
    }

    #[test]
    fn p02_counts_are_exact_on_repeated_patterns(text in "\\PC{1,6}|[ \n\r\t/.'a-zA-Z0-9]{1,8}", times in 1..300_usize) {
        check_exact(&text.repeat(times));
    }

    #[test]
    fn p02_counts_are_exact_on_mixtures(parts in prop::collection::vec(prop::sample::select(ODD_STRINGS), 1..12)) {
        check_exact(&parts.concat());
    }

    #[test]
    fn x02_joins_add_up_for_every_vocabulary(
        a in "(\\PC|[ \n\r\t/.'a-z]){0,20}",
        odd in prop::sample::select(ODD_STRINGS),
        b in "[^\\s/](\\PC|[ \n\r\t/.'a-z]){0,20}",
    ) {
        prop_assume!(!b.starts_with(char::is_whitespace));
        for vocabulary in Vocabulary::available() {
            let counter = counter(vocabulary);
            for a in [format!("{a}\n"), format!("{a}{odd}\n"), format!("{a}{odd}\r\n")] {
                for b in [b.clone(), format!("{b}{odd}")] {
                    let joined = counter.count(&format!("{a}{b}"));
                    let sum = counter.count(&a).saturating_add(counter.count(&b));
                    prop_assert_eq!(joined, sum, "{} {:?} {:?}", vocabulary, &a, &b);
                }
            }
        }
    }

    #[test]
    fn x02_estimates_never_grow_by_joining(a in "\\PC{0,40}\n", b in "[a-z#]\\PC{0,40}") {
        let counter = Counter::for_model("claude-opus-4-8").unwrap();
        let joined = counter.count(&format!("{a}{b}"));
        prop_assert!(joined <= counter.count(&a).saturating_add(counter.count(&b)));
    }
}

#[test]
fn special_tokens_are_ordinary_text() {
    for vocabulary in Vocabulary::available() {
        assert!(
            counter(vocabulary).count("<|endoftext|>") > Tokens(1),
            "{vocabulary}"
        );
    }
}

#[test]
fn p02_models_are_counted_with_their_vocabulary() {
    for (model, name) in [
        ("gpt-4o-mini", "o200k_base"),
        ("gpt-4.1", "o200k_base"),
        ("gpt-5.6-sol", "o200k_base"),
        ("o3-mini", "o200k_base"),
        ("o1", "o200k_base"),
        ("gpt-oss-120b", "o200k_base"),
        ("chatgpt-4o-latest", "o200k_base"),
        ("gpt-4-turbo", "cl100k_base"),
        ("gpt-4-1106-preview", "cl100k_base"),
        ("gpt-3.5-turbo", "cl100k_base"),
        ("openai/gpt-4o", "o200k_base"),
        ("ft:gpt-4o:acme", "o200k_base"),
        (" GPT-4o ", "o200k_base"),
    ] {
        let counter = Counter::for_model(model).unwrap();
        assert_eq!(counter.name(), name, "{model}");
        assert_eq!(counter.exactness(), Exactness::Exact, "{model}");
    }
}

#[test]
fn models_without_a_public_vocabulary_are_estimated() {
    for model in [
        "claude-sonnet-4-5",
        "anthropic/claude-opus-4.8",
        "us.anthropic.claude-3-5-haiku-20241022-v1:0",
        "anthropic.claude-opus-5",
    ] {
        let counter = Counter::for_model(model).unwrap();
        assert_eq!(counter.name(), "o200k_base*1300/1000", "{model}");
        // Ten tokens, of which thirteen are made; and nothing stays nothing.
        assert_eq!(counter.count("a b c d e f g h i j"), Tokens(13));
        assert_eq!(counter.count("a"), Tokens(2));
        assert_eq!(counter.count(""), Tokens::ZERO);
        let expected = Exactness::Estimated {
            base: "o200k_base".into(),
            factor_permille: 1300,
            error_permille: 150,
            answers: 0,
        };
        assert_eq!(counter.exactness(), expected);
    }
    let gemini = Counter::for_model("models/gemini-2.5-pro").unwrap();
    assert_eq!(gemini.name(), "o200k_base*1100/1000");
}

#[test]
fn an_unknown_model_is_named_with_what_looks_like_it() {
    let error = Counter::for_model("gtp-4o-mini").unwrap_err();
    assert_eq!(error.to_string(), "unknown model `gtp-4o-mini`");
    assert!(error.hint().contains("gpt-4o"), "{}", error.hint());
    assert!(error.hint().contains("name a tokenizer"));

    let error = Counter::for_model("frobnicator-9").unwrap_err();
    assert!(
        error
            .hint()
            .starts_with("name a tokenizer instead, such as o200k_base")
    );
    for model in [
        "",
        "llama-4-scout",
        "mixtral-8x7b-v0.1",
        "o11",
        "deepseek-v2.5",
    ] {
        assert!(
            matches!(Counter::for_model(model), Err(CounterError::Model(_))),
            "{model}"
        );
    }
}

#[test]
fn an_unknown_tokenizer_is_named_with_those_there_are() {
    let error = "o200k".parse::<Vocabulary>().unwrap_err();
    assert_eq!(error.to_string(), "unknown tokenizer `o200k`");
    assert!(
        error
            .hint()
            .starts_with("use one of o200k_base, cl100k_base")
    );
    for vocabulary in Vocabulary::ALL {
        let parsed = vocabulary.name().parse::<Vocabulary>();
        match vocabulary.feature() {
            Some(feature) if !vocabulary.is_available() => {
                let error = parsed.unwrap_err();
                assert!(matches!(error, VocabularyError::NotInBuild { .. }));
                assert!(error.hint().contains(feature), "{}", error.hint());
            }
            _ => assert_eq!(parsed, Ok(vocabulary)),
        }
    }
}

#[test]
fn an_open_model_without_its_vocabulary_is_an_error_and_not_an_estimate() {
    for (model, vocabulary) in [
        ("meta-llama/Llama-3.1-70B-Instruct", Vocabulary::Llama3),
        ("qwen2.5-coder", Vocabulary::Qwen2),
        ("deepseek-chat", Vocabulary::DeepseekV3),
        ("deepseek-r1-distill-qwen-7b", Vocabulary::Qwen2),
        ("devstral-small", Vocabulary::MistralV3),
        ("kimi-k2.6", Vocabulary::KimiK2),
        ("glm-4.6", Vocabulary::Glm4),
        ("glm-5.2", Vocabulary::Glm5),
        ("MiniMax-M2.1", Vocabulary::MinimaxM2),
    ] {
        match Counter::for_model(model) {
            Ok(counter) => {
                assert_eq!(counter.vocabulary(), vocabulary, "{model}");
                assert_eq!(counter.exactness(), Exactness::Exact);
            }
            Err(error) => {
                assert!(!vocabulary.is_available(), "{model}: {error}");
                assert!(error.hint().contains(vocabulary.feature().unwrap()));
            }
        }
    }
}

#[test]
fn the_catalogue_is_consistent() {
    let mut names = Vec::new();
    for profile in ModelProfile::models() {
        let name = profile.name().into_owned();
        assert_eq!(ModelProfile::find(&name), Ok(profile), "{name}");
        assert!(profile.sources.iter().all(|source| source.contains(' ')));
        if let (Some(window), Some(output)) = (profile.window, profile.max_output) {
            assert!(output < window, "{name}: {output} of {window}");
        }
        if let Some(price) = &profile.price {
            assert!((10_000..=150_000_000).contains(&price.input), "{name}");
            assert!(
                price.cache_read.is_none_or(|read| read < price.input),
                "{name}"
            );
            assert!(
                price.cache_write.is_none_or(|write| write >= price.input),
                "{name}"
            );
            assert!(
                price.steps.iter().all(|step| step.input_permille > 1_000),
                "{name}"
            );
            assert!(price.steps.is_sorted_by_key(|step| step.above), "{name}");
        }
        names.push(name);
    }
    assert!(names.is_sorted(), "models stand by name, each once");
    assert!(names.len() > 100);
    for provider in ["anthropic", "openai"] {
        let model = ModelProfile::default_of(provider).unwrap();
        assert!(names.iter().any(|name| name == model), "{model}");
    }
    let mut prefixes = Vec::new();
    for profile in ModelProfile::families()
        .iter()
        .chain(ModelProfile::models())
    {
        let known = Vocabulary::ALL
            .iter()
            .any(|v| v.name() == profile.tokenizer);
        assert!(known, "{}", profile.tokenizer);
        if let Some(cache) = &profile.cache {
            assert!(cache.read_permille < cache.write_permille);
            assert_eq!(cache.markers.is_some(), cache.max_breakpoints > 0);
        }
    }
    for family in ModelProfile::families() {
        for prefix in &family.prefixes {
            // Of the family, or of a model that has its name.
            let found = ModelProfile::find(prefix).unwrap();
            assert_eq!(found.tokenizer, family.tokenizer, "{prefix}");
            prefixes.push(prefix);
        }
    }
    let count = prefixes.len();
    prefixes.sort();
    prefixes.dedup();
    assert_eq!(prefixes.len(), count, "a prefix stands in two profiles");
}

#[test]
fn profiles_say_what_a_provider_allows() {
    let opus = ModelProfile::find("claude-opus-4-8").unwrap();
    assert!(opus.mid_conversation_system);
    assert_eq!(opus.cache.as_ref().unwrap().min_tokens.0, 1024);
    let opus = ModelProfile::find("anthropic/claude-opus-5.5").unwrap();
    assert!(opus.mid_conversation_system);
    assert_eq!(
        (opus.window, opus.max_output),
        (Some(1_000_000), Some(128_000))
    );
    let cache = opus.cache.as_ref().unwrap();
    assert_eq!((cache.read_permille, cache.min_tokens.0), (50, 512));
    let mythos = ModelProfile::find("claude-mythos-5-1").unwrap();
    assert_eq!(mythos.cache.as_ref().unwrap().read_permille, 25);
    let sonnet = ModelProfile::find("claude-sonnet-4-5-20250929").unwrap();
    assert!(!sonnet.mid_conversation_system);
    assert_eq!(sonnet.cache.as_ref().unwrap().min_tokens.0, 1024);
    assert_eq!(ModelProfile::find("gpt-4").unwrap().cache, None);
}
