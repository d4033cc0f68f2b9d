//! A server reads its configuration again when it is asked to, and goes on with the old one if the new is wrong.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use rustix::process::Signal;

use super::Server;
use crate::ask::upstream::{CHAT, Reply, Upstream};
use crate::run::Folder;

const CHAT_PATH: &str = "/v1/chat/completions";
const HI: &str = r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"Hi"}]}"#;

#[test]
fn x06_a_configuration_is_read_again_and_answers_that_were_begun_go_on() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let first = format!("http://{}", listener.local_addr().unwrap());
    let second = Upstream::answering(|_| Reply::stream(CHAT));
    let folder = Folder::new();
    let configure = |upstream: &str| {
        let config = format!(
            "server: {{upstreams: {{\"*\": it}}}}\nproviders: {{it: {{kind: openai, base_url: {upstream}/v1}}}}\n"
        );
        folder.write("own.yaml", config)
    };
    configure(&first);
    let server = Server::start(&folder, &["--config", "own.yaml"]);
    // An answer that has not ended.
    let mut client = server.connect();
    let head = server.head("POST", CHAT_PATH, &[], HI.len());
    client.write_all(format!("{head}{HI}").as_bytes()).unwrap();
    let (mut stream, _) = listener.accept().unwrap();
    let mut request = [0; 4096];
    assert_ne!(stream.read(&mut request).unwrap(), 0);
    configure(&second.address());
    server.signal(Signal::HUP);
    server.wait_until_said("the configuration was read again", 1);
    let answer = server.post(CHAT_PATH, &[], HI);
    assert_eq!((answer.status, second.requests().len()), (200, 1));
    let answer = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    stream
        .write_all(format!("{answer}{CHAT}").as_bytes())
        .unwrap();
    drop(stream);
    let mut came = String::new();
    client.read_to_string(&mut came).unwrap();
    assert!(came.contains("data: [DONE]"), "{came}");
    // One that cannot be used changes nothing.
    for (number, wrong) in [
        "server: {upstreams: {\"*\": gone}}\n",
        "server: {memory: odd}\n",
    ]
    .into_iter()
    .enumerate()
    {
        folder.write("own.yaml", wrong);
        server.signal(Signal::HUP);
        server.wait_until_said("the server keeps its earlier configuration", number + 1);
        assert_eq!(server.post(CHAT_PATH, &[], HI).status, 200);
    }
    assert_eq!(second.requests().len(), 3);
    assert_eq!(server.stop().code, Some(0));
}
