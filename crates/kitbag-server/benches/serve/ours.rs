//! Our server, with or without memory.

use std::net::SocketAddr;
use std::sync::Arc;

use kitbag::layout::Config;
use kitbag::project::{Project, ProjectPlaces};
use kitbag::provider::Providers;
use kitbag::store::Store;
use kitbag_server::{App, Upstreams};
use tokio::net::TcpListener;

pub(crate) async fn start(upstream: SocketAddr, store: Option<Store>) -> SocketAddr {
    let config = Config::default();
    let variables = |_: &str| None;
    let providers = Providers::new(&config, ".", &variables);
    let upstreams = Upstreams::open(&config, &providers, Some(&format!("http://{upstream}")));
    let project = Project::open(&ProjectPlaces::new("/"));
    let app = Arc::new(App::new(project, store, upstreams.unwrap()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(kitbag_server::serve(app, listener, std::future::pending()));
    address
}
