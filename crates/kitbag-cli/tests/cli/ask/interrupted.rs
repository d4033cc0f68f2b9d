//! Ctrl-C in a chat, as a signal: it stops the answer and not the program.

use std::io::{Read as _, Write as _};
use std::process::Command;

use super::upstream::{CHAT, Reply, Upstream};
use crate::run::Folder;

#[test]
fn o08_ctrl_c_stops_the_answer_and_not_the_chat() {
    let begun = "data: {\"choices\":[{\"delta\":{\"content\":\"As far as\"}}]}\n\n";
    let upstream = Upstream::start(vec![Reply::Silent(begun.to_owned()), Reply::stream(CHAT)]);
    let folder = Folder::new();
    let address = upstream.address();
    let config =
        format!("providers: {{slow: {{kind: openai, base_url: '{address}', model: m}}}}\n");
    folder.write("kitbag.yaml", config);
    let args = ["--store", "sqlite:memory.db", "chat"];
    let mut chat = folder.command(&args).spawn().unwrap();
    let mut stdin = chat.stdin.take().unwrap();
    let mut stdout = chat.stdout.take().unwrap();
    stdin.write_all(b"first\n").unwrap();
    let mut came = [0; 9];
    stdout.read_exact(&mut came).unwrap();
    assert_eq!(&came, b"As far as");
    let id = chat.id().to_string();
    let sent = Command::new("kill").args(["-INT", &id]).status().unwrap();
    assert!(sent.success());
    stdin.write_all(b"second\n").unwrap();
    drop(stdin);
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "\nIn Porto.\n");
    let output = chat.wait_with_output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.contains("error: stopped"), "{told}");
    let history = [&args[..2], &["memory", "history", "1.1"]].concat();
    let history = folder.run(&history).success();
    for said in ["first", "As far as", "second", "In Porto."] {
        assert!(history.contains(said), "{history}");
    }
}
