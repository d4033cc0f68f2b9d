//! The list of models of several upstreams.

use serde_json::Value;

use super::Server;
use crate::ask::upstream::{Reply, Upstream};
use crate::run::Folder;

fn listing(models: &'static [&'static str]) -> Upstream {
    Upstream::answering(move |_| {
        let models: Vec<Value> = models
            .iter()
            .map(|id| serde_json::json!({"id": id, "object": "model"}))
            .collect();
        Reply::whole(&serde_json::json!({"object": "list", "data": models}).to_string())
    })
}

#[test]
fn x06_models_are_listed_where_requests_for_them_go() {
    let usual = listing(&["gpt-5", "local-old"]);
    let local = listing(&["local-7b", "gpt-5"]);
    let folder = Folder::new();
    let config = format!(
        "server: {{upstreams: {{\"local-*\": loc, \"down-*\": down}}}}\n\
         providers:\n  loc: {{kind: openai, base_url: {}/v1, key: {{file: key}}}}\n\
         \x20 down: {{kind: openai, base_url: 'http://127.0.0.1:9/v1'}}\n",
        local.address()
    );
    folder.write("own.yaml", config);
    folder.write("key", "sk-operator-0123456789\n");
    let address = usual.address();
    let args = ["--config", "own.yaml", "--upstream", &address];
    let server = Server::start(&folder, &args);
    let head = server.head(
        "GET",
        "/v1/models?key=sk-client",
        &[
            ("authorization", "Bearer sk-client"),
            ("api-key", "sk-client"),
            ("x-goog-api-key", "sk-client"),
        ],
        0,
    );
    let listed = server.send(head.as_bytes()).json();
    let models = listed["data"].as_array().unwrap().iter();
    let models: Vec<&str> = models.map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(models, ["local-7b", "gpt-5"]);
    assert!(usual.requests()[0].contains("sk-client"));
    assert!(
        !local.requests()[0].contains("sk-client"),
        "it is not for everybody"
    );
    server.get("/v1/models/local-7b");
    assert_eq!((usual.requests().len(), local.requests().len()), (1, 2));
    server.get("/v1/models/gpt-5");
    assert_eq!((usual.requests().len(), local.requests().len()), (2, 2));
}
