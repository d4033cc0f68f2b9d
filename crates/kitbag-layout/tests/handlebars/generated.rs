//! Templates and contexts that are put together at random from the whole language.

mod random;
mod template;

use std::collections::BTreeMap;

use random::Random;
use template::Writer;

use super::{Case, reference};

const TEMPLATES: u64 = 2_000;

#[test]
#[ignore = "needs Node.js: cargo xtask test"]
fn random_templates_render_as_handlebars_js_does() {
    let cases: Vec<Case> = (0..TEMPLATES).map(case).collect();
    let expected = reference::rendered(&cases);
    let mut different = Vec::new();
    let mut errors = 0;
    for (case, expected) in cases.iter().zip(expected) {
        errors += usize::from(expected.is_none());
        let rendered = case.render();
        if rendered.as_ref().ok() != expected.as_ref() {
            different.push((case, expected, rendered));
        }
    }
    let count = different.len();
    // The shortest shows best what is wrong.
    let shortest = different.into_iter().min_by_key(|(case, ..)| {
        case.partials.values().map(String::len).sum::<usize>() + case.template.len()
    });
    if let Some((case, expected, rendered)) = shortest {
        let case = serde_json::to_string_pretty(case).unwrap();
        panic!("{count} differ, such as {case}\nexpected {expected:?}\nbut got  {rendered:?}");
    }
    assert!(
        errors < cases.len() / 5,
        "{errors} are errors, which show little"
    );
}

/// A case that is the same each time it is asked for.
pub(crate) fn case(seed: u64) -> Case {
    let mut random = Random::new(seed);
    let context = random.object(3);
    // A partial calls only those that come after it, so that none calls itself.
    let mut partials = BTreeMap::new();
    for at in (0..template::PARTIALS.len()).rev() {
        let source = Writer::new(&mut random, at + 1).program(2);
        partials.insert(template::PARTIALS[at].to_owned(), source);
    }
    let template = Writer::new(&mut random, 0).program(4);
    Case {
        template,
        context,
        partials,
    }
}
