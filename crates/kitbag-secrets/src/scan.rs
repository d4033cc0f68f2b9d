//! Searches for the keywords of all rules at once, and calls the rule of each hit.
//!
//! A single automaton ignores case. Work per hit is bounded, so the whole search is linear in the
//! text.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::file::File;
use super::token::{TOKENS, Token};
use super::{
    Rank, Span, assignment, authorization, block, command, key, named, neighbour, prose, url,
};

/// Finds all secrets, in any order and with overlaps.
pub(super) fn spans(text: &str, path: &str) -> Vec<Span> {
    let file = File::of(path);
    let mut spans = match file.named {
        Some(kept) => named::spans(text, kept),
        None => Vec::new(),
    };
    let (automaton, rules) = &*KEYWORDS;
    let Some(automaton) = automaton else {
        return spans;
    };
    let (mut key_end, mut document_end, mut token) = (0, 0, 0..0);
    for hit in automaton.find_overlapping_iter(text) {
        match rules.get(hit.pattern().as_usize()) {
            // Inside a token there is no other; at its very start a more specific name may match.
            Some(Rule::Token(..)) if token.start < hit.start() && hit.end() <= token.end => {}
            Some(Rule::Token(rank, format)) => {
                if let Some(span) = format.at(*rank, text, hit.range()) {
                    token = span.range.clone();
                    spans.push(span);
                }
            }
            // A name may contain several keywords; it is read once.
            Some(Rule::Key) if hit.start() >= key_end => {
                let (end, span) = assignment::at(text, hit.range(), file);
                key_end = end;
                spans.extend(span);
            }
            Some(Rule::Kubernetes) if hit.start() >= document_end => {
                let (end, found) = neighbour::in_kubernetes_secret(text, hit.range(), document_end);
                document_end = end;
                spans.extend(found);
            }
            Some(Rule::Block) => spans.extend(block::at(text, hit.range())),
            Some(Rule::Prose) if file.bare && !file.made_up => {
                spans.extend(prose::at(text, hit.range()));
            }
            Some(Rule::Near(find)) => spans.extend(find(text, hit.range())),
            Some(Rule::Command) => spans.extend(command::at(text, hit.range(), file)),
            Some(Rule::NearIn(find)) => spans.extend(find(text, hit.range(), file)),
            Some(Rule::Key | Rule::Kubernetes | Rule::Prose) | None => {}
        }
    }
    spans
}

/// The rule that examines a hit.
#[derive(Clone, Copy)]
enum Rule {
    Token(Rank, &'static Token),
    Key,
    Kubernetes,
    Block,
    /// Applies to prose only: in code and documentation such sentences are invented.
    Prose,
    /// Finds one secret next to the keyword.
    Near(fn(&str, Range<usize>) -> Option<Span>),
    /// The same where it matters what file it is.
    NearIn(fn(&str, Range<usize>, File) -> Option<Span>),
    Command,
}

/// The automaton of all keywords, and the rule of each.
static KEYWORDS: LazyLock<(Option<AhoCorasick>, Vec<Rule>)> = LazyLock::new(|| {
    let tokens = TOKENS.iter().enumerate().flat_map(|(at, token)| {
        let rule = Rule::Token(Rank::Format(at), token);
        token.keywords.iter().map(move |word| (*word, rule))
    });
    let others: [(&[&str], Rule); 10] = [
        (key::KEYWORDS, Rule::Key),
        (prose::KEYWORDS, Rule::Prose),
        (&["AKIA", "ASIA"], Rule::Near(neighbour::beside_aws_id)),
        (&["kind: Secret"], Rule::Kubernetes),
        (&["://"], Rule::NearIn(url::at)),
        (url::SOCKETS, Rule::NearIn(url::before_socket)),
        (url::ORACLE, Rule::NearIn(url::in_oracle)),
        (command::KEYWORDS, Rule::Command),
        (block::KEYWORDS, Rule::Block),
        (authorization::KEYWORDS, Rule::Near(authorization::at)),
    ];
    let others = others
        .into_iter()
        .flat_map(|(words, rule)| words.iter().map(move |word| (*word, rule)));
    let (words, rules): (Vec<_>, Vec<_>) = tokens.chain(others).unzip();
    let automaton = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::DFA))
        .build(words);
    (automaton.ok(), rules)
});
