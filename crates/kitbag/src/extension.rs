//! Extensions: code of a program that takes part in each turn.
//!
//! An [`Extension`] is called at eight phases of a run, which is a turn from its message to its last answer, with
//! as many steps as it takes: one for each request. Through the [`Run`] it injects context messages, leaves
//! tools out, changes the model and parameters, stops the run, and keeps values between turns, which are
//! written with the turn or not at all. One that fails loses what it did in that phase; one that panics or takes too
//! long is left out for the rest of the run. Both are reported as problems, and the turn goes on.
//!
//! `rules:` of a project are an extension like any other.

mod host;
mod rules;
mod run;
mod worker;

use std::fmt::Display;
use std::future::Future;
use std::pin::Pin;

use kitbag_core::message::ToolCall;

use crate::provider::Reply;

pub(crate) use host::{Ended, ExtensionHost, Extensions};
pub(crate) use rules::Rules;
pub use run::{Run, StateScope};

/// Code that takes part in each turn. All its methods are optional.
///
/// ```
/// use kitbag::core::inject::ContextMessage;
/// use kitbag::extension::{Extension, ExtensionError, Run, StateScope};
///
/// /// Tells the model every tenth turn to sum up.
/// struct SumUp;
///
/// impl Extension for SumUp {
///     fn name(&self) -> &str {
///         "sum-up"
///     }
///
///     async fn run_start(&self, run: &mut Run) -> Result<(), ExtensionError> {
///         let turns: u32 = run.get(StateScope::Conversation, "turns")?.unwrap_or(0) + 1;
///         run.set(StateScope::Conversation, "turns", &turns)?;
///         if turns % 10 == 0 {
///             run.inject(ContextMessage::suffix_system("sum-up", "Begin with a summary."));
///         }
///         Ok(())
///     }
/// }
/// # let engine = kitbag::Engine::builder().extension(SumUp).build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Extension: Send + Sync + 'static {
    /// Its name, by which its values are kept and its problems told.
    fn name(&self) -> &str;

    /// A turn begins: its message is kept, and nothing else was done.
    fn run_start(&self, run: &mut Run) -> impl Future<Output = Result<(), ExtensionError>> + Send {
        let _ = run;
        async { Ok(()) }
    }

    /// A step begins.
    fn step_start(&self, run: &mut Run) -> impl Future<Output = Result<(), ExtensionError>> + Send {
        let _ = run;
        async { Ok(()) }
    }

    /// The request of the step is about to be made.
    fn before_inference(
        &self,
        run: &mut Run,
    ) -> impl Future<Output = Result<(), ExtensionError>> + Send {
        let _ = run;
        async { Ok(()) }
    }

    /// The model has answered the request.
    fn after_inference(
        &self,
        run: &mut Run,
        reply: &Reply,
    ) -> impl Future<Output = Result<(), ExtensionError>> + Send {
        let _ = (run, reply);
        async { Ok(()) }
    }

    /// The model asks for a tool, which [`Run::refuse`] keeps from being called.
    fn before_tool(
        &self,
        run: &mut Run,
        call: &ToolCall,
    ) -> impl Future<Output = Result<(), ExtensionError>> + Send {
        let _ = (run, call);
        async { Ok(()) }
    }

    /// A call has its result.
    fn after_tool(
        &self,
        run: &mut Run,
        call: &EndedCall,
    ) -> impl Future<Output = Result<(), ExtensionError>> + Send {
        let _ = (run, call);
        async { Ok(()) }
    }

    /// A step has ended, with all its calls.
    fn step_end(&self, run: &mut Run) -> impl Future<Output = Result<(), ExtensionError>> + Send {
        let _ = run;
        async { Ok(()) }
    }

    /// The turn has ended and is about to be kept, also where it failed.
    fn run_end(
        &self,
        run: &mut Run,
        end: &RunEnd,
    ) -> impl Future<Output = Result<(), ExtensionError>> + Send {
        let _ = (run, end);
        async { Ok(()) }
    }
}

/// A call with its result.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct EndedCall {
    /// The call, as the model made it.
    pub call: ToolCall,
    /// The result in whole, or the reason why there is none.
    pub result: Result<String, String>,
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunEnd {
    /// The model has answered.
    Answered,
    /// The run ended without an answer, or with a part of one.
    Failed {
        /// The reason.
        problem: String,
    },
}

/// An error of an extension.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ExtensionError(String);

impl ExtensionError {
    /// An error with a message.
    pub fn new(problem: impl Display) -> Self {
        Self(problem.to_string())
    }
}

impl From<serde_json::Error> for ExtensionError {
    fn from(error: serde_json::Error) -> Self {
        Self::new(error)
    }
}

/// A phase of a run, with what there is to see.
#[derive(Debug, Clone)]
pub(crate) enum Phase {
    RunStart,
    StepStart,
    BeforeInference,
    AfterInference(Reply),
    BeforeTool(ToolCall),
    AfterTool(EndedCall),
    StepEnd,
    RunEnd(RunEnd),
}

impl Phase {
    pub(crate) const fn as_str(&self) -> &'static str {
        match self {
            Self::RunStart => "run start",
            Self::StepStart => "step start",
            Self::BeforeInference => "before inference",
            Self::AfterInference(_) => "after inference",
            Self::BeforeTool(_) => "before tool",
            Self::AfterTool(_) => "after tool",
            Self::StepEnd => "step end",
            Self::RunEnd(_) => "run end",
        }
    }
}

/// The work of an extension in one phase.
pub(crate) type PhaseWork<'a> =
    Pin<Box<dyn Future<Output = Result<(), ExtensionError>> + Send + 'a>>;

/// An extension of any type.
pub(crate) trait AnyExtension: Send + Sync {
    fn name(&self) -> &str;

    fn enter<'a>(&'a self, phase: &'a Phase, run: &'a mut Run) -> PhaseWork<'a>;
}

impl<E: Extension> AnyExtension for E {
    fn name(&self) -> &str {
        Extension::name(self)
    }

    fn enter<'a>(&'a self, phase: &'a Phase, run: &'a mut Run) -> PhaseWork<'a> {
        match phase {
            Phase::RunStart => Box::pin(self.run_start(run)),
            Phase::StepStart => Box::pin(self.step_start(run)),
            Phase::BeforeInference => Box::pin(self.before_inference(run)),
            Phase::AfterInference(reply) => Box::pin(self.after_inference(run, reply)),
            Phase::BeforeTool(call) => Box::pin(self.before_tool(run, call)),
            Phase::AfterTool(call) => Box::pin(self.after_tool(run, call)),
            Phase::StepEnd => Box::pin(self.step_end(run)),
            Phase::RunEnd(end) => Box::pin(self.run_end(run, end)),
        }
    }
}
