//! Log events of a composed prompt, made of what the core returns: it logs nothing itself.

use kitbag_core::assembly::Renewal;
use kitbag_core::problem::ProblemKind;
use kitbag_core::tokens::Exactness;

use super::Composed;

/// Logs the choice of chunks, the fate of the selection before the history, and the cached prefix.
pub(crate) fn tell(composed: &Composed) {
    let assembly = &composed.assembly;
    let fit = &assembly.ledger.fit;
    // A budget of zero is allowed, and has a prompt without chunks.
    let share = f64::from(assembly.tokens.0) / f64::from(fit.budget.0.max(1));
    tracing::debug!(
        event = "context_compressed",
        chunks_in = fit.chunks_in,
        chunks_out = fit.chunks_out,
        tokens = assembly.tokens.0,
        budget = fit.budget.0,
        utilization = (share * 1_000.0).round() / 1_000.0,
        tokenizer = assembly.tokenizer,
        estimated = matches!(assembly.exactness, Exactness::Estimated { .. }),
    );
    let epoch = &assembly.ledger.epoch;
    match epoch.renewed {
        Some(renewal) => tracing::debug!(event = "epoch_renewed", because = reason(renewal)),
        None => tracing::debug!(
            event = "epoch_kept",
            regret = epoch.regret,
            regret_sum = epoch.regret_sum,
            limit = epoch.limit,
        ),
    }
    if let Some(last) = assembly.breakpoints.last() {
        tracing::debug!(
            event = "cache_breakpoints",
            count = assembly.breakpoints.len(),
            band = last.band.as_str(),
            tokens = last.tokens.0,
        );
    }
    if let Some(reuse) = assembly.reuse {
        tracing::debug!(
            event = "prefix_reused",
            bytes = reuse.shared,
            previous = reuse.previous,
            permille = reuse.permille(),
        );
    }
    let (model, tokens) = (composed.draft.model.as_deref(), assembly.tokens.0);
    for problem in &assembly.ledger.problems {
        if problem.kind == ProblemKind::Costly {
            tracing::info!(event = "price_step_passed", model, tokens);
        }
    }
}

const fn reason(renewal: Renewal) -> &'static str {
    match renewal {
        Renewal::First => "first",
        Renewal::PrefixChanged => "prefix_changed",
        Renewal::HistoryChanged => "history_changed",
        Renewal::Retracted => "retracted",
        Renewal::NoRoom => "no_room",
        Renewal::Regret => "regret",
        _ => "other",
    }
}
