//! A request that another program made, within a budget.

use kitbag::wire::{FittedRequest, Request};

use super::Args;
use crate::failure::Failure;
use crate::prompt::deliver;

pub(super) fn run(args: &Args, request: &Request) -> Result<(), Failure> {
    // An option that would have no effect is refused: a request brings these things itself.
    let given = [
        ("--format", args.format.is_some()),
        ("--request", args.request.is_some()),
        ("--system", args.system.is_some()),
        ("--task-type", args.task_type.is_some()),
        ("--envelope", args.envelope.is_some()),
    ];
    if let Some((option, _)) = given.iter().find(|(_, is_given)| *is_given) {
        let what = format!("`{option}` is for chunks, and the file holds a request");
        let hint = "leave it out: a request has its own message and its own form";
        return Err(Failure::usage(what).hint(hint));
    }
    let (counter, traits) = args.counter.counter_for(request.model().as_deref())?;
    let settings = args.settings(request.dialect.form(), None, traits)?;
    let FittedRequest {
        request, composed, ..
    } = request
        .fit(&settings, &counter)
        .map_err(|error| Failure::new(&error).hint(error.hint()))?;
    deliver(args.show(), &composed, &request.to_json(), &counter)
}
