//! An export of a chat service as it is downloaded, made up, and what bare inserts of its messages take.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use serde_json::json;

use crate::bare_sqlite;
use crate::talk::Talk;

/// The messages of a conversation: questions, and answers ten times as long.
const CONVERSATION: usize = 40;

/// Writes an export of this many megabytes, inserts the same messages into a table with FTS5's index over it,
/// and prints the time of that.
pub(crate) fn measure(file: &Path, megabytes: usize) {
    let texts = write(file, megabytes * 1_000_000);
    let bare = file.with_extension("fts.db");
    let messages = texts.len();
    let spent = bare_sqlite::index_texts(&bare, &texts);
    std::fs::remove_file(&bare).unwrap();
    let line = json!({
        "bench": "export", "messages": messages, "bare_index_s": spent.wall,
        "bare_index_cpu_s": spent.cpu,
    });
    println!("{line}");
}

/// Returns the texts of the messages.
fn write(file: &Path, bytes: usize) -> Vec<(usize, String)> {
    let mut out = BufWriter::new(File::create(file).unwrap());
    let talk = Talk {
        messages: usize::MAX,
        senders: 1,
    };
    let mut said = talk.said().map(|(_, text)| text);
    let (mut texts, mut written) = (Vec::new(), 0);
    let mut separator = "[";
    while written < bytes {
        let mut mapping = serde_json::Map::new();
        let first = texts.len();
        for number in first..first + CONVERSATION {
            let (role, sentences) = match number % 2 {
                0 => ("user", 1),
                _ => ("assistant", 10),
            };
            let text: Vec<String> = said.by_ref().take(sentences).collect();
            let text = text.join(". ");
            let parent = (number > first).then(|| format!("m{}", number - 1));
            let message = json!({
                "id": format!("m{number}"), "author": { "role": role },
                "create_time": 1_700_000_000 + number, "status": "finished_successfully",
                "content": { "content_type": "text", "parts": [text] }, "metadata": {},
            });
            let node = json!({ "id": format!("m{number}"), "parent": parent, "message": message });
            mapping.insert(format!("m{number}"), node);
            texts.push((0, text));
        }
        let conversation = json!({
            "conversation_id": format!("c{first}"), "title": format!("Conversation {first}"),
            "create_time": 1_700_000_000 + first, "mapping": mapping,
            "current_node": format!("m{}", texts.len() - 1),
        });
        let conversation = conversation.to_string();
        written += conversation.len();
        write!(out, "{separator}{conversation}").unwrap();
        separator = ",";
    }
    writeln!(out, "]").unwrap();
    out.flush().unwrap();
    texts
}
