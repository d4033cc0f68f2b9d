//! Routing: the choice of a model for each message, by rules or by a model that names a class.
//!
//! Nothing is decided here, and no model is asked.

use core::time::Duration;

use indexmap::IndexMap;

use super::pattern::Pattern;
use super::provider::{Declared, time};
use crate::yaml::Field;

/// The choice of the model for each message. The first rule that matches counts; if none does, the classifier is asked.
///
/// ```
/// use kitbag_layout::Config;
///
/// let text = "routing:\n  rules:\n    - {words: [stack trace], model: claude-opus-4-8}\n";
/// let (config, problems) = Config::read("kitbag.yaml", text);
/// assert_eq!(config.routing.unwrap().rules[0].model, "claude-opus-4-8");
/// assert_eq!(problems, []);
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Routing {
    /// The rules, in their order.
    pub rules: Vec<RouteRule>,
    /// The classes that a classifier names.
    pub classes: IndexMap<String, RouteClass>,
    /// The model that names a class.
    pub classifier: Option<RouteClassifier>,
    /// The class of messages for which the classifier names none; the usual model answers if it is missing.
    pub otherwise: Option<String>,
    /// The one who declares it.
    pub declared: Declared,
}

/// A rule: all that it asks for must hold.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct RouteRule {
    /// The name that reports of a decision show.
    pub name: Option<String>,
    /// Words and phrases, one of which must stand in the message.
    pub words: Vec<String>,
    /// A pattern that must stand in the message.
    pub pattern: Option<Pattern>,
    /// The message must have more characters.
    pub longer_than: Option<u64>,
    /// The message must have fewer characters.
    pub shorter_than: Option<u64>,
    /// The message must have something attached, or nothing.
    pub attachments: Option<bool>,
    /// The agents that may answer.
    pub agents: Vec<String>,
    /// The channels that it may come in on.
    pub channels: Vec<String>,
    /// Tools must be on offer, or none.
    pub tools: Option<bool>,
    /// The model that answers.
    pub model: String,
}

/// A class of messages.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RouteClass {
    /// The messages that belong to it, in words for the classifier.
    pub description: String,
    /// The model that answers them.
    pub model: String,
}

/// The model that names the class of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RouteClassifier {
    pub model: String,
    /// The longest that it may take.
    pub time_limit: Duration,
}

/// Nobody waits longer for the choice of a model.
const TIME_LIMIT: Duration = Duration::from_secs(5);

impl Routing {
    pub(super) fn read(field: &Field<'_>) -> Option<Self> {
        field.map()?;
        let rules = field.read("rules", |rules| match rules.is_list() {
            true => Some(
                rules
                    .items()
                    .filter_map(|rule| RouteRule::read(&rule))
                    .collect(),
            ),
            false => rules.refuse("a list"),
        });
        let classes = field.read("classes", |classes| classes.read_entries(RouteClass::read));
        let classes: IndexMap<String, RouteClass> = classes.unwrap_or_default();
        let classifier = field.read("classifier", RouteClassifier::read);
        let otherwise = field.read("otherwise", |otherwise| {
            let class = otherwise.text()?;
            // Classes are read first, whatever their order in the file.
            if classes.contains_key(&class) {
                return Some(class);
            }
            let hint = "name one of `classes`; a last rule without conditions chooses for all other messages";
            otherwise.error_with_hint(format!("there is no class `{class}`"), hint)
        });
        field.warn_of_misspelt_keys(&[]);
        // With one class there is nothing to choose, and each message would pay for the question.
        if classifier.is_some() && classes.len() < 2 {
            return field.error("a classifier needs at least two `classes` to choose from");
        }
        if classifier.is_none() && !classes.is_empty() {
            field.warning("`classes` have no effect without a `classifier`");
        }
        Some(Self {
            rules: rules.unwrap_or_default(),
            classes,
            classifier,
            otherwise,
            declared: Declared::ByUser,
        })
    }
}

impl RouteRule {
    fn read(field: &Field<'_>) -> Option<Self> {
        field.map()?;
        let before = field.problems.count();
        let model = field.get("model");
        let rule = Self {
            name: field.read("name", Field::text),
            words: field.read("words", Field::texts).unwrap_or_default(),
            pattern: field.read("pattern", Pattern::read),
            longer_than: field.read("longer_than", Field::whole_number),
            shorter_than: field.read("shorter_than", Field::whole_number),
            attachments: field.read("attachments", Field::bool),
            agents: field.read("agents", Field::texts).unwrap_or_default(),
            channels: field.read("channels", Field::texts).unwrap_or_default(),
            tools: field.read("tools", Field::bool),
            model: match model {
                Some(model) => model.text()?,
                None => return field.error("a rule needs a `model`"),
            },
        };
        field.warn_of_misspelt_keys(&[]);
        // Without the condition that cannot be read, it would hold for more messages than it says.
        match field.problems.error_since(before) {
            Some(_) => None,
            None => Some(rule),
        }
    }
}

impl RouteClass {
    fn read(field: &Field<'_>) -> Option<Self> {
        field.map()?;
        let (description, model) = (field.get("description"), field.get("model"));
        field.warn_of_misspelt_keys(&[]);
        match (description, model) {
            (Some(description), Some(model)) => Some(Self {
                description: description.text()?,
                model: model.text()?,
            }),
            _ => field.error("a class needs a `description` and a `model`"),
        }
    }
}

impl RouteClassifier {
    fn read(field: &Field<'_>) -> Option<Self> {
        field.map()?;
        let model = field.get("model");
        let time_limit = field.read("time_limit", time);
        field.warn_of_misspelt_keys(&[]);
        match model {
            Some(model) => Some(Self {
                model: model.text()?,
                time_limit: time_limit.unwrap_or(TIME_LIMIT),
            }),
            None => field.error("a classifier needs a `model`"),
        }
    }
}
