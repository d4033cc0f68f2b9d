//! Paths from the root of a workspace, with `/` between their parts.

/// The folder that a path stands in; the root is empty.
pub(crate) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The last part of a path.
pub(crate) fn name_of(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// The path of `relative` as seen from `folder`; none if it leaves the root or is absolute.
pub(crate) fn join(folder: &str, relative: &str) -> Option<String> {
    // A colon is in drive letters and URLs.
    let is_absolute = relative.starts_with(['/', '\\', '~']) || relative.contains(':');
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    if is_absolute {
        return None;
    }
    for part in relative.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The folder itself, then those above it, the root last.
pub(crate) fn upwards(folder: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(folder), |folder| {
        (!folder.is_empty()).then(|| folder_of(folder))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_paths_stay_in_the_root() {
        assert_eq!(join("a/b", "../c").as_deref(), Some("a/c"));
        assert_eq!(join("", "./c/").as_deref(), Some("c"));
        assert_eq!(join("a", "..").as_deref(), Some(""));
        assert_eq!(join("a", r"..\b\c").as_deref(), Some("b/c"));
        assert_eq!(join("a", "../.."), None);
        assert_eq!(join("a", "/etc/passwd"), None);
        assert_eq!(join("a", "C:/x"), None);
    }

    #[test]
    fn upwards_ends_at_the_root() {
        assert_eq!(upwards("a/b").collect::<Vec<_>>(), ["a/b", "a", ""]);
        assert_eq!(upwards("").collect::<Vec<_>>(), [""]);
    }
}
