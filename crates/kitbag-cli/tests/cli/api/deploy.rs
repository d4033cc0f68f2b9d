//! The files of `deploy/` start the server with options that there are.

use std::fs;
use std::path::Path;

use crate::run::Folder;

fn deployed(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy");
    fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn x07_the_unit_and_the_image_start_the_server_with_options_that_it_has() {
    let unit = deployed("kitbag.service");
    let command = unit
        .lines()
        .find_map(|line| line.strip_prefix("ExecStart=/usr/bin/kitbag "));
    let unit_arguments: Vec<String> = command.unwrap().split(' ').map(str::to_owned).collect();
    let image = deployed("Containerfile");
    let command = image.lines().find_map(|line| line.strip_prefix("CMD "));
    let image_arguments: Vec<String> = serde_json::from_str(command.unwrap()).unwrap();
    let folder = Folder::new();
    for arguments in [unit_arguments, image_arguments] {
        let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        assert!(arguments.contains(&"serve"), "{arguments:?}");
        arguments.push("--help");
        let help = folder.run(&arguments).success();
        assert!(help.contains("--bind") && help.contains("--root"), "{help}");
    }
}

#[test]
fn x07_the_nodes_of_the_compose_file_have_a_store_that_can_be_named() {
    let compose = deployed("compose.yaml");
    let store = compose
        .lines()
        .find_map(|line| line.trim().strip_prefix("KITBAG_STORE: "));
    let store = store
        .unwrap()
        .replace("${POSTGRES_PASSWORD:?set a password for PostgreSQL}", "pw");
    assert!(store.parse::<kitbag::store::Location>().is_ok(), "{store}");
}

#[test]
fn x07_an_image_is_made_of_the_sources_alone() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let ignored = fs::read_to_string(root.join(".dockerignore")).unwrap();
    let lines = ignored.lines().filter(|line| !line.starts_with('#'));
    let (taken, left): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.starts_with('!'));
    assert_eq!(left.first(), Some(&"*"), "whatever is not named stays out");
    for name in taken {
        let path = root.join(name.trim_start_matches('!'));
        assert!(path.exists(), "{name}");
    }
    for name in ["**/target", "**/.env"] {
        assert!(left.contains(&name), "{name}");
    }
}
