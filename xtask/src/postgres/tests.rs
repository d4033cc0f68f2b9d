//! A real server is started: what tests see of it, and that it goes away.

use super::*;

fn start() -> Server {
    let programs = Programs::found().expect("start the tests with `cargo xtask test`");
    Server::start_with(&programs).unwrap()
}

/// What `psql` answers at an address.
fn ask(address: &str, query: &str) -> String {
    let arguments = ["--no-psqlrc", "--tuples-only", "--no-align", "--command"];
    let answer = output_of(program("psql").arg(address).args(arguments).arg(query));
    answer.unwrap().trim_end().to_owned()
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn a_server_serves_its_sockets_only_and_leaves_nothing_behind() {
    let server = start();
    let setting = |name: &str| ask(&server.server, &format!("show {name}"));
    assert_eq!(setting("listen_addresses"), "");
    assert_eq!(setting("server_encoding"), "UTF8");
    assert_eq!(setting("max_connections"), "200");
    let collation = "select datcollate from pg_database where datname = 'postgres'";
    assert_eq!(ask(&server.server, collation), "C");

    let folder = setting("unix_socket_directories");
    assert!(Path::new(&folder).exists());
    drop(server);
    assert!(!Path::new(&folder).exists());
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn the_pooler_lends_connections_for_a_transaction_to_every_role() {
    let server = start();
    ask(&server.server, "create role guest login");
    let as_guest = server.pooler.replace("postgres@", "guest@");
    assert_eq!(ask(&as_guest, "select current_user"), "guest");
    let console = server.pooler.replace("pooler/postgres", "pooler/pgbouncer");
    let config = ask(&console, "show config");
    let mode = config.lines().find(|line| line.starts_with("pool_mode|"));
    assert!(mode.unwrap().contains("|transaction|"), "{config}");
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn a_command_gets_both_addresses_and_its_failure_tells_how_to_repeat_it() {
    let server = start();
    let script = format!("test \"${SERVER}\" && test \"${POOLER}\" && exit 7");
    let error = server.run("tests", Command::new("sh").args(["-c", &script]));
    let message = error.unwrap_err().to_string();
    assert!(message.contains("exit status: 7"), "{message}");
    let repeat = format!("cargo xtask postgres -- sh -c '{script}'");
    assert!(message.ends_with(&repeat), "{message}");
}

#[test]
fn a_path_is_a_host_of_an_address() {
    assert_eq!(
        address(Path::new("/tmp/kitbag-a b")),
        "postgresql://postgres@%2Ftmp%2Fkitbag-a%20b/postgres"
    );
}
