//! `kitbag fit`.

use std::thread;

use serde_json::{Value, json};

use crate::run::Folder;

fn chunks() -> Value {
    json!([
        {"content": "fn login() {\n    redirect()\n}\n", "source": "src/login.rs", "chunk_type": "file",
         "priority": "HIGH", "metadata": {}},
        {"source": "src/session.rs", "chunk_type": "file", "priority": 500, "relevance": 600_000, "levels": [
            {"level": "full", "content": "pub struct Session { id: u64 }\n".repeat(30)},
            {"level": "outline", "content": "pub struct Session", "coverage": 300}]},
        {"content": "a note", "source": "note.md", "chunk_type": "api_spec", "priority": "MINIMAL", "relevance": 5}
    ])
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("chunks.json", chunks().to_string());
    folder
}

#[test]
fn x01_fit_prints_the_prompt_within_its_budget() {
    let folder = folder();
    let args = [
        "fit",
        "chunks.json",
        "--budget",
        "120",
        "--request",
        "fix the login",
        "--task-type",
        "debug",
    ];
    let output = folder.run(&args);
    assert!(output.stderr.contains("2 of 3 chunks"), "{}", output.stderr);
    let prompt = output.success();
    assert!(
        prompt.contains("## src/login.rs\n```rs\nfn login() {"),
        "{prompt}"
    );
    assert!(
        prompt.contains("## src/session.rs (outline)\n"),
        "degraded, not dropped: {prompt}"
    );
    assert!(
        prompt.contains("---\n## Request\nfix the login\n"),
        "{prompt}"
    );
    let counted = folder
        .run_with_stdin(&["tokens"], prompt.trim_end().as_bytes())
        .success();
    assert!(counted.trim().parse::<u32>().unwrap() <= 120, "{counted}");
}

#[test]
fn p02_the_budget_is_the_size_of_what_is_printed_at_every_budget() {
    let folder = folder();
    let forms = ["pack", "markdown", "xml"];
    for (budget, form) in (100..130).zip(forms.into_iter().cycle()) {
        let budget = budget.to_string();
        let args = [
            "fit",
            "chunks.json",
            "--budget",
            &budget,
            "--request",
            "fix the login",
            "--format",
            form,
        ];
        let prompt = folder.run(&args).success();
        let counted = folder
            .run_with_stdin(&["tokens"], prompt.as_bytes())
            .success();
        let (counted, budget): (u32, u32) =
            (counted.trim().parse().unwrap(), budget.parse().unwrap());
        assert!(counted <= budget, "{counted} of {budget}");
    }
}

#[test]
fn x02_fit_prints_every_form() {
    let folder = folder();
    let in_form = |form: &str| {
        let args = [
            "fit",
            "chunks.json",
            "--budget",
            "2k",
            "--request",
            "why?",
            "--system",
            "Be brief.",
            "--format",
            form,
        ];
        folder.run(&args).success()
    };
    assert!(in_form("flat").starts_with("[System]\nBe brief.\n\n[Source src/login.rs]\n"));
    assert!(in_form("pack").contains("Here is the context for your task:"));
    assert_eq!(in_form("prompt"), in_form("pack"));
    let markdown = in_form("markdown");
    assert!(markdown.contains("\n## src/login.rs\n```rs\nfn login() {"));
    assert!(markdown.ends_with("---\n## Request\nwhy?\n"), "{markdown}");
    assert!(!markdown.contains("Here is the context"), "{markdown}");
    let xml = in_form("xml");
    assert!(
        xml.starts_with(
            "<system>\nBe brief.\n</system>\n<context>\n<file path=\"src/login.rs\">\n"
        ),
        "{xml}"
    );
    assert!(
        xml.ends_with("</context>\n<request>\nwhy?\n</request>\n"),
        "{xml}"
    );
    assert!(in_form("node").contains("## Entity Context\n"));
    let anthropic: Value = serde_json::from_str(&in_form("anthropic")).unwrap();
    assert_eq!(anthropic["messages"][0]["content"][0]["text"], "why?");
    let openai: Value = serde_json::from_str(&in_form("openai")).unwrap();
    assert_eq!(openai["messages"][2]["content"], "why?");
    let responses: Value = serde_json::from_str(&in_form("responses")).unwrap();
    assert_eq!(responses["instructions"], "Be brief.");
    assert_eq!(responses["input"][1]["content"], "why?");
    let payload: Value = serde_json::from_str(&in_form("json")).unwrap();
    assert_eq!(payload["parts"][0]["band"], "identity");
}

#[test]
fn x06_a_request_is_fitted_and_keeps_what_is_not_known() {
    let folder = Folder::new();
    let said = |n: usize| {
        let (user, assistant) = ("where is it? ".repeat(20), "in the shed. ".repeat(20));
        format!(
            r#"{{"role":"user","content":"{n} {user}","odd":1.0}},{{"role":"assistant","content":"{n} {assistant}"}}"#
        )
    };
    let said: Vec<String> = (0..10).map(said).collect();
    let request = format!(
        r#"{{"zeta":[1e3],"model":"gpt-4o","messages":[{{"role":"system","content":"Be brief."}},{},{{"role":"user","content":"and now?"}}],"stream":true}}"#,
        said.join(",")
    );
    folder.write("request.json", &request);
    let fitted = |budget: &str| folder.run(&["fit", "request.json", "--budget", budget]);
    assert_eq!(fitted("32k").success().trim_end(), request);
    let output = fitted("800");
    assert!(
        output.stderr.contains("of 20 messages are not shown"),
        "{}",
        output.stderr
    );
    let out = output.success();
    assert!(out.starts_with(
        r#"{"zeta":[1e3],"model":"gpt-4o","messages":[{"role":"system","content":"Be brief."},"#
    ));
    assert!(
        out.trim_end()
            .ends_with(r#"{"role":"user","content":"and now?"}],"stream":true}"#)
    );
    assert!(
        out.contains("earlier messages of this conversation are not shown"),
        "{out}"
    );
    assert!(out.contains(&said[9]) && !out.contains(&said[0]), "{out}");
    let table = folder
        .run(&["fit", "request.json", "--budget", "800", "--explain"])
        .success();
    assert!(table.contains("history/earlier"), "{table}");
    let args = ["fit", "request.json", "--budget", "800", "--system", "x"];
    let refused = folder.run(&args).failure(2);
    assert!(refused.contains("`--system` is for chunks"), "{refused}");
    let args = ["fit", "request.json", "--budget", "10"];
    let refused = folder.run(&args).failure(1);
    assert!(refused.contains("the budget is 10"), "{refused}");
}

#[test]
fn x01_secrets_in_chunks_are_replaced() {
    let folder = Folder::new();
    let key = format!("{}{}", "AKIA", "Z7QHX3MNPL5RT2WK");
    let chunk = json!([{"content": format!("token = \"{key}\"\n"), "source": "a.py", "chunk_type": "file", "priority": "HIGH"}]);
    folder.write("chunks.json", chunk.to_string());
    let output = folder.run(&["fit", "chunks.json", "--budget", "200"]);
    assert!(
        output.stderr.contains("a.py:1 holds a secret"),
        "{}",
        output.stderr
    );
    assert!(!output.success().contains(&key));
}

#[test]
fn x03_fit_explains_every_chunk() {
    let table = folder()
        .run(&["fit", "chunks.json", "--budget", "120", "--explain"])
        .success();
    let rows: Vec<&str> = table.lines().collect();
    assert_eq!(rows.len(), 6, "{table}");
    assert_eq!(rows[5], "tokens by part: session 41");
    assert!(
        rows[1].contains("full") && rows[1].contains("src/login.rs"),
        "{table}"
    );
    assert!(rows[3].contains("below the floor of 1.0 %"), "{table}");
    let greedy = folder()
        .run(&[
            "fit",
            "chunks.json",
            "--budget",
            "40",
            "--explain",
            "--strategy",
            "greedy",
            "--floor",
            "0",
        ])
        .success();
    assert!(
        greedy.contains("more tokens would fit its outline level"),
        "{greedy}"
    );
}

#[test]
fn x03_fit_prints_prompt_and_ledger_as_json() {
    let output = folder().run(&["fit", "-", "--budget", "1ki", "--json", "--model", "gpt-4o"]);
    let stderr = output.failure(1);
    assert!(stderr.contains("stdin:1"), "{stderr}");
    let folder = folder();
    let stdin = chunks().to_string();
    let output =
        folder.run_with_stdin(&["fit", "-", "--budget", "1ki", "--json"], stdin.as_bytes());
    let report: Value = serde_json::from_str(&output.success()).unwrap();
    assert_eq!(report["budget"], 1024);
    assert_eq!(report["ledger"]["entries"].as_array().unwrap().len(), 3);
    assert_eq!(
        report["ledger"]["entries"][0]["score"]["parts"][0]["name"],
        "base"
    );
    assert_eq!(report["ledger"]["fit"]["ratio_ppm"], 1_000_000);
    assert!(report["tokens"].as_u64().unwrap() <= 1024);
}

#[test]
fn x01_bad_input_is_named_and_answered() {
    let folder = Folder::new();
    let chunk = |fields: &str| format!(r#"[{{"source":"a.md","chunk_type":"file",{fields}}}]"#);
    let cases = [
        (chunk(r#""content":"x","priority":"URGENT""#), "URGENT"),
        (
            chunk(r#""content":"x","priority":"LOW","relevance":-1"#),
            "relevance -1",
        ),
        (
            chunk(r#""content":"x","priority":"LOW","relevance":1e99"#),
            "relevance 1e",
        ),
        (
            chunk(r#""content":"x","priority":"LOW","band":"footer""#),
            "footer",
        ),
        (chunk(r#""priority":"LOW""#), "no levels"),
        (chunk(r#""priority":"LOW","levels":[]"#), "no levels"),
        (
            chunk(r#""content":7,"priority":"LOW""#),
            "`content`: invalid type: integer `7`",
        ),
        (r#"[{"content":"x"}]"#.to_owned(), "source"),
        ("[1]".to_owned(), "chunk 0"),
        ("{}".to_owned(), "neither an array of chunks nor a request"),
        ("[{]".to_owned(), "not a JSON array"),
        (String::new(), "not a JSON array"),
        ("[".repeat(100_000), "not a JSON array"),
    ];
    for (json, named) in cases {
        folder.write("chunks.json", &json);
        let error = folder
            .run(&["fit", "chunks.json", "--budget", "100"])
            .failure(1);
        let shown: String = json.chars().take(80).collect();
        assert!(error.contains(named), "{shown}: {error}");
        assert!(error.starts_with("error: chunks.json:"), "{error}");
        assert!(error.contains("\nhint: "), "{error}");
    }
}

#[test]
fn x01_an_error_names_the_line_and_the_chunk() {
    let folder = Folder::new();
    folder.write(
        "chunks.json",
        "[\n {\"content\":\"x\",\"source\":\"a\",\"chunk_type\":\"file\",\"priority\":\"LOW\"},\n {\n  \"content\":\"x\",\n  \"source\":\"b\",\n  \"chunk_type\":\"file\",\n  \"priority\":\"SOON\"}\n]",
    );
    let error = folder
        .run(&["fit", "chunks.json", "--budget", "100"])
        .failure(1);
    assert!(
        error.starts_with("error: chunks.json:7: chunk 1: `priority`: unknown priority `SOON`"),
        "{error}"
    );
}

#[test]
fn x01_a_misspelt_field_is_not_ignored_in_silence() {
    let folder = Folder::new();
    let chunk = json!([{"content": "x", "source": "a.md", "chunk_type": "file", "priority": "LOW", "relevence": 3}]);
    folder.write("chunks.json", chunk.to_string());
    let output = folder.run(&["fit", "chunks.json", "--budget", "100"]);
    assert!(
        output
            .stderr
            .contains("the field `relevence` of 1 chunks is ignored"),
        "{}",
        output.stderr
    );
    output.success();
}

#[test]
fn x01_a_budget_below_the_critical_chunks_is_a_failure_that_names_them() {
    let folder = Folder::new();
    let critical = json!([{"content": "x ".repeat(500), "source": "open.rs", "chunk_type": "file", "priority": "CRITICAL"}]);
    folder.write("chunks.json", critical.to_string());
    let error = folder
        .run(&["fit", "chunks.json", "--budget", "100"])
        .failure(1);
    assert!(
        error.contains("`file:open.rs`") && error.contains("hint: raise the budget"),
        "{error}"
    );
    let error = folder
        .run(&["fit", "chunks.json", "--budget", "3"])
        .failure(1);
    assert!(error.contains("the budget is 3"), "{error}");
}

#[test]
fn x01_wrong_usage_is_exit_code_2() {
    let folder = folder();
    for (args, named) in [
        (&["--budget", "-5"][..], "-5"),
        (&["--budget", "0"], "0"),
        (&["--budget", "lots"], "lots"),
        (&["--budget", "99999999999999"], "99999999999999"),
        (&["--budget", "1k", "--format", "yaml"], "yaml"),
        (&["--budget", "1k", "--format", "flat"], "--request"),
        (&["--budget", "1k", "--task-type", "deploy"], "deploy"),
        (&["--budget", "1k", "--floor", "1000001"], "1000001"),
        (&["--budget", "1k", "--strategy", "lucky"], "lucky"),
        (&["--budget", "1k", "--json", "--explain"], "--explain"),
        (&[], "--budget"),
    ] {
        let all = [&["fit", "chunks.json"], args].concat();
        let error = folder.run(&all).failure(2);
        assert!(error.contains(named), "{args:?}: {error}");
    }
}

#[test]
fn x01_a_file_of_200_megabytes_is_refused_by_its_size() {
    let folder = Folder::new();
    let path = folder.path().join("huge.json");
    std::fs::File::create(&path)
        .unwrap()
        .set_len(200 << 20)
        .unwrap();
    let error = folder
        .run(&["fit", "huge.json", "--budget", "100"])
        .failure(1);
    assert!(
        error.contains("huge.json is larger than the limit of 67,108,864 bytes"),
        "{error}"
    );
    let error = folder
        .run(&["fit", "missing.json", "--budget", "100"])
        .failure(1);
    assert!(error.contains("cannot read missing.json"), "{error}");
    folder.write("binary.json", b"[\xff]");
    let error = folder
        .run(&["fit", "binary.json", "--budget", "100"])
        .failure(1);
    assert!(error.contains("not UTF-8 text at byte 1"), "{error}");
}

/// One list of chunks in 1,000 orders, each in a process of its own.
#[test]
fn x02_the_same_chunks_in_any_order_give_the_same_bytes_in_every_process() {
    const BUILDS: usize = 1_000;
    let folder = Folder::new();
    let chunks: Vec<Value> = (0..60)
        .map(|n: u32| {
            let priority = [100, 200, 500, 800][n as usize % 4];
            let text = format!("fn f{n}() {{ {} }}\n", "work();".repeat(1 + n as usize % 17));
            json!({"source": format!("src/{}.rs", n % 50), "chunk_type": "file", "priority": priority,
                   "relevance": 900_000 / (n % 9 + 1), "levels": [
                       {"level": "full", "content": text}, {"level": "outline", "content": format!("fn f{n}()")}]})
        })
        .collect();
    let args = [
        "fit",
        "-",
        "--budget",
        "900",
        "--json",
        "--request",
        "f1",
        "--tokenizer",
        "cl100k_base",
    ];
    let build = |seed: usize| {
        let mut shuffled = chunks.clone();
        let mut state = seed as u64;
        for index in (1..shuffled.len()).rev() {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            shuffled.swap(index, (state >> 33) as usize % (index + 1));
        }
        folder
            .run_with_stdin(&args, Value::from(shuffled).to_string().as_bytes())
            .success()
    };
    let first = build(0);
    let workers = thread::available_parallelism().map_or(2, usize::from);
    thread::scope(|scope| {
        for worker in 0..workers {
            let (build, first) = (&build, &first);
            scope.spawn(move || {
                for seed in (1..BUILDS).skip(worker).step_by(workers) {
                    assert_eq!(&build(seed), first, "seed {seed}");
                }
            });
        }
    });
}

#[test]
fn p06_plain_code_is_shortened_instead_of_left_out() {
    let folder = Folder::new();
    let function =
        |n: u32| format!("def step_{n}(cart):\n    cart.open()\n    return cart.add({n})\n\n\n");
    let code: String = (0..60).map(function).collect();
    let chunks = json!([
        {"content": format!("import shop\n\n\n{code}"), "source": "shop/cart.py", "chunk_type": "file", "priority": "MEDIUM"},
        {"content": code.replace("step", "move"), "source": "pasted", "chunk_type": "snippet", "priority": "MEDIUM",
         "metadata": {"language": "python"}},
        {"content": "word ".repeat(2_000), "source": "notes", "chunk_type": "document", "priority": "LOW"}
    ]);
    folder.write("chunks.json", chunks.to_string());
    let args = [
        "fit",
        "chunks.json",
        "--budget",
        "900",
        "--request",
        "fix the cart",
        "--json",
    ];
    let report: Value = serde_json::from_str(&folder.run(&args).success()).unwrap();
    let level = |source: &str| {
        let entries = report["ledger"]["entries"].as_array().unwrap();
        let entry = entries.iter().find(|entry| entry["source"] == source);
        entry.unwrap()["level"].clone()
    };
    for source in ["shop/cart.py", "pasted"] {
        assert!(
            ["slice", "outline"].contains(&level(source).as_str().unwrap()),
            "{source}"
        );
    }
    assert_eq!(
        level("notes"),
        Value::Null,
        "a text has no parts that could be told"
    );
    let prompt = report["prompt"].as_str().unwrap();
    assert!(
        prompt.contains(" lines)"),
        "what is left out is counted: {prompt}"
    );
}

#[test]
fn p01_fit_reads_an_envelope() {
    let folder = folder();
    let envelope = json!({
        "task_type": "debug", "user_request": "fix the login", "original_input": "fix",
        "session_id": "s1", "created_at": "2024-01-15T10:30:00Z",
        "token_budget": {"total": 400, "input_allocation_pct": 0.5},
        "context": {"chunks": [{"source": "ticket", "chunk_type": "ticket", "priority": "HIGH",
            "content": "It redirects twice."}]}
    });
    folder.write("task.json", envelope.to_string());
    let args = ["fit", "--envelope", "task.json"];
    let output = folder.run(&args);
    assert!(
        output.stderr.contains(" of 200 tokens, 1 of 1 chunks"),
        "{}",
        output.stderr
    );
    let prompt = output.success();
    assert!(
        prompt.contains("It redirects twice.") && prompt.contains("As a debug task"),
        "{prompt}"
    );
    let args = [
        "fit",
        "chunks.json",
        "--envelope",
        "task.json",
        "--budget",
        "total=2k,input=40%",
    ];
    let output = folder.run(&args);
    assert!(
        output.stderr.contains(" of 800 tokens, 3 of 4 chunks"),
        "{}",
        output.stderr
    );
    let error = folder.run(&["fit", "chunks.json"]).failure(2);
    assert!(error.contains("--budget"), "{error}");
}

#[test]
fn x01_a_secret_in_a_chunk_is_replaced() {
    let folder = Folder::new();
    let key = ["AKIA", "Q3EGRIXVWJTM4ZB7"].concat();
    let chunks = json!([{"content": format!("aws_key = \"{key}\"\n"), "source": "a.py", "chunk_type": "file", "priority": "HIGH"}]);
    folder.write("chunks.json", chunks.to_string());
    let prompt = folder
        .run(&["fit", "chunks.json", "--budget", "900"])
        .success();
    assert!(
        prompt.contains("aws_key") && !prompt.contains(&key),
        "{prompt}"
    );
}
