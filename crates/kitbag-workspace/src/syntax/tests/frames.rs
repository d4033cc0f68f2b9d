//! What stands around the shown part of a source, to be read like a prompt.

use super::{Lines, View, parse};
use crate::language::Language;

/// The unit that a line stands in, as a slice.
fn unit_at(language: Language, text: &str, needle: &str) -> String {
    let syntax = parse(language, text);
    let lines = Lines::of(text);
    let line = line_of(&lines, needle);
    let unit = syntax.units.iter().position(|unit| line <= unit.last);
    View::new(text, &syntax).slice(&[unit.unwrap()]).content
}

/// The line with some words, as the smallest excerpt.
fn line_at(language: Language, text: &str, needle: &str) -> String {
    let lines = Lines::of(text);
    let line = line_of(&lines, needle);
    View::new(text, &parse(language, text))
        .excerpt(line, line)
        .content
}

fn line_of(lines: &Lines<'_>, needle: &str) -> u32 {
    (1..=lines.count())
        .find(|&line| lines.get(line).contains(needle))
        .unwrap()
}

#[test]
fn p08_a_part_of_a_long_function_keeps_its_frame() {
    let steps = |name: &str| -> String { (0..24).map(|n| format!("\t\t{name}({n});\n")).collect() };
    let text = format!(
        "#include <a.h>\n\n/* Sorts. */\nstatic int sort(struct list *a,\n\t\tint n)\n{{\n\tint i;\n\n\tfor (i = 0; i < n; i++) {{\n{}\t}}\n\tif (n) {{\n{}\t}} else {{\n{}\t}}\n\n\treturn 0;\n}}\n\nint other;\n",
        steps("one"),
        steps("two"),
        steps("three")
    );
    insta::assert_snapshot!(unit_at(Language::C, &text, "three(0)"), @r"
    // ... (3 lines)
    static int sort(struct list *a,
    		int n)
    {
    	// ... (28 lines)
    	if (n) {
    		// ... (23 lines)
    		two(23);
    	} else {
    		three(0);
    		three(1);
    		three(2);
    		three(3);
    		three(4);
    		three(5);
    		three(6);
    		three(7);
    		three(8);
    		three(9);
    		three(10);
    		three(11);
    		three(12);
    		three(13);
    		three(14);
    		three(15);
    		three(16);
    		three(17);
    		three(18);
    		three(19);
    		three(20);
    		three(21);
    		three(22);
    		three(23);
    	}

    	return 0;
    }

    // ... (1 line)
    ");
    insta::assert_snapshot!(line_at(Language::C, &text, "two(3)"), @r"
    // ... (3 lines)
    static int sort(struct list *a,
    		int n)
    {
    	// ... (28 lines)
    	if (n) {
    		// ... (3 lines)
    		two(3);
    		// ... (20 lines)
    	} else {
    		// ... (24 lines)
    	}
    	// ... (2 lines)
    }
    // ... (2 lines)
    ");

    let python: String = (0..40).map(|n| format!("        one({n})\n")).collect();
    let python = format!(
        "class A:\n    def long(self):\n        \"\"\"Says much.\"\"\"\n{python}        with self.lock:\n{}        return 1\n",
        python.replace("        ", "            ")
    );
    insta::assert_snapshot!(line_at(Language::Python, &python, "            one(7)"), @r"
    class A:
        def long(self):
            # ... (41 lines)
            with self.lock:
                # ... (7 lines)
                one(7)
                # ... (33 lines)
    ");
}

#[test]
fn p08_imports_keep_their_frame() {
    let go = "package main\n\nimport (\n\t\"bufio\"\n\t\"bytes\"\n\t\"fmt\"\n\t\"net/http\"\n\t\"os\"\n\n\t\"example.org/log\"\n)\n\nfunc a() {\n\tlog.Print(http.MethodGet)\n}\n\nfunc b() {\n\tfmt.Println(os.Args)\n}\n";
    insta::assert_snapshot!(unit_at(Language::Go, go, "log.Print("), @r#"
    // ... (2 lines)
    import (
    	// ... (3 lines)
    	"net/http"
    	"os"

    	"example.org/log"
    )

    func a() {
    	log.Print(http.MethodGet)
    }

    // ... (3 lines)
    "#);
    let js = "import {\n  a,\n  b,\n} from './ab';\nimport {\n  c,\n} from './c';\nconst d = require('d'),\n  e = require('e');\n\nfunction f() {\n  return b();\n}\n\nfunction g() {\n  return e();\n}\n";
    insta::assert_snapshot!(unit_at(Language::JavaScript, js, "return b"), @r"
    import {
      a,
      b,
    } from './ab';
    // ... (6 lines)
    function f() {
      return b();
    }

    // ... (3 lines)
    ");
    insta::assert_snapshot!(unit_at(Language::JavaScript, js, "return e"), @r"
    // ... (7 lines)
    const d = require('d'),
      e = require('e');
    // ... (5 lines)
    function g() {
      return e();
    }
    ");
    let python = "import os\ntry:\n    import json\nexcept ImportError:\n    import simplejson as json\n\n\ndef f():\n    return json.dumps(1)\n";
    insta::assert_snapshot!(unit_at(Language::Python, python, "dumps"), @r"
    # ... (1 line)
    try:
        import json
    except ImportError:
        import simplejson as json


    def f():
        return json.dumps(1)
    ");
}

#[test]
fn p08_an_import_in_a_function_stays_in_it() {
    let text = "import os\n\n\ndef a():\n    import json\n    return json.loads('1')\n\n\ndef b(json):\n    return json\n";
    insta::assert_snapshot!(unit_at(Language::Python, text, "def b"), @r"
    # ... (8 lines)
    def b(json):
        return json
    ");
    let text = "use std::fs;\n\nfn a(file: File) {\n    fs::remove(file);\n}\n\nmod tests {\n    use super::File;\n\n    fn b() {}\n}\n";
    insta::assert_snapshot!(unit_at(Language::Rust, text, "fn a"), @r"
    use std::fs;

    fn a(file: File) {
        fs::remove(file);
    }

    // ... (5 lines)
    ");
    let long: String = (0..80).map(|n| format!("    json.one({n})\n\n")).collect();
    let text = format!("def a():\n    import json\n{long}    return json\n");
    insta::assert_snapshot!(line_at(Language::Python, &text, "return json"), @r"
    def a():
        import json
        # ... (160 lines)
        return json
    ");
}

#[test]
fn p08_a_text_is_never_cut() {
    let rust = "fn a() {\n    one();\n    let help = r#\"\n        { not code\n        \"quoted\"\n    \"#;\n    two();\n    three();\n}\n";
    insta::assert_snapshot!(line_at(Language::Rust, rust, "not code"), @r##"
    fn a() {
        // ... (1 line)
        let help = r#"
            { not code
            "quoted"
        "#;
        // ... (2 lines)
    }
    "##);
    insta::assert_snapshot!(line_at(Language::Rust, rust, "two()"), @r"
    fn a() {
        // ... (5 lines)
        two();
        // ... (1 line)
    }
    ");
    let js = "function a() {\n  one();\n  const text = `\n    ${two(\n      3)}\n    four\n  `;\n  return text;\n}\n";
    insta::assert_snapshot!(line_at(Language::JavaScript, js, "four"), @r"
    function a() {
      // ... (1 line)
      const text = `
        ${two(
          3)}
        four
      `;
      // ... (1 line)
    }
    ");
    let ruby = "def a\n  one\n  two(<<~TEXT, 3)\n    end of\n    the line\n  TEXT\n  four\nend\n";
    insta::assert_snapshot!(line_at(Language::Ruby, ruby, "the line"), @r"
    def a
      # ... (1 line)
      two(<<~TEXT, 3)
        end of
        the line
      TEXT
      # ... (1 line)
    end
    ");
    insta::assert_snapshot!(line_at(Language::Ruby, ruby, "  four"), @r"
    def a
      # ... (5 lines)
      four
    end
    ");
    let bash = "a() {\n  one\n  cat <<EOF | two\nfi\ndone\nEOF\n  three\n}\n";
    insta::assert_snapshot!(line_at(Language::Bash, bash, "done"), @r"
    a() {
      # ... (1 line)
      cat <<EOF | two
    fi
    done
    EOF
      # ... (1 line)
    }
    ");
    let php = "<?php\nfunction a() {\n    one();\n    $x = <<<SQL\n        select {\n        from b\n    SQL;\n    return $x;\n}\n";
    insta::assert_snapshot!(line_at(Language::Php, php, "from b"), @r"
    <?php
    function a() {
        // ... (1 line)
        $x = <<<SQL
            select {
            from b
        SQL;
        // ... (1 line)
    }
    ");
}

#[test]
fn p08_fenced_code_is_never_cut() {
    let code: String = (0..60).map(|n| format!("step {n}\n\n")).collect();
    let text = format!(
        "# A\n\nSome words.\n\n````console\n```\n# no heading\n{code}````\n\nMore words.\n\n<!--\nhidden\n-->\n\n# B\n"
    );
    let shown = line_at(Language::Markdown, &text, "step 30");
    assert!(
        shown.contains("````console\n") && shown.contains("step 0\n") && shown.contains("\n````\n")
    );
    insta::assert_snapshot!(line_at(Language::Markdown, &text, "hidden"), @r"
    # A
    <!-- ... (130 lines) -->
    <!--
    hidden
    -->
    <!-- ... (2 lines) -->
    ");
    insta::assert_snapshot!(line_at(Language::Markdown, &text, "Some words"), @r"
    # A

    Some words.
    <!-- ... (133 lines) -->
    ");
}

#[test]
fn p08_markup_is_left_out_with_a_comment_of_its_own() {
    let text = "export function Depot({ parcels }) {\n  return (\n    <section>\n      <h1>\n        Depot\n      </h1>\n      Some text\n      <ul>\n        {parcels.map((parcel) => (\n          <li key={parcel.id}>{parcel.name}</li>\n        ))}\n      </ul>\n      <Footer />\n    </section>\n  );\n}\n";
    insta::assert_snapshot!(line_at(Language::JavaScript, text, "<Footer"), @r"
    export function Depot({ parcels }) {
      return (
        <section>
          {/* ... (9 lines) */}
          <Footer />
        </section>
      );
    }
    ");
    insta::assert_snapshot!(line_at(Language::JavaScript, text, "<li"), @r"
    export function Depot({ parcels }) {
      return (
        <section>
          {/* ... (4 lines) */}
          <ul>
            {parcels.map((parcel) => (
              <li key={parcel.id}>{parcel.name}</li>
            ))}
          </ul>
          {/* ... (1 line) */}
        </section>
      );
    }
    ");
}
