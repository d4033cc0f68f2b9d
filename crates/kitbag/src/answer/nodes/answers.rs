//! The answers of nodes that a program reads.

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::words::beginning;

/// An answer that is read as JSON.
pub(super) trait NodeAnswer: DeserializeOwned + JsonSchema {
    /// The fields of which an answer has at least one. Any other object is none, such as an error or a part of an
    /// answer that is not whole.
    const FIELDS: &'static [&'static str];

    /// True if an object without fields is an answer where there is no other.
    const MAY_BE_EMPTY: bool = false;

    /// Tells what is wrong with an answer that has the right fields.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

/// The decision of Understand about what the conversation is about.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct Curated {
    /// Refs that the message is about
    pub(super) referenced: Vec<String>,
    /// Entities to keep although nobody speaks of them any more
    #[serde(alias = "retain_active")]
    pub(super) retain: Vec<Retained>,
    /// Refs that no longer matter
    pub(super) demote: Vec<String>,
    /// Refs to remove for good, drafts among them
    pub(super) drop: Vec<String>,
    /// True removes every entity: the user begins anew
    pub(super) clear_all: bool,
    /// The reason, in a sentence
    #[serde(alias = "curation_summary")]
    pub(super) summary: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Retained {
    #[serde(rename = "ref")]
    pub(super) reference: String,
    /// The reason to keep it
    #[serde(default)]
    pub(super) reason: String,
}

impl NodeAnswer for Curated {
    const FIELDS: &'static [&'static str] = &[
        "referenced",
        "retain",
        "retain_active",
        "demote",
        "drop",
        "clear_all",
        "summary",
        "curation_summary",
    ];
    const MAY_BE_EMPTY: bool = true;
}

/// The plan of Think.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct Planned {
    pub(super) decision: Decision,
    /// The goal in a sentence; what is unclear, where the decision is `clarify`
    pub(super) goal: String,
    /// The steps in their order; none where the answer is known
    pub(super) steps: Vec<PlannedStep>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Decision {
    /// The steps are executed now
    #[default]
    #[serde(alias = "plan", alias = "direct", alias = "execute")]
    PlanDirect,
    /// The steps are proposed, and wait for the user's word
    Propose,
    /// The user is asked first
    #[serde(alias = "ask", alias = "ask_user")]
    Clarify,
}

impl Decision {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::PlanDirect => "plan_direct",
            Self::Propose => "propose",
            Self::Clarify => "clarify",
        }
    }
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct PlannedStep {
    /// `read`, `analyze`, `generate` or `write`
    #[serde(rename = "type")]
    pub(super) kind: String,
    /// The part of the domain
    pub(super) subdomain: String,
    /// The work to do
    pub(super) description: String,
}

impl NodeAnswer for Planned {
    const FIELDS: &'static [&'static str] = &["decision", "goal", "steps"];

    fn check(&self) -> Result<(), String> {
        let is_blank = |step: &PlannedStep| step.description.trim().is_empty();
        match self.steps.iter().position(is_blank) {
            Some(place) => Err(format!("step {} has no `description`", place + 1)),
            None => Ok(()),
        }
    }
}

impl Planned {
    /// The plan where none can be read.
    pub(super) fn of_message() -> Self {
        Self {
            steps: vec![PlannedStep {
                kind: "analyze".to_owned(),
                subdomain: String::new(),
                description: "do what the user's message asks for".to_owned(),
            }],
            ..Self::default()
        }
    }

    /// Shortens every text to `most` characters.
    pub(super) fn shorten(&mut self, most: usize) {
        self.goal = beginning(&self.goal, most);
        for step in &mut self.steps {
            step.kind = beginning(&step.kind, 40);
            step.subdomain = beginning(&step.subdomain, 40);
            step.description = beginning(&step.description, most);
        }
    }

    /// All texts of the plan.
    pub(super) fn text(&self) -> String {
        let steps = self.steps.iter().map(|step| step.description.as_str());
        let texts: Vec<&str> = steps.chain([self.goal.as_str()]).collect();
        texts.join("\n")
    }
}

/// The outcome of a step, as Act tells it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct Acted {
    /// The outcome, in a sentence or two
    pub(super) summary: String,
    /// A note for the next step
    pub(super) note: Option<String>,
    /// The things that the step dealt with
    pub(super) entities: Vec<Named>,
    /// The result of an analysis, as JSON
    pub(super) result: Option<Value>,
    /// The reason why neither this step nor a later one can be done
    pub(super) blocked: Option<String>,
    /// A question that the user has to answer first
    pub(super) ask_user: Option<String>,
}

/// A thing that a step dealt with.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct Named {
    /// Its id as a tool gave it, or its ref; none for a new draft
    #[schemars(with = "Option<String>")]
    pub(super) id: Option<Value>,
    /// The plural of what it is, such as `recipes`
    #[serde(rename = "type")]
    pub(super) kind: String,
    /// Its name for people
    pub(super) label: String,
    pub(super) action: Action,
    /// The ref of the draft that was saved as it
    pub(super) draft: Option<String>,
    /// The content of a draft, or the data of a thing that are worth keeping
    pub(super) data: Option<Value>,
}

/// The change of a thing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Action {
    #[default]
    Read,
    Created,
    Updated,
    Deleted,
    /// Another thing points to it
    Linked,
    /// It is a draft, and not saved
    Generated,
}

impl NodeAnswer for Acted {
    const FIELDS: &'static [&'static str] = &["summary", "blocked", "ask_user"];

    fn check(&self) -> Result<(), String> {
        let is_said = |text: &Option<String>| text.as_deref().is_some_and(|text| !text.is_empty());
        match self.summary.trim().is_empty() && !is_said(&self.blocked) && !is_said(&self.ask_user)
        {
            true => Err("it has no `summary`".to_owned()),
            false => Ok(()),
        }
    }
}

/// Reads an answer: the first JSON object in it that has the right fields, whatever stands around it. A
/// field that is null counts as missing. An object that does not end is not looked into: its parts are no answer.
pub(super) fn read<T: NodeAnswer>(text: &str) -> Result<T, String> {
    let mut problem = None;
    let mut empty = None;
    let mut from = 0;
    while let Some(start) = text.get(from..).and_then(|rest| rest.find('{')) {
        let start = from + start;
        let mut values = serde_json::Deserializer::from_str(text.get(start..).unwrap_or_default())
            .into_iter::<Value>();
        from = match values.next() {
            Some(Ok(value @ Value::Object(_))) => {
                match answer(without_nulls(value.clone())) {
                    Ok(answer) => return Ok(answer),
                    Err(_) if value == json!({}) => empty = Some(value),
                    Err(wrong) => problem = problem.or(Some(wrong)),
                }
                start + values.byte_offset()
            }
            Some(Err(error)) => {
                problem = problem.or_else(|| Some(format!("it is not JSON: {error}")));
                if error.is_eof() {
                    break;
                }
                start + 1
            }
            _ => start + 1,
        };
    }
    match (problem, empty) {
        (Some(problem), _) => Err(problem),
        (None, Some(empty)) if T::MAY_BE_EMPTY => {
            serde_json::from_value(empty).map_err(|error| error.to_string())
        }
        (None, Some(_)) => Err("its JSON object is empty".to_owned()),
        (None, None) => Err("it has no JSON object".to_owned()),
    }
}

fn answer<T: NodeAnswer>(value: Value) -> Result<T, String> {
    if !T::FIELDS.iter().any(|field| value.get(field).is_some()) {
        let fields = T::FIELDS.join("`, `");
        return Err(format!("its JSON object has none of the fields `{fields}`"));
    }
    let read: T = serde_json::from_value(value).map_err(|error| error.to_string())?;
    read.check().map(|()| read)
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
            let fields = fields.map(|(name, value)| (name, without_nulls(value)));
            Value::Object(fields.collect())
        }
        Value::Array(items) => items.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a10_answers_are_read_whatever_stands_around_them() {
        for text in [
            r#"{"decision": "propose", "goal": "soup"}"#,
            "Sure:\n```json\n{\"decision\": \"propose\", \"goal\": \"soup\", \"steps\": null}\n```\nDone.",
            r#"I use {braces}. {"decision": "propose", "goal": "soup", "why": {"a": 1}} {"goal": "no"}"#,
        ] {
            let plan = read::<Planned>(text).unwrap();
            assert_eq!(
                (plan.decision, plan.goal.as_str()),
                (Decision::Propose, "soup")
            );
        }
        assert_eq!(read::<Planned>("No.").unwrap_err(), "it has no JSON object");
        let wrong = read::<Planned>(r#"{"steps": [{"type": "read"}]}"#).unwrap_err();
        assert_eq!(wrong, "step 1 has no `description`");
        let wrong = read::<Planned>(r#"{"decision": "dance"}"#).unwrap_err();
        assert!(wrong.starts_with("unknown variant `dance`"), "{wrong}");
        let cut = read::<Planned>(r#"{"goal": "so"#).unwrap_err();
        assert!(cut.starts_with("it is not JSON: EOF"), "{cut}");
    }

    #[test]
    fn a10_a_part_of_an_answer_is_none() {
        let cut = r#"{"decision": "propose", "goal": "Empty the book",
            "steps": [{"type": "write", "description": "delete every recipe"}, {"ty"#;
        let problem = read::<Planned>(cut).unwrap_err();
        assert!(problem.starts_with("it is not JSON: EOF"), "{problem}");
        let broken =
            r#"{"decision": "propose", "steps": [{"type": "write", "description": "x"},],}"#;
        let problem = read::<Planned>(broken).unwrap_err();
        assert!(problem.starts_with("it is not JSON: "), "{problem}");
        let other = read::<Planned>(r#"{"error": "overloaded"}"#).unwrap_err();
        assert!(other.contains("none of the fields `decision`"), "{other}");
        assert!(read::<Curated>(r#"{"error": "overloaded"}"#).is_err());
        // Prose may have braces too.
        let asked = r#"I pass {} as arguments. {"decision": "clarify", "goal": "which book?"}"#;
        assert_eq!(read::<Planned>(asked).unwrap().decision, Decision::Clarify);
        assert_eq!(
            read::<Planned>("{}").unwrap_err(),
            "its JSON object is empty"
        );
        // Whoever curates may find nothing to change.
        assert!(read::<Curated>("Nothing: {}").unwrap().drop.is_empty());
        assert!(read::<Curated>(r#"Of {} I would {"drop": ["soup_1"#).is_err());
    }

    proptest! {
        #[test]
        fn a10_no_answer_panics(text in "[{}\\[\\]\":,a-z0-9 ]{0,60}") {
            let _ = read::<Acted>(&text);
            let _ = read::<Planned>(&text);
        }
    }
}
