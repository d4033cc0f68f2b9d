//! An answer on the screen while it comes.

use kitbag::provider::ReplyEvent;

use crate::failure::Failure;
use crate::output;

/// Prints the pieces of an answer as they come.
pub(super) struct Shown {
    is_quiet: bool,
    is_amid_line: bool,
    error: Option<std::io::Error>,
}

impl Shown {
    pub(super) fn new(is_quiet: bool) -> Self {
        Self {
            is_quiet,
            is_amid_line: false,
            error: None,
        }
    }

    pub(super) fn show(&mut self, event: &ReplyEvent) {
        if let ReplyEvent::Text(text) = event
            && !self.is_quiet
            && self.error.is_none()
            && !text.is_empty()
        {
            self.is_amid_line = !text.ends_with('\n');
            self.error = output::print_piece(text).err();
        }
    }

    /// Ends the last line.
    pub(super) fn end(self) -> Result<(), Failure> {
        if let Some(error) = self.error {
            return Err(error.into());
        }
        if self.is_amid_line {
            output::print_piece("\n")?;
        }
        Ok(())
    }
}
