//! Random trees, tasks and budgets: the same for the same seed, on any machine.

use std::fs;
use std::path::Path;

use kitbag::core::assembly::OutputForm;
use kitbag::core::tokens::Tokens;
use kitbag::pack::PackRequest;

/// A stream of numbers from a seed (splitmix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`.
    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap()
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// Whether it is the one time in `times`.
    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}

const WORDS: [&str; 24] = [
    "login",
    "redirect",
    "session",
    "token",
    "order",
    "total",
    "invoice",
    "price",
    "user",
    "cache",
    "parse",
    "render",
    "query",
    "index",
    "route",
    "email",
    "retry",
    "queue",
    "batch",
    "größe",
    "数据",
    "naïve",
    "x",
    "HTTPServer",
];

/// How a function begins and ends, and how a comment does, by the extension of a file.
const LANGUAGES: [(&str, &str, &str, &str); 12] = [
    ("rs", "pub fn NAME(a: u32) -> u32 {\n", "}\n\n", "// "),
    ("py", "def NAME(a):\n", "\n\n", "    # "),
    (
        "ts",
        "export function NAME(a: number): number {\n",
        "}\n\n",
        "// ",
    ),
    ("js", "function NAME(a) {\n", "}\n\n", "// "),
    ("go", "func NAME(a int) int {\n", "}\n\n", "// "),
    (
        "java",
        "class NAME {\n  int run(int a) {\n",
        "  }\n}\n\n",
        "// ",
    ),
    ("c", "static int NAME(int a)\n{\n", "}\n\n", "// "),
    ("rb", "def NAME(a)\n", "end\n\n", "# "),
    ("sh", "NAME() {\n", "}\n\n", "# "),
    ("md", "# NAME\n\n", "\n", ""),
    ("txt", "NAME:\r\n", "\r\n", "\t"),
    ("weird", "<NAME ```\n", "</file>\n\u{3000}", "[System]\n"),
];

/// Writes a tree of a few files.
pub(crate) fn write_tree(root: &Path, random: &mut Random) -> Vec<String> {
    let mut paths = Vec::new();
    for _ in 0..=random.below(9) {
        let (extension, open, close, comment) = *random.pick(&LANGUAGES);
        let folder = *random.pick(&["", "src/", "src/web/", "tests/", "docs/"]);
        let name = *random.pick(&WORDS);
        let path = format!("{folder}{name}.{extension}");
        let mut text = String::new();
        for _ in 0..random.below(14) {
            let called = format!("{}_{}", random.pick(&WORDS), random.pick(&WORDS));
            text.push_str(&open.replace("NAME", &called));
            for _ in 0..random.below(6) {
                let (one, other) = (*random.pick(&WORDS), *random.pick(&WORDS));
                if random.once_in(4) {
                    text.push_str(&format!("{comment}{one} {other}\n"));
                } else {
                    text.push_str(&format!("    {one} = {other}(a);\n"));
                }
            }
            text.push_str(close);
        }
        if random.once_in(3) {
            text.truncate(text.trim_end().len());
        }
        let file = root.join(&path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
        paths.push(path);
    }
    if random.once_in(3) {
        fs::write(
            root.join("package.json"),
            r#"{"dependencies": {"login": "^1.0.0"}}"#,
        )
        .unwrap();
        fs::write(root.join("AGENTS.md"), "Run the tests before each login.\n").unwrap();
    }
    paths
}

/// A task and a budget for a tree with these files.
pub(crate) fn request(root: &Path, paths: &[String], random: &mut Random) -> PackRequest {
    let mut words: Vec<&str> = (0..random.below(8)).map(|_| *random.pick(&WORDS)).collect();
    let verb = *random.pick(&["fix", "add", "test", "explain", "refactor", ""]);
    words.insert(0, verb);
    let mut task = words.join(" ").trim().to_owned();
    if random.once_in(5) {
        task.push_str(&format!(
            "\n  File \"{}\", line 3, in {}\n",
            random.pick(paths),
            random.pick(&WORDS)
        ));
    }
    if random.once_in(6) {
        task.push_str(&format!(
            "\n```\n{}\n```\n",
            "retry queue\n".repeat(random.below(60))
        ));
    }
    // As many small budgets as large ones.
    let budget = (16usize << random.below(8)) + random.below(400);
    let budget = Tokens(u32::try_from(budget).unwrap());
    let mut request = PackRequest::new(root, task).with_budget(budget);
    let mut forms = vec![
        OutputForm::Pack,
        OutputForm::Markdown,
        OutputForm::Xml,
        OutputForm::Payload,
    ];
    if !request.survey.task.trim().is_empty() {
        forms.extend([OutputForm::Anthropic, OutputForm::OpenAi]);
    }
    request.options.form = *random.pick(&forms);
    request.options.line_numbers = random.once_in(4);
    if random.once_in(5) {
        request.survey.pins.push(random.pick(paths).clone());
    }
    request
}
