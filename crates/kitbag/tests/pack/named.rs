//! What a task names: definitions, files without an extension, paths that mean several files or none.

use std::fmt::Write as _;

use kitbag::core::assembly::{OutputForm, Reason};
use kitbag::core::chunk::Detail;
use kitbag::core::tokens::TokenCounter as _;
use kitbag::pack::Pack;
use kitbag::tokens::{Counter, Vocabulary};

use crate::project::{Project, find, packed, problems};

/// A file of functions about shipping, in lines of so many for each function.
fn shipping(file: usize, functions: usize, lines: usize) -> String {
    let mut text = String::new();
    for n in 0..functions {
        writeln!(text, "def ship_{file}_{n}(parcel):").unwrap();
        for line in 0..lines {
            writeln!(
                text,
                "    shipping_{line} = parcel.shipping(rate={line}, of={n})"
            )
            .unwrap();
        }
        text += "    return parcel\n\n\n";
    }
    text
}

/// A dozen files about shipping, and a long one in which a short function is about nothing of the kind.
fn depot(hidden: &str) -> Project {
    let project = Project::new(&[]);
    for file in 0..12 {
        project.write(&format!("depot/part{file}.py"), &shipping(file, 12, 9));
    }
    let before = "def filler_{n}(x):\n    a = x\n    b = a\n    c = b\n    return c\n\n\n";
    let filler = |from: usize| -> String {
        let all = (from..from + 150).map(|n| before.replace("{n}", &n.to_string()));
        all.collect()
    };
    project.write(
        "util/misc.py",
        &format!("{}{hidden}{}", filler(0), filler(150)),
    );
    project
}

const HIDDEN: &str = "def normalise_postcode(raw):\n    upper = raw.upper()\n    parts = upper.split()\n    return \"\".join(parts)\n\n\n";

#[test]
fn p02_a_definition_is_shown_whole_though_no_path_is_named() {
    let project = depot(HIDDEN);
    for task in [
        "the shipping rate of a parcel is wrong after normalise_postcode",
        "shipping rate of a parcel: `normalise_postcode` drops a letter",
        "the shipping of a parcel is wrong, see misc.normalise_postcode()",
    ] {
        let pack = packed(&project.request(task, 8_000)).unwrap();
        let shown = find(&pack, "util/misc.py").unwrap();
        assert_eq!(shown.reason, Reason::Critical, "{task}");
        assert!(pack.prompt().contains(HIDDEN.trim_end()), "{task}");
        // What else is in the file takes its place in the budget like any other code.
        assert!(shown.tokens.0 <= 4_000, "{task}: {}", shown.tokens);
    }
}

#[test]
fn p02_a_method_of_a_small_type_is_found_too() {
    let class = "class Postcode:\n    def __init__(self, raw):\n        self.raw = raw\n\n    def squeeze_blanks(self):\n        return self.raw.replace(\" \", \"\")\n\n\n";
    let project = depot(class);
    let task = "shipping rate of a parcel: squeeze_blanks() keeps a blank";
    let pack = packed(&project.request(task, 8_000)).unwrap();
    assert!(
        pack.prompt().contains("self.raw.replace"),
        "{}",
        pack.prompt()
    );
}

#[test]
fn p02_a_word_of_prose_is_no_definition() {
    let hidden = HIDDEN.replace("normalise_postcode", "wrong");
    let project = depot(&hidden);
    let task = "the shipping rate of a parcel is wrong";
    let pack = packed(&project.request(task, 8_000)).unwrap();
    let shown = find(&pack, "util/misc.py");
    assert_ne!(shown.map(|shown| shown.reason), Some(Reason::Critical));
}

#[test]
fn p02_a_name_that_many_define_pins_none_of_them() {
    let project = depot(HIDDEN);
    for file in 0..4 {
        project.write(&format!("other/code{file}.py"), HIDDEN);
    }
    let task = "the shipping rate of a parcel is wrong after normalise_postcode";
    let pack = packed(&project.request(task, 8_000)).unwrap();
    let shown = find(&pack, "util/misc.py");
    assert_ne!(shown.map(|shown| shown.reason), Some(Reason::Critical));
}

#[test]
fn p02_the_file_at_the_root_wins_over_its_namesakes() {
    let project = depot(HIDDEN);
    project.write("README.md", "# Depot\n\nAbout parcels.\n");
    project.write("depot/README.md", "# Parts\n\nAbout shipping rates.\n");
    let task = "update README.md: the shipping rates are missing";
    let pack = packed(&project.request(task, 8_000)).unwrap();
    let shown = find(&pack, "README.md").unwrap();
    assert_eq!(
        (shown.level, shown.reason),
        (Detail::Full, Reason::Critical)
    );
    assert_eq!(problems(&pack), [""; 0]);
}

#[test]
fn p02_a_file_without_an_extension_is_named_by_its_name() {
    let project = depot(HIDDEN);
    project.write("Makefile", "rates:\n\tpython -m depot\n");
    project.write("ci/.dockerignore", "target\n");
    project.write("app/[slug]/page.py", "def page():\n    return None\n");
    let task = "the shipping rates are not made by the Makefile, nor kept by .dockerignore and app/[slug]/page.py";
    let pack = packed(&project.request(task, 8_000)).unwrap();
    for path in ["Makefile", "ci/.dockerignore", "app/[slug]/page.py"] {
        let shown = find(&pack, path).unwrap_or_else(|| panic!("{path}"));
        assert_eq!(shown.reason, Reason::Critical, "{path}");
    }
    assert_eq!(problems(&pack), [""; 0]);
}

#[test]
fn p02_a_file_that_is_left_out_is_not_said_to_be_missing() {
    let project = depot(HIDDEN);
    project.write("web/package-lock.json", "{}\n");
    project.write(".ignore", "made.py\n");
    project.write("depot/made.py", "RATE = 1\n");
    let task = "web/package-lock.json and depot/made.py disagree about the shipping of a parcel";
    let pack = packed(&project.request(task, 8_000)).unwrap();
    assert_eq!(
        problems(&pack),
        [
            "web/package-lock.json: it is left out (lock file)",
            "depot/made.py: it is left out (ignored or not selected)"
        ]
    );
}

#[test]
fn p02_a_path_that_means_several_files_or_none_is_told() {
    let project = depot(HIDDEN);
    project.write("a/rates.py", "RATE = 1\n");
    project.write("b/rates.py", "RATE = 2\n");
    let task = "the shipping of a parcel reads rates.py and depot/missing.py";
    let pack = packed(&project.request(task, 8_000)).unwrap();
    assert_eq!(
        problems(&pack),
        [
            "rates.py: could be `a/rates.py` or `b/rates.py`: name the folder",
            "depot/missing.py: there is no such file"
        ]
    );
    let notes = [
        "The task names `rates.py`, which could be `a/rates.py` or `b/rates.py`.",
        "The task names `depot/missing.py`, which does not exist.",
    ];
    for note in notes {
        assert!(pack.prompt().contains(note), "{}", pack.prompt());
    }
}

#[test]
fn p07_the_parts_as_json_come_with_the_problems() {
    let project = Project::new(&[("src/login.rs", "pub fn login() {\n    redirect()\n}\n")]);
    let parts = |task: &str| -> (Pack, serde_json::Value) {
        let mut request = project.request(task, 700);
        request.options.form = OutputForm::Payload;
        let pack = packed(&request).unwrap();
        let parts = serde_json::from_str(pack.prompt()).unwrap();
        (pack, parts)
    };
    let (pack, told) = parts("fix the login redirect in old/login.rs and in src/till.rs");
    assert_eq!(problems(&pack).len(), 2, "{:?}", problems(&pack));
    let decided = serde_json::to_value(&pack.decisions.problems).unwrap();
    assert_eq!(told["problems"], decided);
    let counted = Counter::for_vocabulary(Vocabulary::O200kBase).unwrap();
    assert_eq!(pack.decisions.tokens, counted.count(pack.prompt()));
    assert!(pack.decisions.tokens.0 <= 700);
    let (_, silent) = parts("why does the login redirect to an empty page at its first step?");
    assert_eq!(silent.get("problems"), None, "{silent}");
}
