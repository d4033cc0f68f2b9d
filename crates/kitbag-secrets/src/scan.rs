//! Searches for the keywords of all rules at once, and asks the rule of each hit.
//!
//! One automaton, whatever the case. Work per hit is bounded, so the whole is linear in the text.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::file::File;
use super::token::{Compiled, Token};
use super::vendors::TOKENS;
use super::{Rank, Span, assignment, authorization, block, key, named, neighbour, url};

/// Finds what is secret, in any order, overlaps included.
pub(super) fn spans(text: &str, path: &str) -> Vec<(Rank, Span)> {
    let file = File::of(path);
    let mut spans = match file.named {
        Some(kept) => named::spans(text, kept),
        None => Vec::new(),
    };
    let Some(automaton) = &KEYWORDS.automaton else {
        return spans;
    };
    let (mut key_end, mut document_end, mut token) = (0, 0, 0..0);
    for hit in automaton.find_overlapping_iter(text) {
        let Some(rule) = KEYWORDS.rules.get(hit.pattern().as_usize()) else {
            continue;
        };
        match rule {
            // Inside a token that was found there is no other; at its start there may be a better name.
            Rule::Token(..) if token.start < hit.start() && hit.end() <= token.end => {}
            Rule::Token(format, at) => {
                let regex = KEYWORDS.compiled.get(*at);
                if let Some(span) = regex.and_then(|regex| format.at(regex, text, hit.range())) {
                    token = span.range.clone();
                    spans.push((Rank::Format(*at), span));
                }
            }
            Rule::Key => {
                // A name holds several keywords at times; it is read once.
                if hit.start() >= key_end {
                    let read = assignment::at(text, hit.range(), file);
                    key_end = read.end;
                    spans.extend(read.span);
                }
            }
            Rule::AwsId => spans.extend(neighbour::beside_aws_id(text, hit.range())),
            Rule::Kubernetes => {
                if hit.start() >= document_end {
                    let found = neighbour::in_kubernetes_secret(text, hit.range(), document_end);
                    document_end = found.0;
                    spans.extend(found.1);
                }
            }
            Rule::Url => spans.extend(url::at(text, hit.range())),
            Rule::Block => spans.extend(block::at(text, hit.range())),
            Rule::Authorization => spans.extend(authorization::at(text, hit.range())),
        }
    }
    spans
}

/// Who looks at a hit.
enum Rule {
    /// The format, and where it is compiled.
    Token(&'static Token, usize),
    Key,
    AwsId,
    Kubernetes,
    Url,
    Block,
    Authorization,
}

struct Keywords {
    automaton: Option<AhoCorasick>,
    rules: Vec<Rule>,
    compiled: Vec<Compiled>,
}

static KEYWORDS: LazyLock<Keywords> = LazyLock::new(|| {
    let tokens = TOKENS.iter().enumerate().flat_map(|(at, token)| {
        token
            .keywords
            .iter()
            .map(move |word| (*word, Rule::Token(token, at)))
    });
    let others = (key::KEYWORDS.iter().map(|word| (*word, Rule::Key)))
        .chain(
            neighbour::AWS_KEYWORDS
                .iter()
                .map(|word| (*word, Rule::AwsId)),
        )
        .chain(
            neighbour::KUBERNETES_KEYWORDS
                .iter()
                .map(|word| (*word, Rule::Kubernetes)),
        )
        .chain(url::KEYWORDS.iter().map(|word| (*word, Rule::Url)))
        .chain(block::KEYWORDS.iter().map(|word| (*word, Rule::Block)))
        .chain(
            authorization::KEYWORDS
                .iter()
                .map(|word| (*word, Rule::Authorization)),
        );
    let (words, rules): (Vec<_>, Vec<_>) = tokens.chain(others).unzip();
    Keywords {
        automaton: AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::DFA))
            .build(words)
            .ok(),
        rules,
        compiled: TOKENS.iter().map(|_| Compiled::default()).collect(),
    }
});
