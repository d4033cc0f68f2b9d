//! The catalogue of layouts, and the search for the one that an agent asks for.

use indexmap::IndexMap;

use crate::manifest::{Layout, Origin};
use crate::nearest::nearest;

/// The namespaces in which a bare name is looked up, in order.
const NAMESPACES: [&str; 2] = ["kitbag/", "crewx/"];

/// All layouts that agents may ask for.
///
/// ```
/// use kitbag_layout::layouts::{Layouts, OnUnknown};
/// use kitbag_layout::manifest::{Layout, Origin};
///
/// let mut layouts = Layouts::new("kitbag/default");
/// layouts.add(Layout::new("kitbag/default", "You are {{agent.name}}.", Origin::BuiltIn));
/// let found = layouts.find("default", OnUnknown::Refuse)?;
/// assert_eq!(found.layout.id, "kitbag/default");
/// # Ok::<(), kitbag_layout::layouts::UnknownLayout>(())
/// ```
#[derive(Debug, Clone)]
pub struct Layouts {
    layouts: IndexMap<String, Layout>,
    fallback: String,
}

/// The reaction to a name that no layout has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnUnknown {
    /// Refuse it.
    #[default]
    Refuse,
    /// Take the fall-back layout, with a warning.
    Fallback,
}

/// A layout that was found.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LayoutMatch<'a> {
    pub layout: &'a Layout,
    /// The name that was asked for, if this is the fall-back.
    pub warning: Option<UnknownLayout>,
}

/// The error that no layout has a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no layout `{id}`")]
#[non_exhaustive]
pub struct UnknownLayout {
    /// The name that was asked for.
    pub id: String,
    /// The most similar names, the nearest first; at most three.
    pub nearest: Vec<String>,
    /// The layout that is used instead, if any.
    pub fallback: Option<String>,
}

impl UnknownLayout {
    /// A remedy for the user.
    #[must_use]
    pub fn hint(&self) -> String {
        let names: Vec<_> = self.nearest.iter().map(|id| format!("`{id}`")).collect();
        match names.split_last() {
            None => String::from(
                "declare it under `layouts:` in kitbag.yaml, or put its file into the folder of layouts",
            ),
            Some((last, [])) => format!("did you mean {last}?"),
            Some((last, rest)) => format!("did you mean {} or {last}?", rest.join(", ")),
        }
    }
}

impl Layouts {
    /// Makes an empty catalogue, with the id of the layout that replaces unknown ones.
    #[must_use]
    pub fn new(fallback: impl Into<String>) -> Self {
        Self {
            layouts: IndexMap::new(),
            fallback: fallback.into(),
        }
    }

    /// Adds a layout, and returns the one with the same id that it replaces.
    pub fn add(&mut self, layout: Layout) -> Option<Layout> {
        self.layouts.insert(layout.id.clone(), layout)
    }

    /// The layouts, in the order in which their ids were first added.
    pub fn iter(&self) -> impl Iterator<Item = &Layout> {
        self.layouts.values()
    }

    /// The layout with exactly this id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Layout> {
        self.layouts.get(id)
    }

    /// Finds the layout that an agent means: the one with exactly that id, or a bare name in one of
    /// the namespaces `kitbag/` and `crewx/`. A name in the second that does not exist is looked up
    /// in the first. If a bare name can mean two layouts, the project's own wins.
    ///
    /// # Errors
    ///
    /// [`UnknownLayout`] if there is none and no fall-back is allowed, or the fall-back is missing
    /// too.
    pub fn find(&self, id: &str, on_unknown: OnUnknown) -> Result<LayoutMatch<'_>, UnknownLayout> {
        if let Some(layout) = self.named(id) {
            let warning = None;
            return Ok(LayoutMatch { layout, warning });
        }
        let mut unknown = UnknownLayout {
            id: id.to_owned(),
            nearest: self.nearest(id),
            fallback: None,
        };
        match (on_unknown, self.named(&self.fallback)) {
            (OnUnknown::Fallback, Some(layout)) => {
                unknown.fallback = Some(layout.id.clone());
                let warning = Some(unknown);
                Ok(LayoutMatch { layout, warning })
            }
            (OnUnknown::Fallback, None) | (OnUnknown::Refuse, _) => Err(unknown),
        }
    }

    fn named(&self, id: &str) -> Option<&Layout> {
        let [own, other] = NAMESPACES;
        let elsewhere = || {
            if id.contains('/') {
                let name = id.strip_prefix(other)?;
                return self.get(&format!("{own}{name}"));
            }
            let named = || {
                let spaces = NAMESPACES.iter();
                spaces.filter_map(|space| self.get(&format!("{space}{id}")))
            };
            // A project that brings its own layout of a name means that one.
            let of_project = named().find(|layout| layout.origin != Origin::BuiltIn);
            of_project.or_else(|| named().next())
        };
        self.get(id).or_else(elsewhere)
    }

    /// Similar names. The namespace counts only if one was written, since it is not what was
    /// misspelt.
    fn nearest(&self, id: &str) -> Vec<String> {
        let ids = self.layouts.keys().map(String::as_str);
        if id.contains('/') {
            return nearest(id, ids);
        }
        let bare = |id: &'_ str| id.rsplit('/').next().unwrap_or_default().to_owned();
        let names: Vec<_> = ids.clone().map(bare).collect();
        let near = nearest(id, names.iter().map(String::as_str));
        let mut found: Vec<String> = Vec::new();
        for name in near {
            found.extend(
                ids.clone()
                    .filter(|id| bare(id) == name)
                    .map(ToOwned::to_owned),
            );
        }
        // A name may exist in both namespaces, so there can be more than three again.
        found.truncate(3);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalogue(ids: &[&str]) -> Layouts {
        let mut layouts = Layouts::new("kitbag/default");
        for id in ids {
            let replaced = layouts.add(Layout::new(*id, "text", Origin::BuiltIn));
            assert!(replaced.is_none());
        }
        layouts
    }

    fn find(layouts: &Layouts, id: &str) -> Option<String> {
        let found = layouts.find(id, OnUnknown::Refuse).ok()?;
        assert!(found.warning.is_none());
        Some(found.layout.id.clone())
    }

    #[test]
    fn a_bare_name_is_looked_up_in_the_namespaces() {
        let layouts = catalogue(&["kitbag/a", "crewx/a", "a", "kitbag/b", "crewx/b", "crewx/c"]);
        for (id, found) in [
            ("a", Some("a")),
            ("crewx/a", Some("crewx/a")),
            ("b", Some("kitbag/b")),
            ("c", Some("crewx/c")),
            ("kitbag/c", None),
            ("other/a", None),
        ] {
            assert_eq!(find(&layouts, id).as_deref(), found, "{id}");
        }
        let layouts = catalogue(&["kitbag/default"]);
        assert_eq!(
            find(&layouts, "crewx/default").as_deref(),
            Some("kitbag/default")
        );
    }

    #[test]
    fn an_unknown_layout_is_never_replaced_without_a_warning() {
        let layouts = catalogue(&["kitbag/default", "kitbag/minimal", "house/board", "minima"]);
        let unknown = layouts.find("minimel", OnUnknown::Refuse).unwrap_err();
        assert_eq!(unknown.to_string(), "there is no layout `minimel`");
        assert_eq!(unknown.hint(), "did you mean `kitbag/minimal` or `minima`?");
        let found = layouts.find("house/bord", OnUnknown::Fallback).unwrap();
        assert_eq!(found.layout.id, "kitbag/default");
        let warning = found.warning.unwrap();
        assert_eq!(warning.id, "house/bord");
        assert_eq!(warning.nearest, ["house/board"]);
        assert_eq!(warning.fallback.as_deref(), Some("kitbag/default"));
        assert!(catalogue(&["a"]).find("x", OnUnknown::Fallback).is_err());
    }

    #[test]
    fn a_layout_of_the_same_id_replaces_and_says_so() {
        let mut layouts = catalogue(&["kitbag/default"]);
        let now = Origin::File("kitbag.yaml".to_owned());
        let replaced = layouts.add(Layout::new("kitbag/default", "mine", now));
        assert_eq!(replaced.unwrap().origin, Origin::BuiltIn);
        assert_eq!(layouts.iter().count(), 1);
        assert_eq!(
            layouts.get("kitbag/default").unwrap().template(None),
            "mine"
        );
    }
}
