//! One whole answer to a [`Context`], over the stream that any provider has.

use futures_util::StreamExt as _;
use kitbag_core::context::Context;

use super::{Provider, ProviderError, Reply};
use crate::wire::Request;

pub(super) async fn complete<P: Provider + ?Sized>(
    provider: &P,
    context: &Context,
) -> Result<Reply, ProviderError> {
    // Before anything is sent.
    context.validate().map_err(ProviderError::Context)?;
    let mut request = Request::of_context(context, provider.dialect());
    if let (None, Some(model)) = (&context.model, provider.model()) {
        request.set("model", &model);
    }
    let mut reply = Reply::default();
    receive(provider, &provider.prepared(request), &mut reply).await?;
    Ok(reply)
}

/// Sends a request and adds the answer to `reply`, which keeps the part that came before an error.
pub(crate) async fn receive<P: Provider + ?Sized>(
    provider: &P,
    request: &Request,
    reply: &mut Reply,
) -> Result<(), ProviderError> {
    let mut stream = provider.stream(request).await?;
    while let Some(event) = stream.next().await {
        reply.add(event?);
    }
    // A stream that simply ends is an error, although each of its events was fine.
    reply.check_whole()
}
