//! One requirement, as in `httpx[http2] >=0.27 ; python_version > "3.8"`.

use crate::dependencies::{Dependency, DependencyKind};
use crate::relative::join;

/// Reads a requirement. `folder` is what its paths are relative to.
pub(super) fn parse(text: &str, kind: DependencyKind, folder: &str) -> Option<Dependency> {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '_' | '-')))
        .unwrap_or(text.len());
    let (name, rest) = text.split_at_checked(end)?;
    if !name.starts_with(|c: char| c.is_alphanumeric()) {
        return None;
    }
    let rest = rest.trim_start();
    let rest = match rest.strip_prefix('[') {
        Some(extras) => extras.split_once(']')?.1,
        None => rest,
    };
    let (rest, _) = rest.split_once(';').unwrap_or((rest, ""));
    let rest = rest
        .trim()
        .trim_start_matches('(')
        .trim_end_matches(')')
        .trim();
    let dependency = Dependency::new(name, kind);
    if let Some(place) = rest.strip_prefix('@').map(str::trim) {
        let path = place
            .strip_prefix("file:")
            .filter(|path| !path.starts_with("//"));
        let local = path.and_then(|path| join(folder, path));
        return Some(dependency.requiring(place).at(local));
    }
    // Anything else is no requirement, but perhaps a sentence.
    let is_requirement = rest.is_empty() || rest.starts_with(['<', '>', '=', '~', '!', '^']);
    is_requirement.then(|| dependency.requiring(rest))
}
