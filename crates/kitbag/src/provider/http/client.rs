//! The connection: TLS, and a proxy if the environment names one.

use std::env;
use std::error::Error;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::uri::Scheme;
use http::{Request, Response, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_rustls::builderstates::WantsProtocols2;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::CertificateError;
use tokio::time::timeout;
use tower_service::Service;

/// The reason why a request got no answer.
#[derive(Debug, thiserror::Error)]
#[error("{}", certificate_problem(.0).map_or_else(|| reason(.0), |problem| format!("its certificate is refused: {problem}")))]
pub struct SendError(#[source] legacy::Error);

impl SendError {
    /// Returns true if there was no connection, so that nothing of the request was sent.
    #[must_use]
    pub fn is_connect(&self) -> bool {
        self.0.is_connect()
    }
}

/// The variables that name a file of authorities, and folders of them.
const AUTHORITIES: [&str; 2] = ["SSL_CERT_FILE", "SSL_CERT_DIR"];

/// A client of HTTP and HTTPS for one address: TLS with the system's authorities, a proxy if the environment
/// names one. It follows no redirects and sends nothing twice.
#[derive(Debug, Clone)]
pub struct HttpClient(Route);

#[derive(Debug, Clone)]
enum Route {
    Direct(legacy::Client<Limited<HttpsConnector<HttpConnector>>, Full<Bytes>>),
    Tunnel(legacy::Client<Limited<HttpsConnector<Tunnel<HttpConnector>>>, Full<Bytes>>),
}

impl HttpClient {
    /// A client for an address, directly or through the proxy that the environment names for it.
    ///
    /// # Errors
    /// When the proxy or the authorities that the environment names cannot be used.
    pub fn new(address: &Uri, connect: Duration) -> Result<Self, String> {
        let mut http = HttpConnector::new();
        // A request is one small write, which must not wait for a full packet.
        http.set_nodelay(true);
        // Shared among the addresses of a name, so that one that is dead leaves time for the next.
        http.set_connect_timeout(Some(connect));
        // The connector below TLS also gets `https` addresses.
        http.enforce_http(false);
        let tls = tls(address)?;
        let mut builder = legacy::Client::builder(TokioExecutor::new());
        builder.pool_timer(TokioTimer::new());
        // Retrying is up to `retry`, which knows whether any byte of an answer has come.
        builder.retry_canceled_requests(false);
        // Decided once for the address of the client, by HTTPS_PROXY, NO_PROXY and the like.
        let Some(proxy) = Matcher::from_env().intercept(address) else {
            let connector = Limited::new(tls.wrap_connector(http), connect);
            return Ok(Self(Route::Direct(builder.build(connector))));
        };
        if proxy
            .uri()
            .scheme_str()
            .is_some_and(|scheme| scheme != "http")
        {
            let scheme = proxy.uri().scheme_str().unwrap_or_default();
            return Err(format!(
                "a proxy that speaks {scheme} is not supported, http is"
            ));
        }
        let mut tunnel = Tunnel::new(proxy.uri().clone(), http);
        if let Some(auth) = proxy.basic_auth() {
            tunnel = tunnel.with_auth(auth.clone());
        }
        let connector = Limited::new(tls.wrap_connector(tunnel), connect);
        Ok(Self(Route::Tunnel(builder.build(connector))))
    }

    /// Sends a request, and gives the head of the answer as soon as it is there.
    ///
    /// # Errors
    /// When there is no connection, or no answer on it.
    pub async fn send(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, SendError> {
        let sent = match &self.0 {
            Route::Direct(client) => client.request(request).await,
            Route::Tunnel(client) => client.request(request).await,
        };
        sent.map_err(SendError)
    }
}

/// A connector that is given up after some time, whatever it waits for: the name's addresses, a proxy, or the
/// handshake of TLS.
#[derive(Debug, Clone)]
struct Limited<C> {
    connector: C,
    limit: Duration,
}

impl<C> Limited<C> {
    const fn new(connector: C, limit: Duration) -> Self {
        Self { connector, limit }
    }
}

impl<C> Service<Uri> for Limited<C>
where
    C: Service<Uri>,
    C::Error: Into<Box<dyn Error + Send + Sync>>,
    C::Response: Send,
    C::Future: Send + 'static,
{
    type Response = C::Response;
    type Error = Box<dyn Error + Send + Sync>;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.connector.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, address: Uri) -> Self::Future {
        let connection = timeout(self.limit, self.connector.call(address));
        Box::pin(async {
            match connection.await {
                Ok(connection) => connection.map_err(Into::into),
                Err(_) => Err(io::Error::from(io::ErrorKind::TimedOut).into()),
            }
        })
    }
}

/// TLS with the authorities that the environment names, or else those of the system, or built-in ones
/// in an image without any.
fn tls(address: &Uri) -> Result<HttpsConnectorBuilder<WantsProtocols2>, String> {
    let builder = match HttpsConnectorBuilder::new().with_native_roots() {
        Ok(builder) => builder,
        Err(error) => {
            let named = AUTHORITIES
                .into_iter()
                .find(|name| env::var_os(name).is_some_and(|value| !value.is_empty()));
            // A user who names authorities trusts no others, so built-in ones must not take their place.
            if let Some(name) = named.filter(|_| address.scheme() == Some(&Scheme::HTTPS)) {
                return Err(format!("no certificate can be read from {name}: {error}"));
            }
            HttpsConnectorBuilder::new().with_webpki_roots()
        }
    };
    // Plain HTTP stays possible for servers on this machine.
    Ok(builder.https_or_http().enable_http1())
}

/// Tells whether connecting took too long.
pub(super) fn is_connect_timeout(SendError(error): &SendError) -> bool {
    let timed_out = |error: &(dyn Error + 'static)| {
        let io = error.downcast_ref::<io::Error>();
        io.is_some_and(|error| error.kind() == io::ErrorKind::TimedOut)
    };
    error.is_connect() && chain(error).any(timed_out)
}

/// The problem with the server's certificate, if that is why there is no connection.
pub(super) fn certificate_problem(error: &(dyn Error + 'static)) -> Option<String> {
    let mut error = error;
    let wrong = loop {
        if let Some(rustls::Error::InvalidCertificate(wrong)) = error.downcast_ref() {
            break wrong;
        }
        // `source` of an I/O error skips the error that it wraps.
        let io = error.downcast_ref::<io::Error>();
        error = match io.and_then(io::Error::get_ref) {
            Some(inner) => inner,
            None => error.source()?,
        };
    };
    Some(match wrong {
        // An authority with a known name and another key makes signatures that do not fit.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "its authority is not known".to_owned()
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "it has expired".to_owned()
        }
        other => other.to_string(),
    })
}

/// The innermost reason, which is the one that a person can do something about.
pub(super) fn reason(error: &(dyn Error + 'static)) -> String {
    chain(error)
        .last()
        .map_or_else(String::new, ToString::to_string)
}

fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    let mut next = Some(error);
    std::iter::from_fn(move || {
        let error = next?;
        next = error.source();
        Some(error)
    })
}
