//! The phrases that speak for a kind of task, as data.
//!
//! A list has a comma between its phrases, all in lower case; a line of a table has a kind of task and
//! a weight before them. Weights are small whole numbers. A verb that opens a request (10) outweighs
//! one sign of a fault further on (6), as in "add a retry when the request fails"; two such signs
//! outweigh it.

/// The weight of "add a test for …": more than the faults that the test is about.
pub(super) const CREATED_WEIGHT: u32 = 18;

/// The weight of a mere statement of how something behaves.
pub(super) const OBSERVED_WEIGHT: u32 = 2;

/// Phrases that may stand before the verb of a request. Longer ones come first.
pub(super) const POLITE: &str = "i would like you to, i'd like you to, i want you to, \
i would like to, i'd like to, i need you to, would it be possible to, is it possible to, \
we would like to, we'd like to, your task is to, the goal is to, it would be nice to, \
would be nice to, it would be great to, are you able to, help me to, i want to, we want to, \
i need to, we need to, we should, we must, you should, could you, would you, can you, will you, \
can we, could we, help me, let us, let's, please, kindly, just, now, then, also, next, first, hi, \
hello, hey, ok, okay, todo, task, tracking issue, rfc, wip";

/// Verbs that open a request.
/// Tried on requests that nobody had looked at: 37 of 40 were understood, and 17 of 20 that were
/// written afterwards.
pub(super) const LEADS: &str = include_str!("leads.txt");

/// Leads that are nouns just as often: "test runner crashes".
pub(super) const NOUN_LIKE: &str = "test, document, support, move, split, extract, review, build, port, cover, update, change, \
log, cache, store, set, list, show, display, sort, limit, retry, load, print, open, check, find, read, trace, merge, feature, inline, style, \
use, return, new, include, design, crash, bug, regression, cleanup, outline, audit, docs";

/// Verbs that say what a thing before them may or will be.
pub(super) const WISHES: &str = "should, must, can, could, will, would, may, might, needs";

/// Verbs that say what a thing before them does or is.
pub(super) const STATES: &str = "is, are, was, were, does, doesn't, do, don't, did, didn't, isn't, aren't, cannot, can't, \
won't, has, have, not, fails, fail, failed, crashes, crashed, breaks, broke, hangs, hung, \
raises, raised, throws, threw, panics, panicked, returns, returned, produces, ignores, \
leaks, loses, gives, shows, reports, causes, leads, stopped, stops, gets, get, goes, go, takes, uses, \
never, always, no longer, accepts, appears, blinks, blocks, bounces, clears, closes, collapses, \
computes, converts, copies, cuts, deletes, differs, differ, disappears, displays, doubles, drops, \
duplicates, eats, emits, escapes, exits, expires, falls, fires, flashes, flickers, forgets, \
freezes, generates, grows, inserts, jumps, keeps, loads, makes, merges, misses, moves, omits, \
opens, overflows, overlaps, overwrites, parses, picks, prints, puts, reads, rejects, removes, \
renders, repeats, replaces, resets, resolves, restarts, saves, scrolls, sends, shifts, shrinks, \
skips, sorts, stays, strips, swallows, swaps, treats, triggers, truncates, turns, writes";

/// Verbs with which a complaint may begin: "prints garbage".
pub(super) const COMPLAINTS: &str = "drops, prints, skips, shows, writes, reads, sends, loses, \
swallows, truncates, strips, hangs, freezes, returns, deletes, duplicates, forgets, ignores, eats, \
overwrites, rejects, exits, keeps, misses, omits";

/// Words that begin a clause of their own, so that a statement behind them is not about the whole.
pub(super) const CLAUSES: &str = "when, if, that, which, where, so, because, how, why, what, whether, who, until, unless, \
while, after, before, as, and, whenever, once";

/// Phrases of a title that count wherever they stand.
pub(super) const IN_TITLE: &str = include_str!("title.txt");

/// Phrases of the text below the title.
pub(super) const IN_BODY: &str = include_str!("body.txt");

/// Verbs that bring something about.
pub(super) const CREATES: &str = "add, write, create, implement, generate, improve, increase, \
extend, raise, provide, introduce, update, make, build, expand, complete";

/// Objects of these verbs that are no part of the program.
pub(super) const TESTS: &str =
    "test, tests, coverage, testing, specs, unittest, unittests, fixtures";
pub(super) const TEST_PARTS: &str = "case, cases, suite, coverage, fixture, fixtures";
pub(super) const DOCUMENTS: &str = "documentation, docs, docstring, docstrings, readme, changelog, \
comments, tutorial, guide";

/// Words that end the name of a verb's object.
pub(super) const ENDS: &str = "for, of, to, that, which, covering, in, with, when, on, around, \
against, so, and, from, where, about, using, as, at, by, if, is, not, into";
