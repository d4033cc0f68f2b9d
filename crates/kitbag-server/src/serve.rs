//! Answering on a socket until the server is told to stop.

use std::io;
use std::sync::Arc;

use axum::serve::ListenerExt as _;
use axum::{Router, middleware};
use tokio::net::TcpListener;

use crate::{App, access, api, proxy};

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
    axum::serve(listener, router(app))
        .with_graceful_shutdown(stop)
        .await
}

/// All endpoints of a server.
pub fn router(app: Arc<App>) -> Router {
    proxy::routes()
        .merge(api::routes())
        .layer(middleware::from_fn_with_state(
            Arc::clone(&app),
            access::check,
        ))
        .merge(api::open_routes())
        .with_state(app)
}
