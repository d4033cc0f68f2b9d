//! All that we chose to render otherwise than Handlebars.js, and why.
//!
//! The cases and the random templates show that there is nothing else, but for the limits.

use std::collections::BTreeMap;

use super::{Case, reference};

struct Deviation {
    why: &'static str,
    template: &'static str,
    context: &'static str,
    partials: &'static [(&'static str, &'static str)],
    /// What we render, where nothing stands for an error.
    ours: Option<&'static str>,
}

const DEVIATIONS: [Deviation; 16] = [
    Deviation {
        why: "numbers that stand side by side are not added up",
        template: "{{{a}}}{{{b}}}",
        context: r#"{"a": 1, "b": 2}"#,
        partials: &[],
        ours: Some("12"),
    },
    Deviation {
        why: "lists and objects are equal when they hold the same: texts of JSON have no identity",
        template: "{{eq a b}} {{contains c a}}",
        context: r#"{"a": [1], "b": [1], "c": [[1]]}"#,
        partials: &[],
        ours: Some("true true"),
    },
    Deviation {
        why: "braces of users are not changed, since nothing is parsed a second time",
        template: "{{{escapeHandlebars a}}}",
        context: r#"{"a": "{{x}}"}"#,
        partials: &[],
        ours: Some("{{x}}"),
    },
    Deviation {
        why: "whole numbers of 64 bits keep all their digits",
        template: "{{a}}",
        context: r#"{"a": 18446744073709551615}"#,
        partials: &[],
        ours: Some("18446744073709551615"),
    },
    Deviation {
        why: "halves of a letter are never joined again",
        template: "{{a.[0]}}{{a.[1]}}",
        context: r#"{"a": "😀"}"#,
        partials: &[],
        ours: Some("\u{fffd}\u{fffd}"),
    },
    Deviation {
        why: "what `json` gives is a text and no object with a field `string`",
        template: "{{#each (json a)}}{{@key}}{{else}}none{{/each}}",
        context: r#"{"a": 1}"#,
        partials: &[],
        ours: Some("none"),
    },
    Deviation {
        why: "a field named like a method is data",
        template: "{{a}}",
        context: r#"{"a": {"toString": 1}}"#,
        partials: &[],
        ours: Some("[object Object]"),
    },
    Deviation {
        why: "data hold nothing but what is documented",
        template: "{{#each a}}{{@_parent.root.b}}{{/each}}",
        context: r#"{"a": [1], "b": 2}"#,
        partials: &[],
        ours: Some(""),
    },
    Deviation {
        why: "a block that was handed over is there, even if it would render nothing",
        template: "{{#> p}}{{x}}{{/p}}",
        context: "{}",
        partials: &[("p", "{{#if @partial-block}}yes{{else}}no{{/if}}")],
        ours: Some("yes"),
    },
    Deviation {
        why: "a block that was handed over is no value",
        template: "{{#> p}}x{{/p}}",
        context: "{}",
        partials: &[("p", "{{@partial-block}}")],
        ours: Some("true"),
    },
    Deviation {
        why: "an inline partial sees the parameters of the block that it stands in",
        template: r#"{{#each a as |x|}}{{#*inline "p"}}{{x}}{{/inline}}{{> p}}{{/each}}"#,
        context: r#"{"a": [1, 2]}"#,
        partials: &[],
        ours: Some("12"),
    },
    Deviation {
        why: "a section of an object gives no parameters, also where others are given around it",
        template: "{{#each a as |x|}}{{#with b}}{{#c as |y|}}[{{y}}]{{/c}}{{/with}}{{/each}}",
        context: r#"{"a": [{"b": {"c": {"d": 1}}}]}"#,
        partials: &[],
        ours: Some("[]"),
    },
    Deviation {
        why: "an inline partial is named by a text, so that it is known without rendering",
        template: "{{#*inline a}}x{{/inline}}",
        context: r#"{"a": "p"}"#,
        partials: &[],
        ours: None,
    },
    Deviation {
        why: "a decorator without a block has no use",
        template: r#"x{{*inline "p"}}"#,
        context: "{}",
        partials: &[],
        ours: None,
    },
    Deviation {
        why: "a decorator that does not exist is found when the template is parsed",
        template: "{{#if a}}{{#if b}}{{#*foo}}x{{/foo}}{{/if}}{{/if}}",
        context: "{}",
        partials: &[],
        ours: None,
    },
    Deviation {
        why: "a partial block has a name that closes it",
        template: "{{#> (lookup . 'a')}}x{{/undefined}}",
        context: r#"{"a": "p"}"#,
        partials: &[("p", "y")],
        ours: None,
    },
];

#[test]
#[ignore = "needs Node.js: cargo xtask test"]
fn the_deviations_are_those_that_are_listed() {
    let cases: Vec<Case> = DEVIATIONS.iter().map(Deviation::case).collect();
    let theirs = reference::rendered(&cases);
    for ((deviation, case), theirs) in DEVIATIONS.iter().zip(&cases).zip(theirs) {
        let ours = case.render().ok();
        assert_eq!(ours.as_deref(), deviation.ours, "{}", deviation.why);
        assert_ne!(ours, theirs, "no deviation: {}", deviation.why);
    }
}

impl Deviation {
    fn case(&self) -> Case {
        let partials = self.partials.iter();
        Case {
            template: self.template.to_owned(),
            context: serde_json::from_str(self.context).unwrap(),
            partials: partials
                .map(|(name, source)| ((*name).to_owned(), (*source).to_owned()))
                .collect::<BTreeMap<_, _>>(),
        }
    }
}
