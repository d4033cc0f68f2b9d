//! Finds values that only their surroundings reveal: the secret next to an AWS key id, and the data
//! of a Kubernetes secret.

use std::ops::Range;

use super::{Rank, Span, value};

/// Finds the secret half of a pair of keys: forty characters soon after the id, in a table or in
/// fields without telling names.
pub(super) fn beside_aws_id(text: &str, keyword: Range<usize>) -> Option<Span> {
    let after = value::window(text, keyword.end, 200);
    let id = after
        .bytes()
        .take_while(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    let behind = id.count();
    // With its prefix an AWS key id has twenty characters.
    if behind != 16 {
        return None;
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || "/+=".contains(c);
    let mut at = keyword.end + behind;
    for word in after.get(behind..)?.split(|c: char| !is_part(c)) {
        let cases = word.contains(|c: char| c.is_ascii_lowercase())
            && word.contains(|c: char| c.is_ascii_uppercase());
        if word.len() == 40 && cases && value::is_random(word, 40) && !value::is_stand_in(word) {
            let range = at..at + word.len();
            return Some(Span::new(Rank::Format(0), range, "aws-secret-access-key"));
        }
        // The separator may take several bytes.
        let next = text.get(at + word.len()..)?.chars().next()?;
        at += word.len() + next.len_utf8();
    }
    None
}

/// Finds every value in a document that declares itself a Kubernetes secret. Returns the end of the
/// document, so that it is read only once even if it declares that twice.
pub(super) fn in_kubernetes_secret(
    text: &str,
    keyword: Range<usize>,
    from: usize,
) -> (usize, Vec<Span>) {
    // The search ignores case, but Kubernetes does not.
    let exact = text.get(keyword.clone()) == Some("kind: Secret");
    let rest = text.get(keyword.end..).unwrap_or_default();
    if !exact || rest.starts_with(|c: char| !c.is_whitespace()) {
        return (from, Vec::new());
    }
    let end = keyword.end + rest.find("\n---").unwrap_or(rest.len());
    let before = text.get(from..keyword.start).unwrap_or_default();
    let start = from + before.rfind("\n---").map_or(0, |at| at + 1);
    let mut spans = Vec::new();
    let mut data_indent = None;
    let mut at = start;
    let document = text.get(start..end).unwrap_or_default();
    for line in document.split_inclusive('\n') {
        let indent = line.len() - line.trim_start().len();
        let content = line.trim();
        // Only entries below these keys are secret; names and labels are not.
        if matches!(content, "data:" | "stringData:") {
            data_indent = Some(indent);
        } else if !content.is_empty() && data_indent.is_some_and(|data| indent <= data) {
            data_indent = None;
        } else if data_indent.is_some() {
            spans.extend(entry(line).map(|range| {
                let range = at + range.start..at + range.end;
                Span::new(Rank::Format(0), range, "kubernetes-secret")
            }));
        }
        at += line.len();
    }
    (end, spans)
}

/// The value of `name: value` without quotes; none if it is a reference or continues below.
fn entry(line: &str) -> Option<Range<usize>> {
    let (name, rest) = line.split_once(": ")?;
    let value = rest.trim().trim_matches(['"', '\'']);
    let start = name.len() + 2 + rest.find(value)?;
    let secret = !value.starts_with(['|', '>', '#'])
        && !value::is_reference(value)
        && !value::is_stand_in(value);
    (secret && !value.is_empty()).then(|| start..start + value.len())
}
