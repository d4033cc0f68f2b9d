//! Random manifests, props and contexts: nothing panics or hangs, and every error names its place.

#![allow(clippy::unwrap_used, reason = "helpers of tests are test code")]

use std::collections::BTreeMap;
use std::sync::LazyLock;

use kitbag_layout::builtin::partials;
use kitbag_layout::layout::{LayoutFailure, ParsedLayout};
use kitbag_layout::{Config, Layout, Map, Template, Value};
use proptest::prelude::*;

static SHARED: LazyLock<BTreeMap<String, Template>> = LazyLock::new(partials);

/// Pieces of templates that mean something, and some that mean nothing.
const TEMPLATE: [&str; 34] = [
    "text ",
    "\\n",
    "{{agent.name}}",
    "{{{user_input}}}",
    "{{#if messages}}",
    "{{else}}",
    "{{else if x}}",
    "{{/if}}",
    "{{#each documents}}",
    "{{/each}}",
    "{{#each messages}}",
    "{{@key}}",
    "{{../agent.id}}",
    "{{> kitbag/profile}}",
    "{{> kitbag/history}}",
    "{{> nowhere}}",
    "{{#with agent}}",
    "{{/with}}",
    "{{formatConversation messages platform}}",
    "{{json this}}",
    "{{truncate text 3}}",
    "{{~x~}}",
    "{{! note }}",
    "{{",
    "}}",
    "{{{",
    "\\\\{{x}}",
    "{{#unless (eq a b)}}",
    "{{/unless}}",
    "{{lookup . 'x'}}",
    "{{props.tone}}",
    "{{nothing 1}}",
    "{{formatFileSize size}}",
    "<system_prompt key=x>",
];

const SCHEMA: [&str; 14] = [
    "tone: { type: string }",
    "tone: { type: string, oneOf: [a, b], defaultValue: a }",
    "n: { type: number, min: 1, max: 3 }",
    "b: { type: boolean, default: true }",
    "l: { type: arrayOf, itemType: string, minLength: 1 }",
    "s: { type: shape, shape: { x: { type: number, defaultValue: 2 } } }",
    "o: { type: oneOfType, types: [string, number] }",
    "p: { type: string, pattern: '^[a-z]+$' }",
    "q: { type: string, pattern: '((((' }",
    "r: { isRequired: true, type: node }",
    "z: { type: colour }",
    "f: { type: func }",
    "y: 7",
    "x: { type: object }",
];

fn template() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(TEMPLATE.to_vec()), 0..16)
        .prop_map(|parts| parts.concat())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| Value::Number(number.into())),
        "\\PC{0,8}".prop_map(Value::from),
        prop::sample::select(TEMPLATE.to_vec()).prop_map(Value::from),
        prop::sample::select(vec!["a", "b", "</user_query>", "\u{202e}"]).prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let key = prop::sample::select(vec![
            "text",
            "isAssistant",
            "metadata",
            "slack",
            "agent_id",
            "content",
            "id",
            "name",
            "x",
            "tone",
            "length",
            "1",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::List),
            prop::collection::vec((key, inner), 0..4).prop_map(Value::map),
        ]
    })
}

fn context() -> impl Strategy<Value = Map> {
    let name = prop::sample::select(vec![
        "agent",
        "agentMetadata",
        "messages",
        "documents",
        "vars",
        "props",
        "layout",
        "user_input",
        "platform",
        "x",
        "a",
    ]);
    prop::collection::vec((name, value()), 0..8).prop_map(|fields| {
        fields
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect()
    })
}

fn manifest() -> impl Strategy<Value = String> {
    let schema = prop::collection::vec(prop::sample::select(SCHEMA.to_vec()), 0..4);
    let settings = prop::sample::select(vec![
        "",
        "escape: none\n",
        "strict: true\n",
        "escape: loud\n",
        "strict: maybe\n",
        "partials: { p: '{{> p}}' }\n",
    ]);
    (template(), schema, settings, 0..4_u8).prop_map(|(template, schema, settings, form)| {
        let quoted = template.replace('\'', "''");
        let schema: String = schema.iter().map(|prop| format!("  {prop}\n")).collect();
        let schema = format!("propsSchema:\n{schema}");
        match form {
            0 => format!("{settings}{schema}template: '{quoted}'\n"),
            1 => format!("{settings}{schema}layouts: {{ one: '{quoted}', two: {{ template: '{quoted}' }} }}\n"),
            2 => format!("{settings}{schema}layout: {{ system_prompt: {{ en: '{quoted}', pt: x }} }}\n"),
            _ => format!("{settings}{schema}template: {template}\n"),
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn c04_any_layout_renders_or_says_where_it_does_not(manifest in manifest(), props in value(), context in context()) {
        let (layouts, problems) = Layout::read("fuzz.yaml", &manifest);
        for problem in &problems {
            prop_assert!(problem.line > 0, "{problem}: {manifest}");
            prop_assert!(!problem.message.is_empty());
        }
        prop_assert!(!layouts.is_empty() || !problems.is_empty(), "{manifest}");
        for layout in &layouts {
            let rendered = ParsedLayout::new(layout, None, &SHARED).and_then(|parsed| {
                let checked = parsed.props(Some(&props))?;
                let mut context = context.clone();
                context.insert("props".to_owned(), checked.props);
                parsed.render(&Value::Map(context), None)
            });
            match rendered {
                Ok(text) => prop_assert!(text.len() <= 16 << 20),
                Err(LayoutFailure::Template(error)) => {
                    prop_assert!(error.place.line > 0 && error.place.column > 0, "{error}");
                }
                Err(LayoutFailure::Prop(error)) => prop_assert!(error.path.starts_with("props"), "{error}"),
                Err(error) => prop_assert!(false, "{error}"),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn c01_any_text_is_a_configuration_or_says_where_it_is_none(
        text in "(agents:|layouts:|documents:|  - |id: |: |\n|  |\\[|\\]|\\{|\\}|'|\"|&a |\\*a|#|[a-z0-9é]){0,40}"
    ) {
        let (config, problems) = Config::read("kitbag.yaml", &text);
        for problem in &problems {
            prop_assert!(!problem.message.is_empty());
            prop_assert!(problem.line > 0, "{problem}: {text:?}");
        }
        for agent in &config.agents {
            prop_assert!(!agent.id.is_empty());
        }
    }
}
