//! Ctrl-C in the middle of an answer: what came of it is kept.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Command};

use super::key::assert_key_is_nowhere;
use super::upstream::{self, Reply, Upstream};
use super::{history, served};
use crate::run::{Folder, Output, finish};

#[test]
fn o08_an_interrupted_answer_is_kept_as_far_as_it_came() {
    let mut child = Interrupted::start(&["ask", "Where are the bees?"], begun());
    child.read_until("In Porto.");
    child.interrupt();
    let (folder, output) = child.end();
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(
        output.stderr.contains("90 tokens in, 64 cached"),
        "{output:?}"
    );
    assert!(output.stderr.ends_with("error: stopped\n"), "{output:?}");
    let kept = history(&folder);
    assert!(
        kept.contains("Where are the bees?") && kept.contains("In Porto."),
        "{kept}"
    );
    assert_key_is_nowhere(&folder, &output);
}

#[test]
fn o08_an_interrupted_wait_for_an_answer_keeps_the_message() {
    let mut child = Interrupted::start(&["ask", "Where are the bees?"], String::new());
    child.wait_for_requests(1);
    child.interrupt();
    let (folder, output) = child.end();
    assert_eq!(
        (output.code, output.stdout.as_str()),
        (Some(1), ""),
        "{output:?}"
    );
    assert!(output.stderr.ends_with("error: stopped\n"), "{output:?}");
    assert!(history(&folder).contains("Where are the bees?"));
}

#[test]
fn o08_an_interrupt_stops_the_answer_and_not_the_chat() {
    let mut child = Interrupted::start(&["chat"], begun());
    child.write("Where are the bees?\n");
    child.read_until("In Porto.");
    child.interrupt();
    child.write("And now?\n");
    let (folder, output) = child.end();
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(output.stderr.contains("stopped"), "{output:?}");
    assert_eq!(output.stdout, "\nIn Porto.\n", "the rest of stdout");
    let kept = history(&folder);
    assert!(
        kept.contains("Where are the bees?") && kept.contains("And now?"),
        "{kept}"
    );
}

#[test]
fn o09_learning_that_is_interrupted_is_told() {
    let answer = Reply::stream(upstream::ANTHROPIC);
    let replies = vec![answer, Reply::Silent(String::new())];
    let mut child = Interrupted::with_replies(&["chat"], replies);
    child.write("I sail a red dinghy.\n/new\n");
    child.read_until("is closed");
    drop(child.child.stdin.take());
    child.wait_for_requests(2);
    child.interrupt();
    let (_, output) = child.end();
    assert_eq!(output.code, Some(0), "{output:?}");
    let told = "warning: learning was stopped before its end";
    assert!(output.stderr.contains(told), "{output:?}");
    assert!(
        output.stderr.contains("kitbag memory close --model"),
        "{output:?}"
    );
}

#[test]
fn o08_an_interrupt_between_answers_ends_a_piped_chat() {
    let mut child = Interrupted::start(&["chat"], upstream::ANTHROPIC.to_owned());
    child.write("Where are the bees?\n/agent\n");
    // The answer is over when the command behind it is followed.
    child.read_until("there are no agents");
    // Input that goes on does not end it.
    let stdin = child.child.stdin.take();
    child.interrupt();
    let (_, output) = child.end();
    drop(stdin);
    assert_eq!(output.code, Some(130), "{output:?}");
    assert!(
        output.stderr.ends_with("error: interrupted\n"),
        "{output:?}"
    );
}

#[test]
fn o08_another_answer_of_the_conversation_is_waited_for_unless_its_process_was_killed() {
    let mut first = Interrupted::start(&["ask", "Where are the bees?"], begun());
    first.read_until("In Porto.");
    let mut second = first.command(&["ask", "And now?"]).spawn().unwrap();
    let mut told = BufReader::new(second.stderr.take().unwrap());
    let mut line = String::new();
    told.read_line(&mut line).unwrap();
    assert_eq!(line, "waiting for another answer of this conversation\n");
    first.child.kill().unwrap();
    let output = second.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(output.stdout, b"In Porto.\n");
}

#[test]
fn o08_nobody_waits_for_the_answer_of_a_killed_process() {
    let mut first = Interrupted::start(&["ask", "Where are the bees?"], begun());
    first.read_until("In Porto.");
    first.child.kill().unwrap();
    first.child.wait().unwrap();
    let second = finish(first.command(&["ask", "And now?"]), Some(b""));
    assert!(!second.stderr.contains("waiting"), "{second:?}");
    assert_eq!(second.success(), "In Porto.\n");
}

#[test]
fn o08_nobody_waits_for_two_processes_that_were_killed_one_after_the_other() {
    let silent = || Reply::Silent(begun());
    let replies = vec![silent(), silent(), Reply::stream(upstream::ANTHROPIC)];
    let mut first = Interrupted::with_replies(&["ask", "Where are the bees?"], replies);
    first.read_until("In Porto.");
    first.child.kill().unwrap();
    first.child.wait().unwrap();
    let second = first.command(&["ask", "And now?"]).spawn().unwrap();
    first.child = second;
    first.read.clear();
    first.read_until("In Porto.");
    first.child.kill().unwrap();
    first.child.wait().unwrap();
    let third = finish(first.command(&["ask", "Still there?"]), Some(b""));
    assert!(!third.stderr.contains("waiting"), "{third:?}");
    assert_eq!(third.success(), "In Porto.\n");
}

/// The beginning of an answer, before it is whole.
fn begun() -> String {
    let whole = upstream::ANTHROPIC;
    whole
        .split_at(whole.find("event: end").unwrap())
        .0
        .to_owned()
}

pub(super) fn command(folder: &Folder, args: &[&str]) -> Command {
    let store = ["--store", "sqlite:memory.db"];
    let args = [&store[..], args, &["--config", "served.yaml"]].concat();
    let mut command = folder.command(&args);
    command.env("NO_PROXY", "127.0.0.1");
    command
}

/// A command whose first answer does not come to its end.
struct Interrupted {
    upstream: Upstream,
    folder: Folder,
    child: Child,
    read: String,
}

impl Interrupted {
    fn start(args: &[&str], begun: String) -> Self {
        let replies = vec![Reply::Silent(begun), Reply::stream(upstream::ANTHROPIC)];
        Self::with_replies(args, replies)
    }

    fn with_replies(args: &[&str], replies: Vec<Reply>) -> Self {
        let upstream = Upstream::start(replies);
        let folder = served(&upstream, "anthropic");
        let child = command(&folder, args).spawn().unwrap();
        let read = String::new();
        Self {
            upstream,
            folder,
            child,
            read,
        }
    }

    /// Another command of the same folder.
    fn command(&self, args: &[&str]) -> Command {
        command(&self.folder, args)
    }

    fn write(&mut self, text: &str) {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(text.as_bytes()).unwrap();
    }

    /// Reads stdout until this has come.
    fn read_until(&mut self, text: &str) {
        let stdout = self.child.stdout.as_mut().unwrap();
        while !self.read.contains(text) {
            let mut byte = [0];
            stdout.read_exact(&mut byte).unwrap();
            self.read.push(char::from(byte[0]));
        }
    }

    /// Waits until the server has so many requests.
    fn wait_for_requests(&mut self, count: usize) {
        while self.upstream.requests().len() < count {
            assert_eq!(self.child.try_wait().unwrap(), None, "it ended by itself");
            std::thread::yield_now();
        }
    }

    fn interrupt(&self) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-INT", &id]).status().unwrap();
        assert!(sent.success());
    }

    /// The rest of what it prints, when it has ended.
    fn end(self) -> (Folder, Output) {
        let output = self.child.wait_with_output().unwrap();
        let output = Output {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        };
        (self.folder, output)
    }
}
