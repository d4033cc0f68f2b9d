//! The forms of a layout file, and what is wrong with some.

use super::*;

fn read(file: &str, text: &str) -> Vec<Layout> {
    let (layouts, problems) = Layout::read(file, text);
    let lines: Vec<_> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(lines, [""; 0]);
    layouts
}

fn problems(text: &str) -> String {
    let (_, problems) = Layout::read("layouts/team.yaml", text);
    let lines: Vec<_> = problems.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

fn ids(layouts: &[Layout]) -> Vec<&str> {
    layouts.iter().map(|layout| layout.id.as_str()).collect()
}

#[test]
fn a_file_of_one_template() {
    let layouts = read(
        "layouts/board.yaml",
        "id: house/board\nversion: '2.1'\ndescription: A board\npropsSchema:\n  wide: {type: bool, default: true}\n\
         defaultProps: {wide: false}\nescape: none\nstrict: true\npartials:\n  foot: |\n    -- {{agent.id}}\n\
         template: |\n  # {{agent.name}}\n  {{> foot}}\n",
    );
    let [layout] = layouts.as_slice() else {
        panic!("one layout")
    };
    assert_eq!(
        (layout.id.as_str(), layout.version.as_str()),
        ("house/board", "2.1")
    );
    assert_eq!(layout.description.as_deref(), Some("A board"));
    assert_eq!(layout.template(None), "# {{agent.name}}\n{{> foot}}\n");
    assert_eq!(layout.text(None).unwrap().1.line, 13);
    assert_eq!(layout.partials["foot"].source, "-- {{agent.id}}\n");
    assert_eq!(layout.escape, Escape::None);
    assert_eq!(layout.missing, Missing::Refuse);
    assert_eq!(layout.origin, Origin::File("layouts/board.yaml".to_owned()));
    let checked = layout.props_schema.check(
        None,
        layout.default_props.as_ref(),
        crate::props::PropsMode::Strict,
    );
    assert_eq!(
        serde_json::to_string(&checked.props).unwrap(),
        r#"{"wide":false}"#
    );
}

#[test]
fn a_layout_without_an_id_is_called_after_its_file() {
    for file in ["a/b/plain.yaml", "plain.yml", r"c:\x\plain.yaml"] {
        assert_eq!(ids(&read(file, "template: x")), ["crewx/plain"]);
    }
}

#[test]
fn a_file_of_several_layouts() {
    let text = "version: 3.0.0\npropsSchema: {a: {type: string}}\nlayouts:\n  default: &d |\n    hello\n  \
                other/name: *d\n  full:\n    version: 4.0.0\n    propsSchema: {b: {type: bool}}\n    template: full\n\
                agents:\n  - id: ann\n";
    let layouts = read("layouts/team.yaml", text);
    assert_eq!(
        ids(&layouts),
        ["default", "other/name", "full", "crewx/team"]
    );
    let described: Vec<_> = layouts
        .iter()
        .map(|layout| {
            let props: Vec<_> = layout.props_schema.props().map(|(name, _)| name).collect();
            (
                layout.template(None),
                layout.version.as_str(),
                props.join(","),
            )
        })
        .collect();
    let common = ("hello\n", "3.0.0", "a".to_owned());
    assert_eq!(
        described,
        [
            common.clone(),
            common.clone(),
            ("full", "4.0.0", "b".to_owned()),
            common
        ]
    );
}

#[test]
fn the_layout_that_is_called_as_its_file_goes_before_the_default() {
    let named = |text| {
        let layouts = read("team.yaml", text);
        let layout = layouts
            .iter()
            .find(|l| l.id == "crewx/team")
            .map(|l| l.template(None));
        layout.map(ToOwned::to_owned)
    };
    assert_eq!(
        named("layouts: {default: d, team: t}").as_deref(),
        Some("t")
    );
    assert_eq!(
        named("layouts: {default: d, crewx/team: c, team: t}").as_deref(),
        Some("c")
    );
    assert_eq!(named("layouts: {other: o}"), None);
}

#[test]
fn the_documented_form_with_a_system_prompt() {
    for text in [
        "layout: {system_prompt: hi}",
        "layout: hi",
        "layout: {template: hi}",
        "layout: {templates: {en: hi}}",
        "layout: {system_prompt: {en: hi}}",
        "layout: {en: hi, version: '1'}",
    ] {
        let layouts = read("form.yaml", text);
        assert_eq!(ids(&layouts), ["crewx/form"], "{text}");
        assert_eq!(layouts[0].template(None), "hi", "{text}");
    }
    let layouts = read(
        "form.yaml",
        "id: f\npropsSchema: {a: {type: bool}}\nlayout:\n  system_prompt: hi\n",
    );
    assert_eq!(ids(&layouts), ["f"]);
    assert_eq!(layouts[0].props_schema.props().count(), 1);
}

#[test]
fn each_language_has_its_template() {
    let text = "template: {en: hello, pt: olá, zh-Hant: 您好, de: hallo}\n";
    let layouts = read("greet.yaml", text);
    let greet = |language| layouts[0].template(language);
    assert_eq!(greet(Some("de")), "hallo");
    assert_eq!(greet(Some("pt-BR")), "olá");
    assert_eq!(greet(Some("pt_BR")), "olá");
    assert_eq!(greet(Some("ZH-hant")), "您好");
    assert_eq!(greet(Some("fr")), "hello");
    assert_eq!(greet(None), "hello");

    let layouts = read("greet.yaml", &format!("language: de\n{text}"));
    assert_eq!(layouts[0].template(Some("fr")), "hallo");
    let layouts = read("greet.yaml", "template: {ko: 안녕, default: hi, en: hello}");
    assert_eq!(layouts[0].template(Some("fr")), "hi");
    let layouts = read("greet.yaml", "template: {ko: 안녕, ja: こんにちは}");
    assert_eq!(layouts[0].template(Some("fr")), "안녕");
    let layouts = read("greet.yaml", "language: ko\ntemplate: 안녕");
    assert_eq!(layouts[0].text(None).unwrap().0, "ko");
}

#[test]
fn all_problems_are_reported_at_once() {
    insta::assert_snapshot!(problems(""), @"layouts/team.yaml:1:1: the file is empty");
    insta::assert_snapshot!(problems("- a"), @"layouts/team.yaml:1:1: expected a map, got a list");
    insta::assert_snapshot!(problems("id: a"), @"layouts/team.yaml:1:1: a layout needs a template");
    insta::assert_snapshot!(problems("agents: [{id: a}]"), @"layouts/team.yaml:1:1: there are agents or documents here, but no layouts");
    insta::assert_snapshot!(problems("env: {a: b}"), @"layouts/team.yaml:1:1: a layout needs a template");
    insta::assert_snapshot!(problems("template:\n"), @"layouts/team.yaml:1:1: a layout needs a template");
    insta::assert_snapshot!(problems("template: '  '"), @"layouts/team.yaml:1:11: template: the template is empty");
    insta::assert_snapshot!(problems("template: [a]"), @"layouts/team.yaml:1:11: template: expected a text, got a list");
    insta::assert_snapshot!(problems("template: {en: 1}"), @"layouts/team.yaml:1:16: template.en: expected a text, got a number");
    insta::assert_snapshot!(problems("layouts: x"), @"layouts/team.yaml:1:10: layouts: expected a map, got a text");
    insta::assert_snapshot!(
        problems(
            "id: a b\nversion: 1.0\nescape: xml\nstrict: maybe\npartials: {p: ''}\ndefaultProps: []\npropsShema: {}\n\
             layouts:\n  one:\n  two: {}\n  three: {template: 3}\n  four: 4\n  five: {en: five}\n"
        ),
        @"
    layouts/team.yaml:2:10: version: the number is read as `1`
    layouts/team.yaml:3:9: escape: expected `html` or `none`, got xml
    layouts/team.yaml:4:9: strict: expected true or false, got a text
    layouts/team.yaml:5:15: partials.p: the template is empty
    layouts/team.yaml:6:15: defaultProps: expected a map, got a list
    layouts/team.yaml:7:13: propsShema: `propsShema` is not a known key and has no effect
    layouts/team.yaml:9:6: layouts.one: expected a template or a map with one, got nothing
    layouts/team.yaml:10:8: layouts.two: a layout needs a template
    layouts/team.yaml:11:21: layouts.three.template: expected a text, got a number
    layouts/team.yaml:12:9: layouts.four: expected a template or a map with one, got a number
    "
    );
}
