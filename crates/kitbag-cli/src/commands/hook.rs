//! `kitbag hook`: the program that coding agents run at certain moments of a session.
//!
//! Whatever goes wrong, the agent goes on: the work has a hard limit of time, a failure is told once a
//! session, and the exit code is never the one with which a hook stops its agent.

mod notice;

use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use jiff::Timestamp;
use kitbag::hook::{CodingAgent, Hook, HookEvent, HookEventKind, HookReply, USER, project_sender};
use kitbag::layout::{HookScope, Learning};

use crate::commands::init::HOOKS;
use crate::failure::Failure;
use crate::input;
use crate::output;
use crate::project;
use crate::store::{self, StoreArgs};

/// Answers a hook of a coding agent: adds memory to prompts, and stores the session
///
/// Coding agents run this command with a JSON object on stdin; `kitbag init --for claude` or `--for codex`
/// sets that up. At the start of a session it adds facts and summaries of the project, and before a prompt
/// the past messages that concern it: at most 800 tokens, and nothing twice. When the agent stops, it stores
/// the session without secrets. The agent goes on even if the hook fails.
///
/// `hooks:` in kitbag.yaml has the settings: `scope: project|user|off`, `budget: 800`, `time_limit: 2s`.
/// Storing may take five times that limit. The agent waits 5 seconds before a prompt and 30 seconds for
/// storing; the hook always ends before that.
#[derive(clap::Args)]
#[command(after_help = "Example: kitbag hook --for claude")]
pub(crate) struct Args {
    /// The agent that runs the hook
    #[arg(long = "for", value_name = "AGENT", default_value = "claude")]
    agent: AgentArg,
}

#[derive(Clone, Copy, ValueEnum)]
enum AgentArg {
    Claude,
    Codex,
}

impl From<AgentArg> for CodingAgent {
    fn from(agent: AgentArg) -> Self {
        match agent {
            AgentArg::Claude => Self::ClaudeCode,
            AgentArg::Codex => Self::Codex,
        }
    }
}

/// Nobody waits for what is kept after an answer, so that it may take so many times as long.
const TIMES_TO_KEEP: u32 = 5;

pub(crate) fn run(args: &Args, store: &StoreArgs) -> Result<(), Failure> {
    let (_, json) = input::read_data(Path::new("-"), "the event of a coding agent")?;
    let event = HookEvent::parse(json.as_bytes()).map_err(|error| {
        let what = format_args!("stdin is not an event of a coding agent: {error}");
        let hint = "coding agents run this command; `kitbag init --for claude` sets that up";
        Failure::new(what).hint(hint)
    })?;
    // The work runs on its own thread; this one only waits, and can stop waiting.
    let work = respond(args.agent.into(), &event, store);
    let reply = match work.as_ref().map_or(Ok(HookReply::default()), Work::reply) {
        Ok(reply) => reply,
        Err(failure) => HookReply {
            notice: notice::once(&event, failure),
            ..HookReply::default()
        },
    };
    // The next session of this name should hear of a failure again.
    if event.kind == HookEventKind::SessionEnd {
        notice::forget(&event);
    }
    let json = reply.to_json(&event).map_err(io::Error::from)?;
    output::print(&json.unwrap_or_default())?;
    // The reply is printed, so the agent goes on while memory is stored.
    if let Some(work) = work {
        work.finish();
    }
    Ok(())
}

/// Begins what an event asks for; nothing if it asks for nothing.
fn respond(agent: CodingAgent, event: &HookEvent, store: &StoreArgs) -> Option<Work> {
    let keeps = match event.kind {
        HookEventKind::Stop | HookEventKind::SessionEnd => Keeps::Something,
        HookEventKind::SessionStart { .. } | HookEventKind::UserPromptSubmit { .. } => {
            Keeps::Nothing
        }
        // Of others, the transcript tells all that is worth keeping when the agent stops.
        _ => return None,
    };
    let folder = folder_of(agent, event);
    // The folder of the event, since the agent starts hooks wherever it likes.
    let (config, problems) = project::config_in(&folder);
    let limit = limit_of(keeps, config.hooks.time_limit(), &event.name);
    let (event, store) = (event.clone(), store.clone());
    Some(Work::begin(limit, move |reply| {
        if let Some(problem) = problems.iter().find(|problem| problem.is_error()) {
            let what = format_args!("the configuration has errors: {problem}");
            return Err(Failure::new(what));
        }
        let sender = match config.hooks.scope() {
            HookScope::User => USER.to_owned(),
            HookScope::Project => project_sender(&folder),
            _ => return Ok(()),
        };
        // Silently: a refusal in each prompt of a session would be noise.
        if !config.channels.admit(agent.channel(), &sender) {
            return Ok(());
        }
        store::run(async {
            let store = match keeps {
                Keeps::Something => store.open_or_make().await?,
                Keeps::Nothing => match store.open_if_any().await? {
                    Some(store) => store,
                    None => return Ok(()),
                },
            };
            // The agent may have been started elsewhere than in the project.
            let store = store::following(&store, &config.memory);
            let mut hook = Hook::new(store, agent, sender);
            hook.folder = folder;
            hook.budget = config.hooks.budget();
            hook.summarises = config.memory.learning != Some(Learning::Off);
            let now = Timestamp::now();
            let answer = hook.respond(&event, now).await.map_err(Failure::new)?;
            // Nobody is left to hear it once the time is over.
            drop(reply.send(Ok(answer)));
            if matches!(event.kind, HookEventKind::SessionStart { .. }) {
                // The next session does it if this one fails to.
                drop(hook.close_silent(&event, now).await);
            }
            Ok(())
        })
    }))
}

/// The longest that a hook may take. It ends before the agent's own limit, as `kitbag init` sets that: an agent that
/// loses patience kills the hook, and the user would not learn what went wrong.
fn limit_of(keeps: Keeps, time_limit: Duration, event: &str) -> Duration {
    let limit = match keeps {
        Keeps::Nothing => time_limit,
        Keeps::Something => time_limit.saturating_mul(TIMES_TO_KEEP),
    };
    let agents = HOOKS.iter().find(|(name, _)| *name == event);
    let Some((_, seconds)) = agents else {
        return limit;
    };
    let start_and_answer = Duration::from_millis(500);
    limit.min(Duration::from_secs((*seconds).into()).saturating_sub(start_and_answer))
}

/// The folder in which the session began. Claude Code names it, since it may have gone to another one
/// meanwhile.
fn folder_of(agent: CodingAgent, event: &HookEvent) -> PathBuf {
    let named = match agent {
        CodingAgent::ClaudeCode => env::var_os("CLAUDE_PROJECT_DIR").map(PathBuf::from),
        _ => None,
    };
    let mut folders = [named, Some(event.folder.clone())].into_iter().flatten();
    let folder = folders.find(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or_else(|| PathBuf::from("."))
}

/// Work that an event gives to the store.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keeps {
    Something,
    Nothing,
}

/// Work on a thread of its own, which ends with the process: opening a file or waiting for a lock may block
/// for longer than anybody waits, and nothing else could interrupt it.
struct Work {
    begun: Instant,
    limit: Duration,
    replies: mpsc::Receiver<Result<HookReply, Failure>>,
}

impl Work {
    /// Begins it. It may go on after it has sent a reply; without one, the reply is empty.
    fn begin(
        limit: Duration,
        work: impl FnOnce(&mpsc::Sender<Result<HookReply, Failure>>) -> Result<(), Failure>
        + Send
        + 'static,
    ) -> Self {
        let (send, replies) = mpsc::channel();
        thread::spawn(move || {
            let last = work(&send).map(|()| HookReply::default());
            drop(send.send(last));
        });
        Self {
            begun: Instant::now(),
            limit,
            replies,
        }
    }

    /// The reply, unless it takes too long.
    fn reply(&self) -> Result<HookReply, Failure> {
        self.next().unwrap_or_else(|error| {
            Err(match error {
                mpsc::RecvTimeoutError::Timeout => {
                    let seconds = self.limit.as_secs_f32();
                    Failure::new(format_args!("the store did not answer within {seconds} s"))
                        .hint("`time_limit` under `hooks:` in kitbag.yaml allows more")
                }
                mpsc::RecvTimeoutError::Disconnected => Failure::new("the hook failed inside"),
            })
        })
    }

    /// Lets it go on for the rest of the time, if it does.
    fn finish(self) {
        while self.next().is_ok() {}
    }

    fn next(&self) -> Result<Result<HookReply, Failure>, mpsc::RecvTimeoutError> {
        let left = self.limit.saturating_sub(self.begun.elapsed());
        self.replies.recv_timeout(left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x11_a_hook_ends_before_the_agent_loses_patience() {
        let limit = |keeps, seconds, event| limit_of(keeps, Duration::from_secs(seconds), event);
        for event in ["Stop", "SessionEnd"] {
            assert_eq!(limit(Keeps::Something, 2, event), Duration::from_secs(10));
            assert_eq!(
                limit(Keeps::Something, 60, event),
                Duration::from_millis(29_500)
            );
        }
        for event in ["SessionStart", "UserPromptSubmit"] {
            assert_eq!(limit(Keeps::Nothing, 2, event), Duration::from_secs(2));
            assert_eq!(
                limit(Keeps::Nothing, 60, event),
                Duration::from_millis(4_500)
            );
        }
    }
}
