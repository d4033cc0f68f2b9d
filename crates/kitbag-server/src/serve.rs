//! Answering on a socket until the server is told to stop.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::serve::ListenerExt as _;
use axum::{Router, middleware};
use tokio::net::TcpListener;

use kitbag::store::KeyScope;

use crate::refusal::Refusal;
use crate::{App, access, api, mcp, observe, proxy};

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
    // Learning goes on after its answer, but not for ever.
    let mut background = app.take_background();
    let ended = async { while background.join_next().await.is_some() {} };
    if tokio::time::timeout(BACKGROUND, ended).await.is_err() {
        tracing::warn!(event = "learning_broken_off");
    }
    Ok(())
}

/// Work without a response that waits for it has so long to end when the server stops.
const BACKGROUND: Duration = Duration::from_secs(20);

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
        .merge(api::open_routes())
        .fallback(async || Refusal::missing("there is nothing at this path").hint(HINT))
        .layer(middleware::from_fn_with_state(
            Arc::clone(&app),
            observe::observe,
        ))
        .with_state(app)
}
