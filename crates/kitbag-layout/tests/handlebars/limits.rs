//! A template that asks for too much is refused, and the error says too much of what.

use std::collections::BTreeMap;

use kitbag_layout::{
    Limited, Limits, RenderSettings, Template, TemplateError, TemplateProblem, Value,
};

/// What is reached, and how much of it was allowed.
fn reached(
    source: &str,
    context: &Value,
    partials: &[(&str, &str)],
    limits: Limits,
) -> (Limited, u64) {
    let partials: BTreeMap<String, Template> = partials
        .iter()
        .map(|(name, source)| ((*name).to_owned(), Template::parse(name, source).unwrap()))
        .collect();
    let settings = RenderSettings {
        partials: &partials,
        limits,
        ..RenderSettings::default()
    };
    let rendered = Template::parse("bomb", source).and_then(|it| it.render(context, &settings));
    match rendered.map(|text| text.len()) {
        Err(TemplateError {
            problem: TemplateProblem::Limit { what, limit },
            ..
        }) => (what, limit),
        other => panic!("no limit reached: {other:?}"),
    }
}

fn list(length: u64) -> Value {
    Value::map([("list", Value::from((0..length).collect::<Vec<u64>>()))])
}

#[test]
fn loops_in_loops_run_out_of_steps() {
    let source =
        "{{#each list}}{{#each @root.list}}{{#each @root.list}}{{/each}}{{/each}}{{/each}}";
    let limits = Limits {
        steps: 100_000,
        ..Limits::default()
    };
    let expected = (Limited::Steps, 100_000);
    assert_eq!(reached(source, &list(1_000), &[], limits), expected);
}

#[test]
fn looking_at_large_values_again_and_again_runs_out_of_steps() {
    let limits = Limits {
        steps: 50_000,
        ..Limits::default()
    };
    let large = Value::map([
        ("list", Value::from((0..10_000).collect::<Vec<u64>>())),
        ("text", Value::from("x".repeat(1 << 20))),
        ("other", Value::from("x".repeat(1 << 20))),
    ]);
    for inner in [
        "(json @root)",
        "(eq @root.text @root.other)",
        "(truncate @root.text 3)",
        "(contains @root.text \"y\")",
        "(length @root.text)",
        "(gt @root.text @root.other)",
        "@root.text.length",
        "(lookup @root.text 1000000)",
        "(contains @root.list \"y\")",
    ] {
        let source = format!("{{{{#each list}}}}{{{{#if {inner}}}}}{{{{/if}}}}{{{{/each}}}}");
        let (what, _) = reached(&source, &large, &[], limits);
        assert_eq!(what, Limited::Steps, "{inner}");
    }
    let source = "{{#each list}}{{> p x=1}}{{/each}}";
    let wide = Value::map((0..10_000).map(|key| (key.to_string(), Value::Null)));
    let context = Value::map([("list", Value::List(vec![wide; 30]))]);
    let (what, _) = reached(source, &context, &[("p", "")], limits);
    assert_eq!(what, Limited::Steps);
}

#[test]
fn partials_that_call_themselves_go_too_deep() {
    let expected = (Limited::Depth, 64);
    let partials = [
        ("p", "x{{> p}}"),
        ("q", "{{#> q}}{{> @partial-block}}{{/q}}"),
    ];
    for source in [
        "{{> p}}",
        "{{> q}}",
        "{{#*inline \"p\"}}{{> p}}{{/inline}}{{> p}}",
        "{{#> p}}{{> @partial-block}}{{/p}}",
    ] {
        assert_eq!(
            reached(source, &Value::Null, &partials, Limits::default()),
            expected
        );
    }
}

#[test]
fn however_deep_is_allowed_the_stack_is_not_exhausted() {
    let limits = Limits {
        depth: u32::MAX,
        ..Limits::default()
    };
    let nested = format!("{{{{#if {}{}}}}}", "(not ".repeat(60), ")".repeat(60));
    let partials = [
        ("partial", "{{> partial}}"),
        (
            "each",
            "{{#each list}}{{#with @root}}{{> each}}{{/with}}{{/each}}",
        ),
        (
            "block",
            "{{#> block}}{{#with this}}{{> @partial-block}}{{/with}}{{/block}}",
        ),
        (
            "section",
            "{{#this}}{{#if (or (and (eq 1 1)))}}{{> section x=1}}{{/if}}{{/this}}",
        ),
        (
            "else",
            "{{#if x}}{{else if x}}{{else unless x}}{{^list}}{{else}}{{#with @root}}{{> else}}{{/with}}{{/list}}{{/if}}",
        ),
        (
            "inline",
            "{{#*inline \"i\"}}{{> inline}}{{/inline}}{{#raw}}{{> i}}{{/raw}}",
        ),
        (
            "talk",
            "{{#formatConversation list}}{{#with @root}}{{> talk}}{{/with}}{{/formatConversation}}",
        ),
    ];
    for (name, _) in partials {
        let source = format!("{{{{> {name}}}}}");
        let expected = (Limited::Depth, 128);
        assert_eq!(
            reached(&source, &list(2), &partials, limits),
            expected,
            "{name}"
        );
    }
    assert!(Template::parse("deep", &nested).is_err());
    let talk = Template::parse("talk", "{{{formatConversation messages}}}").unwrap();
    let settings = RenderSettings {
        conversation: Some(&talk),
        limits,
        ..RenderSettings::default()
    };
    let rendered = Template::parse("talk", "{{formatConversation list}}").unwrap();
    let rendered = rendered.render(&list(2), &settings).unwrap_err();
    assert!(matches!(
        rendered.problem,
        TemplateProblem::Limit {
            what: Limited::Depth,
            ..
        }
    ));
}

#[test]
fn a_partial_that_doubles_runs_out_of_output() {
    let source = "{{#each list}}{{> p}}{{/each}}";
    let line = "x".repeat(1 << 16);
    let partials = [("p", line.as_str())];
    let small = Limits {
        output: 1 << 20,
        ..Limits::default()
    };
    let expected = (Limited::Output, 1 << 20);
    assert_eq!(reached(source, &list(1_000), &partials, small), expected);
}

#[test]
fn values_and_conversations_count_as_output() {
    let context = Value::map([("a", Value::from("<".repeat(1_000)))]);
    let small = Limits {
        output: 2_000,
        ..Limits::default()
    };
    let expected = (Limited::Output, 2_000);
    assert_eq!(reached("{{a}}", &context, &[], small), expected);
    let message = Value::map([("text", Value::from("x".repeat(1_500)))]);
    let context = Value::map([("m", Value::List(vec![message]))]);
    let source = "{{m.[0].text}}{{{formatConversation m 'cli'}}}";
    assert_eq!(reached(source, &context, &[], small), expected);
}

#[test]
fn blocks_and_expressions_within_each_other_are_limited_when_they_are_parsed() {
    let deep = (Limited::Depth, 64);
    for source in [
        "{{#if a}}".repeat(400_000),
        "{{#> a}}".repeat(400_000),
        "{{#*inline \"a\"}}".repeat(200_000),
        format!("{{{{#if a}}}}{}", "{{else if b}}".repeat(200_000)),
        format!("{{{{a {}", "(b ".repeat(1_000_000)),
    ] {
        assert_eq!(reached(&source, &Value::Null, &[], Limits::default()), deep);
    }
    let large = "{{#if a}}".repeat(1_100_000);
    let expected = (Limited::Source, 4 << 20);
    assert_eq!(
        reached(&large, &Value::Null, &[], Limits::default()),
        expected
    );
}

#[test]
fn values_within_each_other_are_limited_where_they_are_written() {
    let mut nested = Value::Null;
    for _ in 0..1_000 {
        nested = Value::List(vec![nested]);
    }
    for source in ["{{this}}", "{{json this}}", "{{lookup @root this}}"] {
        let expected = (Limited::Data, 200);
        assert_eq!(reached(source, &nested, &[], Limits::default()), expected);
    }
}

#[test]
fn parsing_takes_time_in_proportion_to_the_source() {
    // Each of these takes long if any part of it is looked at for each other part.
    let pieces = [
        "{{!-- x --}}",
        "{{! x }}",
        "{{a}}",
        "\\{{a}}",
        "{{{{raw}}}}{{{{/raw}}}}",
        "{{ \n\n\n a}}",
        "{{a b=1}}",
        "{{#if a}}\n{{/if}}\n",
        "{{[a]}}",
        "{{\"a\"}}",
        "\n\n",
        "   ",
        "\\\\",
        "{ ",
    ];
    for piece in pieces {
        let source = piece.repeat((1 << 20) / piece.len());
        assert!(Template::parse("long", &source).is_ok(), "{piece:?}");
    }
    for open in ["{{!--", "{{\"", "{{[", "{{'", "{{{{a}}}}{{{{/"] {
        let source = open.repeat((1 << 20) / open.len());
        assert!(Template::parse("long", &source).is_err(), "{open:?}");
    }
    let arguments = " a=1".repeat(1 << 18);
    let source = format!("{{{{> p{arguments}}}}}");
    let partials = BTreeMap::from([("p".to_owned(), Template::parse("p", "{{a}}").unwrap())]);
    let settings = RenderSettings {
        partials: &partials,
        ..RenderSettings::default()
    };
    let rendered = Template::parse("long", &source)
        .unwrap()
        .render(&Value::Null, &settings);
    assert_eq!(rendered.unwrap(), "1");
}
