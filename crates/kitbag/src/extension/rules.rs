//! The rules of a project as an extension: a text that the model gets after certain results of tools.

use kitbag_layout::ContextRule;

use super::{EndedCall, Extension, ExtensionError, Run};

/// Tells the model what rules say.
pub(crate) struct Rules(pub(crate) Vec<ContextRule>);

impl Extension for Rules {
    fn name(&self) -> &str {
        "rules"
    }

    async fn after_tool(&self, run: &mut Run, call: &EndedCall) -> Result<(), ExtensionError> {
        let result = call.result.as_deref().map_err(String::as_str);
        let held = self.0.iter();
        let held = held.filter(|rule| rule.holds(&call.call.name, result));
        for rule in held {
            run.inject(rule.message.clone());
        }
        Ok(())
    }
}
