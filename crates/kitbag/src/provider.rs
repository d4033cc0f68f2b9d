//! Providers: where a request goes, and the answer as it comes.
//!
//! [`Provider`] is for you to implement, too. Those that come with Kitbag speak three APIs over HTTP
//! ([`HttpProvider`]), run a program ([`ClaudeCode`]) or answer from a file ([`ScriptProvider`]). None
//! of them chooses what is sent: a request is made by the [engine](crate::engine) and the
//! [wire formats](crate::wire).

mod claude_code;
pub(crate) mod complete;
mod decode;
mod error;
mod event;
mod http;
mod key;
mod providers;
mod reader;
mod reply;
mod script;
mod sse;

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use futures_util::Stream;
use kitbag_core::context::Context;

pub use claude_code::{ClaudeCode, ClaudeCodeSettings};
pub use error::{ProviderError, Stage};
pub use event::{ReplyEvent, StopReason, Usage};
pub use http::{Credentials, HttpClient, HttpProvider, HttpSettings, SendError, Timeouts};
pub use key::{Key, Secret};
pub use providers::{ChosenProvider, KeySummary, ProviderSummary, Providers};
pub use reader::ReplyReader;
pub use reply::Reply;
pub use script::ScriptProvider;

use crate::wire::{Dialect, Request};

/// Answers requests.
///
/// ```
/// use futures_util::stream;
/// use kitbag::provider::{Provider, ProviderFuture, ReplyEvent};
/// use kitbag::wire::{Dialect, Request};
///
/// /// Says the same whatever it is asked.
/// struct Parrot;
///
/// impl Provider for Parrot {
///     fn name(&self) -> &str {
///         "parrot"
///     }
///
///     fn dialect(&self) -> Dialect {
///         Dialect::OpenAi
///     }
///
///     fn stream<'a>(&'a self, _request: &'a Request) -> ProviderFuture<'a> {
///         Box::pin(async {
///             let events = [ReplyEvent::Text("Hello.".into()), ReplyEvent::Done];
///             Ok(Box::pin(stream::iter(events.map(Ok))) as _)
///         })
///     }
/// }
/// ```
pub trait Provider: Send + Sync {
    /// Names the provider in errors and logs.
    fn name(&self) -> &str;

    /// The API whose requests it takes.
    fn dialect(&self) -> Dialect;

    /// The request as it is sent: with `stream`, say, or whatever else the provider wants. The bytes
    /// of what this returns are what a dry run shows and what is archived.
    fn prepared(&self, request: Request) -> Request {
        request
    }

    /// Tells before anything is sent or stored what keeps it from answering, such as a missing key.
    ///
    /// # Errors
    /// When it could not answer any request.
    fn check(&self) -> Result<(), ProviderError> {
        Ok(())
    }

    /// Sends a request that was [prepared](Self::prepared). Comes back with the first byte of the
    /// answer; dropping the stream ends it.
    fn stream<'a>(&'a self, request: &'a Request) -> ProviderFuture<'a>;

    /// The model to ask for where nobody names one.
    fn model(&self) -> Option<&str> {
        None
    }

    /// Returns whether it answers from a script, which knows nothing of what it was not written for.
    fn is_scripted(&self) -> bool {
        false
    }

    /// Answers a context, and comes back when all of the answer is there. The context is checked
    /// first; its model counts, where it names one, and not the provider's own.
    fn complete<'a>(&'a self, context: &'a Context) -> CompleteFuture<'a> {
        Box::pin(complete::complete(self, context))
    }
}

impl fmt::Debug for dyn Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The result of [`Provider::stream`].
pub type ProviderFuture<'a> =
    Pin<Box<dyn Future<Output = Result<ReplyStream, ProviderError>> + Send + 'a>>;

/// The result of [`Provider::complete`].
pub type CompleteFuture<'a> =
    Pin<Box<dyn Future<Output = Result<Reply, ProviderError>> + Send + 'a>>;

/// An answer as it comes. The last event is [`ReplyEvent::Done`], or there is an error.
pub type ReplyStream = Pin<Box<dyn Stream<Item = Result<ReplyEvent, ProviderError>> + Send>>;
