//! The query that the options describe, as a channel would hand it in.

use std::path::Path;

use kitbag::core::envelope::ToolDefinition;
use kitbag::engine::AgentRequest;
use kitbag::layout::given::{key_of, turn_of};
use kitbag::layout::{ChannelTurn, Document, Mode, PastMessage};
use serde::de::DeserializeOwned;

use super::{Args, ModeArg, choice, object};
use crate::failure::Failure;
use crate::input;
use crate::output::one_line;

/// The query, with a given context or with the data of the project.
pub(super) fn request(args: &Args) -> Result<AgentRequest, Failure> {
    let query = args.query()?;
    let mut context = None;
    let mut channel = match &args.context {
        Some(file) => {
            let (name, json) = input::read_data(file, "the context")?;
            let mut given = object(&json, &name)?;
            if let Some(query) = query {
                // The query on the command line wins over that of the context.
                given.insert("user_input".to_owned(), query.into());
            }
            let channel =
                turn_of(&given).map_err(|error| Failure::usage(format_args!("{name}: {error}")))?;
            context = Some(given);
            channel
        }
        None => ChannelTurn::new(query.unwrap_or_default()),
    };
    match args.mode {
        Some(ModeArg::Query) => channel.mode = Mode::Query,
        Some(ModeArg::Execute) => channel.mode = Mode::Execute,
        None => {}
    }
    if let Some(platform) = &args.platform {
        channel.platform = platform.clone();
    }
    if let Some(file) = &args.messages {
        channel.messages = read_list::<PastMessage>(file)?;
    }
    if let Some(file) = &args.tools {
        channel.tools = read_list::<ToolDefinition>(file)?;
    }
    channel.model = args.counter.model().map(str::to_owned);
    channel.language.clone_from(&args.language);

    let mut request = AgentRequest::new(channel);
    request.agent.clone_from(&args.agent);
    request.layout = choice::layout(args)?;
    request.props = args.props()?;
    // A context may hold the key that its texts were made with.
    request.key = args.key.clone().or_else(|| key_of(context.as_ref()?));
    request.form = args.format;
    request.context = context;
    for given in &args.document {
        let (name, document) = channel_document(given)?;
        request.documents.insert(name, document);
    }
    Ok(request)
}

/// Reads a JSON array.
fn read_list<T: DeserializeOwned>(file: &Path) -> Result<Vec<T>, Failure> {
    let (name, json) = input::read_data(file, "a list")?;
    serde_json::from_str(&json).map_err(|error| {
        let what = format_args!("{name}: not the expected JSON array: {error}");
        Failure::usage(what).hint("`kitbag layout render --help` shows the form of an item")
    })
}

/// A document as a channel would bring it.
fn channel_document(given: &str) -> Result<(String, Document), Failure> {
    let Some((name, file)) = given.split_once('=').filter(|(name, _)| !name.is_empty()) else {
        let message = format!("--document {}: expected NAME=FILE", one_line(given));
        return Err(Failure::usage(message));
    };
    let (_, text) = input::read_data(Path::new(file), "a document")?;
    Ok((name.to_owned(), Document::new(text, file)))
}
