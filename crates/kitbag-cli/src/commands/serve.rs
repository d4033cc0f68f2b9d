//! `kitbag serve`: the endpoints of model providers, with memory, for any client.

use std::env;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use kitbag::layout::ProxyMemory;
use kitbag::project::Project;
use kitbag::provider::Providers;
use kitbag::store::Location;
use kitbag_server::{App, Keyless, Slack, UpstreamError, Upstreams, check_bind, serve};
use tokio::net::TcpListener;

use crate::failure::Failure;
use crate::interrupt::stopped;
use crate::model::with_chosen_model;
use crate::output;
use crate::project::{ProjectArgs, say_problems};
use crate::store::StoreArgs;

/// Serves the endpoints of model providers, with memory, to any client
///
/// Set the base URL of an Anthropic client to http://127.0.0.1:7411, and that of an OpenAI client to
/// http://127.0.0.1:7411/v1. Requests are forwarded to the provider with the client's own key, which is not
/// stored. With memory, parts of earlier conversations that concern the newest message are added to it, and
/// the conversation is remembered. A request to which nothing is added is forwarded byte for byte.
///
/// The settings are under `server:` in your own kitbag.yaml, or in the file that --config names. Ctrl-C
/// stops the server after the answers under way are complete.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  kitbag serve
  kitbag serve --root . --bind 127.0.0.1:8080
  kitbag serve --upstream ollama --no-memory")]
pub(crate) struct Args {
    /// Listen on this address [default: 127.0.0.1:7411]
    #[arg(long, value_name = "ADDRESS")]
    bind: Option<SocketAddr>,
    /// Provider or address for models that the configuration does not name [default: Anthropic or OpenAI, by
    /// the API of the request]
    #[arg(long, value_name = "PROVIDER|URL")]
    upstream: Option<String>,
    /// A folder that may be packed over HTTP and MCP, with all below it; may be repeated [default: those
    /// under `server: {roots: …}`, or none]
    #[arg(long = "root", value_name = "FOLDER")]
    roots: Vec<PathBuf>,
    /// Use no memory: remember nothing and add nothing
    #[arg(long)]
    no_memory: bool,
    #[command(flatten)]
    project: ProjectArgs,
}

const ADDRESS: &str = "127.0.0.1:7411";

pub(crate) fn run(args: &Args, store: &StoreArgs) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format_args!("cannot start: {error}")))?;
    runtime.block_on(listen(args, store))
}

async fn listen(args: &Args, store: &StoreArgs) -> Result<(), Failure> {
    let project = args.project.open()?;
    say_problems(&project.problems);
    let settings = &project.config.server;
    if settings.is_ignored {
        output::say(
            "warning: `server` in the kitbag.yaml of this folder is not followed: it may be anybody's\n\
             hint: name the file with --config",
        );
    }
    let address = args.bind.or(settings.bind);
    let address = match address {
        Some(address) => address,
        None => ADDRESS.parse().map_err(Failure::new)?,
    };
    let variable = |name: &str| env::var(name).ok();
    let providers = Providers::new(&project.config, &project.root, &variable);
    // Opened before the store: a mistake in the addresses needs no database.
    let upstreams = Upstreams::open(&project.config, &providers, args.upstream.as_deref());
    let upstreams = upstreams.map_err(upstream_failure)?;
    let memory = match args.no_memory {
        true => None,
        false => {
            let memory = &project.config.memory;
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
    let roots = roots(args, &project)?;
    let slack = settings.slack.as_ref();
    let slack = slack.map(|slack| Slack::open(slack, &project.root, &variable));
    let slack = slack.transpose().map_err(|error| {
        Failure::new(output::one_line(&error.to_string())).hint_if(error.hint())
    })?;
    let listener = TcpListener::bind(address).await;
    let listener = listener.map_err(|error| {
        Failure::new(format_args!("cannot listen on {address}: {error}"))
            .hint("choose another address with --bind")
    })?;
    let bound = listener.local_addr().map_err(Failure::new)?;
    // A base URL that points here would send each request round and round.
    if upstreams.lead_to(bound) {
        let what = format_args!("requests would go to {bound}, which is this server itself");
        let hint = "name the provider with --upstream, or unset ANTHROPIC_BASE_URL and OPENAI_BASE_URL here";
        return Err(Failure::new(what).hint(hint));
    }
    let to = upstreams.addresses().join(" and ");
    let memory_said = match memory {
        Some(_) if settings.memory() != ProxyMemory::Off => "with memory",
        _ => "without memory",
    };
    output::say(format_args!(
        "kitbag serves http://{bound}, {memory_said}; requests go to {to}"
    ));
    let mut app = App::new(project, memory, upstreams).with_roots(roots);
    if let Some(keys) = keys {
        let keyless = match bound.ip().is_loopback() {
            true => Keyless::Local,
            false => Keyless::Refused,
        };
        app = app.with_keys(keys, keyless);
    }
    if let Some(slack) = slack {
        app = app.with_slack(slack);
    }
    serve(Arc::new(app), listener, stopped())
        .await
        .map_err(Failure::new)
}

/// The folders that may be packed.
fn roots(args: &Args, project: &Project) -> Result<Vec<PathBuf>, Failure> {
    let configured = project.config.server.roots.iter();
    let roots: Vec<PathBuf> = match args.roots.is_empty() {
        true => configured.map(|root| project.root.join(root)).collect(),
        false => args.roots.clone(),
    };
    match roots.iter().find(|root| !root.is_dir()) {
        Some(root) => {
            let root = root.display();
            Err(Failure::usage(format_args!("`{root}` is not a folder")))
        }
        None => Ok(roots),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "maps an error")]
fn upstream_failure(error: UpstreamError) -> Failure {
    Failure::new(output::one_line(&error.to_string())).hint_if(error.hint())
}
