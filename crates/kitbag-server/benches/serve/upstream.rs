//! An upstream that says the same to everybody at once.

use std::net::SocketAddr;

use axum::serve::ListenerExt as _;
use tokio::net::TcpListener;

const ANSWER: &str = r#"{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"In Porto."},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":3}}"#;

pub(crate) async fn start() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let listener = listener.tap_io(|stream| stream.set_nodelay(true).unwrap());
    let router = axum::Router::new().fallback(async |body: bytes::Bytes| {
        drop(body);
        ([("content-type", "application/json")], ANSWER)
    });
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}
