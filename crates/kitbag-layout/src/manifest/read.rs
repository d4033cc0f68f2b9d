//! The forms in which layouts are written.

use indexmap::IndexMap;

use super::{Layout, LayoutText, Origin};
use crate::problem::{FileProblem, Problems};
use crate::props::PropsSchema;
use crate::template::{Escape, Missing};
use crate::yaml::{Field, NodeKind};

/// The namespace of layouts that are named after their file.
const NAMESPACE: &str = "crewx/";

/// What may be said of a layout besides its templates, in the file or in an entry.
const SETTINGS: &[&str] = &[
    "id",
    "version",
    "description",
    "propsSchema",
    "defaultProps",
    "escape",
    "strict",
    "partials",
    "language",
];

/// Where templates may stand.
const TEMPLATES: &[&str] = &[
    "template",
    "layout",
    "layouts",
    "system_prompt",
    "templates",
];

/// What shows that a file is a project, which need not have layouts.
const PROJECT: &[&str] = &["agents", "documents"];

/// Reads a file of layouts.
pub(super) fn read(file: &str, text: &str) -> (Vec<Layout>, Vec<FileProblem>) {
    let mut problems = Problems::new(file);
    let layouts = problems
        .read(text)
        .map(|node| read_file(&Field::root(&node), &mut problems))
        .unwrap_or_default();
    (layouts, problems.into_vec())
}

fn read_file(root: &Field<'_>, problems: &mut Problems) -> Vec<Layout> {
    if root.node.kind == NodeKind::Null {
        problems.error(root, "the file is empty");
        return Vec::new();
    }
    if root.map(problems).is_none() {
        return Vec::new();
    }
    warn_of_misspelt_keys(root, problems);
    let common = Settings::read(root, &Settings::default(), problems);
    let named_after_file = format!("{NAMESPACE}{}", stem(problems.file()));
    if let Some(map) = root.get("layouts") {
        let mut layouts = read_entries(&map, &common, problems);
        add_name_of_file(&mut layouts, named_after_file);
        return layouts;
    }
    if root.get_any(TEMPLATES).is_none() && root.get_any(PROJECT).is_some() {
        problems.warning(root, "there are agents or documents here, but no layouts");
        return Vec::new();
    }
    let id = root
        .get("id")
        .and_then(|id| read_id(&id, problems))
        .unwrap_or(named_after_file);
    let body = match root.get("layout") {
        // What is said of the layout may also stand beside its templates.
        Some(layout) if root.get("template").is_none() => {
            let settings = Settings::read(&layout, &common, problems);
            read_layout(id, &layout, settings, problems)
        }
        _ => read_layout(id, root, common, problems),
    };
    body.into_iter().collect()
}

/// Reads a map of ids to layouts, as projects hold it.
pub(crate) fn read_map(map: &Field<'_>, problems: &mut Problems) -> Vec<Layout> {
    read_entries(map, &Settings::default(), problems)
}

fn read_entries(map: &Field<'_>, common: &Settings, problems: &mut Problems) -> Vec<Layout> {
    if map.map(problems).is_none() {
        return Vec::new();
    }
    map.entries()
        .filter_map(|entry| {
            let id = entry.name().to_owned();
            if id.trim().is_empty() {
                problems.error(&entry, "a layout needs a name");
                return None;
            }
            if !entry.is_map() {
                return read_layout(id, &entry, common.clone(), problems);
            }
            warn_of_misspelt_keys(&entry, problems);
            let settings = Settings::read(&entry, common, problems);
            let body = entry.get("layout").unwrap_or_else(|| entry.clone());
            read_layout(id, &body, settings, problems)
        })
        .collect()
}

/// One of several layouts is also known by the name of its file: the one that is called so, or
/// the one that is called `default`.
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

fn read_layout(
    id: String,
    body: &Field<'_>,
    settings: Settings,
    problems: &mut Problems,
) -> Option<Layout> {
    let templates = read_templates(body, &settings, problems)?;
    Some(Layout {
        id,
        version: settings.version.unwrap_or_else(|| String::from("1.0.0")),
        description: settings.description,
        templates,
        language: settings.language,
        props_schema: settings.props_schema,
        default_props: settings.default_props,
        escape: settings.escape,
        missing: settings.missing,
        partials: settings.partials,
        origin: Origin::File(problems.file().to_owned()),
    })
}

/// The templates of a layout: a text, or a map that holds a text or a map of languages, or that
/// is itself a map of languages.
fn read_templates(
    body: &Field<'_>,
    settings: &Settings,
    problems: &mut Problems,
) -> Option<IndexMap<String, LayoutText>> {
    let inner = body.get_any(&["template", "system_prompt", "templates"]);
    let field = inner.as_ref().unwrap_or(body);
    if !field.is_map() {
        if inner.is_none() && field.as_text().is_none() {
            return field.refuse(problems, "a template or a map with one");
        }
        let language = settings.language.as_deref().unwrap_or("default");
        let text = read_text(field, problems)?;
        return Some(IndexMap::from([(language.to_owned(), text)]));
    }
    // A file holds much else under short names; languages stand inside a layout.
    let is_template = |name: &str| match &inner {
        Some(_) => true,
        None => !body.key.is_empty() && is_language(name),
    };
    let templates: IndexMap<_, _> = field
        .entries()
        .filter(|entry| is_template(entry.name()))
        .filter_map(|entry| {
            let text = read_text(&entry, problems)?;
            Some((entry.name().to_owned(), text))
        })
        .collect();
    if !field.entries().any(|entry| is_template(entry.name())) {
        let hint = "write it as `template: |`, with the text indented below";
        problems.error_with_hint(field, "a layout needs a template", hint);
    }
    (!templates.is_empty()).then_some(templates)
}

fn read_text(field: &Field<'_>, problems: &mut Problems) -> Option<LayoutText> {
    let source = match field.node.kind {
        NodeKind::Null => String::new(),
        _ => field.text(problems)?,
    };
    if source.trim().is_empty() {
        problems.error(field, "the template is empty");
        return None;
    }
    let line = field.node.line;
    Some(LayoutText { source, line })
}

/// A language tag such as `en`, `pt-BR` or `zh_Hant`, or the word `default`.
fn is_language(name: &str) -> bool {
    let mut parts = name.split(['-', '_']);
    let is_primary = |part: &str| {
        (2..=3).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphabetic())
    };
    let is_subtag = |part: &str| {
        (2..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    name == "default"
        || (name != "id" && parts.next().is_some_and(is_primary) && parts.all(is_subtag))
}

fn warn_of_misspelt_keys(field: &Field<'_>, problems: &mut Problems) {
    let known: Vec<_> = SETTINGS.iter().chain(TEMPLATES).copied().collect();
    problems.warn_of_misspelt_keys(field, &known);
}

fn read_id(field: &Field<'_>, problems: &mut Problems) -> Option<String> {
    let id = field.text(problems)?;
    if id.is_empty() || id.chars().any(char::is_whitespace) {
        problems.error(field, format!("expected an id without blanks, got `{id}`"));
        return None;
    }
    Some(id)
}

/// The name of a file without its folder and its ending.
fn stem(file: &str) -> &str {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    name.strip_suffix(".yaml")
        .or_else(|| name.strip_suffix(".yml"))
        .unwrap_or(name)
}

#[derive(Debug, Clone, Default)]
struct Settings {
    version: Option<String>,
    description: Option<String>,
    language: Option<String>,
    props_schema: PropsSchema,
    default_props: Option<crate::value::Value>,
    escape: Escape,
    missing: Missing,
    partials: IndexMap<String, LayoutText>,
}

impl Settings {
    /// Reads what is said here. What is not said is as in `common`.
    fn read(field: &Field<'_>, common: &Self, problems: &mut Problems) -> Self {
        let mut settings = common.clone();
        if let Some(version) = field.get("version") {
            settings.version = version.scalar(problems);
            if matches!(version.node.kind, NodeKind::Number(_)) {
                let read = settings.version.as_deref().unwrap_or_default();
                problems.warning(&version, format!("the number is read as `{read}`"));
            }
        }
        if let Some(description) = field.get("description") {
            settings.description = description.text(problems);
        }
        if let Some(language) = field.get("language") {
            settings.language = language.text(problems);
        }
        if let Some(schema) = field.get("propsSchema") {
            settings.props_schema = PropsSchema::read(&schema, problems).unwrap_or_default();
        }
        if let Some(props) = field.get("defaultProps") {
            settings.default_props = props.map(problems).map(|props| props.node.to_value());
        }
        if let Some(escape) = field.get("escape") {
            settings.escape = match escape.as_text() {
                Some("html") => Escape::Html,
                Some("none") => Escape::None,
                other => {
                    let got = other.unwrap_or(escape.node.describe());
                    problems.error(&escape, format!("expected `html` or `none`, got {got}"));
                    Escape::Html
                }
            };
        }
        if let Some(strict) = field.get("strict") {
            settings.missing = match strict.bool(problems) {
                Some(true) => Missing::Refuse,
                Some(false) | None => Missing::Empty,
            };
        }
        if let Some(partials) = field.get("partials")
            && partials.map(problems).is_some()
        {
            let partials = partials.entries().filter_map(|partial| {
                let text = read_text(&partial, problems)?;
                Some((partial.name().to_owned(), text))
            });
            settings.partials.extend(partials);
        }
        settings
    }
}
