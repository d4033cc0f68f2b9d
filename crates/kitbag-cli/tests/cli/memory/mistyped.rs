//! Names that the store does not know: a slip of the keyboard is told, and not taken for an empty memory.

use serde_json::json;

use super::Memory;

fn memory() -> Memory {
    let memory = Memory::talk();
    memory
        .import(&[json!({"sender": "bob", "channel": "mail", "text": "hello"})])
        .success();
    memory
}

#[test]
fn x01_a_mistyped_sender_is_told_with_those_that_look_alike() {
    let memory = memory();
    for args in [
        &["recall", "puppy"][..],
        &["recall", "puppy", "--json"],
        &["history"],
        &["history", "--json"],
        &["facts", "list"],
        &["facts", "history"],
        &["export"],
    ] {
        let output = memory.run(&[args, &["--sender", "Anm"]].concat());
        let told = "there is no sender `Anm`; did you mean ann?\n";
        assert!(output.stderr.starts_with(told), "{args:?}: {output:?}");
        output.success();
        let output = memory.run(&[args, &["--sender", "christopher"]].concat());
        let told = "there is no sender `christopher`; the store has ann, bob\n";
        assert!(output.stderr.starts_with(told), "{args:?}: {output:?}");
        output.success();
    }
    let batch = ["recall", "--batch", "-", "--sender", "anm"];
    let output = memory.run_with_stdin(&batch, b"{\"query\": \"puppy\"}");
    let told = "there is no sender `anm`; did you mean ann?\n";
    assert_eq!(output.stderr, told);
    output.success();
}

#[test]
fn x01_a_mistyped_channel_is_told_with_those_that_look_alike() {
    let memory = memory();
    for args in [&["recall", "puppy"][..], &["history"], &["export"]] {
        let with = |more: &[&str]| memory.run(&[args, more].concat()).stderr;
        let told = with(&["--sender", "ann", "--channel", "slcak"]);
        let expected = "there is nothing of `ann` on channel `slcak`; did you mean slack?\n";
        assert!(told.starts_with(expected), "{args:?}: {told}");
    }
    for args in [&["history"][..], &["export"]] {
        let told = memory.run(&[args, &["--channel", "discord"]].concat());
        let expected = "there is nothing on channel `discord`; the store has mail, slack\n";
        assert!(told.stderr.starts_with(expected), "{args:?}: {told:?}");
    }
}

#[test]
fn x01_who_is_known_is_not_called_unknown() {
    let memory = memory();
    let told = |args: &[&str]| memory.run(args).stderr;
    assert_eq!(
        told(&["recall", "quantum", "--sender", "bob", "--channel", "mail"]),
        "nothing was found\n"
    );
    assert_eq!(
        told(&["facts", "list", "--sender", "bob"]),
        "there are no facts about bob\n"
    );
    memory
        .run(&["facts", "set", "diet", "no fish", "--sender", "eve"])
        .success();
    assert_eq!(
        told(&["recall", "quantum", "--sender", "eve"]),
        "nothing was found\n"
    );
}

#[test]
fn x01_a_tenant_without_memory_is_told() {
    let memory = memory();
    for args in [&["recall", "puppy"][..], &["facts", "list"], &["stats"]] {
        let told = memory.run(&[args, &["--tenant", "mian"]].concat());
        let note = "note: there is no tenant `mian`; \
                    `kitbag memory tenants` lists all\n";
        assert!(told.stderr.starts_with(note), "{args:?}: {told:?}");
        let known = memory.run(&[args, &["--tenant", "main"]].concat());
        assert!(!known.stderr.contains("there is no tenant"), "{known:?}");
    }
}
