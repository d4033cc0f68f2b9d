//! Answering on a socket until the server is told to stop.

use std::io;
use std::sync::{Arc, PoisonError, RwLock};

use axum::extract::Request;
use axum::serve::ListenerExt as _;
use axum::{Router, middleware};
use tokio::net::TcpListener;
use tower_service::Service as _;

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
    Live::new(app).serve(listener, stop).await
}

/// A server whose configuration can be replaced while it runs.
#[derive(Debug, Clone)]
pub struct Live(Arc<RwLock<(Arc<App>, Router)>>);

impl Live {
    /// A server that answers from this state until it gets another one.
    #[must_use]
    pub fn new(app: Arc<App>) -> Self {
        let router = router(Arc::clone(&app));
        Self(Arc::new(RwLock::new((app, router))))
    }

    /// The state that the next request is answered from.
    #[must_use]
    pub fn app(&self) -> Arc<App> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner).0)
    }

    /// Answers from another state: see [`App::reconfigured`]. Requests that came before go on with theirs.
    pub fn replace(&self, app: Arc<App>) {
        let router = router(Arc::clone(&app));
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = (app, router);
    }

    /// Answers requests, as [`serve`] does.
    ///
    /// # Errors
    /// When the socket fails.
    pub async fn serve(
        self,
        listener: TcpListener,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> io::Result<()> {
        // An answer that waits for a full packet comes forty milliseconds late.
        let listener = listener.tap_io(|stream| {
            if let Err(problem) = stream.set_nodelay(true) {
                tracing::debug!(event = "nodelay_failed", error = %problem);
            }
        });
        let app = self.app();
        let stopping = Arc::clone(&app);
        let stop = async move {
            stop.await;
            stopping.stop();
        };
        let current = Router::new().fallback(async move |request: Request| {
            let mut router = self.router();
            router.call(request).await
        });
        #[cfg(feature = "otel")]
        let telling = app.telemetry.clone().map(|telemetry| {
            let runs = Arc::clone(&telemetry);
            (tokio::spawn(async move { runs.run().await }), telemetry)
        });
        let served = axum::serve(listener, current).with_graceful_shutdown(stop);
        let served = served.await;
        // After the last response: work of answers goes on behind them.
        app.finish().await;
        #[cfg(feature = "otel")]
        if let Some((task, telemetry)) = telling {
            task.abort();
            telemetry.finish().await;
        }
        served
    }

    fn router(&self) -> Router {
        let now = self.0.read().unwrap_or_else(PoisonError::into_inner);
        now.1.clone()
    }
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
