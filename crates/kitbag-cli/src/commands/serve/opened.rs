//! The part of a server that comes from its configuration: upstreams, folders to pack, and Slack.

use std::env;
use std::net::SocketAddr;
use std::path::PathBuf;

use kitbag::layout::ProxyMemory;
use kitbag::project::Project;
use kitbag::provider::Providers;
use kitbag_server::{Slack, UpstreamError, Upstreams};

use super::Args;
use crate::failure::Failure;
use crate::output;
use crate::project::say_problems;

/// A configuration, with its keys and secrets read.
pub(super) struct Opened {
    pub(super) project: Project,
    pub(super) upstreams: Upstreams,
    pub(super) roots: Vec<PathBuf>,
    pub(super) slack: Option<Slack>,
}

impl Opened {
    /// Reads the configuration, and reports what is wrong with it.
    pub(super) fn open(args: &Args) -> Result<Self, Failure> {
        let project = args.project.open()?;
        say_problems(&project.problems);
        let settings = &project.config.server;
        // Whoever wrote that file must not decide where requests and their keys go.
        if settings.is_ignored {
            output::say(
                "warning: `server` in the kitbag.yaml of this folder is ignored: it could come from anybody\n\
                 hint: name the file with --config",
            );
        }
        let variable = |name: &str| env::var(name).ok();
        let providers = Providers::new(&project.config, &project.root, &variable);
        // Before the store: a mistake in the addresses needs no database.
        let upstreams = Upstreams::open(&project.config, &providers, args.upstream.as_deref());
        let upstreams = upstreams.map_err(upstream_failure)?;
        let roots = roots(args, &project)?;
        let slack = settings.slack.as_ref();
        let slack = slack.map(|slack| Slack::open(slack, &project.root, &variable));
        let slack = slack.transpose().map_err(|error| {
            Failure::new(output::one_line(&error.to_string())).hint_if(error.hint())
        })?;
        Ok(Self {
            project,
            upstreams,
            roots,
            slack,
        })
    }

    /// Checks that requests do not come back to the server itself.
    pub(super) fn check(&self, bound: SocketAddr) -> Result<(), Failure> {
        // A base URL that points here would send each request round and round.
        if !self.upstreams.lead_to(bound) {
            return Ok(());
        }
        let what = format_args!("requests would go to {bound}, which is this server itself");
        let hint = "name the provider with --upstream, or unset ANTHROPIC_BASE_URL and OPENAI_BASE_URL here";
        Err(Failure::new(what).hint(hint))
    }

    /// Says what the server does with requests.
    pub(super) fn described(&self, has_memory: bool) -> String {
        let to = self.upstreams.addresses().join(" and ");
        let memory = match self.project.config.server.memory() {
            ProxyMemory::Off => "without memory",
            _ if has_memory => "with memory",
            _ => "without memory",
        };
        format!("{memory}; requests go to {to}")
    }
}

/// The folders that may be packed.
fn roots(args: &Args, project: &Project) -> Result<Vec<PathBuf>, Failure> {
    let configured = project.config.server.roots.iter();
    let roots: Vec<PathBuf> = match args.roots.is_empty() {
        // Relative to the file that names them; folders of an option count from where the command is typed.
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
