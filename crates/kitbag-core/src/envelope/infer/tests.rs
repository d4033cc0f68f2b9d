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

#[test]
fn every_line_of_the_tables_is_read() {
    for table in [
        include_str!("cues/leads.txt"),
        include_str!("cues/title.txt"),
        include_str!("cues/body.txt"),
    ] {
        let lines = table.lines().filter(|line| !line.starts_with('#'));
        for line in lines {
            assert!(head(line).is_some(), "{line}");
        }
    }
}

#[test]
fn p05_a_question_mark_tells_more_than_a_modal_verb() {
    for request in [
        "Should the cache be shared between tenants?",
        "The parser should accept tabs, is that so?",
        "Is there an option for the port?",
        "Grammar of the query language?",
    ] {
        let inferred = TaskType::infer(request);
        assert_eq!(inferred.task_type, Analyze, "{request}: {inferred}");
        assert!(!inferred.cues.is_empty(), "{request}");
    }
    assert!(TaskType::infer("user authentication").cues.is_empty());
}

const REQUESTS: &[(TaskType, &str)] = &[
    (Debug, "Behebe den Fehler im Parser"),
    (Debug, "Warum stürzt der Parser bei leeren Dateien ab?"),
    (Debug, "Login funktioniert nicht nach dem Update"),
    (Debug, "Corrige l'erreur de connexion"),
    (Debug, "Corrige el error al iniciar sesión"),
    (Debug, "O login não funciona"),
    (Debug, "Correggi l'errore nel parser"),
    (Debug, "Herstel de fout in de parser"),
    (Debug, "Исправь ошибку в парсере"),
    (Debug, "修复登录错误"),
    (Debug, "ログインのバグを修正して"),
    (Analyze, "Erkläre, wie der Cache funktioniert"),
    (Analyze, "Warum wird der Cache geleert?"),
    (Analyze, "Wie füge ich eine Sprache hinzu?"),
    (Analyze, "Explique comment le cache est vidé"),
    (Analyze, "Explique cómo funciona la caché"),
    (Analyze, "Explique como funciona o cache"),
    (Analyze, "Spiega come funziona la cache"),
    (Analyze, "Waarom wordt de cache geleegd?"),
    (Analyze, "Объясни, как работает кэш"),
    (Analyze, "为什么缓存会被清空？"),
    (Analyze, "キャッシュの仕組みを説明して"),
    (Implement, "Füge eine Seite für Rechnungen hinzu"),
    (Implement, "Ajoute une page de connexion"),
    (Implement, "Añade una página de inicio de sesión"),
    (Implement, "添加登录页面"),
    (Implement, "ログインページを追加して"),
    (Refactor, "Vereinfache die Klasse des Parsers"),
    (Refactor, "重构解析器"),
    (Refactor, "パーサーをリファクタリングして"),
    (Test, "Schreibe Tests für den Parser"),
    (Test, "Écris des tests pour le parser"),
    (Test, "为登录编写测试"),
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

/// Written without a look at the lists of cues, which then got what was missing in general.
const LATER: &[(TaskType, &str)] = &[
    (Debug, "JSON serializer drops undefined values"),
    (Debug, "kitbag tokens prints garbage for binary files"),
    (Debug, "prints garbage when stdout is a pipe"),
    (Debug, "Cursor jumps to the start of the line after paste"),
    (Debug, "Date picker shows yesterday in UTC-5"),
    (Debug, "Second request hangs forever behind a proxy"),
    (
        Debug,
        "checkout button stays disabled after the coupon is removed",
    ),
    (Debug, "The csv importer skips the last row"),
    (Debug, "Users get logged out every five minutes"),
    (Debug, "500 on /api/orders with an empty body"),
    (Debug, "tooltip flickers on hover in Safari"),
    (Debug, "High CPU usage while idle"),
    (Debug, "Webhook is delivered twice"),
    (Debug, "`git_diff` swallows merge conflicts"),
    (Debug, "Sorting by price puts 10 before 9"),
    (Debug, "upload of large files times out after 30 seconds"),
    (Debug, "typo in the pluralization makes `1 files`"),
    (
        Debug,
        "compile error on nightly: mismatched types in lexer.rs",
    ),
    (Implement, "Show a spinner while the report loads"),
    (
        Implement,
        "as an admin I want to export all invoices as PDF",
    ),
    (Implement, "retry failed webhooks with exponential backoff"),
    (Implement, "Send a welcome email after signup"),
    (Implement, "--dry-run for the deploy command"),
    (Implement, "Hook up Stripe payments"),
    (Implement, "users should be able to mute a thread"),
    (Implement, "Sort search results by relevance by default"),
    (Implement, "Display the version in the footer"),
    (Implement, "Limit login attempts to five per minute"),
    (
        Refactor,
        "turn the global config into a struct that is passed around",
    ),
    (Refactor, "Get rid of lodash"),
    (
        Refactor,
        "Make the parser generic over its input without changing the API",
    ),
    (
        Refactor,
        "Upgrade to React 19 and drop the deprecated lifecycle methods",
    ),
    (Test, "the retry logic has no tests, write some"),
    (
        Test,
        "Mock the payment gateway in the checkout specs and cover refunds",
    ),
    (Test, "Add missing tests for timezone handling"),
    (Analyze, "Where do we validate the JWT?"),
    (Analyze, "give me a tour of the rendering pipeline"),
    (Analyze, "Which endpoints are not covered by rate limiting?"),
    (Analyze, "what happens when the queue is full"),
    (Analyze, "Security review of the upload handler"),
];

/// Written when the lists were done, to see how they do on what they were not made for.
const UNSEEN: &[(TaskType, &str)] = &[
    (Debug, "Search box loses focus while typing"),
    (Debug, "importer reads the header row as data"),
    (Debug, "Totals differ between the dashboard and the export"),
    (Debug, "black screen on startup with two monitors"),
    (Debug, "unclosed socket warning in the test output"),
    (Debug, "Emails go to spam since we changed the sender"),
    (Debug, "parse_args rejects a negative number"),
    (Debug, "avatar is rotated on phones"),
    (Implement, "Remember the last folder that was opened"),
    (Implement, "keyboard shortcuts for the player"),
    (Implement, "Let admins impersonate a user"),
    (Implement, "Print a summary at the end of each run"),
    (Implement, "Include the request id in every log line"),
    (Refactor, "inline the wrapper around fetch"),
    (Refactor, "Use dependency injection instead of singletons"),
    (Refactor, "Unify naming of the error enums"),
    (Test, "Write a benchmark and tests for the diff algorithm"),
    (Test, "verify that expired tokens are refused"),
    (Analyze, "Tell me which services call the billing API"),
    (Analyze, "who owns the connection pool"),
];

#[test]
fn p05_most_other_requests_are_understood() {
    for (requests, share) in [(LATER, 90), (UNSEEN, 75)] {
        let is_wrong = |(expected, request): &&(TaskType, &str)| {
            TaskType::infer(request).task_type != *expected
        };
        let wrong: Vec<String> = requests
            .iter()
            .filter(is_wrong)
            .map(|(_, request)| format!("{request:?}: {}", TaskType::infer(request)))
            .collect();
        let right = requests.len() - wrong.len();
        assert!(right * 100 >= requests.len() * share, "{right}: {wrong:#?}");
    }
}

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
