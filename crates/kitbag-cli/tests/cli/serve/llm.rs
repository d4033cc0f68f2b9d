//! `llm`, which people use at the command line, with nothing changed but the address of its API.

use std::process::{Command, Stdio};

use super::Server;
use super::sdks::answer;
use crate::ask::upstream::Upstream;
use crate::mcp::clients::{PYTHON, given};
use crate::run::{Folder, finish};

#[test]
#[ignore = "needs Python: cargo xtask test"]
fn x06_llm_knows_in_one_prompt_what_it_was_told_in_another() {
    let upstream = Upstream::answering(answer);
    let folder = Folder::new();
    folder.write("own.yaml", "server: {memory_time_limit: 60s}\n");
    let args = ["--config", "own.yaml", "--upstream", &upstream.address()];
    let ask = |address: &str, prompt: &str| {
        let models = format!("- model_id: loop\n  model_name: m\n  api_base: \"{address}/v1\"\n");
        folder.write("extra-openai-models.yaml", models);
        let mut llm = Command::new(given(PYTHON, "python").with_file_name("llm"));
        llm.args(["-m", "loop", prompt, "--no-log"])
            .env("LLM_USER_PATH", folder.path())
            .env("OPENAI_API_KEY", "sk-client")
            .env("NO_PROXY", "127.0.0.1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        finish(llm, None).success()
    };
    let told = "We deploy with fly.io, never with heroku.";
    assert_eq!(ask(&upstream.address(), told).trim(), "In Porto.");
    let direct = upstream.bodies().pop().unwrap();
    let server = Server::start(&folder, &args);
    assert_eq!(ask(&server.address(), told).trim(), "In Porto.");
    assert_eq!(upstream.bodies().pop().unwrap(), direct);
    // An answer is kept behind it; a server that has stopped has kept it.
    assert_eq!(server.stop().code, Some(0));
    let server = Server::start(&folder, &args);
    assert_eq!(
        ask(&server.address(), "How do we deploy?").trim(),
        "In Porto."
    );
    let second = upstream.bodies().pop().unwrap();
    assert!(second.contains("never with heroku"), "{second}");
}
