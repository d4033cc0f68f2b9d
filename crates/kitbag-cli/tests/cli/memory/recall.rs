//! Finding what was said.

use serde_json::{Value, json};

use super::{Memory, lines, talk};
use crate::pipe::leave_after_a_line;

#[test]
fn x04_the_message_that_answers_comes_first() {
    let memory = Memory::talk();
    assert_eq!(memory.references("what is my puppy called?")[0], "m1");
    assert_eq!(memory.references("when do we fly to Lisbon?")[0], "m4");
    let text = memory
        .run(&["recall", "the puppy's name", "--limit", "1"])
        .success();
    assert!(
        text.starts_with("2024-05-08 13:56 Ann (1.1#1, score "),
        "{text}"
    );
    assert!(
        text.ends_with(")\n  The puppy that we adopted answers to Biscuit\n"),
        "{text}"
    );
    let nothing = memory.run(&["recall", "quantum chromodynamics"]);
    assert_eq!(nothing.stderr, "nothing was found\n");
    assert_eq!(nothing.success(), "");
}

#[test]
fn x04_each_score_explains_itself() {
    let memory = Memory::talk();
    let found = memory.json(&["recall", "puppy", "--explain"]);
    for hit in found["ranked"].as_array().unwrap() {
        let parts = hit["parts"].as_array().unwrap();
        let sum: i64 = parts
            .iter()
            .map(|part| part["value"].as_i64().unwrap())
            .sum();
        assert_eq!(json!(sum), hit["score"], "{hit}");
    }
    let table = memory.run(&["recall", "puppy", "--explain"]).success();
    let mut rows = table.lines();
    let header: Vec<&str> = rows.next().unwrap().split_whitespace().collect();
    assert_eq!(header, ["score", "message", "why", "text"]);
    let first = rows.next().unwrap();
    assert!(
        first.contains("1.1#1") && first.contains("words +1000"),
        "{table}"
    );
}

#[test]
fn x04_a_batch_is_answered_line_by_line() {
    let memory = Memory::talk();
    let queries = [
        json!({"id": "q1", "channel": "slack", "sender": "ann", "query": "puppy", "now": null}),
        json!({"id": 2, "query": "Lisbon", "now": "2024-06-02T00:00:00", "limit": 1}),
        json!({"id": null, "sender": "nobody", "query": "Lisbon"}),
    ];
    let batch = ["recall", "--batch", "-", "--limit", "200", "--json"];
    let printed = memory
        .run_with_stdin(&batch, lines(&queries).as_bytes())
        .success();
    let answers: Vec<Value> = printed
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), 3);
    assert_eq!(
        (&answers[0]["id"], &answers[0]["ranked"][0]["ref"]),
        (&json!("q1"), &json!("m1"))
    );
    assert_eq!(
        (&answers[1]["id"], &answers[1]["ranked"][0]["ref"]),
        (&json!(2), &json!("m4"))
    );
    assert_eq!(answers[1]["ranked"].as_array().unwrap().len(), 1);
    assert_eq!(answers[2], json!({"id": null, "ranked": []}));
    assert_eq!(
        answers[0]["ranked"],
        memory.json(&["recall", "puppy"])["ranked"]
    );
}

#[test]
fn x04_a_bad_query_is_named_and_those_before_it_are_answered() {
    let memory = Memory::talk();
    for (bad, named) in [
        ("nope", "line 2: expected a JSON object"),
        ("{\"id\": 1}", "line 2: missing field `query`"),
        (
            "{\"query\": \"x\", \"now\": \"soon\"}",
            "line 2: `soon` is not a time",
        ),
        (
            "{\"query\": \"x\", \"limit\": 99999999999}",
            "line 2: invalid value",
        ),
        ("[\"a\", \"b\"]", "line 2: expected a JSON object"),
    ] {
        let queries = format!("{{\"id\": 1, \"query\": \"puppy\"}}\n{bad}\n");
        let output = memory.run_with_stdin(&["recall", "--batch", "-"], queries.as_bytes());
        assert_eq!(output.code, Some(1));
        assert_eq!(output.stdout.lines().count(), 1);
        assert!(output.stderr.contains(named), "{bad}: {}", output.stderr);
    }
    assert_eq!(
        memory
            .run_with_stdin(&["recall", "--batch", "-"], b"")
            .success(),
        ""
    );
}

#[test]
fn x04_a_budget_is_kept_exactly() {
    let memory = Memory::talk();
    let all = memory
        .run(&["recall", "puppy Lisbon beagle hotels"])
        .success();
    let blocks = all.matches("score ").count();
    assert_eq!(blocks, 5);
    let mut shown = 0;
    for budget in ["1", "20", "45", "60", "90", "130", "1k"] {
        let args = ["recall", "puppy Lisbon beagle hotels", "--budget", budget];
        let text = memory.run(&args).success();
        assert!(all.starts_with(&text), "a prefix of the ranking");
        let tokens = memory
            .0
            .run_with_stdin(&["tokens", "-"], text.as_bytes())
            .success();
        let tokens: u64 = tokens.split_whitespace().next().unwrap().parse().unwrap();
        assert_eq!(memory.json(&args)["tokens"], json!(tokens), "{text}");
        assert!(tokens <= budget.replace('k', "000").parse().unwrap());
        assert!(text.matches("score ").count() >= shown);
        shown = text.matches("score ").count();
    }
    assert_eq!(shown, 5);
}

#[test]
fn x04_a_budget_without_room_is_told_with_what_is_needed() {
    let memory = Memory::talk();
    let ask = |budget: &str, more: &[&str]| {
        let args = ["recall", "puppy Lisbon", "--budget", budget];
        memory.run(&[&args, more].concat())
    };
    let told = ask("3", &[]);
    assert_eq!(told.stdout, "");
    let needed = told
        .stderr
        .strip_prefix("found 5 messages; the best needs ")
        .and_then(|rest| rest.strip_suffix(" tokens, and the budget is 3\n"))
        .unwrap_or_else(|| panic!("{told:?}"))
        .to_owned();
    assert_eq!(ask("3", &["--json"]).stderr, told.stderr);
    assert_eq!(ask(&needed, &[]).success().matches("score ").count(), 1);
    let nothing = memory.run(&["recall", "quantum", "--budget", "3"]);
    assert_eq!(nothing.stderr, "nothing was found\n");
}

#[test]
fn x04_whose_memory_is_meant_must_be_clear() {
    let memory = Memory::new();
    memory.import(&[]).success();
    let error = memory.run(&["recall", "puppy"]).failure(1);
    assert!(error.contains("the store has no senders yet"), "{error}");
    memory.import(&talk()).success();
    assert_eq!(memory.references("puppy")[0], "m1");
    memory
        .import(&[json!({"sender": "bob", "text": "a puppy of mine", "ref": "b1"})])
        .success();
    let error = memory.run(&["recall", "puppy"]).failure(2);
    assert!(
        error.contains("several senders") && error.contains("ann, bob"),
        "{error}"
    );
    let found = memory.json(&["recall", "puppy", "--sender", "bob"]);
    assert_eq!(found["ranked"].as_array().unwrap().len(), 1);
    assert_eq!(found["ranked"][0]["ref"], "b1");
}

#[test]
fn x01_wrong_questions_are_refused() {
    let memory = Memory::talk();
    for args in [
        &["recall"][..],
        &["recall", "x", "--limit", "0"],
        &["recall", "x", "--limit", "99999999999999999999"],
        &["recall", "x", "--now", "soon"],
        &["recall", "x", "--budget", "lots"],
        &["recall", "x", "--budget", "10", "--tokenizer", "none"],
        &["recall", "x", "--batch", "-"],
    ] {
        memory.run(args).failure(2);
    }
    let error = memory
        .0
        .run(&["memory", "recall", "x", "--store", "typo.db"])
        .failure(1);
    assert!(error.contains("there is no store at typo.db"), "{error}");
    assert!(!memory.0.path().join("typo.db").exists());
}

#[test]
fn x01_a_reader_that_goes_away_is_met_with_silence() {
    let memory = Memory::talk();
    let queries: String = (0..3_000)
        .map(|id| format!("{{\"id\": {id}, \"query\": \"puppy\"}}\n"))
        .collect();
    memory.0.write("queries.jsonl", queries);
    let args = [
        "memory",
        "recall",
        "--batch",
        "queries.jsonl",
        "--store",
        "memory.db",
    ];
    leave_after_a_line(memory.0.command(&args));
}
