//! How files divide into units, what they define and import, and what a slice shows.

use super::{Lines, View, parse};
use crate::language::Language;
use crate::syntax::{Syntax, UnitKind};

/// One line per unit: its lines, its kind, its parents and its name.
fn units(syntax: &Syntax) -> String {
    let line = |unit: &crate::syntax::Unit| {
        let kind = format!("{:?}", unit.kind).to_lowercase();
        let part = if unit.part { " part" } else { "" };
        let mut names = unit.parents.clone();
        names.push(unit.name.clone());
        let line = format!(
            "{}-{} {kind}{part} {}",
            unit.first,
            unit.last,
            names.join("/")
        );
        format!("{}\n", line.trim_end())
    };
    syntax.units.iter().map(line).collect()
}

fn definitions(syntax: &Syntax) -> String {
    let all = syntax.definitions.iter();
    let name = |d: &crate::syntax::Definition| match d.parent.as_str() {
        "" => d.name.clone(),
        parent => format!("{parent}.{}", d.name),
    };
    all.map(name).collect::<Vec<_>>().join(" ")
}

fn imports(language: Language, text: &str) -> String {
    let syntax = parse(language, text);
    let all = syntax.imports.iter();
    let import = |import: &crate::syntax::Import| {
        let relative = if import.relative { " relative" } else { "" };
        format!("{} {:?}{relative}\n", import.path, import.names)
    };
    all.map(import).collect()
}

/// A body of so many statements.
fn statements(count: usize, indent: &str) -> String {
    (0..count)
        .map(|n| format!("{indent}step({n});\n"))
        .collect()
}

#[test]
fn a_small_class_is_one_unit_and_a_large_one_is_its_members() {
    let small = "class A {\n  a() {\n    return 1;\n  }\n}\n";
    insta::assert_snapshot!(units(&parse(Language::JavaScript, small)), @r"1-5 type A");

    let method = |name: &str| {
        format!(
            "  // About {name}.\n  {name}() {{\n{}  }}\n\n",
            statements(15, "    ")
        )
    };
    let large = format!(
        "class A extends B {{\n  x = 1;\n\n{}{}{}}}\n\nrest();\n",
        method("a"),
        method("b"),
        method("c")
    );
    insta::assert_snapshot!(units(&parse(Language::JavaScript, &large)), @r"
    1-3 type A
    4-22 function A/a
    23-41 function A/b
    42-62 function A/c
    63-63 code
    ");
}

#[test]
fn a_long_function_is_cut_between_statements() {
    let block = format!("  if (x) {{\n{}  }}\n", statements(18, "    "));
    let text = format!("function long(x) {{\n{}}}\n", block.repeat(5));
    let syntax = parse(Language::JavaScript, &text);
    let lines = Lines::of(&text);
    insta::assert_snapshot!(units(&syntax), @r"
    1-41 function part long
    42-61 function part long
    62-102 function part long
    ");
    for unit in &syntax.units[1..] {
        assert_eq!(lines.get(unit.first), "  if (x) {");
    }
    let last = View::new(&text, &syntax).slice(&[syntax.units.len() - 1]);
    assert!(last.content.starts_with("function long(x) {\n  // ... ("));
}

#[test]
fn a_module_in_a_function_is_a_container() {
    let inner = |name: &str| format!("  function {name}() {{\n{}  }}\n\n", statements(50, "    "));
    let text = format!(
        "(function (root) {{\n  'use strict';\n\n{}{}{}}})(this);\n",
        inner("a"),
        inner("b"),
        inner("c")
    );
    insta::assert_snapshot!(units(&parse(Language::JavaScript, &text)), @r"
    1-3 function
    4-56 function a
    57-109 function b
    110-163 function c
    ");
}

#[test]
fn a_long_table_is_cut_at_its_entries() {
    let entry = "    {\"name\",\n     command,\n     0},\n";
    let text = format!("struct command table[] = {{\n{}}};\n", entry.repeat(40));
    let syntax = parse(Language::C, &text);
    let lines = Lines::of(&text);
    assert!(syntax.units.len() > 2);
    for unit in &syntax.units {
        assert_eq!((unit.kind, unit.name.as_str()), (UnitKind::Value, "table"));
        assert!(unit.first == 1 || lines.get(unit.first) == "    {\"name\",");
    }
}

#[test]
fn methods_know_the_type_they_belong_to() {
    let go = "package a\n\nfunc (t *Tree[K]) Add(k K) {\n\tt.n++\n}\n";
    assert_eq!(parse(Language::Go, go).units[1].parents, ["Tree"]);
    let cpp = "void Tree::add(int k) {\n  n++;\n}\n";
    assert_eq!(parse(Language::Cpp, cpp).units[0].parents, ["Tree"]);
    let js = "Tree.prototype.add = function (k) {\n  this.n++;\n};\n";
    let syntax = parse(Language::JavaScript, js);
    assert_eq!(
        (
            syntax.units[0].parents.join("/").as_str(),
            syntax.units[0].name.as_str()
        ),
        ("Tree", "add")
    );
}

#[test]
fn a_unit_takes_along_the_lines_that_end_it() {
    let text = "int a() {\n  return 1;\n}\n\n\n\nint b() {\n  return 2;\n}\n";
    insta::assert_snapshot!(units(&parse(Language::C, text)), @r"
    1-6 function a
    7-9 function b
    ");
}

#[test]
fn definitions_are_named_with_their_parents() {
    let text = "X = 1\nclass A:\n    size = 2\n    LIMIT = 3\n    def f(self):\n        y = 1\n        def g(): pass\n";
    insta::assert_snapshot!(definitions(&parse(Language::Python, text)), @r"X A A.LIMIT A.f f.g");
    let text = "#define M 1\ntypedef struct { int a; } point;\nenum e { E1 };\nint f(void);\nstatic int g(struct s *x) { return 0; }\n";
    insta::assert_snapshot!(definitions(&parse(Language::C, text)), @r"M point e g");
}

#[test]
fn imports_keep_their_paths_and_names() {
    insta::assert_snapshot!(imports(Language::Python, "import a.b as c, d.e\nfrom ..x import (y as z, w)\nfrom v import *\n"), @r#"
    a.b ["c"]
    d.e ["d"]
    ..x ["z", "w"]
    v []
    "#);
    insta::assert_snapshot!(imports(Language::JavaScript, "import a, { b as c } from './x';\nconst { d, e: f } = require('y');\nexport * from 'z';\nlazy(() => import('w'));\n"), @r#"
    ./x ["a", "c"]
    y ["d", "f"]
    z []
    w []
    "#);
    insta::assert_snapshot!(imports(Language::TypeScript, "import type { A } from './a';\nimport b = require('b');\n"), @r#"
    ./a ["A"]
    b ["b"]
    "#);
    insta::assert_snapshot!(imports(Language::Rust, "use crate::fit::{self, search as find, deep::{a, b}};\nuse std::io::*;\nmod x;\nextern crate y;\n"), @r#"
    crate::fit ["fit"]
    crate::fit::search ["find"]
    crate::fit::deep::a ["a"]
    crate::fit::deep::b ["b"]
    std::io []
    self::x ["x"] relative
    y ["y"]
    "#);
    insta::assert_snapshot!(imports(Language::Go, "package a\nimport \"fmt\"\nimport (\n\t. \"x.org/y\"\n\tz \"x.org/go-w/v3\"\n)\n"), @r#"
    fmt ["fmt"]
    x.org/y []
    x.org/go-w/v3 ["z"]
    "#);
    insta::assert_snapshot!(imports(Language::Java, "import com.google.Gson;\nimport static a.B.c;\nimport d.*;\n"), @r#"
    com.google.Gson ["Gson"]
    a.B.c ["c"]
    d []
    "#);
    insta::assert_snapshot!(imports(Language::C, "#include \"server.h\"\n#include <sys/x.h>\n"), @r"
    server.h [] relative
    sys/x.h []
    ");
    insta::assert_snapshot!(imports(Language::CSharp, "global using System.Text;\nusing static A.B;\nusing C = D.E;\n"), @r#"
    System.Text []
    A.B []
    D.E ["C"]
    "#);
    insta::assert_snapshot!(imports(Language::Ruby, "require 'jekyll/site'\nrequire_relative '../x'\nmodule M\n  autoload :Y, 'm/y'\nend\n"), @r#"
    jekyll/site []
    ../x [] relative
    m/y ["Y"]
    "#);
    insta::assert_snapshot!(imports(Language::Php, "<?php\nuse Foo\\Bar;\nuse A\\{B, C as D};\nuse function E\\f;\nrequire __DIR__ . '/g.php';\n"), @r#"
    Foo\Bar ["Bar"]
    A\B ["B"]
    A\C ["D"]
    E\f ["f"]
    g.php [] relative
    "#);
    insta::assert_snapshot!(imports(Language::Kotlin, "import a.b.C\nimport d.e as f\n"), @r#"
    a.b.C ["C"]
    d.e ["f"]
    "#);
    insta::assert_snapshot!(imports(Language::Scala, "import a.{B, C => D}\nimport e._\n"), @r#"
    a.B ["B"]
    a.C ["D"]
    e []
    "#);
    insta::assert_snapshot!(imports(Language::Swift, "import UIKit\n@testable import class A.B\n"), @r#"
    UIKit ["UIKit"]
    A.B ["B"]
    "#);
    insta::assert_snapshot!(imports(Language::Lua, "local a = require('b.c')\nrequire \"d\"\n"), @r#"
    b.c ["a"]
    d []
    "#);
    insta::assert_snapshot!(imports(Language::Bash, "source ./a.sh\n. b.sh\n"), @r"
    ./a.sh [] relative
    b.sh [] relative
    ");
}

#[test]
fn imports_are_few_lines_also_with_what_lies_between_them() {
    let import = |n: u32| format!("import used{n}\nimport other{n}\nimport more{n}\n");
    let imports: String = (0..12).map(import).collect();
    let uses: String = (0..12).map(|n| format!("    used{n}.run()\n")).collect();
    let text = format!("{imports}\n\ndef a():\n{uses}\n\ndef b():\n    pass\n");
    let syntax = parse(Language::Python, &text);
    let index = syntax.units.iter().position(|unit| unit.name == "a");
    let rendered = View::new(&text, &syntax).slice(&[index.unwrap()]);
    // Four that are used, with the two lines between each; a fifth would make it 13 lines.
    assert_eq!(rendered.lines[0], (1, 10), "{}", rendered.content);
}

#[test]
fn a_slice_shows_the_signatures_around_it_and_the_imports_it_uses() {
    let method = |name: &str| {
        format!(
            "    def {name}(self):\n{}        return os.sep\n\n",
            "        self.n += 1\n".repeat(12)
        )
    };
    let text = format!(
        "import os\nimport re\n\n\n@final\nclass A(\n    Base,\n):\n    n = 0\n\n{}{}{}",
        method("a"),
        method("b"),
        method("c")
    );
    let syntax = parse(Language::Python, &text);
    let index = syntax
        .units
        .iter()
        .position(|unit| unit.name == "b")
        .unwrap();
    let rendered = View::new(&text, &syntax).slice(&[index]);
    insta::assert_snapshot!(rendered.content, @r"
    import os
    # ... (3 lines)
    @final
    class A(
        Base,
    ):
        # ... (17 lines)
        def b(self):
            self.n += 1
            self.n += 1
            self.n += 1
            self.n += 1
            self.n += 1
            self.n += 1
            self.n += 1
            self.n += 1
            self.n += 1
            self.n += 1
            self.n += 1
            self.n += 1
            return os.sep

        # ... (15 lines)
    ");
    insta::assert_snapshot!(format!("{:?}", rendered.lines), @r"[(1, 1), (5, 8), (26, 40)]");
    let unit = &syntax.units[index];
    let rendered = View::new(&text, &syntax).excerpt(unit.first + 5, unit.first + 6);
    insta::assert_snapshot!(rendered.content, @r"
    # ... (4 lines)
    @final
    class A(
        Base,
    ):
        # ... (17 lines)
        def b(self):
            # ... (4 lines)
            self.n += 1
            self.n += 1
            # ... (23 lines)
    ");
}

#[test]
fn a_document_divides_into_sections() {
    let (_, text) = super::FIXTURES[17];
    insta::assert_snapshot!(units(&parse(Language::Markdown, text)), @r"
    1-6 code
    7-10 section Parcels
    11-22 section Parcels/Weighing
    23-26 section Parcels/Weighing/In grams
    27-34 section Parcels/Delivering
    35-35 section Parcels/Returning
    ");
}

#[test]
fn what_counts_inside_a_function_is_found() {
    let python = "def f():\n    try:\n        import a\n    except ImportError:\n        a = (\n            1)\n    def g(): pass\n    return g\n";
    insta::assert_snapshot!(definitions(&parse(Language::Python, python)), @"f f.g");
    insta::assert_snapshot!(imports(Language::Python, python), @r#"a ["a"]"#);
    let c = "int f(void)\n{\n#define LIMIT 3\n\tint x =\n\t\tLIMIT;\n\tstruct point {\n\t\tint a;\n\t} p;\n\treturn x;\n}\n";
    insta::assert_snapshot!(definitions(&parse(Language::C, c)), @"f f.LIMIT f.point");
    let js = "function f() {\n  const g = (x) => x;\n  if (x) { const h = require('h'); }\n  return {\n    k: g,\n  };\n}\n";
    insta::assert_snapshot!(definitions(&parse(Language::JavaScript, js)), @"f f.g");
    insta::assert_snapshot!(imports(Language::JavaScript, js), @r#"h ["h"]"#);
}

#[test]
fn a_test_of_a_framework_is_a_function_and_a_group_is_opened() {
    let steps = statements(4, "    ");
    let ruby = format!(
        "RSpec.describe Cart do\n  context \"when empty\" do\n    it \"adds up\" do\n{steps}    end\n\n    it \"is free\" do\n{steps}    end\n  end\nend\n"
    );
    insta::assert_snapshot!(units(&parse(Language::Ruby, &ruby)), @r"
    1-2 type when empty
    3-9 function when empty/adds up
    10-17 function when empty/is free
    ");
    let script = format!(
        "import {{ add }} from './cart';\n\ndescribe('cart', () => {{\n  it('adds up', () => {{\n{steps}  }});\n\n  test.only(\"is free\", async function () {{\n{steps}  }});\n}});\n"
    );
    let script = units(&parse(Language::TypeScript, &script));
    for test in ["function cart/adds up", "function cart/is free"] {
        assert!(script.contains(test), "{script}");
    }
    let product = format!("context.on('opened', () => {{\n{steps}}});\n");
    let product = units(&parse(Language::TypeScript, &product));
    assert!(!product.contains("opened"), "{product}");
}
