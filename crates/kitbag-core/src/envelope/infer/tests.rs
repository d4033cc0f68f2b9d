//! Requests as people write them, and what kind of task each is.

use proptest::prelude::*;

use super::*;
use crate::envelope::TaskType::{Analyze, Debug, Implement, Refactor, Test};

#[test]
fn p05_the_request_says_what_kind_of_task_it_is() {
    let mut wrong = Vec::new();
    for (expected, request) in REQUESTS {
        let inferred = TaskType::infer(request);
        if inferred.task_type != *expected {
            wrong.push(format!(
                "{request:?}: {inferred}, not {}",
                expected.as_str()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const REQUESTS: &[(TaskType, &str)] = &[
    (Debug, "fix the login redirect"),
    (Debug, "Fix #1234"),
    (Debug, "please fix the broken build on Windows"),
    (Debug, "fix(parser): do not eat the last newline"),
    (Debug, "[Bug] Sidebar overlaps the editor"),
    (Debug, "Bug: dates are shifted by one day"),
    (Debug, "Why does the parser crash on an empty file?"),
    (Debug, "why do the tests fail on CI but not here?"),
    (Debug, "The new parser breaks on nested comments"),
    (Debug, "Test runner crashes on startup"),
    (Debug, "tests fail with a timeout since the update"),
    (Debug, "Login does not work with a long password"),
    (Debug, "Search stopped working after upgrading to 3.2"),
    (Debug, "KeyError when a header is repeated"),
    (
        Debug,
        "java.lang.NullPointerException in OrderService.total",
    ),
    (Debug, "panic: index out of range when the list is empty"),
    (Debug, "Export writes the wrong file extension"),
    (Debug, "Memory leak in the connection pool"),
    (Debug, "Settings are not saved"),
    (Debug, "Document parser fails on tables"),
    (Debug, "Support for proxies is broken"),
    (Debug, "Move assignment leaks the old buffer"),
    (Debug, "Investigate the deadlock in the worker pool"),
    (Debug, "Look at the scheduler and fix the race condition"),
    (Debug, "What causes the panic in `resolve`?"),
    (
        Debug,
        "Can you find out why requests hang? They never return, it looks like a deadlock",
    ),
    (Debug, "Fix the crash and add a regression test"),
    (Debug, "Add a fix for the crash on exit"),
    (
        Debug,
        "Rendering is stuck\n\nTraceback (most recent call last):\n  File \"a.py\", line 3",
    ),
    (
        Debug,
        "Startup\n\n    at boot (src/boot.js:10:4)\n    at main (src/main.js:2:1)\n",
    ),
    (
        Debug,
        "Totals in the report\nSteps to reproduce: open it twice. The sum is wrong.",
    ),
    (Debug, "How can I fix the flaky upload test?"),
    (Debug, "Debug the websocket reconnect"),
    (
        Debug,
        "`--json` prints nothing, expected a list but got an empty line",
    ),
    (Debug, "The total is always zero"),
    (Debug, "Symlinked folders not listed since 2.4"),
    (Debug, "New cache returns stale rows"),
    (Debug, "Unable to add a line to an empty note"),
    (Implement, "add a login page"),
    (Implement, "The sidebar should remember its width"),
    (Implement, "Added a progress bar to uploads"),
    (Implement, "Add retry when the request fails"),
    (Implement, "add an error page for missing orders"),
    (Implement, "Improve error messages of the config loader"),
    (Implement, "Implement pagination and add tests"),
    (
        Implement,
        "implement the OAuth flow described in docs/auth.md",
    ),
    (Implement, "feat(cli): a --quiet flag"),
    (Implement, "feat: read settings from the environment"),
    (Implement, "Support IPv6 addresses in the allow list"),
    (Implement, "Can we support dark mode?"),
    (
        Implement,
        "Could you please create a new endpoint for invoices",
    ),
    (Implement, "I want to let users upload an avatar"),
    (Implement, "New command: `kitbag doctor`"),
    (Implement, "Feature request: export to CSV"),
    (Implement, "Add a test command to the CLI"),
    (Implement, "add support for running tests in parallel"),
    (Implement, "It would be nice to sort the table by date"),
    (Implement, "There is no way to cancel a download"),
    (Implement, "user authentication"),
    (Implement, "Build a rate limiter for the public API"),
    (Implement, "We need to expose metrics to Prometheus"),
    (Implement, "Write a script that seeds the database"),
    (Implement, "Make the timeout configurable"),
    (Implement, "Allow several owners per project"),
    (
        Implement,
        "Sidebar width\n\n**Is your feature request related to a problem?** It would be great to keep it.",
    ),
    (Refactor, "refactor the session store"),
    (Refactor, "Refactor the tests of the billing module"),
    (Refactor, "rename `User` to `Account` everywhere"),
    (Refactor, "Extract the retry logic into its own module"),
    (Refactor, "Clean up the error handling in main.rs"),
    (Refactor, "simplify this function"),
    (Refactor, "Move the helpers to crates/core"),
    (Refactor, "Split parser.rs into smaller files"),
    (Refactor, "let's deduplicate the two date formatters"),
    (Refactor, "Migrate from callbacks to async/await"),
    (Refactor, "Remove dead code from the importer"),
    (Refactor, "chore: get rid of the unused feature flags"),
    (
        Refactor,
        "The config loader is a mess. Split it into smaller functions.",
    ),
    (Refactor, "Replace the hand-written parser with nom"),
    (Refactor, "Convert the class components to hooks"),
    (
        Refactor,
        "Could you restructure the handlers without changing behaviour?",
    ),
    (Test, "add a test for the tokenizer"),
    (Test, "Add a regression test for the crash in the parser"),
    (Test, "write unit tests for src/cart.ts"),
    (Test, "Write tests"),
    (Test, "Please write a test that reproduces the bug in #77"),
    (Test, "improve the test coverage of the auth module"),
    (Test, "Increase coverage in payments"),
    (Test, "unit tests for the date parser"),
    (Test, "Test the login flow"),
    (Test, "test: cover the empty list"),
    (Test, "More tests for the scheduler"),
    (Test, "Cover the edge cases of parse_date with tests"),
    (Test, "Create property tests for the fitter"),
    (
        Test,
        "I'd like you to add integration tests around checkout",
    ),
    (Analyze, "explain how the cache works"),
    (Analyze, "How does error handling work here?"),
    (Analyze, "how do I add a new provider?"),
    (Analyze, "What is the purpose of the lease table?"),
    (Analyze, "Where is the config loaded?"),
    (Analyze, "why do we need two queues"),
    (Analyze, "Review this change"),
    (Analyze, "please review the test suite"),
    (Analyze, "Document the public API"),
    (Analyze, "Add documentation for the settings"),
    (Analyze, "write docs for the plugin system"),
    (Analyze, "Summarize the architecture"),
    (Analyze, "Which modules depend on the store?"),
    (Analyze, "Is the parser thread safe?"),
    (Analyze, "Should we split the monolith?"),
    (Analyze, "Walk me through a request from socket to database"),
    (Analyze, "Analyse the performance of the query planner"),
    (Analyze, "Can you explain what this regex does?"),
    (Analyze, "Describe the data model"),
    (Analyze, "the retry policy, roughly?"),
];

#[test]
fn the_words_that_decided_are_named() {
    let inferred = TaskType::infer("Look at the scheduler and fix the race condition");
    assert_eq!(inferred.cues, ["race condition", "fix the", "and fix"]);
    insta::assert_snapshot!(
        TaskType::infer("rename it"),
        @"refactor, because of `rename`"
    );
    insta::assert_snapshot!(
        TaskType::infer("user authentication"),
        @"implement, as nothing in the request says otherwise"
    );
}

#[test]
fn code_and_paths_are_not_words() {
    for request in [
        "`fix` `crash` `error`",
        "tests/test_error.rs",
        "fix_crash.py",
        "settings\n```\nassert error, 'crash'\n```\n> the bug crashes",
    ] {
        let inferred = TaskType::infer(request);
        assert_eq!(inferred.cues, Vec::<String>::new(), "{request}");
    }
}

#[test]
fn a_long_text_does_not_outvote_its_title() {
    let body =
        "it crashes and fails, wrong, broken, unexpected; steps to reproduce: none. ".repeat(50);
    let request = format!("Add a progress bar\n\n{body}");
    assert_eq!(TaskType::infer(&request).task_type, Implement);
}

proptest! {
    #[test]
    fn any_text_has_a_type(request in "(\\PC|\n|`|fix |test |rename |\\? ){0,80}") {
        let inferred = TaskType::infer(&request);
        prop_assert_eq!(&TaskType::infer(&request), &inferred);
        let is_default = matches!(inferred.task_type, Implement | Analyze);
        prop_assert!(!inferred.cues.is_empty() || is_default);
    }
}
