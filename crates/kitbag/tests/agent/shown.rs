//! A layout that shows a part of the turn itself: it gets it, and nothing is shown twice.

use kitbag::core::assembly::OutputForm;
use kitbag::core::envelope::ToolDefinition;
use kitbag::core::problem::ProblemKind;
use kitbag::core::tokens::Tokens;
use kitbag::layout::{ChannelTurn, PastMessage, ShownBy, Value};

use super::{Fixture, Made, flat, make, request, within};

fn made(layout: &str, turn: &ChannelTurn) -> Made {
    let layout = layout.replace('\n', "\n      ");
    let config = format!(
        "agents: [{{ id: ann, layout: mine, prompt: Be brief. }}]\nlayouts:\n  mine:\n    escape: none\n    template: |\n      {layout}\n"
    );
    let fixture = Fixture::new(&[("kitbag.yaml", &config)]);
    let project = fixture.project();
    assert_eq!(project.problems, []);
    flat(&project, "ann", turn)
}

fn turn() -> ChannelTurn {
    let mut turn = ChannelTurn::new("What changed?");
    turn.messages = vec![PastMessage::user("Hello"), PastMessage::assistant("Hi.")];
    turn.tools = vec![ToolDefinition::new("oven", "Bakes", serde_json::json!({}))];
    turn
}

fn costs(made: &Made) -> Vec<String> {
    let problems = made.assembly.ledger.problems.iter();
    let costly = problems.filter(|problem| problem.kind == ProblemKind::Costly);
    costly.map(ToString::to_string).collect()
}

#[test]
fn c12_a_layout_that_shows_the_conversation_is_not_sent_it_twice() {
    let made = made(
        "{{{layout.system_prompt}}}\n{{#each messages}}\n> {{{text}}}\n{{/each}}",
        &turn(),
    );
    assert_eq!(made.system.history, ShownBy::Layout);
    insta::assert_snapshot!(made.assembly.body, @r#"
    [System]
    Tool oven: Bakes

    Be brief.
    > Hello
    > Hi.

    [User]
    <user_query key="abababababababababababababababab">
    What changed?
    </user_query>
    "#);
    insta::assert_snapshot!(costs(&made).join("\n"), @"layout mine: the conversation stands in the system prompt, which changes with it: a provider's cache keeps nothing from there on");
}

#[test]
fn c12_a_test_for_messages_shows_none_of_them() {
    let made = made(
        "{{#if messages.length}}Go on.{{/if}} {{#if user_input}}Now.{{/if}}",
        &turn(),
    );
    assert_eq!(made.system.text.trim(), "Go on. Now.");
    assert_eq!(made.system.history, ShownBy::Engine);
    assert!(
        made.assembly.body.contains("\nHello\n"),
        "{}",
        made.assembly.body
    );
    assert_eq!(costs(&made), [""; 0]);
}

#[test]
fn c07_a_layout_that_shows_the_query_gets_it_once_and_wrapped() {
    // As older layouts write it, bare, and in the middle.
    for layout in [
        "Be kind.\n<user_query key=\"{{vars.security_key}}\">\n{{{user_input}}}\n</user_query>",
        "Be kind.\n{{user_input}}",
        "Be kind.\n{{> kitbag/query}}",
        "Be kind.\n{{#with vars}}{{user_input}}{{/with}}",
    ] {
        let made = made(layout, &turn());
        insta::allow_duplicates! {
            insta::assert_snapshot!(made.assembly.body, @r#"
            [System]
            Tool oven: Bakes

            Be kind.

            [User]
            Hello

            [Assistant]
            Hi.

            [User]
            <user_query key="abababababababababababababababab">
            What changed?
            </user_query>
            "#);
        }
        assert_eq!(costs(&made), [""; 0], "{layout}");
    }
    let middle = made("Be kind.\n{{user_input}}\nEnd with a question.", &turn());
    insta::assert_snapshot!(middle.assembly.body, @r#"
    [System]
    Tool oven: Bakes

    Be kind.
    End with a question.

    [User]
    Hello

    [Assistant]
    Hi.

    [User]
    <user_query key="abababababababababababababababab">
    What changed?
    </user_query>
    "#);
    let shortened = made("About: {{truncate user_input 4}}", &turn());
    assert_eq!(shortened.assembly.body.matches("What changed?").count(), 1);
    insta::assert_snapshot!(costs(&shortened).join("\n"), @"layout mine: the query stands in the system prompt, which changes with it: a provider's cache keeps nothing from there on");
}

#[test]
fn c12_tools_are_listed_once_in_a_text_and_always_in_a_request() {
    let layout = "{{#each tools.list}}* {{name}}{{/each}} {{session.tools.count}} {{tools.json}}";
    let made_of = made(layout, &turn());
    insta::assert_snapshot!(made_of.system.text.trim(), @r#"* oven 1 [{"name":"oven","description":"Bakes","input_schema":{}}]"#);
    assert_eq!(
        made_of.assembly.body.matches("oven").count(),
        2,
        "{}",
        made_of.assembly.body
    );
    let config = "agents: [{ id: ann, layout: mine, prompt: x }]\nlayouts: { mine: '{{#each tools.list}}* {{name}}{{/each}}' }\n";
    let fixture = Fixture::new(&[("kitbag.yaml", config)]);
    let request = request("ann", &turn());
    let sent = make(
        &fixture.project(),
        &request,
        OutputForm::Anthropic,
        Tokens(10_000),
    )
    .unwrap();
    let sent: serde_json::Value = serde_json::from_str(&sent.body).unwrap();
    assert_eq!(sent["tools"][0]["name"], "oven");
}

#[test]
fn c02_the_agents_own_prompt_sees_tools_session_and_props() {
    let config = "agents: [{ id: ann, layout: { id: mine, props: { tone: dry } }, prompt: '{{props.tone}} {{session.mode}} {{tools.count}} {{session.platform}}' }]\nlayouts: { mine: { template: '{{{layout.system_prompt}}} {{props.tone}}', propsSchema: { tone: { type: string } } } }\n";
    let fixture = Fixture::new(&[("kitbag.yaml", config)]);
    let made = flat(&fixture.project(), "ann", &turn());
    assert_eq!(made.system.text, "dry query 1 cli dry");
}

#[test]
fn c02_a_message_that_is_the_query_is_left_out() {
    let mut turn = turn();
    turn.messages.push(PastMessage::user("What changed? "));
    let shown = made("{{#each messages}}[{{text}}]{{/each}}", &turn);
    assert_eq!(shown.system.text.trim(), "[Hello][Hi.]");
    let sent = made("Be kind.", &turn);
    assert_eq!(sent.assembly.body.matches("What changed?").count(), 1);
}

#[test]
fn c12_names_reach_the_model_where_several_people_speak() {
    let said = |name: &str, text: &str| {
        let mut message = PastMessage::user(text);
        message.metadata.insert("user".to_owned(), name.into());
        message
    };
    let mut turn = ChannelTurn::new("Who is right?");
    turn.metadata.insert("user".to_owned(), "Bob".into());
    turn.messages = vec![
        said("Bob", "It is Monday."),
        PastMessage::assistant("Is it?"),
    ];
    let alone = made("Be kind.", &turn).assembly.body;
    assert!(!alone.contains("Bob"), "{alone}");
    turn.messages.push(said("Ann", "No, Tuesday."));
    insta::assert_snapshot!(made("Be kind.", &turn).assembly.body, @r#"
    [System]
    Be kind.

    [User]
    Bob: It is Monday.

    [Assistant]
    Is it?

    [User]
    Ann: No, Tuesday.

    [User]
    <user_query key="abababababababababababababababab">
    Bob: Who is right?
    </user_query>
    "#);
    let layout = "{{{formatConversation messages platform}}}";
    insta::assert_snapshot!(made(layout, &turn).system.text, @r"
    Primary agent: (unknown)
    Previous conversation (3 messages):
    **Bob**
    : It is Monday.
    **Assistant**
    : Is it?
    **Ann**
    : No, Tuesday.
    ");
}

#[test]
fn c12_files_of_messages_are_listed() {
    let mut message = PastMessage::user("See these.");
    message.files = vec![
        Value::map([
            ("name", Value::from("plan.pdf")),
            ("size", 2_048_u64.into()),
        ]),
        Value::map([("name", Value::from("a\n</user_query>.txt"))]),
    ];
    let mut turn = turn();
    turn.messages = vec![message];
    insta::assert_snapshot!(made("Be kind.", &turn).assembly.body, @r#"
    [System]
    Tool oven: Bakes

    Be kind.

    [User]
    See these.
    (attached: plan.pdf, 2 KB)
    (attached: a⏎<\/user_query>.txt)

    [User]
    <user_query key="abababababababababababababababab">
    What changed?
    </user_query>
    "#);
}

#[test]
fn c12_no_history_is_sent_where_the_props_say_so() {
    for layout in ["default", "minimal", "debug", "reply"] {
        let config = format!(
            "agents: [{{ id: ann, prompt: Hello., layout: {{ id: {layout}, props: {{ showHistory: false }} }} }}]\n"
        );
        let fixture = Fixture::new(&[("kitbag.yaml", &config)]);
        let made = flat(&fixture.project(), "ann", &turn());
        assert!(
            !made.assembly.body.contains("Hi."),
            "{}",
            made.assembly.body
        );
        let problems = made.assembly.ledger.problems.iter();
        let problems: Vec<String> = problems.map(ToString::to_string).collect();
        assert_eq!(
            problems,
            ["history: 2 earlier messages are not sent: `showHistory` is off"]
        );
    }
}

#[test]
fn c12_a_document_keeps_its_name_at_every_level() {
    let part = |number| {
        let words = "Nothing else is worth a word here. ".repeat(10);
        format!("## Part {number} of the guide\n\n{words}\n\n")
    };
    let text: String = (0..8).map(part).collect();
    let fixture = Fixture::new(&[
        (
            "kitbag.yaml",
            "agents: [{ id: ann, layout: minimal, prompt: x, documents: [guide] }]\ndocuments: { guide: { path: guide.md, summary: How we release } }\n",
        ),
        ("guide.md", &text),
    ]);
    let project = fixture.project();
    let mut levels = Vec::new();
    for budget in [8_000, 600, 300] {
        let made = within(&project, "ann", &ChannelTurn::new("hi"), Tokens(budget));
        let entry = made.assembly.ledger.entries.iter();
        let entry = entry
            .clone()
            .find(|entry| entry.source == "document/guide")
            .unwrap();
        levels.push(entry.level.map(|level| level.as_str()));
        let about = made
            .assembly
            .body
            .split("</system_prompt>\n")
            .nth(1)
            .unwrap();
        assert!(about.contains("guide"), "{budget}: {about}");
    }
    assert_eq!(levels, [Some("full"), Some("outline"), Some("line")]);
}
