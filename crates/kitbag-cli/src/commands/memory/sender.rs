//! Whose memory is meant where nobody is named.

use kitbag::store::{Sender, Store};

use crate::failure::Failure;
use crate::output::one_line;
use crate::store;

/// How many senders an error lists.
const LISTED: u32 = 8;
/// How many rows are looked at: a sender has one for each channel.
const LOOKED_AT: u32 = 1_000;

/// The sender that was named, or the only one that the store knows.
pub(super) async fn named_or_only(store: &Store, named: Option<&str>) -> Result<String, Failure> {
    if let Some(sender) = named {
        return Ok(sender.to_owned());
    }
    let known = store.senders(LOOKED_AT).await.map_err(store::failure)?;
    let names = names(&known);
    match names.as_slice() {
        [] => Err(Failure::new("the store knows nobody yet").hint(
            "name somebody with `--sender`, or bring conversations in with `kitbag memory import`",
        )),
        [only] => Ok((*only).to_owned()),
        several => Err(
            Failure::usage("the store knows several senders, and none is named").hint(
                format_args!("name one with `--sender`: {}", listed(several)),
            ),
        ),
    }
}

fn names(senders: &[Sender]) -> Vec<&str> {
    let mut names: Vec<&str> = senders.iter().map(|known| known.sender.as_str()).collect();
    // They come by name.
    names.dedup();
    names
}

fn listed(names: &[&str]) -> String {
    let some: Vec<String> = names
        .iter()
        .take(LISTED as usize)
        .map(|name| one_line(name))
        .collect();
    let more = if names.len() > some.len() {
        ", …"
    } else {
        ""
    };
    format!("{}{more}", some.join(", "))
}
