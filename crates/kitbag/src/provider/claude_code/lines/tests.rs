//! Lines as the program prints them, whole, odd and broken.

use proptest::prelude::*;

use super::*;
use crate::provider::Reply;

const LINES: [&str; 9] = [
    r#"{"type":"system","subtype":"init","tools":[],"model":"claude-opus-5-5"}"#,
    r#"{"type":"stream_event","event":{"type":"message_start","message":{"usage":{"input_tokens":16,"cache_read_input_tokens":64,"cache_creation_input_tokens":10,"output_tokens":1}}},"parent_tool_use_id":null}"#,
    r#"{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Bees sting."}}}"#,
    r#"{"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"In Porto."}}}"#,
    r#"{"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Aside."}},"parent_tool_use_id":"t1"}"#,
    r#"{"type":"assistant","message":{"content":[{"type":"text","text":"In Porto."}]}}"#,
    r#"{"type":"stream_event","event":{"type":"message_stop"}}"#,
    r#"{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Near the river."}}}"#,
    r#"{"type":"result","subtype":"success","is_error":false,"result":"Near the river.","stop_reason":"end_turn","usage":{"input_tokens":20,"cache_read_input_tokens":128,"cache_creation_input_tokens":10,"output_tokens":9},"api_error_status":null}"#,
];

fn read(lines: &[&str]) -> (Reply, Option<ProviderError>) {
    let mut decoder = LineDecoder::new("claude");
    let mut reply = Reply::default();
    for event in lines.iter().flat_map(|line| decoder.read(line)) {
        match event {
            Ok(event) => reply.add(event),
            Err(error) => return (reply, Some(error)),
        }
    }
    let error = (!reply.is_whole).then(|| decoder.ended("ended with exit status: 1"));
    (reply, error)
}

#[test]
fn the_messages_of_an_answer_are_paragraphs_and_the_result_has_its_usage() {
    let (reply, error) = read(&LINES);
    assert_eq!(error, None);
    assert_eq!(reply.text(), "In Porto.\n\nNear the river.");
    assert_eq!(reply.thinking, "Bees sting.");
    let usage = reply.usage.unwrap();
    assert_eq!((usage.input, usage.cache_read, usage.output), (158, 128, 9));
    assert_eq!(reply.stop, Some(StopReason::End));
}

#[test]
fn a_result_without_pieces_is_the_answer() {
    let (reply, error) = read(&LINES[8..]);
    assert_eq!((reply.text().as_str(), error), ("Near the river.", None));
}

#[test]
fn a_program_that_ends_early_is_cut_and_keeps_what_came() {
    let (reply, error) = read(&LINES[..4]);
    assert!(
        matches!(error, Some(ProviderError::Cut { .. })),
        "{error:?}"
    );
    assert_eq!(reply.usage.unwrap().input, 90);
    let (_, error) = read(&["Segmentation fault"]);
    let told = "`claude` failed: ended with exit status: 1 (it printed `Segmentation fault`)";
    assert_eq!(error.unwrap().to_string(), told);
}

#[test]
fn an_error_is_told_in_the_program_s_words() {
    let refused = r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":529,"result":"API Error: Overloaded"}"#;
    let told = "claude answered 529: API Error: Overloaded";
    assert_eq!(read(&[refused]).1.unwrap().to_string(), told);
    let login =
        r#"{"type":"result","subtype":"success","is_error":true,"result":"Please run /login"}"#;
    let told = "`claude` failed: Please run /login";
    assert_eq!(read(&[login]).1.unwrap().to_string(), told);
    let turns = r#"{"type":"result","subtype":"error_max_turns","is_error":false}"#;
    let told = "`claude` failed: error_max_turns";
    assert_eq!(read(&[turns]).1.unwrap().to_string(), told);
}

proptest! {
    #[test]
    fn no_line_panics(at in 0..LINES.len(), cut in any::<prop::sample::Index>(), tail in ".{0,20}") {
        let mut line = LINES[at].to_owned();
        line.truncate(cut.index(line.len() + 1));
        read(&[&format!("{line}{tail}")]);
    }
}
