//! The context that a checkpoint keeps.

use kitbag::core::budget::{Share, TokenBudget};
use kitbag::core::chunk::Detail;
use kitbag::core::envelope::{TaskEnvelope, TaskType};
use kitbag::core::tokens::Tokens;
use kitbag::pack::prepare;
use kitbag::tokens::Counter;

use crate::project::{Project, packed};

#[test]
fn p07_a_checkpoint_keeps_what_a_pack_of_its_budget_shows() {
    let login =
        "/// Logs a user in.\npub fn login(user: &str) -> bool {\n    !user.is_empty()\n}\n";
    let session: String = (0..200)
        .map(|n| format!("pub fn session_{n}() {{\n    login(\"{n}\");\n}}\n"))
        .collect();
    let files = [
        ("src/login.rs", login),
        ("old/login.rs", login),
        ("src/session.rs", &session),
    ];
    let project = Project::new(&files);
    let counter = Counter::for_vocabulary(kitbag::tokens::Vocabulary::O200kBase).unwrap();
    for budget in [300, 800, 4_000] {
        let request = project.request("why does login fail?", budget);
        let pack = packed(&request).unwrap();
        let prepared = pollster::block_on(prepare(&request.survey)).unwrap();
        let created = "2024-01-15T10:30:00Z".parse().unwrap();
        let mut task = TaskEnvelope::new(
            TaskType::Debug,
            "why does login fail?",
            "session_1",
            created,
        );
        task.token_budget = TokenBudget::new(Tokens(budget)).with_input_share(Share::percent(100));
        prepared
            .fill(&mut task, &request.options, &counter)
            .unwrap();

        let context = &task.context;
        let shown = pack.decisions.chunks;
        let shown = shown
            .iter()
            .map(|chunk| (chunk.source.as_str(), chunk.level));
        let shown: Vec<(&str, Detail)> = shown.collect();
        let kept = context.chunks.iter();
        let kept: Vec<(&str, Detail)> = kept
            .map(|chunk| (chunk.source.as_str(), chunk.levels[0].level))
            .collect();
        assert_eq!(kept, shown, "{budget}");
        assert!(context.chunks.iter().all(|chunk| chunk.levels.len() == 1));
        assert_eq!(context.tokens_used, pack.decisions.tokens, "{budget}");
        assert!(context.tokens_used <= context.budget);
        // Everything is kept, or has a reason.
        assert_eq!(
            context.chunks.len() + context.excluded.len(),
            context.chunks_in
        );
    }
}
