//! Answering on a socket until the server is told to stop.

mod connection;
mod unread;

use std::io;
use std::pin::pin;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use axum::{Router, middleware};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::sleep;

use kitbag::store::KeyScope;

use crate::refusal::Refusal;
use crate::{App, access, api, mcp, observe, proxy, slack};

const HINT: &str = "`/openapi.json` lists the endpoints";

pub(crate) use connection::BodyLate;

/// Answers requests until `stop` completes. Then `/readyz` says so, for as long as `server: {drain: …}` says requests
/// are still taken, and what was begun is finished.
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
        let app = self.app();
        let is_local = listener.local_addr()?.ip().is_loopback();
        #[cfg(feature = "otel")]
        let telling = app.telemetry.clone().map(|telemetry| {
            let runs = Arc::clone(&telemetry);
            (tokio::spawn(async move { runs.run().await }), telemetry)
        });
        let (stops, stopping) = watch::channel(false);
        self.accept_until(&listener, stop, &stopping).await;
        app.stop();
        // A balancer sends requests until it has seen that nothing more is to be begun here.
        let drain = self.app().project.config.server.drain(is_local);
        self.accept_until(&listener, sleep(drain), &stopping).await;
        drop((listener, stopping));
        stops.send_replace(true);
        stops.closed().await;
        // After the last response: work of answers goes on behind them.
        app.finish().await;
        #[cfg(feature = "otel")]
        if let Some((task, telemetry)) = telling {
            task.abort();
            telemetry.finish().await;
        }
        Ok(())
    }

    /// Accepts connections until something completes.
    async fn accept_until(
        &self,
        listener: &TcpListener,
        end: impl Future<Output = ()>,
        stopping: &watch::Receiver<bool>,
    ) {
        let mut end = pin!(end);
        loop {
            let stream = tokio::select! {
                () = end.as_mut() => return,
                stream = accepted(listener) => stream,
            };
            let live = self.clone();
            let router = move || live.router();
            tokio::spawn(connection::answer(stream, router, stopping.clone()));
        }
    }

    fn router(&self) -> Router {
        let now = self.0.read().unwrap_or_else(PoisonError::into_inner);
        now.1.clone()
    }
}

/// The next connection. One that fails is its client's matter, and a lack of files passes.
async fn accepted(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            Err(error) if is_of_client(&error) => {}
            Err(error) => {
                tracing::error!(event = "not_accepted", %error);
                sleep(Duration::from_secs(1)).await;
            }
        }
    }
}

fn is_of_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset
    )
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
