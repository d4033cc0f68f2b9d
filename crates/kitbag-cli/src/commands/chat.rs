//! `kitbag chat`: message after message is answered, in one conversation.

mod complete;
mod lines;

use kitbag::Engine;
use kitbag::answer::AnswerError;
use kitbag::command::{Ended, help_line};
use kitbag::store::Incoming;

use crate::answering::{self, AnsweringArgs, Responded};
use crate::failure::Failure;
use crate::learning::Learner;
use crate::model::with_chosen_model;
use crate::output::{self, counted};
use crate::progress::Progress;
use crate::store::{self, StoreArgs};

use lines::Lines;

/// Talks with a model, message after message, and remembers the conversation
///
/// Each message is answered as `kitbag ask` does, and the open conversation goes on where it was left.
/// A line that ends with a backslash goes on in the next, and a line `"""` begins a message of several
/// lines that the next `"""` ends. Ctrl-C stops an answer, which is kept as far as it came; Ctrl-D or
/// `/quit` ends the chat. Where stdin is no terminal, each line of it is a message.
///
/// A line that begins with the name of a command, such as `/context`, is followed without a model, and is
/// neither stored nor recalled: `/help` lists the commands, and the tab key completes them. Any other line
/// is a message, also one that begins with `//` or with a path; a space before the slash makes a message
/// of a command.
///
/// A conversation that has ended is summarised by the model, and facts are found in it, while you go on;
/// so is the older part of one that no longer fits. `memory: {learning: rules}` in kitbag.yaml leaves
/// that to rules, `off` leaves it out.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    answering: AnsweringArgs,
    /// Begins another conversation; the open one is closed, with a summary
    #[arg(long, conflicts_with_all = ["conversation", "no_memory"])]
    new: bool,
}

pub(crate) fn run(args: &Args, place: &StoreArgs) -> Result<(), Failure> {
    let engine = args.answering.engine()?;
    let keeps = !args.answering.no_memory;
    let mut lines = Lines::open(keeps)?;
    store::run(async {
        let store = match keeps {
            true => Some(place.open_or_make_for(&engine).await?),
            false => None,
        };
        let engine = engine.with_store(store.map(with_chosen_model));
        let incoming = args.answering.asked.incoming(engine.store()).await?;
        engine.admit(&incoming).await.map_err(AnswerError::from)?;
        let mut chat = Chat {
            args,
            learner: Learner::default(),
            engine,
            incoming,
        };
        if args.new {
            chat.begin_another().await?;
        }
        chat.say_conversation().await?;
        lines.say_help();
        loop {
            chat.learner.say();
            let (read, message) = next_message(lines).await?;
            lines = read;
            let Some(message) = message.filter(|typed| !QUIT.contains(&typed.trim_end())) else {
                break;
            };
            if let Err(failure) = chat.respond(&message).await {
                if failure.is_closed_pipe() {
                    return Err(failure);
                }
                failure.report();
            }
        }
        chat.learner.finish().await;
        Ok(())
    })
}

/// The words that end the chat, besides the commands of every channel.
const QUIT: [&str; 2] = ["/quit", "/exit"];

/// Reads a message on a thread of its own, so that what is being learned goes on meanwhile.
async fn next_message(mut lines: Lines) -> Result<(Lines, Option<String>), Failure> {
    let read = tokio::task::spawn_blocking(move || {
        let message = lines.message();
        (lines, message)
    });
    let (lines, message) = read.await.map_err(Failure::new)?;
    Ok((lines, message?))
}

struct Chat<'a> {
    args: &'a Args,
    engine: Engine,
    /// A message without words: whose it is, and where it belongs.
    incoming: Incoming,
    learner: Learner,
}

impl Chat<'_> {
    async fn respond(&mut self, message: &str) -> Result<(), Failure> {
        let progress = Progress::start("looking at what is known");
        let asked = &self.args.answering.asked;
        let mut incoming = self.incoming.clone();
        incoming.message = message.into();
        let mut turn = self.engine.turn(incoming)?;
        turn.contributions
            .extend(asked.workspace(message, &self.engine)?);
        drop(progress);
        let reply = match answering::respond(&self.engine, turn, false).await? {
            Responded::Command(reply) => reply,
            Responded::Answer(after) => {
                if let Some(after) = after {
                    self.learner.after(&self.engine, after);
                }
                return Ok(());
            }
        };
        if message.trim_end() == "/help" {
            output::print(&help_line("/quit", "ends the chat, as Ctrl-D does"))?;
        }
        if let Some(closed) = reply.closed {
            self.learner.from(&self.engine, closed);
        }
        if let Some(engine) = reply.engine {
            self.engine = *engine;
        }
        if let Some(conversation) = reply.conversation {
            self.incoming.conversation = conversation;
        }
        Ok(())
    }

    async fn begin_another(&mut self) -> Result<(), Failure> {
        match self.engine.end_conversation(&mut self.incoming).await? {
            Ended::Busy(id) => Err(Failure::new(format_args!(
                "conversation {id} stays open: a turn of it is under way"
            ))),
            Ended::Closed(id) => {
                self.learner.from(&self.engine, id);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Says which conversation goes on.
    async fn say_conversation(&self) -> Result<(), Failure> {
        match self.engine.conversation(&self.incoming).await? {
            Some((id, messages)) => {
                let messages = counted(messages.into(), "message", "messages");
                output::say(format_args!("conversation {id} goes on, with {messages}"));
            }
            None if self.engine.store().is_some() => output::say("a new conversation begins"),
            None => output::say("nothing of this chat is remembered"),
        }
        Ok(())
    }
}
