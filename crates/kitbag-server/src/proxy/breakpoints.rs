//! Cache breakpoints for clients of Anthropic's API that set none, for whom nothing would be cached.
//!
//! They are set where a conversation goes on: at the end of the instructions or the tools, which other conversations share,
//! and of the two newest messages that are not the model's. At the later one this request writes to the
//! cache, at the earlier one the request before it wrote. The first request of a conversation gets none: writing costs
//! a quarter more, which a request that nothing follows never saves.

use std::ops::Range;

use kitbag::core::role::Role;
use kitbag::wire::Dialect;
use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::said::ReadBody;
use super::splice::Splice;

/// The ends of prefixes that are marked for the provider's cache.
#[derive(Debug, Default)]
pub(super) struct Breakpoints(Vec<End>);

/// The end of a list of parts, or of a string that is the whole content.
#[derive(Debug, Clone, Copy)]
enum End {
    /// The brace that closes the last part.
    Part { brace: usize },
    /// A string, of which a list is made.
    String { start: usize, end: usize },
}

const MARK: &str = r#","cache_control":{"type":"ephemeral"}"#;

/// The field is looked for in the bytes: a quotation mark within a text has a backslash before it.
const FIELD: &[u8] = br#""cache_control""#;

impl Breakpoints {
    /// Finds the places in a request; none in one that has breakpoints of its own.
    pub(super) fn of(dialect: Dialect, body: &[u8], read: &ReadBody) -> Self {
        let goes_on = read.messages.iter().any(|it| it.role == Role::Assistant);
        if dialect != Dialect::Anthropic || !goes_on || memmem::find(body, FIELD).is_some() {
            return Self::default();
        }
        let end = |at: &Option<Range<usize>>| end_of(body, at.clone()?);
        let tools = || last_tool(body, read.tools.clone()?);
        let shared = end(&read.instructions).or_else(tools);
        let told = read.messages.iter().rev();
        let told = told.filter(|message| message.role == Role::User);
        let newest = told.filter_map(|message| end(&message.content)).take(2);
        Self(shared.into_iter().chain(newest).collect())
    }

    pub(super) const fn count(&self) -> usize {
        self.0.len()
    }

    /// Puts the breakpoints in, each before what else is put in at the same byte.
    pub(super) fn with(self, splices: Vec<Splice>) -> Vec<Splice> {
        let mut all = Vec::new();
        for end in self.0 {
            match end {
                End::Part { brace } => all.push(Splice::insert(brace, MARK.to_owned())),
                // Memory has made a list of it, and closes the part behind the mark.
                End::String { start, end } if splices.iter().any(|it| it.inserts_at(start)) => {
                    all.push(Splice::insert(end, MARK.to_owned()));
                }
                End::String { start, end } => {
                    let open = r#"[{"type":"text","text":"#;
                    all.push(Splice::insert(start, open.to_owned()));
                    all.push(Splice::insert(end, format!("{MARK}}}]")));
                }
            }
        }
        all.extend(splices);
        all
    }
}

#[derive(Deserialize)]
struct Part {
    #[serde(rename = "type", default)]
    kind: Option<String>,
    #[serde(default)]
    text: Option<String>,
}

/// The end of the last tool that a model has from the beginning: those that it looks for itself take no breakpoint.
fn last_tool(body: &[u8], at: Range<usize>) -> Option<End> {
    #[derive(Deserialize)]
    struct Tool {
        #[serde(default)]
        defer_loading: bool,
    }
    let tools: Vec<&RawValue> = serde_json::from_slice(body.get(at)?).ok()?;
    let last = tools.into_iter().rev().find(|tool| {
        let tool: Result<Tool, _> = serde_json::from_str(tool.get());
        tool.is_ok_and(|tool| !tool.defer_loading)
    })?;
    Some(End::Part {
        brace: last_byte(body, last)?,
    })
}

/// The place of a value's last byte. Raw values are slices of the body.
fn last_byte(body: &[u8], value: &RawValue) -> Option<usize> {
    let start = value.get().as_ptr().addr();
    let start = start.checked_sub(body.as_ptr().addr())?;
    (start + value.get().len()).checked_sub(1)
}

/// The end of a content, if a provider takes a breakpoint there: not on reasoning, nor on a text of nothing.
fn end_of(body: &[u8], at: Range<usize>) -> Option<End> {
    let json = body.get(at.clone())?;
    if json.starts_with(b"\"") {
        let text: String = serde_json::from_slice(json).ok()?;
        let Range { start, end } = at;
        return (!text.trim().is_empty()).then_some(End::String { start, end });
    }
    let parts: Vec<&RawValue> = serde_json::from_slice(json).ok()?;
    let last = parts.last()?;
    let part: Part = serde_json::from_str(last.get()).ok()?;
    let takes_mark = match part.kind.as_deref() {
        Some("text") => part.text.is_some_and(|text| !text.trim().is_empty()),
        Some("tool_result" | "image" | "document") => true,
        _ => false,
    };
    let brace = last_byte(body, last)?;
    takes_mark.then_some(End::Part { brace })
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::super::splice::spliced;
    use super::*;

    fn marked(body: &str) -> String {
        let read = ReadBody::read(Dialect::Anthropic, body.as_bytes()).unwrap();
        let breakpoints = Breakpoints::of(Dialect::Anthropic, body.as_bytes(), &read);
        let body = Bytes::from(body.to_owned());
        let marked = spliced(&body, breakpoints.with(Vec::new()));
        let marked = String::from_utf8(marked.to_vec()).unwrap();
        let _: serde_json::Value = serde_json::from_str(&marked).unwrap();
        marked.replace(MARK, "^")
    }

    #[test]
    fn x06_breakpoints_stand_behind_what_the_next_request_repeats() {
        let tools = r#"[{"name":"ls","input_schema":{}}]"#;
        let body = format!(
            r#"{{"tools":{tools},"messages":[{{"role":"user","content":"Hi"}},{{"role":"assistant","content":[
            {{"type":"tool_use","id":"t","name":"ls","input":{{}}}}]}},{{"role":"user","content":[
            {{"type":"tool_result","tool_use_id":"t","content":"x"}}]}}]}}"#
        );
        let expected = body
            .replace(r#""input_schema":{}}"#, r#""input_schema":{}^}"#)
            .replace(r#""Hi""#, r#"[{"type":"text","text":"Hi"^}]"#)
            .replace(r#""content":"x"}"#, r#""content":"x"^}"#);
        assert_eq!(marked(&body), expected);
        let with_system = body.replacen('{', r#"{"system":"Be kind.","#, 1);
        let marked = marked(&with_system);
        assert!(
            marked.contains(r#""system":[{"type":"text","text":"Be kind."^}]"#),
            "{marked}"
        );
        assert!(marked.contains(tools), "{marked}");
    }

    #[test]
    fn x06_a_tool_that_is_loaded_later_takes_no_breakpoint() {
        let body = r#"{"tools":[{"name":"ls","input_schema":{}},{"name":"x","defer_loading":true}],
            "messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello."}]}"#;
        let expected = r#"[{"name":"ls","input_schema":{}^},{"name":"x","defer_loading":true}]"#;
        assert!(marked(body).contains(expected), "{}", marked(body));
        let body = body.replace("{\"name\":\"ls\",\"input_schema\":{}},", "");
        assert!(marked(&body).contains(r#""defer_loading":true}]"#));
    }

    #[test]
    fn x06_requests_that_need_no_breakpoint_stay_as_they_are() {
        let said = r#"{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello."}"#;
        for body in [
            r#"{"messages":[{"role":"user","content":"Hi"}]}"#.to_owned(),
            format!(r#"{{"cache_control":{{"type":"ephemeral"}},"messages":[{said}]}}"#),
            r#"{"messages":[{"role":"user","content":" "},{"role":"assistant","content":"x"}]}"#
                .to_owned(),
        ] {
            assert_eq!(marked(&body), body);
        }
        let quoted =
            format!(r#"{{"messages":[{said},{{"role":"user","content":"\"cache_control\"?"}}]}}"#);
        assert_eq!(marked(&quoted).matches('^').count(), 2);
    }
}
