//! Tenants: whoever has a key of one finds nothing of another, whichever endpoint is asked.

use serde_json::{Value, json};

use super::{JSON, error, folder, get, key, post, serve};
use crate::ask::upstream::{CHAT, Reply, Upstream};
use crate::serve::Server;

#[test]
fn x07_another_tenant_s_things_are_not_there_on_any_endpoint() {
    let folder = folder();
    let [ours, theirs] =
        ["acme", "rival"].map(|tenant| key(&folder, tenant, &["--scope", "admin"]));
    // The server's own tenant has a key too.
    key(&folder, "main", &[]);
    let server = serve(&folder, &[]);
    let secret = "The vault opens at nine";
    let ask = json!({"message": secret, "sender": "ann", "conversation": "vault"});
    let turn = post(&server, &ours, "/api/v1/ask", &ask).json()["turn"].clone();
    let turn = turn.as_str().unwrap();
    let fact = json!({"text": secret, "key": "vault", "sender": "ann"});
    assert_eq!(post(&server, &ours, "/api/v1/remember", &fact).status, 200);
    let conversation = turn.rsplit_once('.').unwrap().0;
    let document = get(&server, "", "/openapi.json").json();
    let paths = document["paths"].as_object().unwrap();
    let mut asked = 0;
    for (path, methods) in paths {
        for method in methods.as_object().unwrap().keys() {
            asked += 1;
            let id = if path.contains("turns") {
                turn
            } else {
                conversation
            };
            let path = path.replace("{id}", id);
            let has_id = path.contains(id);
            let answer = if method == "get" {
                let query = match path.rsplit_once('/').unwrap().1 {
                    "difference" => format!("?with={turn}"),
                    "fit" => "?budget=8000".to_owned(),
                    _ => String::new(),
                };
                get(&server, &theirs, &format!("{path}{query}"))
            } else {
                let body = match path.as_str() {
                    "/api/v1/forget" => json!({"conversation": conversation, "confirm": true}),
                    "/api/v1/recall" => json!({"query": "vault opens", "sender": "ann"}),
                    "/api/v1/pack" => json!({"task": "vault"}),
                    "/api/v1/remember" => json!({"text": "something else", "sender": "ann"}),
                    _ => json!({"message": "hello", "sender": "ann", "conversation": conversation}),
                };
                post(&server, &theirs, &path, &body)
            };
            assert!(
                !answer.body.contains("vault opens at nine"),
                "{path} {answer:?}"
            );
            assert!(!answer.body.contains(secret), "{path} {answer:?}");
            if has_id || path == "/api/v1/forget" {
                assert!(error(&answer, 404).contains("there is no"), "{path}");
            }
        }
    }
    assert_eq!(asked, 17, "every endpoint was asked");
    // A message to another's conversation does not get there.
    let said = get(
        &server,
        &ours,
        &format!("/api/v1/conversations/{conversation}"),
    )
    .json();
    assert_eq!(said["messages"].as_array().unwrap().len(), 2, "{said}");
    let found = post(
        &server,
        &ours,
        "/api/v1/recall",
        &json!({"query": "vault opens", "sender": "ann"}),
    );
    assert!(found.body.contains(secret), "{found:?}");
}

#[test]
fn x07_another_tenant_s_memory_is_in_no_request_to_a_model_and_no_resource() {
    let upstream = Upstream::answering(|_| Reply::stream(CHAT));
    let folder = folder();
    let own = std::fs::read_to_string(folder.path().join("own.yaml")).unwrap();
    folder.write("own.yaml", own + "server: {memory_time_limit: 60s}\n");
    let [ours, theirs] =
        ["acme", "rival"].map(|tenant| key(&folder, tenant, &["--scope", "admin"]));
    key(&folder, "main", &[]);
    let address = upstream.address();
    let server = Server::start(&folder, &["--config", "own.yaml", "--upstream", &address]);
    let say = |key: &str, conversation: &str, text: &str| {
        let bearer = format!("Bearer {key}");
        let headers = [
            JSON,
            ("authorization", bearer.as_str()),
            ("x-kitbag-sender", "ann"),
            ("x-kitbag-conversation", conversation),
        ];
        let body =
            json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": text}]});
        let answer = server.post("/v1/chat/completions", &headers, &body.to_string());
        assert_eq!(answer.status, 200, "{answer:?}");
        upstream.bodies().pop().unwrap()
    };
    say(&ours, "vault", "The vault opens at nine.");
    while !get(&server, &ours, "/api/v1/export")
        .body
        .contains("at nine")
    {}
    for conversation in ["vault", "other"] {
        let asked = say(&theirs, conversation, "When does the vault open?");
        assert!(!asked.contains("at nine"), "{asked}");
    }
    let asked = say(&ours, "other", "When does the vault open?");
    assert!(asked.contains("at nine"), "{asked}");
    let ask = json!({"message": "The vault opens at nine.", "sender": "user"});
    let turn = post(&server, &ours, "/api/v1/ask", &ask).json()["turn"].clone();
    let uri = format!("kitbag://prompt/{}", turn.as_str().unwrap());
    let rpc = |key: &str, method: &str, params: Value| {
        let bearer = format!("Bearer {key}");
        let headers = [
            JSON,
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", "2025-11-25"),
            ("authorization", bearer.as_str()),
        ];
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        server.post("/mcp", &headers, &body.to_string()).body
    };
    let read = json!({ "uri": uri });
    let own = rpc(&ours, "resources/read", read.clone());
    assert!(own.contains("at nine"), "{own}");
    assert!(rpc(&ours, "resources/list", json!({})).contains(&uri));
    let foreign = rpc(&theirs, "resources/read", read);
    assert!(
        foreign.contains("there is no resource") && !foreign.contains("at nine"),
        "{foreign}"
    );
    assert!(!rpc(&theirs, "resources/list", json!({})).contains(&uri));
}

#[test]
fn x07_no_key_is_in_any_log_database_metric_or_error() {
    let folder = folder();
    let admin = key(&folder, "main", &["--scope", "admin"]);
    let server = serve(&folder, &["--log", "trace", "--log-format", "json"]);
    let pasted = json!({"message": format!("my key is {admin}"), "sender": "ann"});
    assert_eq!(post(&server, &admin, "/api/v1/ask", &pasted).status, 200);
    let wrong = format!("{}0", admin.split_at(admin.len() - 1).0);
    let mut shown = String::new();
    for (key, path) in [
        (&admin, "/api/v1/export"),
        (&admin, "/api/v1/conversations"),
        (&admin, "/api/v1/turns/1.1.1/replay"),
        (&wrong, "/api/v1/facts"),
        (&admin, "/api/v1/nothing"),
        (&admin, "/metrics"),
    ] {
        shown += &get(&server, key, path).body;
    }
    assert!(shown.contains("kitbag_requests_total{route=\"/api/v1/ask\",status=\"200\"} 1"));
    assert!(
        shown.contains("kitbag_tokens_total{kind=\"input\"} 50"),
        "{shown}"
    );
    assert!(shown.contains("[REDACTED:kitbag-key]"), "{shown}");
    let log = server.stop().stderr;
    let requests: Vec<Value> = log
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .filter(|line: &Value| {
            line.to_string().contains("\"request\"") && line.to_string().contains("route")
        })
        .collect();
    assert_eq!(requests.len(), 7, "{log}");
    let (_, digits) = admin.rsplit_once('_').unwrap();
    let mut files: Vec<Vec<u8>> = vec![log.into_bytes(), shown.into_bytes()];
    for name in ["memory.db", "memory.db-wal"] {
        files.extend(std::fs::read(folder.path().join(name)));
    }
    for bytes in files {
        let secret = &digits.as_bytes()[8..];
        assert!(
            !bytes
                .windows(secret.len() - 1)
                .any(|part| part == &secret[..secret.len() - 1])
        );
    }
}
