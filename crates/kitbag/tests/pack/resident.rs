//! A process that stays packs what one that begins with nothing packs.

use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use kitbag::pack::{Pack, PackRequest, pack};
use kitbag::tokens::Counter;
use kitbag::tool::{ToolScope, Tools, builtin};
use kitbag::workspace::resident::Resident;
use serde_json::json;

use crate::project::{Project, packed};

const TASKS: [&str; 3] = [
    "the oven forgets its temperature",
    "bake_bread returns too early when the dough rests",
    "knead the dough twice",
];

/// Made up; in two parts, so that no scanner minds.
fn secret() -> String {
    format!("aws_id = \"{}{}\"\n", "AKIA", "Z7QHX3MNPL5RT2WK")
}

fn code(name: &str, functions: usize) -> String {
    let function = |n: usize| {
        format!(
            "def {name}_{n}(dough, temperature={n}):\n    # rests the dough\n    for step in range({n}):\n        \
             dough.knead(step)\n    return bake_bread(dough, temperature)\n\n\n"
        )
    };
    (0..functions).map(function).collect()
}

#[test]
fn x10_a_process_that_stays_packs_what_a_new_one_does() {
    let project = Project::repository(&[
        ("oven.py", &code("oven", 30)),
        ("dough.py", &code("dough", 9)),
        ("shop/models.py", &code("order", 14)),
        ("bread/models.py", &code("order", 14)),
        ("settings.py", &(code("settings", 3) + &secret())),
        ("tests/test_oven.py", &code("test_oven", 6)),
    ]);
    let resident = Arc::new(Resident::default());
    let counter = Counter::for_model("gpt-4o").unwrap().keeping_lines();
    let warm = |request: &PackRequest| -> Pack {
        let mut request = request.clone();
        request.survey.resident = Some(Arc::clone(&resident));
        pollster::block_on(pack(&request, &counter)).unwrap()
    };
    // The tool works ahead by itself: it also finds out which texts have secrets.
    let tool = || -> Tools {
        let mut scope = ToolScope::new(project.root(), counter.clone());
        scope.cache_folder = project.request("", 0).survey.cache_folder;
        builtin(&scope)
    };
    let call = |tools: &Tools, task: &str| {
        let arguments = json!({"task": task, "budget": 1_500});
        pollster::block_on(tools.call("pack", arguments)).unwrap()
    };
    let warm_tool = tool();
    let changes = [
        ("", String::new()),
        // Without secrets before, and with one now.
        ("dough.py", code("dough", 9) + &secret()),
        ("settings.py", code("settings", 3)),
        ("shop/models.py", code("basket", 8)),
    ];
    for (path, text) in changes {
        // Time enough for the file system to tell this change from the last.
        sleep(Duration::from_millis(150));
        if !path.is_empty() {
            project.write(path, &text);
        }
        for task in TASKS {
            let request = project.request(task, 1_500);
            let (new, stayed) = (packed(&request).unwrap(), warm(&request));
            assert_eq!(stayed.prompt(), new.prompt(), "{task}, {path} changed");
            assert_eq!(stayed.decisions, new.decisions, "{task}, {path} changed");
            assert!(!stayed.prompt().contains("AKIA"), "{}", stayed.prompt());
            let (new, stayed) = (call(&tool(), task), call(&warm_tool, task));
            assert_eq!(stayed.text, new.text, "{task}, {path} changed");
            assert!(!stayed.text.contains("AKIA"), "{}", stayed.text);
            resident.work_ahead(|_, text, _| counter.learn_lines(text));
        }
    }
}
