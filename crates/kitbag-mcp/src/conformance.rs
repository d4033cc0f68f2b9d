//! The server as the conformance suites of the protocol want it: with their tools, prompts and resources beside ours.
//!
//! Built with the feature `conformance` alone, and used only where `KITBAG_MCP_CONFORMANCE` is set, so that the rest of the tests
//! sees the server that people get. The fixtures are data; this file says what their fields mean.

#![expect(
    deprecated,
    reason = "the older era still has what the newer one took out"
)]

mod asking;
mod fixtures;

use std::convert::Infallible;
use std::env;
use std::fmt::Display;
use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::combinators::BoxBody;
use hyper::body::Body;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorData,
    GetPromptRequestParams, GetPromptResponse, InitializeRequestParams, InitializeResult,
    JsonObject, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ServerConfig, SetLevelRequestMethod, SetLevelRequestParams, SubscribeRequestMethod,
    SubscribeRequestParams, UnsubscribeRequestMethod, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

use crate::Server;
use fixtures::FIXTURES;

/// Returns true where a test asks for the fixtures.
pub(crate) fn is_asked_for() -> bool {
    env::var_os("KITBAG_MCP_CONFORMANCE").is_some()
}

/// Answers a request with the fixtures. The older era's questions to a client need a session, which the server that people
/// get has not.
pub(crate) async fn answer_http<B>(
    server: Server,
    request: Request<B>,
    largest_body: usize,
) -> Response<BoxBody<Bytes, Infallible>>
where
    B: Body<Data: Send> + Send + 'static,
    B::Error: Display,
{
    static SESSIONS: LazyLock<Arc<LocalSessionManager>> = LazyLock::new(Arc::default);
    let config = StreamableHttpServerConfig::default()
        .with_max_request_body_bytes(largest_body)
        .disable_allowed_hosts();
    let service = move || Ok(WithFixtures(server.clone()));
    StreamableHttpService::new(service, Arc::clone(&SESSIONS), config)
        .handle(request)
        .await
}

/// Ours, and the fixtures.
#[derive(Clone)]
struct WithFixtures(Server);

type Context = RequestContext<RoleServer>;

/// Returns true if the request is of the era that begins with `initialize`.
fn is_of_session(context: &Context) -> bool {
    context.meta.protocol_version().is_none()
}

impl ServerHandler for WithFixtures {
    fn get_info(&self) -> ServerConfig {
        self.0.get_info()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: Context,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut result = self.negotiate_initialize(&request)?;
        // Both were taken out of the newer era.
        result.capabilities.logging = Some(JsonObject::default());
        if let Some(resources) = &mut result.capabilities.resources {
            resources.subscribe = Some(true);
        }
        Ok(result)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut list = self.0.list_tools(request, context).await?;
        list.tools.extend(FIXTURES.tools()?);
        Ok(list)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        match FIXTURES.tools.get(&*request.name) {
            Some(tool) => asking::call(tool, &request, &context).await,
            None => self.0.call_tool(request, context).await,
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut list = self.0.list_resources(request, context).await?;
        list.resources.extend(FIXTURES.resources());
        Ok(list)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut list = self.0.list_resource_templates(request, context).await?;
        list.resource_templates.push(FIXTURES.template());
        Ok(list)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match FIXTURES.read(&request.uri)? {
            Some(contents) => Ok(contents.into()),
            None => self.0.read_resource(request, context).await,
        }
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        let mut list = self.0.list_prompts(request, context).await?;
        list.prompts.extend(FIXTURES.prompts());
        Ok(list)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        match FIXTURES.prompts.get(&request.name) {
            Some(prompt) => asking::get(prompt, &request, &context),
            None => self.0.get_prompt(request, context).await,
        }
    }

    async fn set_level(&self, _: SetLevelRequestParams, context: Context) -> Result<(), ErrorData> {
        let not_found = ErrorData::method_not_found::<SetLevelRequestMethod>;
        is_of_session(&context).then_some(()).ok_or_else(not_found)
    }

    async fn subscribe(
        &self,
        _: SubscribeRequestParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        let not_found = ErrorData::method_not_found::<SubscribeRequestMethod>;
        is_of_session(&context).then_some(()).ok_or_else(not_found)
    }

    async fn unsubscribe(
        &self,
        _: UnsubscribeRequestParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        let not_found = ErrorData::method_not_found::<UnsubscribeRequestMethod>;
        is_of_session(&context).then_some(()).ok_or_else(not_found)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: Context,
    ) -> Result<CustomResult, ErrorData> {
        self.0.on_custom_request(request, context).await
    }
}
