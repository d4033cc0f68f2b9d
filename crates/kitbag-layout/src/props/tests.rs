//! Schemas that are read, and props that are held against them.

use proptest::prelude::*;

use super::*;
use crate::problem::{FileProblem, Problems};

fn read(text: &str) -> (PropsSchema, Vec<FileProblem>) {
    Problems::reading("layout.yaml", text, |root| {
        root.read("propsSchema", PropsSchema::read)
    })
}

fn schema(text: &str) -> PropsSchema {
    let indented: String = text.lines().map(|line| format!("  {line}\n")).collect();
    let (schema, problems) = read(&format!("propsSchema:\n{indented}"));
    assert_eq!(problems, []);
    schema
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Props after the check, and all that was found, one line each.
fn check(schema: &PropsSchema, props: &str, mode: PropsMode) -> String {
    let checked = schema.check(Some(&json(props)), None, mode);
    let mut lines = vec![serde_json::to_string(&checked.props).unwrap()];
    lines.extend(checked.errors.iter().map(ToString::to_string));
    lines.extend(checked.warnings.iter().map(|w| format!("warning: {w}")));
    lines.join("\n")
}

#[test]
fn each_rule_has_its_message() {
    let schema = schema(
        "name: {type: string, minLength: 2, maxLength: 3, pattern: '^[a-z]+$'}\n\
         theme: {type: string, oneOf: [light, dark], defaultValue: light}\n\
         depth: {type: number, min: 1, max: 5, default: 2}\n\
         level: {type: number, oneOf: [1, 2]}\n\
         loud: {type: boolean, required: true}\n\
         tags: {type: array, minLength: 1, maxLength: 2}\n\
         parts: {type: arrayOf, itemType: string, itemOneOf: [a, b], defaultValue: [a]}\n\
         extra: {type: object}\n\
         size: {type: oneOfType, types: [string, number]}\n\
         call: {type: func}\n\
         any: {type: node}",
    );
    let check = |props| check(&schema, props, PropsMode::Lenient);
    insta::assert_snapshot!(check("{}"), @r#"
    {"theme":"light","depth":2,"parts":["a"]}
    props.loud: Required prop 'loud' is missing
    "#);
    insta::assert_snapshot!(
        check(r#"{"name":1,"theme":"pink","depth":0,"level":3,"loud":"yes","tags":[],"parts":["a",1,"c"],"extra":[],"size":true,"call":"x","any":{"x":[1]}}"#),
        @r#"
    {"theme":"light","depth":2,"parts":["a"],"any":{"x":[1]}}
    props.name: Expected string, got number
    props.theme: Expected one of: light, dark
    props.depth: Number must be >= 1
    props.level: Expected one of: 1, 2
    props.loud: Expected boolean, got string
    props.tags: Array length must be >= 1
    props.parts.1: Expected string, got number
    props.parts.1: Array item must be one of: a, b
    props.parts.2: Array item must be one of: a, b
    props.extra: Expected object, got array
    props.size: Value does not match any allowed type: string, number
    props.call: Expected function, got string
    "#);
    insta::assert_snapshot!(
        check(r#"{"name":"abcd","depth":9,"loud":true,"tags":[1,2,3],"parts":"a","extra":{"k":1},"size":2}"#),
        @r#"
    {"theme":"light","depth":2,"loud":true,"parts":["a"],"extra":{"k":1},"size":2}
    props.name: String length must be <= 3
    props.depth: Number must be <= 5
    props.tags: Array length must be <= 2
    props.parts: Expected array, got string
    "#);
    insta::assert_snapshot!(check(r#"{"name":"a","loud":false}"#), @r#"
    {"theme":"light","depth":2,"loud":false,"parts":["a"]}
    props.name: String length must be >= 2
    "#);
    insta::assert_snapshot!(check(r#"{"name":"A1","loud":false}"#), @r#"
    {"theme":"light","depth":2,"loud":false,"parts":["a"]}
    props.name: String does not match pattern ^[a-z]+$
    "#);
}

#[test]
fn unknown_props_are_refused_or_dropped_with_a_warning() {
    let schema = schema("a: {type: number}\nin: {type: shape, shape: {b: {type: bool}}}");
    let props = r#"{"a":1,"x":2,"in":{"b":true,"y":3}}"#;
    insta::assert_snapshot!(check(&schema, props, PropsMode::Strict), @r#"
    {"a":1,"in":{"b":true}}
    props.x: Unknown prop 'x'
    props.in.y: Unknown prop 'y'
    "#);
    insta::assert_snapshot!(check(&schema, props, PropsMode::Lenient), @r#"
    {"a":1,"in":{"b":true}}
    warning: props.x: Unknown prop 'x'
    warning: props.in.y: Unknown prop 'y'
    "#);
}

#[test]
fn shapes_have_defaults_and_errors_of_their_own() {
    let schema = schema(
        "box:\n\
         \x20 type: shape\n\
         \x20 shape:\n\
         \x20   wide: {type: number, defaultValue: 3}\n\
         \x20   label: {type: string, isRequired: true}\n\
         \x20   inner: {type: shape, shape: {deep: {type: bool, default: true}}}\n\
         rows:\n\
         \x20 type: arrayOf\n\
         \x20 itemType: {type: shape, shape: {n: {type: number, default: 7}, s: {type: string}}}\n\
         more: {type: arrayOf, itemType: shape, shape: {n: {type: number, default: 1}}}",
    );
    insta::assert_snapshot!(check(&schema, "{}", PropsMode::Strict), @r#"{"box":{"wide":3,"inner":{"deep":true}}}"#);
    insta::assert_snapshot!(
        check(&schema, r#"{"box":{"wide":"x"},"rows":[{"s":"a"},{"n":1}],"more":[{}]}"#, PropsMode::Strict),
        @r#"
    {"box":{"wide":3,"inner":{"deep":true}},"rows":[{"n":7,"s":"a"},{"n":1}],"more":[{"n":1}]}
    props.box.wide: Expected number, got string
    props.box.label: Required prop 'label' is missing
    "#);
    insta::assert_snapshot!(
        check(&schema, r#"{"box":5,"rows":[{"n":null,"s":2},4]}"#, PropsMode::Strict),
        @r#"
    {"box":{"wide":3,"inner":{"deep":true}}}
    props.box: Expected object, got number
    props.rows.0.s: Expected string, got number
    props.rows.1: Expected object, got number
    "#);
}

#[test]
fn defaults_of_the_layout_lie_between_the_schema_and_the_agent() {
    let schema = schema(
        "theme: {type: string, oneOf: [light, dark], defaultValue: light}\n\
         list: {type: array, defaultValue: [1, 2]}\n\
         ui: {type: object, defaultValue: {a: 1, b: {c: 2}}}",
    );
    let defaults = json(r#"{"theme":"dark","ui":{"b":{"d":3}}}"#);
    let check = |props: &str| {
        let checked = schema.check(Some(&json(props)), Some(&defaults), PropsMode::Strict);
        let errors: Vec<_> = checked.errors.iter().map(ToString::to_string).collect();
        format!(
            "{} {errors:?}",
            serde_json::to_string(&checked.props).unwrap()
        )
    };
    insta::assert_snapshot!(check("null"), @r#"{"theme":"dark","list":[1,2],"ui":{"a":1,"b":{"c":2,"d":3}}} []"#);
    insta::assert_snapshot!(check(r#"{"theme":null,"list":[9],"ui":{"b":{"c":0}}}"#), @r#"{"theme":"dark","list":[9],"ui":{"a":1,"b":{"c":0,"d":3}}} []"#);
    insta::assert_snapshot!(check(r#"{"theme":"pink"}"#), @r#"{"theme":"dark","list":[1,2],"ui":{"a":1,"b":{"c":2,"d":3}}} ["props.theme: Expected one of: light, dark"]"#);
    insta::assert_snapshot!(check("7"), @r#"{"theme":"dark","list":[1,2],"ui":{"a":1,"b":{"c":2,"d":3}}} ["props: Expected object, got number"]"#);
}

#[test]
fn without_a_schema_everything_passes() {
    let checked = PropsSchema::default().check(
        Some(&json(r#"{"b":1}"#)),
        Some(&json(r#"{"a":0,"b":0}"#)),
        PropsMode::Strict,
    );
    assert_eq!(checked.props, json(r#"{"a":0,"b":1}"#));
    assert_eq!((checked.errors, checked.warnings), (vec![], vec![]));
}

#[test]
fn lengths_are_those_of_javascript() {
    let schema = schema("s: {type: string, maxLength: 2}");
    assert_eq!(
        check(&schema, r#"{"s":"🎒"}"#, PropsMode::Strict),
        r#"{"s":"🎒"}"#
    );
    assert!(check(&schema, r#"{"s":"🎒!"}"#, PropsMode::Strict).contains("<= 2"));
}

#[test]
fn contradictory_schemas_are_reported_with_their_place() {
    let (_, problems) = read(
        "propsSchema:\n  a: {type: text}\n  b: {type: strng}\n  c: string\n  d: {type: shape}\n  \
         e: {type: shape, shape: {f: {type: 3}}}\n  g: {type: string, pattern: '(?=x)'}\n  \
         h: {type: string, pattern: '(a{1000}){1000}'}\n  i: {type: number, min: 5, max: 1}\n  \
         j: {type: string, minLength: -1}\n  k: {type: oneOfType}\n  l: {type: string, oneOf: a}\n  \
         m: {type: bool, defualt: true}\n  n: {type: bool, default: 'no'}\n  o: {oneOf: [1]}\n  \
         p: {type: bool, required: 1}\n  q: {type: oneOfType, types: [string, txt]}\n",
    );
    let lines: Vec<_> = problems
        .iter()
        .map(|problem| {
            let hint = problem.hint.iter().map(|hint| format!(" ({hint})"));
            format!("{problem}{}", hint.collect::<String>())
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    layout.yaml:2:13: propsSchema.a.type: `text` is not a type of props (the types are string, number, bool, boolean, array, arrayOf, object, shape, oneOfType, func, function, node)
    layout.yaml:3:13: propsSchema.b.type: `strng` is not a type of props (did you mean `string`?)
    layout.yaml:4:6: propsSchema.c: expected a map, got the text `string` (write `{type: string}`)
    layout.yaml:5:6: propsSchema.d: a shape needs the schemas of its entries in `shape`
    layout.yaml:6:38: propsSchema.e.shape.f.type: expected a text, got a number (put it in quotes)
    layout.yaml:7:30: propsSchema.g.pattern: `(?=x)` is not a pattern: look-around, including look-ahead and look-behind, is not supported
    layout.yaml:8:30: propsSchema.h.pattern: `(a{1000}){1000}` is not a pattern: it takes over 1048576 bytes
    layout.yaml:9:6: propsSchema.i: min 5 is above max 1
    layout.yaml:10:32: propsSchema.j.minLength: expected a length, got -1
    layout.yaml:11:6: propsSchema.k: `oneOfType` needs a list of types in `types`
    layout.yaml:12:28: propsSchema.l.oneOf: expected a list of values, got a text
    layout.yaml:13:28: propsSchema.m.defualt: `defualt` is not a known key and has no effect (did you mean `default`?)
    layout.yaml:14:28: propsSchema.n.default: the default is not valid: Expected boolean, got string
    layout.yaml:15:6: propsSchema.o: without a `type` any value is accepted
    layout.yaml:16:29: propsSchema.p.required: expected true or false, got a number
    layout.yaml:17:40: propsSchema.q.types[1]: `txt` is not a type of props (the types are string, number, bool, boolean, array, arrayOf, object, shape, oneOfType, func, function, node)
    ");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(|n| Value::Number(n.into())),
        any::<f64>().prop_map(|n| Value::Number(n.into())),
        "[a-d]{0,3}".prop_map(Value::Text),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::List),
            prop::collection::vec(("[a-d]", inner), 0..4).prop_map(Value::map),
        ]
    })
}

proptest! {
    #[test]
    fn checked_props_pass_another_check(props in any_json(), defaults in any_json()) {
        let schema = schema(
            "a: {type: string, maxLength: 2, default: x}\n\
             b: {type: shape, shape: {a: {type: number, min: 0, default: 1}, b: {type: arrayOf, itemType: string}}}\n\
             c: {type: oneOfType, types: [bool, {type: number, max: 9}]}\n\
             d: {type: arrayOf, itemType: {type: shape, shape: {c: {type: bool}}}}",
        );
        let first = schema.check(Some(&props), Some(&defaults), PropsMode::Lenient);
        let second = schema.check(Some(&first.props), None, PropsMode::Strict);
        prop_assert_eq!(&second.errors, &[]);
        prop_assert_eq!(second.props, first.props);
    }
}
