//! Notebooks as texts: their cells one after the other, without outputs.
//!
//! A cell begins with a line `# %%`, as editors write it. Pictures and tables of a run are most of such a
//! file, and no help to a reader.

use serde_json::Value;

use crate::json;

/// The text of a notebook; none for what is no notebook.
pub(super) fn text(bytes: &[u8]) -> Option<String> {
    let notebook: Value = serde_json::from_slice(bytes).ok()?;
    // Before version 4 the cells stood in a sheet.
    let sheet = notebook.pointer("/worksheets/0").unwrap_or(&notebook);
    let cells = sheet.get("cells")?.as_array()?;
    let mut text = String::new();
    for cell in cells {
        let is_code = json::text(cell, "/cell_type") == Some("code");
        let source = cell.get("source").or_else(|| cell.get("input"));
        let source = source.map(joined).unwrap_or_default();
        if source.trim().is_empty() {
            continue;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(if is_code {
            "# %%\n"
        } else {
            "# %% [markdown]\n"
        });
        for line in source.trim_end().lines() {
            match (is_code, line.is_empty()) {
                (true, _) => text.push_str(line),
                (false, true) => text.push('#'),
                (false, false) => {
                    text.push_str("# ");
                    text.push_str(line);
                }
            }
            text.push('\n');
        }
    }
    Some(text)
}

/// A text is written as one string, or as one for each line.
fn joined(source: &Value) -> String {
    match source {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p04_cells_are_code_and_outputs_are_dropped() {
        let notebook = r##"{"cells": [
            {"cell_type": "markdown", "source": ["# Plots\n", "\n", "of axes"]},
            {"cell_type": "code", "source": "import math\n\nmath.pi\n",
             "outputs": [{"data": {"image/png": "iVBORw0KGgo="}}]},
            {"cell_type": "code", "source": []}
        ], "nbformat": 4}"##;
        let expected = "# %% [markdown]\n# # Plots\n#\n# of axes\n\n# %%\nimport math\n\nmath.pi\n";
        assert_eq!(text(notebook.as_bytes()).unwrap(), expected);
    }

    #[test]
    fn p04_what_is_no_notebook_stays_as_it_is() {
        for other in ["", "{}", "[1]", r#"{"cells": 3}"#, "not json"] {
            assert_eq!(text(other.as_bytes()), None, "{other}");
        }
    }
}
