//! Tools: work that a model may ask for.
//!
//! A [`Tool`] has typed arguments and a typed result, whose schemas are derived. [`Tools`] holds many of
//! them by name and calls them with JSON, so that a server, an agent's loop and a test meet the same tool.
//! [`builtin`] gives those over the engine: packs and memory.

#[cfg(all(feature = "providers", feature = "store"))]
mod approval;
#[cfg(all(feature = "providers", feature = "store", feature = "workspace"))]
mod builtin;
mod error;
#[cfg(all(feature = "providers", feature = "store"))]
mod limits;
#[cfg(all(feature = "providers", feature = "store"))]
mod part;
#[cfg(all(feature = "providers", feature = "store"))]
mod results;
mod schema;

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use kitbag_core::envelope::ToolDefinition;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

#[cfg(all(feature = "providers", feature = "store"))]
pub(crate) use approval::Toolbox;
#[cfg(all(feature = "providers", feature = "store"))]
pub use approval::{Approval, ApprovalRequest};
#[cfg(all(feature = "providers", feature = "store", feature = "workspace"))]
pub use builtin::{ToolScope, builtin};
pub use error::ToolError;
#[cfg(all(feature = "providers", feature = "store"))]
pub use limits::ToolLimits;
#[cfg(all(feature = "providers", feature = "store"))]
pub(crate) use results::ResultTool;
pub(crate) use schema::schema_of;

/// A tool with typed arguments and a typed result.
///
/// ```
/// use kitbag::tool::{Tool, ToolError, Tools};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Weighed {
///     /// The flour, in grams
///     flour: u32,
/// }
///
/// #[derive(Serialize, JsonSchema)]
/// struct Water {
///     grams: u32,
/// }
///
/// struct Hydration;
///
/// impl Tool for Hydration {
///     type Arguments = Weighed;
///     type Output = Water;
///     const NAME: &'static str = "hydration";
///     const DESCRIPTION: &'static str = "Says how much water a dough needs";
///
///     async fn call(&self, weighed: Weighed) -> Result<Water, ToolError> {
///         Ok(Water { grams: weighed.flour / 4 * 3 })
///     }
/// }
///
/// let tools = Tools::default().with(Hydration);
/// let call = tools.call("hydration", serde_json::json!({ "flour": 1_000 }));
/// assert_eq!(pollster::block_on(call)?.structured["grams"], 750);
/// # Ok::<(), ToolError>(())
/// ```
pub trait Tool: Send + Sync + 'static {
    /// The arguments, as the model gives them.
    type Arguments: DeserializeOwned + JsonSchema + Send;
    /// The result.
    type Output: Serialize + JsonSchema + Send;
    /// The name, unique among the tools of a turn.
    const NAME: &'static str;
    /// What it does, for the model that chooses it.
    const DESCRIPTION: &'static str;
    /// What a call changes.
    const EFFECT: Effect = Effect::Reads;

    /// Does the work.
    fn call(
        &self,
        arguments: Self::Arguments,
    ) -> impl Future<Output = Result<Self::Output, ToolError>> + Send;

    /// The result as a model reads it; its JSON unless there is something better.
    fn text(output: &Self::Output) -> String {
        json_text(output)
    }
}

/// A result as JSON. A model that gets the error can say so; an empty text would look like an empty result.
pub(crate) fn json_text(output: &impl Serialize) -> String {
    serde_json::to_string(output)
        .unwrap_or_else(|error| format!("the result cannot be written as JSON: {error}"))
}

/// The effect of calling a tool. In a turn, everything but [`Reads`](Self::Reads) needs an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effect {
    /// Nothing.
    Reads,
    /// Something is added or changed.
    Writes,
    /// Something may be gone for good.
    Destroys,
}

/// A tool as programs see it: what to tell a model, and what to expect of it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ToolSpec {
    /// The name, the description, and the schema of the arguments.
    pub definition: ToolDefinition,
    /// The schema of the result, where there is one.
    pub output_schema: Option<Value>,
    /// What a call changes.
    pub effect: Effect,
}

impl ToolSpec {
    /// A tool whose result has no schema.
    #[must_use]
    pub const fn new(definition: ToolDefinition, effect: Effect) -> Self {
        Self {
            definition,
            output_schema: None,
            effect,
        }
    }

    /// The same with the schema of its result, where there is one.
    #[must_use]
    pub fn with_output_schema(mut self, schema: Option<Value>) -> Self {
        self.output_schema = schema;
        self
    }
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolOutput {
    /// The result as a model reads it.
    pub text: String,
    /// The result as a program reads it.
    pub structured: Value,
}

impl ToolOutput {
    /// A result as a model and as a program reads it.
    #[must_use]
    pub const fn new(text: String, structured: Value) -> Self {
        Self { text, structured }
    }
}

/// A call under way.
pub type ToolCall<'a> = Pin<Box<dyn Future<Output = Result<ToolOutput, ToolError>> + Send + 'a>>;

/// A tool that is called with JSON. [`Tool`]s are of this kind by themselves; those of another program,
/// whose arguments are not known before it runs, implement it.
pub trait AnyTool: Send + Sync {
    /// The text for the model.
    fn spec(&self) -> ToolSpec;

    /// Does the work.
    fn call(&self, arguments: Value) -> ToolCall<'_>;
}

/// A tool whose types are known to the compiler.
struct Typed<T>(T);

impl<T: Tool> AnyTool for Typed<T> {
    fn spec(&self) -> ToolSpec {
        let arguments = schema_of::<T::Arguments>();
        ToolSpec {
            definition: ToolDefinition::new(T::NAME, T::DESCRIPTION, arguments),
            output_schema: Some(schema_of::<T::Output>()),
            effect: T::EFFECT,
        }
    }

    fn call(&self, arguments: Value) -> ToolCall<'_> {
        Box::pin(async move {
            // A model that has nothing to say may say nothing at all.
            let arguments = match arguments {
                Value::Null => Value::Object(serde_json::Map::new()),
                given => given,
            };
            let arguments = serde_json::from_value(arguments);
            let arguments = arguments.map_err(|error| ToolError::arguments(T::NAME, &error))?;
            let output = self.0.call(arguments).await?;
            let structured = serde_json::to_value(&output).map_err(ToolError::new)?;
            Ok(ToolOutput {
                text: T::text(&output),
                structured,
            })
        })
    }
}

/// Tools by their names.
#[derive(Clone, Default)]
pub struct Tools(BTreeMap<String, Arc<dyn AnyTool>>);

impl Tools {
    /// The same with a tool more; one of the same name is replaced.
    #[must_use]
    pub fn with<T: Tool>(mut self, tool: T) -> Self {
        self.add(Arc::new(Typed(tool)));
        self
    }

    /// Adds a tool; one of the same name is replaced.
    pub fn add(&mut self, tool: Arc<dyn AnyTool>) {
        self.0.insert(tool.spec().definition.name, tool);
    }

    /// Adds all tools of another set; those of the same name are replaced.
    pub fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// The same with those of another set whose names are free.
    #[cfg(all(feature = "providers", feature = "store"))]
    #[must_use]
    pub(crate) fn and(mut self, others: &Self) -> Self {
        for (name, tool) in &others.0 {
            let free = self.0.entry(name.clone());
            free.or_insert_with(|| Arc::clone(tool));
        }
        self
    }

    /// Those of them whose names are meant.
    #[must_use]
    pub fn only(mut self, is_meant: impl Fn(&str) -> bool) -> Self {
        self.0.retain(|name, _| is_meant(name));
        self
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What to tell a model of one.
    #[must_use]
    pub fn spec(&self, name: &str) -> Option<ToolSpec> {
        self.0.get(name).map(|tool| tool.spec())
    }

    /// What to tell a model of each, by name.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.0.values().map(|tool| tool.spec()).collect()
    }

    /// Calls a tool with the arguments that a model gave.
    ///
    /// # Errors
    /// When there is no such tool, when the arguments are not its own, or when it fails.
    pub async fn call(&self, name: &str, arguments: Value) -> Result<ToolOutput, ToolError> {
        let tool = self.0.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.0.keys().map(String::as_str).collect();
            ToolError::unknown(name, &known)
        })?;
        tool.call(arguments).await
    }
}

impl fmt::Debug for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
