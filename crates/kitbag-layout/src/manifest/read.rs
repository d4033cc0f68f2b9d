//! Reads layouts in all forms in which they are written.

use indexmap::IndexMap;

use super::{Layout, LayoutText, Origin};
use crate::problem::{FileProblem, Problems};
use crate::props::PropsSchema;
use crate::template::{Escape, Missing};
use crate::yaml::{Field, NodeKind};

/// The namespace of layouts that are named after their file.
const NAMESPACE: &str = "crewx/";

/// The keys that may hold templates.
const TEMPLATES: &[&str] = &[
    "template",
    "layout",
    "layouts",
    "system_prompt",
    "templates",
];

/// The keys of a project file, which need not have layouts.
const PROJECT: &[&str] = &["agents", "documents"];

impl Layout {
    /// Reads the layouts of a file, and reports all problems with it.
    ///
    /// A file holds one layout (`template`, or `layout` with its `system_prompt`) or several
    /// (`layouts`). A layout without an id is called `crewx/` and the name of its file.
    ///
    /// ```
    /// use kitbag_layout::Layout;
    ///
    /// let (layouts, problems) = Layout::read("layouts/short.yaml", "template: Hello {{agent.name}}");
    /// assert!(problems.is_empty());
    /// assert_eq!(layouts[0].id, "crewx/short");
    /// assert_eq!(layouts[0].template(None), "Hello {{agent.name}}");
    /// ```
    #[must_use]
    pub fn read(file: &str, text: &str) -> (Vec<Self>, Vec<FileProblem>) {
        Problems::reading(file, text, read_file)
    }
}

fn read_file(root: &Field<'_>) -> Option<Vec<Layout>> {
    if root.is_null() {
        return root.error("the file is empty");
    }
    root.map()?;
    let common = read_settings(root, &defaults(root));
    warn_of_misspelt_keys(root);
    let named_after_file = format!("{NAMESPACE}{}", stem(root.problems.file()));
    if let Some(map) = root.get("layouts") {
        let mut layouts = read_entries(&map, &common)?.into_values().collect();
        add_name_of_file(&mut layouts, named_after_file);
        return Some(layouts);
    }
    if root.get_any(TEMPLATES).is_none() && root.get_any(PROJECT).is_some() {
        root.warning("there are agents or documents here, but no layouts");
        return None;
    }
    let id = root.read("id", Field::id).unwrap_or(named_after_file);
    let body = match root.get("layout") {
        // Settings of the layout may also stand next to `layout`.
        Some(layout) if root.get("template").is_none() => {
            let settings = read_settings(&layout, &common);
            read_layout(id, &layout, settings)
        }
        _ => read_layout(id, root, common),
    };
    Some(vec![body?])
}

/// Reads a map from ids to layouts, as projects have it.
pub(crate) fn read_map(map: &Field<'_>) -> Option<IndexMap<String, Layout>> {
    read_entries(map, &defaults(map))
}

fn read_entries(map: &Field<'_>, common: &Layout) -> Option<IndexMap<String, Layout>> {
    map.read_entries(|entry| {
        let id = entry.name().to_owned();
        if id.trim().is_empty() {
            return entry.error("a layout needs a name");
        }
        if !entry.is_map() {
            return read_layout(id, entry, common.clone());
        }
        let settings = read_settings(entry, common);
        warn_of_misspelt_keys(entry);
        let body = entry.get("layout").unwrap_or_else(|| entry.clone());
        read_layout(id, &body, settings)
    })
}

/// Gives one of several layouts the name of its file as well: the one that has that name, or the
/// one called `default`.
fn add_name_of_file(layouts: &mut Vec<Layout>, id: String) {
    let stem = id.strip_prefix(NAMESPACE).unwrap_or_default();
    let named = |name: &str| layouts.iter().find(|layout| layout.id == name);
    if named(&id).is_none()
        && let Some(layout) = named(stem).or_else(|| named("default"))
    {
        let layout = Layout {
            id,
            ..layout.clone()
        };
        layouts.push(layout);
    }
}

fn read_layout(id: String, body: &Field<'_>, settings: Layout) -> Option<Layout> {
    Some(Layout {
        id,
        templates: read_templates(body, settings.language.as_deref())?,
        ..settings
    })
}

/// Reads the templates of a layout: a text, or a map that holds a text or a map of languages, or
/// that is a map of languages itself.
fn read_templates(
    body: &Field<'_>,
    language: Option<&str>,
) -> Option<IndexMap<String, LayoutText>> {
    let inner = body.get_any(&["template", "system_prompt", "templates"]);
    let field = inner.as_ref().unwrap_or(body);
    if !field.is_map() {
        if inner.is_none() && field.as_text().is_none() {
            return field.refuse("a template or a map with one");
        }
        let language = language.unwrap_or("default").to_owned();
        return Some(IndexMap::from([(language, read_text(field)?)]));
    }
    // At the root of a file many short keys look like languages, so there they need a key around
    // them.
    let is_template = |name: &str| match &inner {
        Some(_) => true,
        None => !body.key.is_empty() && is_language(name),
    };
    if !field.entries().any(|entry| is_template(entry.name())) {
        let hint = "write it as `template: |`, with the text indented below";
        return field.error_with_hint("a layout needs a template", hint);
    }
    let templates = field.read_entries(|entry| match is_template(entry.name()) {
        true => read_text(entry),
        false => None,
    });
    templates.filter(|templates| !templates.is_empty())
}

fn read_text(field: &Field<'_>) -> Option<LayoutText> {
    let source = match field.is_null() {
        true => String::new(),
        false => field.text()?,
    };
    if source.trim().is_empty() {
        return field.error("the template is empty");
    }
    let line = field.node.line;
    Some(LayoutText { source, line })
}

/// Returns true for a language tag such as `en`, `pt-BR` or `zh_Hant`, and for `default`.
fn is_language(name: &str) -> bool {
    let mut parts = name.split(['-', '_']);
    let is_primary = |part: &str| {
        (2..=3).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphabetic())
    };
    let is_subtag = |part: &str| {
        (2..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    name == "default"
        // `id` has the form of a language tag (Indonesian), but names the layout here.
        || (name != "id" && parts.next().is_some_and(is_primary) && parts.all(is_subtag))
}

fn warn_of_misspelt_keys(field: &Field<'_>) {
    field.warn_of_misspelt_keys(&[TEMPLATES, &["id"]].concat());
}

/// The name of a file without folder and extension.
fn stem(file: &str) -> &str {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    name.strip_suffix(".yaml")
        .or_else(|| name.strip_suffix(".yml"))
        .unwrap_or(name)
}

/// A layout with all settings at their defaults.
fn defaults(field: &Field<'_>) -> Layout {
    let origin = Origin::File(field.problems.file().to_owned());
    Layout::new("", "", origin)
}

/// Reads the settings of a layout besides its templates. Missing ones are those of `common`.
fn read_settings(field: &Field<'_>, common: &Layout) -> Layout {
    let mut settings = common.clone();
    if let Some(version) = field.get("version")
        && let Some(read) = version.scalar()
    {
        // `1.10` is the number 1.1 to YAML, which the author may not expect.
        if matches!(version.node.kind, NodeKind::Number(_)) {
            version.warning(format!("the number is read as `{read}`"));
        }
        settings.version = read;
    }
    if let Some(description) = field.get("description") {
        settings.description = description.text();
    }
    if let Some(language) = field.get("language") {
        settings.language = language.text();
    }
    if let Some(schema) = field.get("propsSchema") {
        settings.props_schema = PropsSchema::read(&schema).unwrap_or_default();
    }
    if let Some(props) = field.get("defaultProps") {
        settings.default_props = props.map_value();
    }
    if let Some(escape) = field.get("escape") {
        let words = [("html", Escape::Html), ("none", Escape::None)];
        settings.escape = escape.word(&words).unwrap_or_default();
    }
    if let Some(strict) = field.get("strict") {
        settings.missing = match strict.bool() {
            Some(true) => Missing::Refuse,
            Some(false) | None => Missing::Empty,
        };
    }
    let partials = field.read("partials", |partials| partials.read_entries(read_text));
    settings.partials.extend(partials.unwrap_or_default());
    settings
}
