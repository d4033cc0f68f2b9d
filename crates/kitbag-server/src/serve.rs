//! Answering on a socket until the server is told to stop.

use std::io;
use std::sync::Arc;

use axum::serve::ListenerExt as _;
use axum::{Router, middleware};
use tokio::net::TcpListener;

use kitbag::store::KeyScope;

use crate::refusal::Refusal;
use crate::{App, access, api, mcp, observe, proxy, slack};

const HINT: &str = "`/openapi.json` lists the endpoints";

/// Answers requests until `stop` completes. Then nothing new is taken, and what was begun is finished.
///
/// # Errors
/// When the socket fails.
pub async fn serve(
    app: Arc<App>,
    listener: TcpListener,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    // An answer that waits for a full packet comes forty milliseconds late.
    let listener = listener.tap_io(|stream| {
        if let Err(problem) = stream.set_nodelay(true) {
            tracing::debug!(event = "nodelay_failed", %problem);
        }
    });
    let stopping = Arc::clone(&app);
    let stop = async move {
        stop.await;
        stopping.stop();
    };
    axum::serve(listener, router(Arc::clone(&app)))
        .with_graceful_shutdown(stop)
        .await?;
    // After the last response: work of answers goes on behind them.
    app.finish().await;
    Ok(())
}

/// All endpoints of a server.
pub fn router(app: Arc<App>) -> Router {
    let with = |scope| (Arc::clone(&app), scope);
    let needs = |scope| middleware::from_fn_with_state(with(scope), access::needs);
    let checked = middleware::from_fn_with_state(Arc::clone(&app), access::check);
    proxy::routes()
        .layer(needs(KeyScope::Proxy))
        .merge(api::routes(&app))
        .merge(mcp::routes().layer(needs(KeyScope::Read)))
        .layer(checked)
        // Behind the check of access, so that it does not apply to them. Slack has its signature instead.
        .merge(api::open_routes())
        .merge(slack::routes())
        .fallback(async || Refusal::missing("there is nothing at this path").hint(HINT))
        // The outermost, so that refusals are counted, too.
        .layer(middleware::from_fn_with_state(
            Arc::clone(&app),
            observe::observe,
        ))
        .with_state(app)
}
