//! `kitbag serve`: the endpoints of model providers, with memory, for any client.

mod opened;
mod reload;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use kitbag::store::Location;
use kitbag_server::{App, Keyless, Live, check_bind};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::failure::Failure;
use crate::interrupt::{stopped, unless};
use crate::model::with_chosen_model;
use crate::output;
use crate::project::ProjectArgs;
use crate::store::StoreArgs;
use opened::Opened;
use reload::Reloads;

/// Serves the endpoints of model providers, with memory, to any client
///
/// Set the base URL of an Anthropic client to http://127.0.0.1:7411, and that of an OpenAI client to
/// http://127.0.0.1:7411/v1. Requests are forwarded to the provider with the client's own key, which is not
/// stored. With memory, parts of earlier conversations that concern the newest message are added to it, and
/// the conversation is remembered. A request to which nothing is added is forwarded byte for byte.
///
/// The settings are under `server:` in your own kitbag.yaml, or in the file that --config names. A server
/// that runs without a terminal reads them again on SIGHUP. Ctrl-C stops the server after the answers under way are complete, and
/// a second Ctrl-C at once. Warnings are logged unless --log says otherwise.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  kitbag serve
  kitbag serve --root . --bind 127.0.0.1:8080
  kitbag serve --upstream ollama --no-memory")]
pub(crate) struct Args {
    /// Listen on this address [default: 127.0.0.1:7411]
    #[arg(long, value_name = "ADDRESS", value_parser = parse_address)]
    bind: Option<SocketAddr>,
    /// Provider or address for models that the configuration does not name [default: Anthropic or OpenAI, by
    /// the API of the request]
    #[arg(long, value_name = "PROVIDER|URL")]
    upstream: Option<String>,
    /// Allow packs of this folder, and of those below it, over HTTP and MCP; may be repeated [default: those
    /// under `server: {roots: …}`, or none]
    #[arg(short = 'C', long = "root", value_name = "FOLDER")]
    roots: Vec<PathBuf>,
    /// Recall nothing and store nothing
    #[arg(long)]
    no_memory: bool,
    #[command(flatten)]
    project: ProjectArgs,
}

const ADDRESS: &str = "127.0.0.1:7411";

fn parse_address(text: &str) -> Result<SocketAddr, &'static str> {
    text.parse()
        .map_err(|_| "expected an IP address and a port such as 127.0.0.1:7411")
}

pub(crate) fn run(args: &Args, store: &StoreArgs) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format_args!("cannot start: {error}")))?;
    let ended = runtime.block_on(listen(args, store));
    // What still runs belongs to answers that a second signal ended.
    runtime.shutdown_background();
    ended
}

async fn listen(args: &Args, store: &StoreArgs) -> Result<(), Failure> {
    let reloads = Reloads::listen();
    #[cfg(feature = "otel")]
    let telemetry = kitbag_server::Telemetry::from_variables(&|name| std::env::var(name).ok());
    #[cfg(feature = "otel")]
    let telemetry = telemetry.map_err(Failure::new)?;
    let opened = Opened::open(args)?;
    let settings = &opened.project.config.server;
    let address = args.bind.or(settings.bind);
    let address = match address {
        Some(address) => address,
        None => ADDRESS.parse().map_err(Failure::new)?,
    };
    let memory = match args.no_memory {
        true => None,
        false => {
            let memory = &opened.project.config.memory;
            Some(with_chosen_model(
                store.open_or_make_following(memory).await?,
            ))
        }
    };
    let keys = match &memory {
        Some(store) => Some(store.clone()),
        // Keys are looked up also where nothing is remembered.
        None => match store.location()? {
            Location::Sqlite(file) if !file.exists() => None,
            location => Some(store.open_existing(&location).await?),
        },
    };
    // Asked once at the start, because only this decides if other machines may connect.
    let has_keys = match &keys {
        Some(keys) => keys.has_keys().await?,
        None => false,
    };
    // Before listening, so that no request comes in on an address that is refused.
    check_bind(address, has_keys).map_err(|error| Failure::usage(error).hint(error.hint()))?;
    let listener = TcpListener::bind(address).await;
    let listener = listener.map_err(|error| {
        Failure::new(format_args!("cannot listen on {address}: {error}"))
            .hint("choose another address with --bind")
    })?;
    let bound = listener.local_addr().map_err(Failure::new)?;
    opened.check(bound)?;
    // Before it says that it serves, which supervisors may take as a sign that they can stop it.
    let first_signal = stopped();
    output::say(format_args!(
        "kitbag serves http://{bound}, {}",
        opened.described(memory.is_some())
    ));
    let Opened {
        project,
        upstreams,
        roots,
        slack,
    } = opened;
    let mut app = App::new(project, memory, upstreams).with_roots(roots);
    if let Some(keys) = keys {
        let keyless = match bound.ip().is_loopback() {
            true => Keyless::Local,
            false => Keyless::Refused,
        };
        app = app.with_keys(keys, keyless, has_keys);
    }
    if let Some(slack) = slack {
        app = app.with_slack(slack);
    }
    #[cfg(feature = "otel")]
    if let Some(telemetry) = telemetry {
        app = app.with_telemetry(telemetry);
    }
    let live = Live::new(Arc::new(app));
    let reloading = reloads.follow(&live, args, bound);
    let (first, is_stopping) = oneshot::channel();
    let stop = async move {
        first_signal.await;
        let _ = first.send(());
    };
    let at_once = async {
        if is_stopping.await.is_ok() {
            stopped().await;
        }
    };
    let served = unless(live.clone().serve(listener, stop), reloading);
    match unless(served, at_once).await {
        Ok(Ok(served)) => served.map_err(Failure::new),
        // Reloading goes on for as long as there is a server.
        Ok(Err(())) => Ok(()),
        Err(()) => Err(Failure::new("stopped before all answers were complete")),
    }
}
