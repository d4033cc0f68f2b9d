//! The thing that a handle names: a file, some of its lines, or a definition in it.

use std::path::Path;

use super::ExpandError;

/// A handle, taken apart.
pub(in crate::pack) struct Handle<'h> {
    pub(in crate::pack) path: &'h str,
    pub(in crate::pack) part: Part<'h>,
}

/// The part of the file that is meant.
pub(in crate::pack) enum Part<'h> {
    Whole,
    /// Ranges from the first to the last line, counted from 1.
    Lines(Vec<(usize, usize)>),
    Name(&'h str),
}

impl<'h> Handle<'h> {
    /// Takes a handle apart. A path may hold `#` and `:` itself, so that the files below `root`
    /// decide: the first reading that names one is meant.
    pub(in crate::pack) fn parse(handle: &'h str, root: &Path) -> Result<Self, ExpandError> {
        let handle = handle.strip_prefix("file:").unwrap_or(handle);
        let handle = handle.strip_prefix("./").unwrap_or(handle);
        let is_file = |path: &str| !path.is_empty() && root.join(path).is_file();
        if is_file(handle) {
            return Ok(Self::whole(handle));
        }
        if let Some((path, range)) = handle.rsplit_once(':')
            && range.starts_with(|c: char| c.is_ascii_digit())
            && is_file(path)
        {
            let part = lines(range)?;
            return Ok(Self { path, part });
        }
        let names = handle.match_indices('#').filter_map(|(place, _)| {
            let (path, name) = handle.split_at_checked(place)?;
            Some((path, name.strip_prefix('#')?))
        });
        let mut names = names.filter(|(_, name)| !name.is_empty());
        if let Some((path, name)) = names.find(|(path, _)| is_file(path)) {
            let part = Part::Name(name);
            return Ok(Self { path, part });
        }
        // It does not exist: the error names the path that was most likely meant.
        let path = handle.split_once('#').map_or(handle, |(path, _)| path);
        let path = match path.rsplit_once(':') {
            Some((path, range)) if lines(range).is_ok() => path,
            _ => path,
        };
        Ok(Self::whole(path))
    }

    fn whole(path: &'h str) -> Self {
        Self {
            path,
            part: Part::Whole,
        }
    }
}

/// Ranges such as `10-80`, `10-`, `10` and `10-20,30-40`, as the headings of a prompt have them.
fn lines<'h>(ranges: &str) -> Result<Part<'h>, ExpandError> {
    // A long heading ends in a mark for what it leaves out.
    let listed = ranges.trim_end_matches(['…', '.', ',']);
    let found: Result<Vec<(usize, usize)>, ExpandError> = listed.split(',').map(range).collect();
    Ok(Part::Lines(found?))
}

fn range(range: &str) -> Result<(usize, usize), ExpandError> {
    let wrong = |why: &'static str| ExpandError::NoRange {
        range: range.to_owned(),
        why,
    };
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if first.is_empty() || !is_number(first) || !is_number(last) {
        return Err(wrong("it is not two numbers"));
    }
    // A number that is too large for any file means its end.
    let number = |text: &str| text.parse().unwrap_or(usize::MAX);
    match (number(first), number(last)) {
        (0, _) => Err(wrong("lines are counted from 1")),
        (first, last) if last < first => Err(wrong("it ends before it begins")),
        (first, last) => Ok((first, last)),
    }
}
