//! Headers of skills, good, bad and random.

use proptest::prelude::*;

use super::*;

fn told(text: &str) -> String {
    let (skill, problems) = SkillText::read("s/SKILL.md", "s", text);
    let mut lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    lines.push(skill.map_or("not used".to_owned(), |skill| skill.name));
    lines.join("\n")
}

#[test]
fn o10_a_broken_header_is_told_with_its_line() {
    for (text, expected) in [
        ("", "s/SKILL.md:1:1: there is no header\nnot used"),
        ("# Title\n", "s/SKILL.md:1:1: there is no header\nnot used"),
        (
            "---\nname: s\n",
            "s/SKILL.md:1:1: the header has no end\nnot used",
        ),
        (
            "---\nname: s\n---\n",
            "s/SKILL.md:1:1: description: a skill needs a `description` that is not empty\nnot used",
        ),
        (
            "---\n- name\n---\n",
            "s/SKILL.md:2:1: expected a map, got a list\nnot used",
        ),
        (
            "---\nname: S\ndescription: d\n---\n",
            "s/SKILL.md:2:7: name: `S` is not in lower case\nnot used",
        ),
        (
            "---\nname: t\ndescription: d\n---\n",
            "s/SKILL.md:2:7: name: the folder is called `s` and not `t`\nt",
        ),
        (
            "---\nname: s\ndescription: d\n\ntriggers: x\n---\n",
            "s/SKILL.md:5:11: triggers: the format of skills has no field `triggers`\ns",
        ),
        (
            "---\nname: s\ndescription: d\nmetadata: {a: b}\n---\n",
            "s/SKILL.md:4:11: metadata: other readers refuse maps and lists in brackets; \
             write one line for each\ns",
        ),
        (
            "---\nname: s\ndescription: a --- b\n---\n",
            "s/SKILL.md:3:1: other readers take `---` for the end of the header\ns",
        ),
    ] {
        assert_eq!(told(text), expected, "{text:?}");
    }
    let broken = told("---\nname: s\ndescription: \"d\nmore: [\n---\n");
    assert!(broken.starts_with("s/SKILL.md:"), "{broken}");
    assert!(broken.ends_with("not used"), "{broken}");
}

#[test]
fn o10_values_are_texts_as_they_are_written() {
    let text = "---\r\nname: 's'\r\ndescription: >\r\n  Two\r\n  lines.\r\nlicense: MIT # free\r\n\
                allowed-tools: Bash(git:*) Read\r\nmetadata:\r\n  version: 1.0\r\n  fast: true # really\r\n---\r\n\r\nDo it.\r\n";
    let (skill, problems) = SkillText::read("s/SKILL.md", "s", text);
    let skill = skill.unwrap();
    assert_eq!(problems, []);
    assert_eq!(skill.description, "Two lines.");
    assert_eq!(skill.license.as_deref(), Some("MIT"));
    assert_eq!(skill.allowed_tools.as_deref(), Some("Bash(git:*) Read"));
    assert_eq!(skill.metadata["version"], "1.0");
    assert_eq!(skill.metadata["fast"], "true");
    assert_eq!(skill.body, "Do it.");
}

proptest! {
    #[test]
    fn o10_no_text_makes_the_reader_panic(text in any::<String>(), folder in any::<String>()) {
        let _ = SkillText::read("f", &folder, &text);
        let _ = SkillText::read("f", &folder, &format!("---\n{text}\n---\n{text}"));
    }

    #[test]
    fn o10_no_header_of_parts_makes_the_reader_panic(
        parts in prop::collection::vec(prop::sample::select(vec![
            "name", "description", "metadata", "allowed-tools", ": ", ":", "\n", "  ", "- ", "{", "}", "[", "]",
            "'", "\"", "&a", "*a", "!!int", "1.0", "true", "null", "~", "|", ">", "#", "---", "é", "\t", "\r\n", "\u{feff}",
        ]), 0..40)
    ) {
        let header = parts.concat();
        let (skill, problems) = SkillText::read("f", "name", &format!("---\n{header}\n---\nbody"));
        prop_assert!(skill.is_some() || problems.iter().any(FileProblem::is_error), "{header:?}");
    }
}
