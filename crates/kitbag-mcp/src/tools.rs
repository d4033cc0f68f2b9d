//! The engine's tools as tools of the protocol.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::{Either, select};
use kitbag::tool::{Effect, ToolError, ToolSpec, Tools};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, JsonObject,
    Tool, ToolAnnotations,
};
use serde_json::Value;

use crate::Server;
use crate::reader::Reader;

/// The most bytes of a result or a resource as text. The context windows of clients are smaller.
pub(crate) const LARGEST: usize = 1 << 20;

/// The tools, by name, so that the list is the same each time.
pub(crate) fn list(tools: &Tools, reader: Reader) -> Vec<Tool> {
    let specs = tools.specs().into_iter();
    specs.map(|spec| tool(spec, reader)).collect()
}

fn tool(spec: ToolSpec, reader: Reader) -> Tool {
    let definition = spec.definition;
    let mut tool = Tool::new_with_raw(
        definition.name,
        Some(definition.description.into()),
        object(definition.input_schema),
    );
    // A tool that promises structured results must give them.
    tool.output_schema = match reader {
        Reader::OfText => None,
        Reader::OfEither => spec.output_schema.map(object),
    };
    let reads = spec.effect == Effect::Reads;
    tool.with_annotations(
        ToolAnnotations::new()
            .read_only(reads)
            .destructive(spec.effect == Effect::Destroys)
            .idempotent(reads)
            // The tools only reach files and memory of this machine.
            .open_world(false),
    )
}

fn object(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(fields) => Arc::new(fields),
        _ => Arc::default(),
    }
}

/// Calls a tool. A tool that fails answers with a result for the model to read; a tool that does not exist
/// is an error of the protocol.
pub(crate) async fn call(
    server: &Server,
    request: CallToolRequestParams,
    reader: Reader,
    cancelled: impl Future<Output = ()>,
) -> Result<CallToolResponse, ErrorData> {
    let arguments = request.arguments.map_or(Value::Null, Value::Object);
    // A bug in one tool must not end the server, whose other tools still work.
    let called = AssertUnwindSafe(server.tools.call(&request.name, arguments)).catch_unwind();
    let called = match select(Box::pin(called), Box::pin(cancelled)).await {
        Either::Left((called, _)) => called,
        Either::Right(_) => return Err(ErrorData::internal_error("the call was cancelled", None)),
    };
    let called = called.unwrap_or_else(|_| {
        let problem = format!("the tool `{}` stopped with a bug", request.name);
        tracing::error!(event = "tool_panicked", tool = %request.name);
        Err(ToolError::new(problem))
    });
    let result = match called {
        Ok(output) if output.text.len() > LARGEST => {
            let problem = "the result is too large for a client: ask for less";
            CallToolResult::error(vec![ContentBlock::text(problem)])
        }
        Ok(output) => {
            let mut result = CallToolResult::success(vec![ContentBlock::text(output.text)]);
            result.structured_content = match reader {
                Reader::OfText => None,
                Reader::OfEither => Some(output.structured),
            };
            result
        }
        Err(error @ ToolError::Unknown { .. }) => {
            return Err(ErrorData::invalid_params(error.to_string(), None));
        }
        Err(ToolError::Database(words)) => {
            CallToolResult::error(vec![ContentBlock::text(server.causes.words(&words))])
        }
        Err(error) => CallToolResult::error(vec![ContentBlock::text(error.to_string())]),
    };
    Ok(result.into())
}
