//! The tools of an answer, and the approval of those that write.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use kitbag::Engine;
use kitbag::engine::EngineBuilder;
use kitbag::store::Incoming;
use kitbag::tokens::{Counter, ModelProfile, Vocabulary};
use kitbag::tool::{Approval, ApprovalRequest, ToolScope, Tools, builtin};
use kitbag_mcp::{ServerLimits, connect};
use rustyline::DefaultEditor;
use tokio::sync::oneshot;

use crate::commands::pack::summary::say_problems;
use crate::failure::Failure;
use crate::output::{self, one_line};

/// Options that say what a model may use.
#[derive(clap::Args)]
pub(super) struct ToolArgs {
    /// Let the model call tools: pack, explain and expand for the current folder, recall and facts for memory,
    /// and after approval remember, forget and checkpoint, which write
    #[arg(long, help_heading = TOOLS)]
    tools: bool,
    /// Start the MCP servers of this file [default: .mcp.json in the current folder], and let the model call
    /// their tools. The file names programs to run, so it is read only with this option
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = ".mcp.json",
        help_heading = TOOLS
    )]
    mcp: Option<PathBuf>,
    /// Let the model call these writing tools without asking you, such as remember or
    /// mcp__github__create_issue; separated by commas
    #[arg(long, value_name = "NAME", value_delimiter = ',', help_heading = TOOLS)]
    allow_tools: Vec<String>,
}

const TOOLS: &str = "Tools";

/// Decides about tools that write.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Approver {
    /// A person at the terminal decides.
    Person,
    /// Only tools that an option names are called.
    Options,
}

impl ToolArgs {
    /// The tools that the options ask for. MCP servers run until these are dropped.
    pub(super) async fn tools(
        &self,
        engine: &Engine,
        sent: &Incoming,
        root: &Path,
    ) -> Result<Tools, Failure> {
        let mut tools = Tools::default();
        if self.tools {
            let mut scope = ToolScope::new(root, counter(engine)?);
            if let Some(store) = engine.store() {
                scope = scope.with_store(store.clone(), &sent.sender);
            }
            scope.channel.clone_from(&sent.channel);
            if let Some(project) = engine.project() {
                scope.exclude.clone_from(&project.config.pack.exclude);
                scope = scope.with_skills(project.skills.clone());
            }
            tools.extend(builtin(&scope));
        }
        if let Some(file) = &self.mcp {
            let limits = ServerLimits::default();
            let variable = |name: &str| std::env::var(name).ok();
            let connected = connect(file, &limits, &variable).await;
            let connected = connected.map_err(|error| {
                let hint = "`--mcp=FILE` names another file, with servers under `mcpServers`";
                Failure::new(&error).hint(hint)
            })?;
            say_problems(&connected.problems);
            tools.extend(connected.tools);
        }
        // Checked after the servers have listed their tools. A mistyped name would otherwise only show when the
        // model is refused in the middle of an answer.
        let unknown = self.allow_tools.iter();
        let mut unknown = unknown.filter(|name| tools.spec(name).is_none());
        if let Some(name) = unknown.next() {
            let name = one_line(name);
            let specs = tools.specs().into_iter();
            let known: Vec<String> = specs.map(|spec| spec.definition.name).collect();
            let what = format_args!("there is no tool `{name}`");
            let hint = match known.is_empty() {
                true => "`--tools` and `--mcp` offer tools".to_owned(),
                false => format!("the tools are {}", known.join(", ")),
            };
            return Err(Failure::usage(what).hint(hint));
        }
        Ok(tools)
    }

    /// The same engine, which asks before it calls a tool that writes.
    pub(super) fn approved(&self, engine: EngineBuilder, approver: Approver) -> EngineBuilder {
        let allowed: BTreeSet<String> = self.allow_tools.iter().cloned().collect();
        let allowed = Arc::new(Mutex::new(allowed));
        engine.approve(move |request| decide(request, approver, Arc::clone(&allowed)))
    }
}

/// Counts what tools bring, as prompts of the model are counted.
fn counter(engine: &Engine) -> Result<Counter, Failure> {
    let profile = engine.model().map(ModelProfile::find);
    let profile = profile.and_then(Result::ok);
    let counter = match profile {
        Some(profile) => Counter::for_profile(profile),
        None => Counter::for_vocabulary(Vocabulary::O200kBase),
    };
    counter.map_err(Failure::new)
}

async fn decide(
    request: ApprovalRequest,
    approver: Approver,
    allowed: Arc<Mutex<BTreeSet<String>>>,
) -> Approval {
    let name = request.tool.definition.name;
    let is_allowed = allowed
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .contains(&name);
    if is_allowed {
        return Approval::Allow;
    }
    if approver == Approver::Options {
        let reason = format!("the user has not allowed `{name}`, which writes");
        let hint = format_args!("`--allow-tools {}` allows it", one_line(&name));
        output::say(format_args!("hint: {hint}"));
        return Approval::Refuse(reason);
    }
    match asked(&name, &request.arguments.to_string()).await {
        Some(Consent::Yes) => Approval::Allow,
        Some(Consent::Always) => {
            let mut allowed = allowed.lock().unwrap_or_else(PoisonError::into_inner);
            // For the rest of this run only: nothing about approvals is stored.
            allowed.insert(name);
            Approval::Allow
        }
        None => Approval::Refuse("the user said no".to_owned()),
    }
}

enum Consent {
    Yes,
    Always,
}

/// Asks the person at the terminal, on a thread of its own, since reading a line blocks. Everything but a
/// yes is a no, including Ctrl-C.
async fn asked(name: &str, arguments: &str) -> Option<Consent> {
    let question = format!(
        "{} {}\ncall it? [y/N/always] ",
        one_line(name),
        one_line(arguments)
    );
    let (sender, said) = oneshot::channel();
    let ask = move || {
        let line = DefaultEditor::new().and_then(|mut editor| editor.readline(&question));
        // Sending fails if the answer was stopped meanwhile.
        drop(sender.send(line.unwrap_or_default()));
    };
    thread::Builder::new().name("ask".into()).spawn(ask).ok()?;
    match said.await.ok()?.trim().to_lowercase().as_str() {
        "y" | "yes" => Some(Consent::Yes),
        "a" | "always" => Some(Consent::Always),
        _ => None,
    }
}
