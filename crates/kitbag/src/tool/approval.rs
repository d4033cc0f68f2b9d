//! Approvals of calls that change something.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;

use super::{Effect, ToolLimits, ToolSpec, Tools};

/// A call that needs an approval, since it changes something.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// The tool.
    pub tool: ToolSpec,
    /// The arguments, as the model gave them.
    pub arguments: Value,
}

/// The decision about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Approval {
    /// The tool is called.
    Allow,
    /// The tool is not called, and the model gets the reason.
    Refuse(String),
}

type ApprovalFuture = Pin<Box<dyn Future<Output = Approval> + Send>>;

/// The tools of an engine, and what they may do.
#[derive(Clone, Default)]
pub(crate) struct Toolbox {
    pub(crate) tools: Tools,
    pub(crate) limits: ToolLimits,
    approve: Option<Arc<dyn Fn(ApprovalRequest) -> ApprovalFuture + Send + Sync>>,
}

impl Toolbox {
    pub(crate) fn set_approval<F>(
        &mut self,
        approve: impl Fn(ApprovalRequest) -> F + Send + Sync + 'static,
    ) where
        F: Future<Output = Approval> + Send + 'static,
    {
        self.approve = Some(Arc::new(move |request| Box::pin(approve(request))));
    }

    /// Decides about a call. A tool that only reads needs no approval; without anybody who approves,
    /// no other is called.
    pub(crate) async fn decide(&self, tool: ToolSpec, arguments: Value) -> Approval {
        if tool.effect == Effect::Reads {
            return Approval::Allow;
        }
        match &self.approve {
            Some(approve) => approve(ApprovalRequest { tool, arguments }).await,
            // Refused and not an error: the model reads the reason and can go on without the tool.
            None => Approval::Refuse("nobody is here to approve a tool that writes".to_owned()),
        }
    }
}

impl fmt::Debug for Toolbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Toolbox").field(&self.tools).finish()
    }
}
