//! The phrases that speak for a kind of task, as data.
//!
//! A list has a comma between its phrases, all in lower case. Weights are small whole numbers. A
//! verb that opens a request (10) outweighs one sign of a fault further on (6), as in "add a retry
//! when the request fails"; two such signs outweigh it.

use crate::envelope::TaskType;
use crate::envelope::TaskType::{Analyze, Debug, Implement, Refactor, Test};

/// A kind of task, a weight, and the phrases that stand for it.
pub(super) type Cue = (TaskType, u32, &'static str);

/// What "add a test for …" weighs: more than the faults that the test is about.
pub(super) const CREATED_WEIGHT: u32 = 18;

/// What a mere statement of how something behaves weighs.
pub(super) const OBSERVED_WEIGHT: u32 = 2;

/// What may stand before the verb of a request. Longer ones come first.
pub(super) const POLITE: &str = "i would like you to, i'd like you to, i want you to, \
i would like to, i'd like to, i need you to, would it be possible to, is it possible to, \
we would like to, we'd like to, your task is to, the goal is to, it would be nice to, \
would be nice to, it would be great to, are you able to, help me to, i want to, we want to, \
i need to, we need to, we should, we must, you should, could you, would you, can you, will you, \
can we, could we, help me, let us, let's, please, kindly, just, now, then, also, next, first, hi, \
hello, hey, ok, okay, todo, task, tracking issue, rfc, wip";

/// Verbs that open a request.
pub(super) const LEADS: &[Cue] = &[
    (
        Debug,
        10,
        "fix, fixes, fixed, fixing, hotfix, bugfix, debug, troubleshoot, diagnose, mend, repair, \
resolve, bug, bug report, regression, crash, typo, 500 on, 500 when, 500 for, 500 error, 404 on, \
404 when, 404 for",
    ),
    (
        Refactor,
        10,
        "refactor, refactored, refactoring, rename, renamed, extract, clean up, cleanup, simplify, \
move, split, deduplicate, dedupe, migrate, restructure, reorganize, reorganise, consolidate, \
decouple, inline, modernize, modernise, tidy, tidy up, unify, merge, factor out, pull out, \
break up, break out, flatten, untangle, rewrite, port",
    ),
    (
        Refactor,
        6,
        "replace, convert, remove, removed, delete, drop, get rid of, optimize, optimise, speed up, \
perf, chore, style, reduce, rework, swap, upgrade",
    ),
    (Test, 10, "test, unit test, verify, cover"),
    (
        Analyze,
        10,
        "explain, describe, document, review, analyze, analyse, understand, summarize, summarise, \
outline, audit, compare, evaluate, assess, list, show me, show how, show where, show which, show \
what, tell me, walk me through, give me, find out, figure out, docs, security review, code \
review",
    ),
    (
        Analyze,
        6,
        "investigate, look at, look into, check, find, inspect, explore, identify, study, read, trace",
    ),
    (
        Analyze,
        7,
        "how, how's, what, what's, where, where's, which, who, when, whose, is, are, does, do, did, \
should, was, were, has, have",
    ),
    (Analyze, 4, "why, why's, how come"),
    (
        Implement,
        10,
        "add, adds, added, adding, implement, implements, implemented, support, create, build, \
introduce, feat, feature, feature request, enhancement, proposal, write, generate, new, \
expose, provide, allow, enable, extend, integrate, scaffold, develop, design, set up",
    ),
    (
        Implement,
        7,
        "show, display, send, retry, hide, highlight, remember, notify, schedule, sync, limit, offer, \
sort, hook up",
    ),
    (
        Implement,
        5,
        "make, update, change, let, use, handle, ensure, improve, bump, include, teach, \
give, put, turn, accept, return, emit, respect, validate, cache, store, log, set, increase, \
raise, disable, prevent, avoid, stop, configure, wire, print, save, load, render, open, ask",
    ),
];

/// Leads that are nouns just as often: "test runner crashes".
pub(super) const NOUN_LIKE: &str = "test, document, support, move, split, extract, review, build, port, cover, update, change, \
log, cache, store, set, list, show, display, sort, limit, retry, load, print, open, check, find, read, trace, merge, feature, inline, style, \
use, return, new, include, design, crash, bug, regression, cleanup, outline, audit, docs";

/// Verbs that say of something before them what it may or will be.
pub(super) const WISHES: &str = "should, must, can, could, will, would, may, might, needs";

/// Verbs that say of something before them that it does or is something.
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

/// Those with which a complaint may begin: "prints garbage".
pub(super) const COMPLAINTS: &str = "drops, prints, skips, shows, writes, reads, sends, loses, \
swallows, truncates, strips, hangs, freezes, returns, deletes, duplicates, forgets, ignores, eats, \
overwrites, rejects, exits, keeps, misses, omits";

/// Words that begin a clause of its own, so that a statement after them is no statement of the whole.
pub(super) const CLAUSES: &str = "when, if, that, which, where, so, because, how, why, what, whether, who, until, unless, \
while, after, before, as, and, whenever, once";

/// Phrases of a title that count wherever they stand.
pub(super) const IN_TITLE: &[Cue] = &[
    (
        Debug,
        6,
        "crash, crashes, crashed, crashing, fails, failing, failed, fail, failure, breaks, broke, \
broken, panics, panicked, panicking, hangs, hanging, freezes, deadlock, deadlocks, segfault, \
segfaults, traceback, stack trace, stacktrace, backtrace, core dump, regression, regressed, \
memory leak, leaks, leaking, race condition, infinite loop, infinite recursion, stack \
overflow, false positive, false negative, bug, bugs, buggy, broken by, stopped working, \
stops working, not working, doesn't work, does not work, don't work, do not work, didn't \
work, no longer works, no longer work, fails with, throws, raises, misbehaves, corrupts, \
corrupted, flaky",
    ),
    (
        Debug,
        5,
        "wrong, wrongly, incorrect, incorrectly, invalid output, unexpected, unexpectedly, mangled, \
garbled, duplicated, ignored, lost, missing from, silently, spurious, inconsistent, unable \
to, cannot, can't, couldn't, won't, doesn't, does not, isn't, is not, aren't, are not, \
didn't, did not, wasn't, was not, no longer, never, error, errors, exception, exceptions, \
panic, stuck, garbage, high cpu, cpu usage, logged out, mismatched, black screen, blank page, \
what causes, what caused, gets overwritten, overwrites, off by one",
    ),
    (
        Debug,
        8,
        "a fix for, fix the, fix this, fix it, fix that, fix a, fix an, fix them, to fix, and fix, \
root cause",
    ),
    (
        Debug,
        3,
        "fix, slow, slower, slowly, issue, issues, problem, instead of, but got, should not, \
shouldn't, leak, timeout, timeouts, times out, after upgrading, since the update, weird, \
strange, even though, despite",
    ),
    (
        Test,
        8,
        "unit tests for, unit test for, tests for, test for, more tests, test coverage, with tests, \
with a test, integration tests, regression test, regression tests, test cases, property \
tests, end to end tests, no tests, missing tests, untested, write tests, write a test, add tests, add a test, adding tests",
    ),
    (
        Refactor,
        7,
        "refactor it, refactor this, refactor the, and refactor, clean it up, clean up, without \
changing behaviour, without changing behavior, without changing the behaviour, without \
changing the behavior, without changing the api, no functional change, dead code, duplicate code, duplicated code, \
code duplication, technical debt, tech debt",
    ),
    (
        Refactor,
        3,
        "refactor, rename, simplify, deduplicate, migrate, split it, split into, move it, extract, \
unused, deprecated, legacy, readability, cleaner",
    ),
    (
        Implement,
        5,
        "feature request, add support, support for, would be nice, would be great, would be useful, \
would be helpful, no way to, ability to, option to, allow users, please add, please support, \
should support, new feature, and add, to add, we add, you add",
    ),
    (
        Implement,
        2,
        "add, implement, support, create, new, feature, allow, missing, wish, option, should",
    ),
    (
        Analyze,
        4,
        "explain, how does, how do, how is, how are, what is, what are, what does, where is, where \
are, where do, where does, overview, architecture, document, understand, summary, review, \
code review, walk through",
    ),
];

/// Phrases of the text below the title.
pub(super) const IN_BODY: &[Cue] = &[
    (
        Debug,
        3,
        "steps to reproduce, to reproduce, how to reproduce, expected behavior, expected behaviour, \
actual behavior, actual behaviour, actual result, describe the bug, describe the issue, \
reproducible example, minimal reproduction, traceback, stack trace, panicked, segfault, \
regression, is a bug, this bug, the bug, crashes, fails with, fails, doesn't work, does not \
work, used to work, i expected, i would expect, instead of, but got, raises, throws, \
exception, wrong, incorrect, unexpected, broken",
    ),
    (
        Implement,
        3,
        "feature request, is your feature request, describe the solution, the solution you'd like, \
would be nice, would be great, would be useful, would be helpful, i would like to be able, \
proposal, use case, enhancement, new option, add support, please add, i propose, motivation",
    ),
    (
        Refactor,
        2,
        "refactor, refactoring, technical debt, duplicated code, dead code, readability",
    ),
    (
        Test,
        2,
        "write tests, add tests, more tests, test coverage, unit tests for",
    ),
];

/// Verbs that bring something about.
pub(super) const CREATES: &str = "add, write, create, implement, generate, improve, increase, \
extend, raise, provide, introduce, update, make, build, expand, complete";

/// What they may bring about that is no part of the program.
pub(super) const TESTS: &str =
    "test, tests, coverage, testing, specs, unittest, unittests, fixtures";
pub(super) const TEST_PARTS: &str = "case, cases, suite, coverage, fixture, fixtures";
pub(super) const DOCUMENTS: &str = "documentation, docs, docstring, docstrings, readme, changelog, \
comments, tutorial, guide";

/// Words that end the name of what a verb is about.
pub(super) const ENDS: &str = "for, of, to, that, which, covering, in, with, when, on, around, \
against, so, and, from, where, about, using, as, at, by, if, is, not, into";
