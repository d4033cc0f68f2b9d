//! `kitbag mcp`: packs and memory for a coding agent, over the Model Context Protocol.

use std::path::PathBuf;
use std::sync::Arc;

use kitbag::hook::{USER, project_sender};
use kitbag::layout::HookScope;
use kitbag::project::Project;
use kitbag::store::Store;
use kitbag::tool::ToolScope;
use kitbag_mcp::{Server, serve_stdio};

use crate::counter::CounterArgs;
use crate::failure::Failure;
use crate::model::with_chosen_model;
use crate::output;
use crate::project::{ProjectArgs, say_problems};
use crate::store::StoreArgs;

/// Serves packs and memory to a coding agent over MCP, on stdin and stdout
///
/// The coding agent starts this command; `kitbag init --for claude` (or codex, cursor, vscode) writes it to
/// the agent's configuration. It offers the tools pack, explain, expand, recall, remember, forget, facts and
/// checkpoint, the project's documents and past prompts as resources, and layouts as prompts. It ends when
/// the agent closes stdin.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  kitbag mcp
  kitbag mcp --root ~/src/shop --no-memory")]
pub(crate) struct Args {
    /// The folder of the project
    #[arg(short = 'C', long, value_name = "FOLDER", default_value = ".")]
    root: PathBuf,
    /// Use the memory of this sender [default: the project, as hooks do; with `hooks: {scope: user}`, user]
    #[arg(long, value_name = "NAME")]
    sender: Option<String>,
    /// Offer no memory
    #[arg(long, conflicts_with = "sender")]
    no_memory: bool,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    counter: CounterArgs,
    /// Folder for the cache
    #[arg(
        long,
        value_name = "FOLDER",
        env = "KITBAG_CACHE_DIR",
        hide_env_values = true
    )]
    cache_dir: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, store: &StoreArgs) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        // More than one, because some tools compute for a while without a pause.
        .worker_threads(4)
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format_args!("cannot start: {error}")))?;
    let served = runtime.block_on(serve(args, store));
    // Unfinished work must not delay the end: the agent has closed stdin and waits for nothing.
    runtime.shutdown_background();
    served
}

async fn serve(args: &Args, store: &StoreArgs) -> Result<(), Failure> {
    if !args.root.is_dir() {
        let root = args.root.display();
        return Err(Failure::usage(format_args!("`{root}` is not a folder")));
    }
    let project = args.project.open_in(&args.root)?;
    say_problems(&project.problems);
    let (counter, _) = args.counter.counter()?;
    let mut scope = ToolScope::new(&args.root, counter);
    scope.exclude.clone_from(&project.config.pack.exclude);
    scope.cache_folder.clone_from(&args.cache_dir);
    if !args.no_memory {
        match memory(args, store, &project).await {
            Ok((store, sender)) => scope = scope.with_store(store, sender),
            // Packs work without memory, and the tools of memory report the failure when they are called.
            Err(failure) => {
                scope.store = Err(failure.message().into());
                failure.warn("memory is not offered");
            }
        }
    }
    scope = scope.with_skills(project.skills.clone());
    let server = Server::new(scope, Arc::new(project));
    output::say("kitbag serves MCP on stdin and stdout");
    serve_stdio(server).await.map_err(Failure::new)
}

async fn memory(
    args: &Args,
    store: &StoreArgs,
    project: &Project,
) -> Result<(Store, String), Failure> {
    let store = with_chosen_model(store.open_or_make_following(&project.config.memory).await?);
    let sender = args.sender.clone();
    let sender = sender.unwrap_or_else(|| match project.config.hooks.scope() {
        HookScope::User => USER.to_owned(),
        // Also with hooks off: the agent calls these tools itself, and finds the project's memory.
        _ => project_sender(&args.root),
    });
    Ok((store, sender))
}
