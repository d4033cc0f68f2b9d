//! Renders for a context that was given whole.

use std::path::Path;

use kitbag::layout::chain::PromptSource;
use kitbag::layout::given::{key_of, lasting, texts, turn_of};
use kitbag::layout::layout::ParsedLayout;
use kitbag::layout::payload::PayloadAgent;
use kitbag::layout::prompt::SystemPrompt;
use kitbag::layout::props::overlay;
use kitbag::layout::{Map, Turn, Value};
use kitbag::project::Project;
use kitbag::prompt::prompt_of;

use super::{Args, choice, key, object, print_payload, print_raw, read_file, say_notes};
use crate::failure::Failure;
use crate::output;

pub(super) fn run(args: &Args, project: &Project, file: &Path) -> Result<(), Failure> {
    let layout = choice::layout(args, project, None)?;
    let name = file.display().to_string();
    let mut context = object(&read_file(file)?, &name)?;
    if let Some(query) = args.query()? {
        context.insert("user_input".to_owned(), query.into());
    }
    let parsed = ParsedLayout::new(&layout, args.language.as_deref(), &project.partials)
        .map_err(Failure::new)?;
    let given = overlay(context.get("props"), args.props()?.as_ref());
    let props = parsed
        .props(given.as_ref())
        .map_err(|error| Failure::new(format_args!("layout {}: {error}", layout.id)))?;
    say_notes(&props.notes);
    let render = |mut context: Map| {
        context.insert("props".to_owned(), props.props.clone());
        parsed
            .render(&Value::Map(context), project.conversation.as_ref())
            .map_err(Failure::new)
    };
    if args.raw {
        return print_raw(args, &render(context)?, &layout.id, &props.notes);
    }

    let texts = texts(&context);
    let key = match args.key.clone().or_else(|| key_of(&context)) {
        Some(key) if key.occurs_in(texts.iter().copied()) => {
            return Err(
                Failure::new("a text of the context contains its security key")
                    .hint("leave the key out, so that another is drawn"),
            );
        }
        Some(key) => key,
        None => key::key(None, &texts)?,
    };
    let mut turn =
        turn_of(&context, key).map_err(|error| Failure::usage(format_args!("{name}: {error}")))?;
    args.set(&mut turn);
    turn.model = args.counter.model().map(str::to_owned);
    let system = SystemPrompt::new(
        render(lasting(&context, &turn.key))?,
        PromptSource::Layout {
            id: layout.id.clone(),
        },
    );
    let (settings, counter) = args.settings(&turn)?;
    let made = prompt_of(system, &turn, &settings, &counter, None)
        .map_err(|error| Failure::new(&error).hint(error.hint()))?;
    match args.json {
        true => {
            let agent = agent(&context, &turn);
            print_payload(made.payload(agent, &turn, project.conversation.as_ref()))
        }
        false => Ok(output::print(&made.assembly.body)?),
    }
}

/// Who answers, as far as the context says it.
fn agent(context: &Map, turn: &Turn) -> PayloadAgent {
    let field = |name: &str| {
        let value = context.get("agent")?.get(name)?;
        value.as_text().map(str::to_owned)
    };
    let id = field("id").unwrap_or_else(|| "assistant".to_owned());
    let mut agent = PayloadAgent::new(id, field("provider").unwrap_or_default(), turn.mode);
    agent.model = field("model");
    agent
}
