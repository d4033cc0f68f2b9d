//! Reading the configuration again while the server runs, at SIGHUP.

use std::future::pending;
use std::net::SocketAddr;
use std::sync::Arc;

use kitbag_server::Live;

use super::{Args, Opened};
use crate::failure::Failure;
use crate::output;

/// The signals that ask for it. At a terminal there are none: there the signal says that its window was closed.
pub(super) struct Reloads {
    #[cfg(unix)]
    signals: Option<tokio::signal::unix::Signal>,
}

impl Reloads {
    /// Listens from now on, so that a signal that comes early does not end the process.
    pub(super) fn listen() -> Self {
        Self {
            #[cfg(unix)]
            signals: match std::io::IsTerminal::is_terminal(&std::io::stderr()) {
                true => None,
                false => {
                    use tokio::signal::unix::{SignalKind, signal};
                    signal(SignalKind::hangup()).ok()
                }
            },
        }
    }

    async fn next(&mut self) {
        #[cfg(unix)]
        if let Some(signals) = &mut self.signals
            && signals.recv().await.is_some()
        {
            return;
        }
        // Without a signal to wait for, this branch must never end.
        pending().await
    }

    /// Reads the configuration at each signal. One that cannot be used changes nothing.
    pub(super) async fn follow(mut self, live: &Live, args: &Args, bound: SocketAddr) {
        loop {
            self.next().await;
            match reload(live, args, bound) {
                Ok(described) => {
                    tracing::info!(event = "reloaded");
                    output::say(format_args!(
                        "the configuration was read again: {described}"
                    ));
                }
                Err(failure) => {
                    tracing::error!(event = "not_reloaded", problem = failure.message());
                    failure.warn("the server keeps its earlier configuration");
                }
            }
        }
    }
}

fn reload(live: &Live, args: &Args, bound: SocketAddr) -> Result<String, Failure> {
    let opened = Opened::open(args)?;
    // At a start, the parts without errors are used; here the running configuration is better than a part.
    if opened.project.problems.iter().any(|it| it.is_error()) {
        return Err(Failure::new("the configuration has errors"));
    }
    // The new addresses may point here although the old ones did not.
    opened.check(bound)?;
    let before = live.app();
    let described = opened.described(before.has_memory());
    let app = before.reconfigured(opened.project, opened.upstreams);
    let app = app.with_roots(opened.roots);
    live.replace(Arc::new(match opened.slack {
        Some(slack) => app.with_slack(slack),
        None => app,
    }));
    Ok(described)
}
