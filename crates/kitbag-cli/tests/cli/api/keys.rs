//! Keys: made, shown, listed, limited, refused and revoked.

use serde_json::{Value, json};

use super::{error, folder, get, key, post, serve};
use crate::ask::upstream::{CHAT, Reply, Upstream};
use crate::serve::Server;

const FACTS: &str = "/api/v1/facts";

#[test]
fn x07_from_the_first_key_on_every_client_needs_one() {
    let folder = folder();
    let server = serve(&folder, &[]);
    assert_eq!(get(&server, "", FACTS).status, 200, "no key is known yet");
    assert_eq!(server.stop().code, Some(0));
    let key = key(&folder, "main", &["--scope", "read"]);
    let server = serve(&folder, &[]);
    let told = error(&get(&server, "", FACTS), 401);
    assert!(
        told.contains("needs a key") && told.contains("kitbag key create"),
        "{told}"
    );
    let told = error(&get(&server, &key.replace("main", "other"), FACTS), 401);
    assert!(told.contains("mistyped, expired or revoked"), "{told}");
    for (name, value) in [
        ("authorization", format!("Bearer {key}")),
        ("x-api-key", key.clone()),
        ("x-kitbag-key", key.clone()),
    ] {
        let head = server.head("GET", FACTS, &[(name, &value)], 0);
        assert_eq!(server.send(head.as_bytes()).status, 200, "{name}");
    }
    let told = error(
        &post(&server, &key, "/api/v1/remember", &json!({"text": "x"})),
        403,
    );
    assert!(told.contains("no scope `write`"), "{told}");
    assert_eq!(
        error(&get(&server, &key, "/metrics"), 403),
        told.replace("write", "admin")
    );
    assert_eq!(get(&server, "", "/healthz").status, 200);
    assert_eq!(get(&server, "", "/readyz").status, 200);
}

#[test]
fn x07_a_key_opens_the_proxy_and_does_not_go_on_to_the_provider() {
    let upstream = Upstream::answering(|_| Reply::stream(CHAT));
    let folder = folder();
    let proxy = key(&folder, "main", &["--scope", "proxy"]);
    let read = key(&folder, "main", &["--scope", "read"]);
    let server = Server::start(&folder, &["--upstream", &upstream.address()]);
    let body = r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"Hi"}]}"#;
    let path = "/v1/chat/completions";
    let ask = |headers: &[(&str, &str)]| server.post(path, headers, body);
    let own = ("authorization", "Bearer sk-provider");
    assert_eq!(ask(&[own, ("x-kitbag-key", &proxy)]).status, 200);
    let bearer = format!("Bearer {proxy}");
    assert_eq!(ask(&[("authorization", &bearer)]).status, 200);
    for (headers, status) in [
        (vec![own], 401),
        (vec![own, ("x-kitbag-key", read.as_str())], 403),
    ] {
        let refused = ask(&headers);
        assert_eq!(refused.status, status);
        // In the words of the API that was asked, and never to be tried again.
        assert!(
            refused.json()["error"]["message"].is_string(),
            "{refused:?}"
        );
        assert_eq!(refused.header("x-should-retry"), Some("false"));
    }
    let sent = upstream.requests();
    assert_eq!(sent.len(), 2);
    assert!(sent[0].contains("authorization: Bearer sk-provider"));
    assert!(!sent.concat().contains("kitbag_"), "{sent:?}");
}

#[test]
fn x07_requests_to_models_get_as_much_memory_as_the_key_may_read_and_write() {
    let upstream = Upstream::answering(|_| Reply::stream(CHAT));
    let folder = folder();
    folder.write("own.yaml", "server: {memory_time_limit: 60s}\n");
    let keys = ["proxy,read,write", "proxy,read", "proxy", "proxy,write"];
    let keys = keys.map(|scopes| key(&folder, "main", &["--scope", scopes]));
    let address = upstream.address();
    let server = Server::start(&folder, &["--config", "own.yaml", "--upstream", &address]);
    let say = |key: &str, text: &str| {
        let body =
            json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": text}]});
        let answer = post(&server, key, "/v1/chat/completions", &body);
        assert_eq!(answer.status, 200, "{answer:?}");
        let told = answer.header("x-kitbag-memory").map(str::to_owned);
        (told, upstream.bodies().pop().unwrap())
    };
    say(&keys[0], "We deploy with fly.io, never with heroku.");
    while !get(&server, &keys[0], "/api/v1/export")
        .body
        .contains("fly.io")
    {}
    for (number, key) in keys.iter().enumerate() {
        let asked = format!("How do we deploy? This is question number {number}.");
        let (told, sent) = say(key, &asked);
        let is_told = number < 2;
        assert_eq!(told.as_deref(), is_told.then_some("added"), "{number}");
        assert_eq!(sent.contains("fly.io"), is_told, "{number}: {sent}");
    }
    assert_eq!(server.stop().code, Some(0));
    let kept = folder.run(&["--store", "sqlite:memory.db", "memory", "export"]);
    let kept = kept.success();
    assert!(kept.contains("question number 0"), "{kept}");
    for number in 1..4 {
        assert!(
            !kept.contains(&format!("question number {number}")),
            "{kept}"
        );
    }
}

#[test]
fn x07_limits_of_requests_and_tokens_are_told_with_the_time_to_wait() {
    let folder = folder();
    let few = key(&folder, "main", &["--requests-per-minute", "2"]);
    let short = key(&folder, "main", &["--tokens-per-minute", "90"]);
    let server = serve(&folder, &[]);
    for status in [200, 200, 429] {
        assert_eq!(get(&server, &few, FACTS).status, status);
    }
    let refused = get(&server, &few, FACTS);
    let wait: u32 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=30).contains(&wait), "{wait}");
    // Each answer has 97 tokens.
    let ask = || {
        post(
            &server,
            &short,
            "/api/v1/ask",
            &json!({"message": "where are the bees?"}),
        )
    };
    assert_eq!(ask().status, 200);
    let refused = ask();
    assert!(error(&refused, 429).contains("limit"), "{refused:?}");
    let wait: u32 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
}

#[test]
fn x07_other_machines_are_answered_with_a_key_alone() {
    let folder = folder();
    let args = [
        "serve",
        "--bind",
        "0.0.0.0:0",
        "--store",
        "sqlite:memory.db",
    ];
    let refused = folder.run(&args).failure(2);
    assert!(refused.contains("kitbag key create"), "{refused}");
    let key = key(&folder, "main", &[]);
    let server = Server::start(&folder, &["--bind", "0.0.0.0:0"]);
    assert_eq!(get(&server, "", FACTS).status, 401);
    assert_eq!(get(&server, &key, FACTS).status, 200);
    // Whatever name other machines have for it.
    let bearer = format!("authorization: Bearer {key}");
    let head = format!("GET {FACTS} HTTP/1.1\r\nhost: kitbag.example\r\n{bearer}\r\n");
    let end = "connection: close\r\n\r\n";
    assert_eq!(server.send(format!("{head}{end}").as_bytes()).status, 200);
    let page = format!("{head}origin: https://evil.example\r\n{end}");
    assert_eq!(server.send(page.as_bytes()).status, 403);
}

#[test]
fn x07_keys_are_listed_revoked_and_audited_without_their_secrets() {
    let folder = folder();
    let run = |args: &[&str]| folder.run(&[&["--store", "sqlite:memory.db", "key"], args].concat());
    let secret = key(&folder, "main", &["--expires", "90d"]);
    let (_, digits) = secret.rsplit_once('_').unwrap();
    let listed = run(&["list"]).success();
    let (id, hidden) = digits.split_at(8);
    assert!(
        listed.contains(id) && listed.contains("proxy,read,write"),
        "{listed}"
    );
    assert!(listed.contains("until 20"), "{listed}");
    assert!(!listed.contains(hidden));
    let server = serve(&folder, &[]);
    let kept = post(
        &server,
        &secret,
        "/api/v1/remember",
        &json!({"text": "bees", "key": "pet"}),
    );
    assert_eq!(kept.status, 200, "{kept:?}");
    assert_eq!(get(&server, &secret, "/metrics").status, 403);
    assert_eq!(server.stop().code, Some(0));
    assert!(run(&["revoke", id]).success().contains("revoked"));
    let mistaken = run(&["revoke", &secret]).failure(2);
    assert!(!mistaken.contains(hidden), "{mistaken}");
    assert!(
        run(&["revoke", "00000000"])
            .failure(1)
            .contains("kitbag key list")
    );
    let server = serve(&folder, &[]);
    assert_eq!(get(&server, &secret, FACTS).status, 401);
    let log: Value = serde_json::from_str(&run(&["audit", "--json"]).success()).unwrap();
    let entries = log["entries"].as_array().unwrap();
    let told: Vec<_> = entries
        .iter()
        .map(|entry| (entry["action"].as_str().unwrap(), entry["actor"].as_str()))
        .collect();
    let expected = [
        ("revoke_key", None),
        ("deny", Some(id)),
        ("remember", Some(id)),
        ("create_key", None),
    ];
    assert_eq!(told, expected);
    for wrong in [
        &["--scope", "all"][..],
        &["--expires", "yesterday"],
        &["--expires", "2001-01-01"],
    ] {
        run(&[&["create", "x"], wrong].concat()).failure(2);
    }
}
