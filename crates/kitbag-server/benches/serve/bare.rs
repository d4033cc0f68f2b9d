//! A proxy that copies requests and answers, and does nothing else.

use std::net::SocketAddr;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use axum::serve::ListenerExt as _;
use http_body_util::{BodyExt as _, Full};
use kitbag::provider::HttpClient;
use tokio::net::TcpListener;

pub(crate) async fn start(upstream: SocketAddr) -> SocketAddr {
    let base: http::Uri = format!("http://{upstream}").parse().unwrap();
    let client = HttpClient::new(&base, Duration::from_secs(5)).unwrap();
    let pass = async move |request: Request| {
        let (mut head, body) = request.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        head.uri = format!("http://{upstream}{}", head.uri.path())
            .parse()
            .unwrap();
        head.headers.remove("host");
        let answer = client
            .send(Request::from_parts(head, Full::new(body)))
            .await;
        let (head, body) = answer.unwrap().into_parts();
        Response::from_parts(head, Body::new(body))
    };
    let router = axum::Router::new().fallback(async move |request: Request| pass(request).await);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let listener = listener.tap_io(|stream| stream.set_nodelay(true).unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}
