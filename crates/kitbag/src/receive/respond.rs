//! The response to a message: its stages in order, then the reply of a command or an answer.

use super::Findings;
use super::authorise::{UNRESTRICTED, authorise};
use crate::answer::{Answer, AnswerError, Show, Stages, Stop};
use crate::command::{self, CommandReply};
use crate::engine::{Engine, TurnRequest};

/// The response to a message.
#[derive(Debug)]
pub enum Response {
    /// The message was a command. Nothing of it is stored.
    Command(CommandReply),
    /// A model answered.
    Answer(Box<Answer>),
}

impl Engine {
    /// Responds to the message of a turn: runs a command, and answers anything else as
    /// [`answer`](Self::answer) does. [`command::read`] recognises commands.
    ///
    /// # Errors
    /// When the sender may not send messages on the channel, when a command cannot be followed, or as
    /// [`answer`](Self::answer).
    pub async fn respond(
        &self,
        turn: TurnRequest,
        show: Show<'_>,
        stop: Stop<'_>,
    ) -> Result<Response, AnswerError> {
        // Before the command: one of a sender who is not admitted must not run either.
        let (mut stages, findings) = self.receive(&turn).await?;
        if let Some(memory) = &turn.memory
            && let Some(command) = command::read(&memory.incoming.message.message.content)?
        {
            // Boxed, as the answer is: together they would take most of a thread's stack.
            let reply = self.follow(&command, &memory.incoming, &turn.contributions);
            let reply = Box::pin(reply).await?;
            stages.end("command", command.name());
            return Ok(Response::Command(reply));
        }
        // Recorded also when it finds nothing, so that each turn has the same stages.
        stages.end("command", "none");
        let answer = Box::pin(self.answer_received(turn, stages, &findings, show, stop));
        Ok(Response::Answer(Box::new(answer.await?)))
    }

    /// Admits the message of a turn and examines its text.
    pub(crate) async fn receive(
        &self,
        turn: &TurnRequest,
    ) -> Result<(Stages, Findings), AnswerError> {
        let mut stages = Stages::begin();
        let admitted = match &turn.memory {
            Some(memory) => authorise(self, &memory.incoming).await?,
            // Without memory there is no channel, and so nobody to restrict.
            None => UNRESTRICTED,
        };
        stages.end("authorise", admitted);
        let findings = Findings::of_turn(turn);
        stages.end("sanitise", &findings);
        Ok((stages, findings))
    }
}
