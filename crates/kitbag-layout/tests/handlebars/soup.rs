//! Nothing that is given as a template or a context does harm.

use std::collections::BTreeMap;

use kitbag_layout::{Limits, RenderSettings, Template, TemplateError, Value};
use proptest::prelude::*;

/// What templates are made of, in any order.
const TOKENS: [&str; 66] = [
    "{{",
    "}}",
    "{{{",
    "}}}",
    "{{{{",
    "}}}}",
    "{{{{/",
    "{{#",
    "{{/",
    "{{^",
    "{{^}}",
    "{{>",
    "{{#>",
    "{{#*",
    "{{*",
    "{{&",
    "{{!",
    "{{!--",
    "--}}",
    "~",
    "\\",
    "\\\\",
    "else",
    "{{else}}",
    "{{else if ",
    "if",
    "each",
    "with",
    "unless",
    "lookup",
    "eq",
    "json",
    "inline",
    "raw",
    "log",
    "truncate",
    "formatConversation",
    "as |",
    "|",
    "(",
    ")",
    "[",
    "]",
    "\"",
    "'",
    "=",
    ".",
    "..",
    "/",
    "@",
    "this",
    "@root",
    "@index",
    "@partial-block",
    "a",
    "b",
    "list",
    "true",
    "null",
    "undefined",
    "-1.5",
    " ",
    "\n",
    "é😀",
    "\0",
    "p",
];

fn soup() -> impl Strategy<Value = String> {
    prop_oneof![
        // Well-formed pieces in between let the soup reach the renderer.
        3 => prop::collection::vec(
            prop_oneof![prop::sample::select(TOKENS.to_vec()), prop::sample::select(PIECES.to_vec())],
            0..40
        ).prop_map(|tokens| tokens.concat()),
        1 => prop::collection::vec(any::<u8>(), 0..200)
            .prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        1 => any::<String>(),
    ]
}

const PIECES: [&str; 16] = [
    "{{a}}",
    "{{#if a}}",
    "{{/if}}",
    "{{#each list}}",
    "{{/each}}",
    "{{#each @root as |v k|}}",
    "{{v}}{{k}}",
    "{{> p}}",
    "{{#> p}}",
    "{{/p}}",
    "{{#*inline \"p\"}}",
    "{{/inline}}",
    "{{> @partial-block}}",
    "{{json this indent=3}}",
    "{{{formatConversation list a}}}",
    "\n  ",
];

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<f64>().prop_map(|number| Value::Number(number.into())),
        any::<u64>().prop_map(Value::from),
        any::<String>().prop_map(Value::Text),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::List),
            prop::collection::btree_map("a|b|list|text|isAssistant|metadata|.*", inner, 0..5)
                .prop_map(Value::map),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn any_template_renders_or_says_where_it_is_wrong(
        source in soup(), partial in soup(), context in value()
    ) {
        let limits = Limits { steps: 20_000, ..Limits::default() };
        let settings = RenderSettings { limits, ..RenderSettings::default() };
        let rendered = match Template::parse("partial", &partial) {
            Ok(partial) => {
                let partials = BTreeMap::from([("p".to_owned(), partial)]);
                let settings = RenderSettings { partials: &partials, ..settings };
                attempt(&source, &context, &settings)
            }
            Err(_) => attempt(&source, &context, &settings),
        };
        if let Err(error) = rendered {
            let place = &error.place;
            let shown = format!("{}:{}:{}: ", place.template, place.line, place.column);
            prop_assert!(error.to_string().starts_with(&shown));
            let named = match place.template.as_str() {
                "soup" => &source,
                "partial" => &partial,
                // The one that is built in.
                _ => return Ok(()),
            };
            let line = named.split('\n').nth(place.line - 1);
            prop_assert!(line.is_some_and(|line| place.column <= line.chars().count() + 1));
        }
    }
}

fn attempt(
    source: &str,
    context: &Value,
    settings: &RenderSettings<'_>,
) -> Result<String, TemplateError> {
    let template = Template::parse("soup", source)?;
    template.paths().for_each(drop);
    let first = template.render(context, settings)?;
    assert_eq!(
        template.render(context, settings)?,
        first,
        "the same input gives the same bytes"
    );
    Ok(first)
}
