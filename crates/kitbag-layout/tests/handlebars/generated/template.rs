//! Writes templates by the grammar.
//!
//! What we chose to do otherwise (see the deviations) is not written: numbers without escaping stand
//! behind a bar, which keeps Handlebars.js from adding them up, and only scalars are compared.

use super::random::{KEYS, Random};

pub(super) const PARTIALS: [&str; 3] = ["one", "two", "three"];

const TEXTS: [&str; 20] = [
    "\n", "\n", "\n  ", "  ", " ", "\t", "x", "x\n", " y ", "<a>\n", "\r\n", "\n\n", "é", "}",
    "{ ", "\\{{x}} ", "\\\\", "\\ ", "\u{a0}\n", "",
];

pub(super) struct Writer<'r> {
    random: &'r mut Random,
    /// The first partial that may be called.
    partials: usize,
    /// How many blocks around name parameters.
    params: usize,
    /// How many blocks around are those of partials.
    handed: usize,
}

impl<'r> Writer<'r> {
    pub(super) fn new(random: &'r mut Random, partials: usize) -> Self {
        Self {
            random,
            partials,
            params: 0,
            handed: 0,
        }
    }

    pub(super) fn program(&mut self, depth: usize) -> String {
        let length = self.random.below(6);
        (0..length).map(|_| self.statement(depth)).collect()
    }

    fn statement(&mut self, depth: usize) -> String {
        if depth == 0 {
            return match self.random.below(3) {
                0 => self.value(),
                _ => self.text(),
            };
        }
        match self.random.below(20) {
            0..=6 => self.text(),
            7..=9 => self.value(),
            10 => self.unescaped(),
            11 => self.comment(),
            12 | 13 => self.condition(depth),
            14 | 15 => self.each(depth),
            16 => self.with(depth),
            17 => self.section(depth),
            18 => self.partial(depth),
            _ => match self.random.below(4) {
                0 => self.raw(),
                1 => self.inline(depth),
                2 => self.partial_block(depth),
                _ => self.odd(depth),
            },
        }
    }

    fn text(&mut self) -> String {
        self.random.pick(&TEXTS).to_owned()
    }

    /// A tag, now and then with tildes.
    fn tag(&mut self, sign: &str, inner: &str) -> String {
        let mut tilde = || if self.random.chance(12) { "~" } else { "" };
        let (open, close) = (tilde(), tilde());
        format!("{{{{{open}{sign}{inner}{close}}}}}")
    }

    fn value(&mut self) -> String {
        let inner = if self.random.chance(25) {
            self.call()
        } else {
            self.path()
        };
        self.tag("", &inner)
    }

    fn unescaped(&mut self) -> String {
        let path = self.path();
        let tag = if self.random.chance(50) {
            format!("{{{{{{{path}}}}}}}")
        } else {
            self.tag("&", &path)
        };
        format!("|{tag}")
    }

    fn comment(&mut self) -> String {
        let inner = self.random.pick(&[" x ", "-- {{x}} --", "", "--", "x\ny"]);
        self.tag("!", inner)
    }

    fn condition(&mut self, depth: usize) -> String {
        let name = self.random.pick(&["if", "if", "unless"]);
        let argument = self.argument(2);
        let zero = self.random.pick(&["", "", "", " includeZero=true"]);
        let open = self.tag("#", &format!("{name} {argument}{zero}"));
        let mut text = open + &self.program(depth - 1);
        while self.random.chance(25) {
            let argument = self.argument(1);
            let word = self.random.pick(&["if", "if", "unless", "with", "each"]);
            let argument = if matches!(word, "with" | "each") {
                self.path()
            } else {
                argument
            };
            text += &self.tag("", &format!("else {word} {argument}"));
            text += &self.program(depth - 1);
        }
        text += &self.otherwise(depth);
        text + &self.tag("/", name)
    }

    fn otherwise(&mut self, depth: usize) -> String {
        if self.random.chance(60) {
            return String::new();
        }
        let word = self.random.pick(&["else", "else", "^"]);
        self.tag("", word) + &self.program(depth - 1)
    }

    fn each(&mut self, depth: usize) -> String {
        let over = match self.random.below(4) {
            0 => format!("(or {} {})", self.path(), self.path()),
            1 => "(lookup . \"list\")".to_owned(),
            _ => self
                .random
                .pick(&["list", "map", "this", "../list", "a"])
                .to_owned(),
        };
        self.with_params("each", &over, depth)
    }

    fn with(&mut self, depth: usize) -> String {
        let path = self.path();
        self.with_params("with", &path, depth)
    }

    fn with_params(&mut self, name: &str, argument: &str, depth: usize) -> String {
        let params = self.random.pick(&["", "", " as |v|", " as |v k|"]);
        let mut text = self.tag("#", &format!("{name} {argument}{params}"));
        self.params += usize::from(!params.is_empty());
        text += &self.program(depth - 1);
        self.params -= usize::from(!params.is_empty());
        text += &self.otherwise(depth);
        text + &self.tag("/", name)
    }

    fn section(&mut self, depth: usize) -> String {
        let path = self
            .random
            .pick(&["a", "b", "list", "map", "this.a", "../a", "@root.a", "a.b"]);
        let sign = self.random.pick(&["#", "#", "^"]);
        let open = self.tag(sign, path) + &self.program(depth - 1);
        open + &self.otherwise(depth) + &self.tag("/", path)
    }

    fn partial(&mut self, _: usize) -> String {
        let Some(name) = self.partial_name() else {
            return self.text();
        };
        let arguments = match self.random.below(5) {
            0 => format!(" {}", self.path()),
            1 => format!(" a={} v=1", self.argument(1)),
            2 => format!(" {} b={}", self.path(), self.path()),
            _ => String::new(),
        };
        self.tag("> ", &format!("{name}{arguments}"))
    }

    fn partial_name(&mut self) -> Option<&'static str> {
        let known = PARTIALS.get(self.partials..)?;
        if known.is_empty() {
            return None;
        }
        Some(self.random.pick(known))
    }

    fn partial_block(&mut self, depth: usize) -> String {
        let Some(name) = self.partial_name() else {
            return self.tag("> ", "@partial-block");
        };
        let name = if self.random.chance(30) {
            "unknown"
        } else {
            name
        };
        self.handed += 1;
        let text = self.tag("#> ", name) + &self.program(depth - 1);
        self.handed -= 1;
        text + &self.tag("/", name)
    }

    /// Only where no parameters are seen, which an inline partial of Handlebars.js mistakes.
    fn inline(&mut self, depth: usize) -> String {
        if self.params > 0 || self.handed > 0 {
            return self.text();
        }
        let text = self.tag("#*", "inline \"mine\"") + &self.program(depth - 1);
        text + &self.tag("/", "inline") + &self.tag("> ", "mine")
    }

    fn raw(&mut self) -> String {
        let inner = self
            .random
            .pick(&["", " {{a}} ", "\n  {{#if}}\n", "{{{{raw}}}}x{{{{/raw}}}}"]);
        format!("{{{{{{{{raw}}}}}}}}{inner}{{{{{{{{/raw}}}}}}}}")
    }

    /// What is seldom written, and often wrong.
    fn odd(&mut self, depth: usize) -> String {
        match self.random.below(8) {
            0 => "{{unknown a}}".to_owned(),
            1 => "|{{#eq a 1}}x{{else}}y{{/eq}}".to_owned(),
            2 => "{{#if a as |v|}}{{v}}{{/if}}".to_owned(),
            3 => "{{log a level=\"debug\"}}".to_owned(),
            4 => self.tag("> ", "@partial-block"),
            5 => self.tag("#", "raw") + &self.program(depth - 1) + &self.tag("/", "raw"),
            6 => "{{unknown a=1}}".to_owned(),
            _ => "{{> (lookup . \"name\")}}".to_owned(),
        }
    }

    fn path(&mut self) -> String {
        let paths = [
            "this",
            ".",
            "this.a",
            "./b",
            "a.b",
            "a/b.c",
            "..",
            "../a",
            "../../b",
            "../this.c",
            "@index",
            "@key",
            "@first",
            "@last",
            "@root",
            "@root.a",
            "@root.a.b",
            "@../index",
            "@../key",
            "a.[0]",
            "list.[1].a",
            "list.0.b",
            "a.length",
            "list.length",
            "name.length",
            "[my-key]",
            "map.my-key.a",
            "map.[7]",
            "v",
            "k",
            "v.a",
            "v.length",
            "this.v",
            "missing",
            "name.[0]",
            "constructor",
            "a.toString",
        ];
        if self.random.chance(45) {
            let key = self.random.pick(&KEYS);
            return if key == "7" { "[7]" } else { key }.to_owned();
        }
        self.random.pick(&paths).to_owned()
    }

    fn literal(&mut self) -> &'static str {
        self.random.pick(&[
            "1",
            "0",
            "-1",
            "2.5",
            "\"x\"",
            "'b'",
            "\"\"",
            "true",
            "false",
            "null",
            "undefined",
            "\"two words\"",
        ])
    }

    /// A value for a condition.
    fn argument(&mut self, depth: usize) -> String {
        match self.random.below(if depth == 0 { 8 } else { 12 }) {
            0..=6 => self.path(),
            7 => self.literal().to_owned(),
            8 => format!("(not {})", self.argument(depth - 1)),
            9 => {
                let name = self.random.pick(&["and", "or"]);
                format!(
                    "({name} {} {})",
                    self.argument(depth - 1),
                    self.argument(depth - 1)
                )
            }
            _ => format!("({})", self.call()),
        }
    }

    fn call(&mut self) -> String {
        let (path, literal) = (self.path(), self.literal());
        match self.random.below(12) {
            0 => format!("eq {path} {literal}"),
            1 => format!("ne {path} {literal}"),
            2 => format!("gt {path} {}", self.argument(0)),
            3 => format!("lt {path} {}", self.argument(0)),
            4 => format!("gte {path} {literal}"),
            5 => format!("lte {path} {literal}"),
            6 => format!("contains {path} {literal}"),
            7 => format!("lookup {path} {}", self.argument(0)),
            8 => format!("length {path}"),
            9 => format!("truncate {path} {}", self.random.below(6)),
            10 => format!("formatFileSize {path}"),
            _ => format!("or {path} {literal}"),
        }
    }
}
