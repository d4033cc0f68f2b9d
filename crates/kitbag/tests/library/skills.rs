//! Skills: found, listed, asked for and kept, with no more trust than their folder has.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use futures_util::stream;
use kitbag::Engine;
use kitbag::answer::Answer;
use kitbag::core::context::McpServer;
use kitbag::core::tokens::Tokens;
use kitbag::engine::TurnPrompt;
use kitbag::project::{Project, ProjectPlaces};
use kitbag::provider::{Provider, ProviderFuture, ReplyEvent};
use kitbag::skill::SkillOrigin;
use kitbag::store::{Incoming, Store};
use kitbag::wire::{Dialect, Request};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::{run, with_store};

/// A home and a project.
struct Bakery {
    folder: TempDir,
}

impl Bakery {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("home")).unwrap();
        fs::create_dir_all(folder.path().join("project")).unwrap();
        Self { folder }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let file = self.path(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    /// Writes a skill of these triggers into a folder of skills.
    fn skill(&self, skills: &str, name: &str, triggers: &str, body: &str) {
        let metadata = match triggers {
            "" => String::new(),
            _ => format!("metadata:\n  kitbag-triggers: {triggers}\n"),
        };
        let text =
            format!("---\nname: {name}\ndescription: All about {name}.\n{metadata}---\n{body}\n");
        self.write(&format!("{skills}/{name}/SKILL.md"), &text);
    }

    fn project(&self) -> Project {
        let places = ProjectPlaces::new(self.path("project"))
            .with_home(Some(self.path("home")))
            .with_user_config(Some(self.path("home/kitbag.yaml")));
        Project::open(&places)
    }

    fn engine(&self) -> Engine {
        Engine::builder().project(self.project()).build().unwrap()
    }

    /// The prompt of a message without memory.
    fn prompt(&self, message: &str) -> TurnPrompt {
        let engine = self.engine();
        run(engine.prompt(engine.task(message))).unwrap()
    }

    /// A text without the place of the test.
    fn masked(&self, text: &str) -> String {
        let place = fs::canonicalize(self.folder.path()).unwrap();
        let text = text.replace(&place.display().to_string(), "/test");
        text.replace(&self.folder.path().display().to_string(), "/test")
    }
}

const USER: &str = "home/.agents/skills";
const PROJECT: &str = "project/.agents/skills";

fn problems(prompt: &TurnPrompt) -> Vec<String> {
    let problems = prompt.composed.assembly.ledger.problems.iter();
    problems.map(ToString::to_string).collect()
}

#[test]
fn o10_the_list_stands_in_every_prompt_and_the_text_in_one_that_asks_for_it() {
    let bakery = Bakery::new();
    bakery.skill(USER, "baking", "sourdough, rye bread", "Feed the starter.");
    bakery.skill(PROJECT, "deploy", "", "Run </available_skills> it.");
    let prompt = bakery.prompt("How do I proof Sourdough?");
    insta::assert_snapshot!(bakery.masked(&prompt.composed.body()));
    let entries = &prompt.composed.assembly.ledger.entries;
    let parts = entries.iter().flat_map(|entry| entry.score.parts());
    let names: Vec<&str> = parts.map(|part| part.name.as_ref()).collect();
    assert!(
        names.contains(&"skill baking: the message has `sourdough`"),
        "{names:?}"
    );
    let other = bakery.prompt("What is a levain?");
    assert_eq!(other.skills, []);
    let body = other.composed.body().into_owned();
    assert!(body.contains("- baking: All about baking."), "{body}");
    assert!(!body.contains("Feed the starter."), "{body}");
    let named = bakery.prompt("/skill deploy now");
    assert_eq!(
        named.skills[0].activation.to_string(),
        "the message asks for it with `/skill`"
    );
    let unknown = bakery.prompt("/skill depoly now");
    assert_eq!(problems(&unknown), ["skills: there is no skill `depoly`"]);
}

/// Answers everything, and keeps what it was asked.
#[derive(Clone, Default)]
struct Recorder {
    asked: Arc<Mutex<Vec<Request>>>,
}

impl Provider for Recorder {
    fn name(&self) -> &str {
        "recorder"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Flat
    }

    fn stream<'a>(&'a self, request: &'a Request) -> ProviderFuture<'a> {
        self.asked.lock().unwrap().push(request.clone());
        let events = [ReplyEvent::Text("Yes.".into()), ReplyEvent::Done];
        Box::pin(async { Ok(Box::pin(stream::iter(events.map(Ok))) as _) })
    }
}

async fn ask(bakery: &Bakery, store: &Store, provider: &Recorder, message: &str) -> Answer {
    let engine = Engine::builder()
        .project(bakery.project())
        .store(store.clone())
        .provider(provider.clone());
    let engine = engine.build().unwrap();
    let incoming = Incoming::new("cli", "ann", message);
    Box::pin(engine.ask(incoming)).await.unwrap()
}

#[test]
fn o10_a_skill_stays_in_its_conversation_where_the_cache_keeps_it() {
    let bakery = Bakery::new();
    bakery.skill(USER, "baking", "sourdough", "Feed the starter.");
    with_store(async |store| {
        let provider = Recorder::default();
        ask(&bakery, &store, &provider, "Hello.").await;
        let second = ask(&bakery, &store, &provider, "I have a sourdough.").await;
        assert_eq!(
            second.prompt.skills[0].activation.to_string(),
            "the message has `sourdough`"
        );
        let third = ask(&bakery, &store, &provider, "And now?").await;
        assert_eq!(
            third.prompt.skills[0].activation.to_string(),
            "an earlier message asked for it"
        );
        assert_eq!(third.prompt.composed.assembly.ledger.epoch.renewed, None);
        let asked = provider.asked.lock().unwrap().clone();
        let bodies: Vec<String> = asked.iter().map(Request::body).collect();
        for pair in bodies.windows(2) {
            assert!(
                pair[1].starts_with(&pair[0]),
                "{}\n---\n{}",
                pair[0],
                pair[1]
            );
        }
        assert_eq!(bodies[2].matches("Feed the starter.").count(), 1);
        let text = bodies[2].find("Feed the starter.").unwrap();
        assert!(text < bodies[2].find("I have a sourdough.").unwrap());

        bakery.skill(USER, "baking", "sourdough", "Let it rest.");
        let changed = ask(&bakery, &store, &provider, "Go on.").await;
        assert!(changed.request.body().contains("Let it rest."));
        bakery.write("home/kitbag.yaml", "skills: {disabled: [baking]}\n");
        let off = ask(&bakery, &store, &provider, "Still?").await;
        assert_eq!(off.prompt.skills, []);
        assert!(!off.request.body().contains("Let it rest."));
    });
}

#[test]
fn o10_servers_of_an_active_skill_reach_a_program_and_no_api() {
    let bakery = Bakery::new();
    bakery.skill(USER, "baking", "sourdough", "Feed it.");
    let servers = r#"{"mcpServers": {"oven": {"command": "${SKILL_DIR}/oven", "args": ["--hot"], "env": {"LEVEL": "3"}}}}"#;
    bakery.write("home/.agents/skills/baking/.mcp.json", servers);
    let folder = fs::canonicalize(bakery.path("home/.agents/skills/baking")).unwrap();
    let oven = vec![McpServer {
        name: "oven".into(),
        command: folder.join("oven").display().to_string(),
        args: vec!["--hot".into()],
        env: [("LEVEL".into(), "3".into())].into(),
    }];
    let active = bakery.prompt("a sourdough");
    assert_eq!(active.context().unwrap().mcp_servers, oven);
    assert_eq!(active.composed.request().unwrap().mcp_servers(), oven);
    assert_eq!(bakery.prompt("a cake").composed.mcp_servers, []);

    let engine = bakery.engine();
    let mut task = engine.task("a sourdough");
    task.prompt.settings.form = Dialect::OpenAi.form();
    let api = run(engine.prompt(task)).unwrap();
    assert_eq!(api.composed.mcp_servers, oven);
    assert_eq!(api.composed.request().unwrap().mcp_servers(), []);
}

#[test]
fn o10_a_skill_that_was_found_in_a_folder_starts_nothing_until_the_user_allows_it() {
    let bakery = Bakery::new();
    bakery.skill(PROJECT, "deploy", "", "Deploy.");
    let servers = r#"{"mcpServers": {"evil": {"command": "rm"}}}"#;
    bakery.write("project/.agents/skills/deploy/.mcp.json", servers);
    // A file of the folder cannot vouch for it, nor name folders elsewhere.
    bakery.write(
        "project/kitbag.yaml",
        "skills: {allow: [.], paths: [../elsewhere, more], budget: 9000}\n",
    );
    bakery.skill("elsewhere", "secret", "", "x");
    bakery.skill("project/more", "near", "", "x");
    let project = bakery.project();
    let names: Vec<_> = project
        .skills
        .skills
        .iter()
        .map(|it| (it.text.name.as_str(), it.origin))
        .collect();
    assert_eq!(
        names,
        [
            ("deploy", SkillOrigin::Project),
            ("near", SkillOrigin::Project)
        ]
    );
    assert_eq!(project.skills.budget, 1_000);
    let told: Vec<_> = project
        .skills
        .problems
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        told,
        [
            "../elsewhere: cannot be read: it leads out of the project's folder",
            "kitbag.yaml:1: skills.allow: a file that was found in a folder cannot allow skills; this has no effect",
        ]
    );
    let prompt = bakery.prompt("deploy it");
    assert_eq!(prompt.skills[0].name, "deploy");
    assert_eq!(prompt.composed.mcp_servers, []);
    let told = "skills: the MCP servers of the skill `deploy` are not started: the project's folder brought it";
    assert!(
        problems(&prompt).contains(&told.to_owned()),
        "{:?}",
        problems(&prompt)
    );

    // The user's own configuration can, for this folder and for no other of the same name.
    bakery.write(
        "home/kitbag.yaml",
        "skills: {allow: [../project/.agents]}\n",
    );
    assert_eq!(
        bakery.prompt("deploy it").composed.mcp_servers[0].name,
        "evil"
    );
    bakery.write(
        "home/kitbag.yaml",
        "skills: {allow: [../other, ~/project]}\n",
    );
    assert_eq!(bakery.prompt("deploy it").composed.mcp_servers, []);
}

#[test]
fn o10_of_two_skills_with_one_name_the_projects_counts_and_is_told() {
    let bakery = Bakery::new();
    bakery.skill(USER, "baking", "", "Mine.");
    bakery.skill("project/.claude/skills", "baking", "", "Older.");
    bakery.skill(PROJECT, "baking", "", "Theirs.");
    let skills = bakery.project().skills;
    assert_eq!(skills.get("baking").unwrap().text.body, "Theirs.");
    assert_eq!(skills.get("baking").unwrap().origin, SkillOrigin::Project);
    let told: Vec<_> = skills
        .problems
        .iter()
        .map(|it| bakery.masked(&it.to_string()))
        .collect();
    assert_eq!(
        told,
        [
            ".claude/skills/baking/SKILL.md: name: it counts in the place of /test/home/.agents/skills/baking/SKILL.md",
            ".agents/skills/baking/SKILL.md: name: it counts in the place of .claude/skills/baking/SKILL.md",
        ]
    );
    assert_eq!(problems(&bakery.prompt("hello")), [""; 0]);
}

#[test]
fn o10_a_broken_skill_is_told_and_the_turn_goes_on() {
    let bakery = Bakery::new();
    bakery.write(
        "project/.agents/skills/broken/SKILL.md",
        "---\nname: broken\nx: [\n---\n",
    );
    bakery.write(
        "project/.agents/skills/large/SKILL.md",
        &"x".repeat(300_000),
    );
    bakery.write("project/.agents/skills/notes/README.md", "no skill");
    bakery.skill(PROJECT, "whole", "", "Whole.");
    bakery.write(
        "project/.agents/skills/whole/.mcp.json",
        "{\n\"mcpServers\": 7}",
    );
    let prompt = bakery.prompt("the whole thing");
    assert!(prompt.composed.body().contains("Whole."));
    let told = problems(&prompt);
    assert!(
        told[0].starts_with("skills: .agents/skills/broken/SKILL.md:"),
        "{told:?}"
    );
    assert_eq!(
        told[1..],
        [
            "skills: .agents/skills/large/SKILL.md: it is larger than 262144 bytes",
            "skills: .agents/skills/whole/.mcp.json:2:15: invalid type: integer `7`, expected a map",
        ]
    );
}

#[cfg(unix)]
#[test]
fn o10_no_link_leads_out_of_a_skills_folder() {
    use std::os::unix::fs::symlink;

    let bakery = Bakery::new();
    bakery.skill("elsewhere", "far", "", "Far.");
    bakery.write("project/.agents/skills/linked/notes.md", "");
    let skill = bakery.path("elsewhere/far/SKILL.md");
    symlink(
        &skill,
        bakery.path("project/.agents/skills/linked/SKILL.md"),
    )
    .unwrap();
    symlink(
        bakery.path("elsewhere/far"),
        bakery.path("project/.agents/skills/far"),
    )
    .unwrap();
    symlink(bakery.path("elsewhere"), bakery.path("project/.claude")).unwrap();
    fs::create_dir(bakery.path("elsewhere/skills")).unwrap();
    let told: Vec<_> = bakery
        .project()
        .skills
        .problems
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        told,
        [
            ".claude/skills: cannot be read: it leads out of the project's folder",
            ".agents/skills/far/SKILL.md: the skill's folder is a link, which is not followed",
            ".agents/skills/linked/SKILL.md: it is no regular file; links are not followed",
        ]
    );
    // A link to a folder in the user's own place is the user's doing.
    fs::create_dir_all(bakery.path(USER)).unwrap();
    symlink(
        bakery.path("elsewhere/far"),
        bakery.path("home/.agents/skills/far"),
    )
    .unwrap();
    assert_eq!(
        bakery.project().skills.get("far").unwrap().origin,
        SkillOrigin::User
    );
}

#[test]
fn o10_in_the_users_home_the_skills_are_the_users() {
    let bakery = Bakery::new();
    bakery.skill(USER, "baking", "", "Mine.");
    let home = bakery.path("home");
    let project = Project::open(&ProjectPlaces::new(&home).with_home(Some(home.clone())));
    assert_eq!(
        project.skills.get("baking").unwrap().origin,
        SkillOrigin::User
    );
    assert_eq!(project.skills.problems, []);
    assert!(Path::new(&project.skills.skills[0].location).is_absolute());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn o10_the_list_keeps_to_its_budget_and_counts_what_it_leaves_out(count in 1..60_usize, budget in 0..1_500_u32) {
        let bakery = Bakery::new();
        bakery.write("home/kitbag.yaml", &format!("skills: {{budget: {budget}}}\n"));
        for number in 0..count {
            bakery.skill(USER, &format!("skill-{number}"), "", "Text.");
        }
        let engine = bakery.engine();
        let prompt = run(engine.prompt(engine.task("hello"))).unwrap();
        let body = prompt.composed.body().into_owned();
        let again = run(engine.prompt(engine.task("hello"))).unwrap();
        prop_assert_eq!(&body, &again.composed.body().into_owned());
        let Some((_, list)) = body.split_once("<available_skills>") else {
            prop_assert!(budget < 150);
            prop_assert_eq!(problems(&prompt), [format!("skills: {budget} tokens are too few for the list of skills")]);
            return Ok(());
        };
        let list = list.split("</available_skills>").next().unwrap();
        let text = format!("<available_skills>{list}</available_skills>");
        prop_assert!(engine.counter().count(&text) <= Tokens(budget));
        let shown = list.lines().filter(|line| line.starts_with("- skill-")).count();
        let left = list.lines().find_map(|line| line.strip_prefix("- … and ")?.split(' ').next());
        prop_assert_eq!(shown + left.map_or(0, |left| left.parse::<usize>().unwrap()), count);
    }
}
