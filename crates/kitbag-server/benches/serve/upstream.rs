//! An upstream that says the same to everybody, at once or after a while.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::serve::ListenerExt as _;
use tokio::net::TcpListener;

const ANSWER: &str = r#"{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"In Porto."},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":3}}"#;

/// The time that it thinks, in milliseconds.
pub(crate) static THINKS: AtomicU64 = AtomicU64::new(0);

/// Starts it on this port; on any where it is 0.
pub(crate) async fn start(port: u16) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let listener = listener.tap_io(|stream| stream.set_nodelay(true).unwrap());
    let router = axum::Router::new().fallback(async |body: bytes::Bytes| {
        drop(body);
        let millis = THINKS.load(Ordering::Relaxed);
        if millis > 0 {
            tokio::time::sleep(Duration::from_millis(millis)).await;
        }
        ([("content-type", "application/json")], ANSWER)
    });
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}
