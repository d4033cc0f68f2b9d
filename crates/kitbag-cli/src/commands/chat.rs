//! `kitbag chat`: message after message is answered, in one conversation.

mod complete;
mod lines;

use std::thread;

use kitbag::Engine;
use kitbag::answer::AnswerError;
use kitbag::command::{self, Ended};
use kitbag::core::role::Role;
use kitbag::store::{ExportFilter, Incoming};
use tokio::sync::oneshot;

use crate::answering::{self, AnsweringArgs, Approver, ReportedProblems, Responded, Servers};
use crate::failure::Failure;
use crate::interrupt::{Interrupt, Interrupts, unless};
use crate::learning::Learner;
use crate::model::with_chosen_model;
use crate::output::{self, counted};
use crate::progress::Progress;
use crate::store::{self, StoreArgs};

use lines::Lines;

/// Chats with a model, and remembers the conversation
///
/// Messages are answered as by `kitbag ask`, and the open conversation continues. A line that ends with a
/// backslash continues in the next one. A line `"""` begins a message of several lines, and the next `"""`
/// ends it. Ctrl-C stops an answer and keeps the part that arrived; Ctrl-D or `/quit` ends the chat. The arrow
/// keys bring back earlier messages. If stdin is not a terminal, each of its lines is a message, and Ctrl-C
/// between answers ends the chat with exit code 130.
///
/// A line that begins with the name of a command, such as `/context`, is carried out without a model, and is
/// neither stored nor recalled. `/help` lists the commands, and the tab key completes them. Any other line
/// is a message, even if it begins with `//` or a path. A space before the slash makes a command a message.
///
/// With --tools the model may look things up itself; each call is a line on stderr. You are asked before a
/// tool that writes is called. If stdin is not a terminal, only tools that --allow-tools names are called.
///
/// When a conversation has ended, or its older part no longer fits, the model summarises it and extracts
/// facts from it while you go on. `memory: {learning: rules}` in kitbag.yaml does this without a model, and
/// `learning: off` turns it off.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  kitbag chat
  kitbag chat --pack --tools -m claude-opus-4-8
  kitbag chat --agent baker --new")]
pub(crate) struct Args {
    #[command(flatten)]
    answering: AnsweringArgs,
    /// Begin a new conversation; the open one is closed with a summary
    #[arg(long, conflicts_with_all = ["conversation", "no_memory"])]
    new: bool,
}

pub(crate) fn run(args: &Args, place: &StoreArgs) -> Result<(), Failure> {
    let mut lines = Lines::open()?;
    // Nobody can be asked where messages are piped in.
    let approver = match lines.is_typed() {
        true => Approver::Person,
        false => Approver::Options,
    };
    let engine = args.answering.engine(approver, Servers::Start)?;
    // Said before the first line is typed. Commands work without a key, and `/model` may choose another provider.
    if let Err(error) = engine.check() {
        Failure::from(error).warn("only commands can be answered");
    }
    let keeps = !args.answering.no_memory;
    store::run(async {
        let mut interrupts = Interrupts::listen();
        let prepare = async {
            let store = match keeps {
                true => Some(place.open_or_make_for(&engine).await?),
                false => None,
            };
            let engine = engine.with_store(store.map(with_chosen_model));
            let incoming = args.answering.asked.incoming(engine.store()).await?;
            // Before the first line is read: whoever may not send should not type a message first.
            engine.admit(&incoming).await.map_err(AnswerError::from)?;
            let engine = args.answering.with_tools(engine, &incoming).await?;
            Ok::<_, Failure>((engine, incoming))
        };
        // Dropping what was begun also ends the servers that it has started.
        let prepared = interrupts.unless_interrupted(prepare).await;
        let (engine, incoming) = prepared.map_err(Failure::interrupted)??;
        let mut chat = Chat {
            args,
            learner: Learner::default(),
            engine,
            incoming,
            interrupts,
            told: ReportedProblems::default(),
        };
        if args.new {
            chat.begin_another().await?;
        }
        chat.say_conversation().await?;
        lines.say_help();
        // From the store and no file of its own, so that forgetting reaches the arrow keys.
        lines.bring_back(chat.said().await?)?;
        loop {
            // Between answers only: a line about learning must not appear inside an answer.
            chat.learner.say();
            let message;
            (lines, message) = chat.next_message(lines).await?;
            let Some(message) = message else {
                break;
            };
            match chat.respond(&message).await {
                Ok(AfterMessage::Message) => {}
                Ok(AfterMessage::End) => break,
                Err(failure) if failure.is_closed_pipe() => return Err(failure),
                // A failed answer does not end the chat. The message is stored, and the person can go on.
                Err(failure) => drop(failure.report()),
            }
            // The partial answer is stored. The terminal or supervisor is gone, so the chat ends.
            if let Some(last) = chat.interrupts.last() {
                return Err(Failure::interrupted(last));
            }
            if is_forget(&message) {
                lines.bring_back(chat.said().await?)?;
            }
        }
        // The process must not end in the middle of a summary.
        chat.learner.finish().await;
        Ok(())
    })
}

/// The continuation of a chat after a message.
enum AfterMessage {
    Message,
    End,
}

fn is_forget(message: &str) -> bool {
    // Read again and not kept from the turn: this also covers a command that failed halfway.
    let command = command::read(&message.into());
    matches!(command, Ok(Some(command)) if command.name() == "forget")
}

/// Reads a message on a thread of its own, so that what is being learned goes on meanwhile. Nothing waits
/// for that thread when the chat ends: no more input may ever come.
async fn read_message(mut lines: Lines) -> Result<(Lines, Option<String>), Failure> {
    let (sender, read) = oneshot::channel();
    thread::Builder::new()
        .name("read".into())
        .spawn(move || {
            let message = lines.message();
            // Where nobody waits for it, the chat has ended.
            drop(sender.send((lines, message)));
        })
        .map_err(Failure::new)?;
    let (lines, message) = read.await.map_err(Failure::new)?;
    Ok((lines, message?))
}

/// The number of conversations, and of messages in each, that the arrow keys bring back.
const CONVERSATIONS: u32 = 10;
const MESSAGES: u32 = 100;

struct Chat<'a> {
    args: &'a Args,
    engine: Engine,
    /// A message without words: whose it is, and where it belongs.
    incoming: Incoming,
    learner: Learner,
    interrupts: Interrupts,
    told: ReportedProblems,
}

impl Chat<'_> {
    /// The next message. Ctrl-C ends a chat that is piped in; at a terminal it drops the line. Other signals end both.
    async fn next_message(&mut self, lines: Lines) -> Result<(Lines, Option<String>), Failure> {
        let is_typed = lines.is_typed();
        let interrupts = &mut self.interrupts;
        let ended = async {
            loop {
                match interrupts.next().await {
                    // Ctrl-C after an answer has ended is not meant for the next one.
                    Interrupt::CtrlC if is_typed => {}
                    interrupt => return interrupt,
                }
            }
        };
        let read = unless(read_message(lines), ended).await;
        read.map_err(Failure::interrupted)?
    }

    /// The sender's latest messages on the channel, oldest first.
    async fn said(&self) -> Result<Vec<String>, Failure> {
        let Some(store) = self.engine.store() else {
            return Ok(Vec::new());
        };
        let Incoming {
            sender, channel, ..
        } = &self.incoming;
        let filter = ExportFilter::new(Some(sender.clone()), Some(channel.clone()));
        let latest = store.latest_conversations(&filter, CONVERSATIONS).await?;
        let mut said = Vec::new();
        // The list begins with the latest, and the arrow keys with the last line added.
        for conversation in latest.iter().rev() {
            let messages = store
                .visible_messages(conversation.conversation.id, MESSAGES)
                .await?;
            let own = messages.iter().filter(|one| one.message.role == Role::User);
            said.extend(own.map(|one| one.text().into_owned()));
        }
        Ok(said)
    }

    async fn respond(&mut self, message: &str) -> Result<AfterMessage, Failure> {
        let progress = Progress::start("gathering context");
        let asked = &self.args.answering.asked;
        let mut incoming = self.incoming.clone();
        incoming.message = message.into();
        let mut turn = self.engine.turn(incoming)?;
        turn.contributions
            .extend(asked.workspace(message, &self.engine)?);
        drop(progress);
        // Listening starts before the request, so that Ctrl-C counts before the first word of the answer.
        let interrupts = &mut self.interrupts;
        let interrupted = async {
            interrupts.next().await;
        };
        let shown = (false, &mut self.told);
        let reply = match answering::respond(&self.engine, turn, shown, interrupted).await? {
            Responded::Command(reply) => reply,
            Responded::Answer(after) => {
                if let Some(after) = after {
                    self.learner.after(&self.engine, after);
                }
                return Ok(AfterMessage::Message);
            }
        };
        if let Some(closed) = reply.closed {
            self.learner.from(&self.engine, closed);
        }
        if let Some(engine) = reply.engine {
            self.engine = *engine;
        }
        if let Some(conversation) = reply.conversation {
            self.incoming.conversation = conversation;
        }
        Ok(match reply.ends_chat {
            true => AfterMessage::End,
            false => AfterMessage::Message,
        })
    }

    async fn begin_another(&mut self) -> Result<(), Failure> {
        match self.engine.end_conversation(&mut self.incoming).await? {
            Ended::Busy(id) => Err(Failure::new(format_args!(
                "conversation {id} stays open: another program is answering in it"
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
                output::say(format_args!("conversation {id} continues, with {messages}"));
            }
            None if self.engine.store().is_some() => output::say("new conversation"),
            None => output::say("this chat is not remembered"),
        }
        Ok(())
    }
}
