//! What gatherers and callers bring: limited, shortened and told truly.

use kitbag::core::assembly::{AssemblySettings, OutputForm, Reason};
use kitbag::core::chunk::{ChunkType, ContextChunk, ContextPriority, Detail};
use kitbag::core::rank::{Prioritizer, RankTask, Score};
use kitbag::core::tokens::Tokens;
use kitbag::engine::{Contribution, DraftParts, PromptRequest, compose};
use kitbag::gather::{GatherFuture, GatherTask, Gathered, Gatherer, History};
use kitbag::pack::{Attachment, contribute, prepare};
use kitbag::tokens::Counter;

use crate::project::{Project, find, packed, problems, why_out};

#[test]
fn p04_long_instructions_are_shortened_and_not_dropped() {
    let rules: String = (0..400).map(|n| format!("Rule {n} is kept.\n")).collect();
    let agents = format!("# How to work here\n{rules}Last: run the tests.\n");
    let project = Project::new(&[("AGENTS.md", &agents), ("a.rs", "fn login() {}\n")]);
    let pack = packed(&project.request("fix the login", 4_000)).unwrap();
    let shown = find(&pack, "AGENTS.md").unwrap();
    assert_eq!(shown.level, Detail::Slice);
    assert!(shown.tokens.0 <= 260, "{}", shown.tokens.0);
    for part in [
        "# How to work here",
        "Rule 0 is kept.",
        "Last: run the tests.",
    ] {
        assert!(pack.prompt().contains(part), "{}", pack.prompt());
    }
    let pack = packed(&project.request("fix the login", 400)).unwrap();
    assert_eq!(
        why_out(&pack, "AGENTS.md"),
        "its share of the budget is 24 tokens, too few"
    );
}

/// Brings large chunks of kinds that our own gatherers bring too.
struct Wiki;

impl Gatherer for Wiki {
    fn name(&self) -> &str {
        "wiki"
    }

    fn gather<'a>(&'a self, _task: &'a GatherTask) -> GatherFuture<'a> {
        Box::pin(async {
            let chunk = |kind, source| {
                let text = format!("{source} {}", "of many words ".repeat(200));
                ContextChunk::new(kind, source, text).with_priority(ContextPriority::High)
            };
            Ok(Gathered::from(vec![
                chunk(ChunkType::Dependency, "services"),
                chunk(ChunkType::Structure, "teams"),
                chunk(ChunkType::Document, "src/big.rs"),
            ]))
        })
    }
}

#[test]
fn p12_what_ones_own_gatherer_brings_is_not_limited() {
    let project = Project::new(&[("a.rs", "fn login() {}\n")]);
    let request = project.request("fix the login", 4_000);
    let pack = packed(&request.with_gatherer(Wiki)).unwrap();
    for source in ["services", "teams"] {
        assert_eq!(find(&pack, source).unwrap().level, Detail::Full);
    }
}

#[test]
fn p13_a_file_that_a_chunk_stands_for_is_told() {
    let project = Project::new(&[("src/big.rs", "fn login() {}\n")]);
    let request = project.request("fix the login", 4_000);
    let pack = packed(&request.with_gatherer(Wiki)).unwrap();
    assert_eq!(
        why_out(&pack, "src/big.rs"),
        "the document `src/big.rs` stands for it"
    );
}

/// Knows which file is needed.
struct Oracle;

impl Prioritizer for Oracle {
    fn score(&self, chunk: &ContextChunk, _task: &RankTask) -> Score {
        let is_it = chunk.source == "small.rs";
        Score::default().plus("oracle", if is_it { 5_000 } else { 100 })
    }
}

#[test]
fn p12_the_ranking_shows_the_scores_that_decided() {
    let large: String = (0..60)
        .map(|n| format!("fn login_{n}() {{\n    login(redirect);\n}}\n\n"))
        .collect();
    let project = Project::new(&[("large.rs", &large), ("small.rs", "fn x() { login() }\n")]);
    let usual = packed(&project.request("fix the login redirect", 300)).unwrap();
    assert_eq!(usual.decisions.ranked[0].source, "large.rs");
    let request = project.request("fix the login redirect", 300);
    let pack = packed(&request.with_prioritizer(Oracle)).unwrap();
    let ranked: Vec<_> = pack
        .decisions
        .ranked
        .iter()
        .map(|r| (r.source.as_str(), r.score))
        .collect();
    assert_eq!(ranked, [("small.rs", 5_000), ("large.rs", 100)]);
    // However small it is beside the other.
    assert_eq!(find(&pack, "small.rs").unwrap().level, Detail::Full);
}

#[test]
fn p02_an_attachment_that_is_cut_or_left_out_is_told() {
    let project = Project::new(&[("a.rs", "fn login() {}\n")]);
    let told = |lines: usize, budget: u32| {
        let mut request = project.request("fix the login", budget);
        request.survey.attachment = Some(Attachment {
            name: "stdin".into(),
            text: "a line of a log\n".repeat(lines),
        });
        problems(&packed(&request).unwrap())
    };
    assert_eq!(told(10, 4_000), [""; 0]);
    assert_eq!(
        told(5_000, 4_000),
        ["stdin: it is longer than a quarter of the budget: its middle was left out"]
    );
    assert_eq!(told(50, 110), ["stdin: there is no room for it"]);
}

#[test]
fn p05_one_survey_serves_many_prompts() {
    let project = Project::new(&[("a.rs", "fn login() {}\n"), ("b.rs", "fn other() {}\n")]);
    let request = project.request("fix the login", 4_000);
    let counter = Counter::for_model("gpt-4o").unwrap();
    let prepared = pollster::block_on(prepare(&request.survey)).unwrap();
    let smaller = request.options.with_budget(Tokens(200));
    assert!(prepared.pack(&smaller, &counter).unwrap().decisions.tokens <= Tokens(200));
    let mut pinned = request.options.clone();
    pinned.pins = vec!["a.rs".into(), "b.rs".into()];
    let pack = prepared.pack(&pinned, &counter).unwrap();
    assert!(matches!(
        find(&pack, "a.rs").unwrap().reason,
        Reason::Critical
    ));
    // Its words are none of the task's: the survey did not look at it.
    assert_eq!(
        problems(&pack),
        ["b.rs: the survey did not look at it, so it cannot be pinned"]
    );
}

#[test]
fn p05_a_workspace_is_one_source_among_others() {
    let project = Project::new(&[("a.rs", "fn login() {}\n")]);
    let request = project.request("fix the login", 4_000);
    let counter = Counter::for_model("gpt-4o").unwrap();
    let prepared = pollster::block_on(prepare(&request.survey)).unwrap();
    let workspace = contribute(&prepared, &request.options, &counter);
    assert_eq!(workspace.draft, DraftParts::default());
    let mut memory = Contribution::default();
    let fact = ContextChunk::new(ChunkType::Fact, "fact/login", "Ann logs in by key.");
    memory.add(fact);
    let settings = AssemblySettings::new(OutputForm::Pack, Tokens(2_000));
    let asked = PromptRequest::new("what about the login?", settings);
    let prompt = compose(&asked, vec![memory, workspace], &counter, None).unwrap();
    let prompt = prompt.assembly.body;
    for part in [
        "fn login() {}",
        "Ann logs in by key.",
        "what about the login?",
    ] {
        assert!(prompt.contains(part), "{part}: {prompt}");
    }
    assert!(!prompt.contains("fix the login"), "{prompt}");
}

#[test]
fn p05_a_gatherer_of_the_same_name_stands_for_ours() {
    let project = Project::repository(&[("a.rs", "fn login() {}\n")]);
    project.commit("the second commit");
    let request = project.request("why does the login crash?", 4_000);
    let usual = packed(&request).unwrap();
    assert_eq!(usual.prompt().matches("the second commit").count(), 1);
    let ours = packed(&request.with_gatherer(History { commits: 1 })).unwrap();
    assert_eq!(ours.prompt().matches("the second commit").count(), 1);
    assert!(!ours.prompt().contains(" first\n"), "{}", ours.prompt());
}
