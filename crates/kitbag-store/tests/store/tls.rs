//! PostgreSQL over TLS: who is trusted, and what is said when somebody is not.

mod certificates;
mod server;

use kitbag_store::{Existing, Incoming, RecallRequest, Store, StoreError, TlsProblem};

use crate::place::{run, second};
use certificates::{Authority, Identity, Years, self_signed};
use server::{OPEN, TlsServer, problem_of};

const ENCRYPTED_ONLY: &str = "hostssl all all 127.0.0.1/32 trust";

/// A server for `db.example`, and a file with the authority that vouches for it.
fn good_server(access: &str) -> (TlsServer, String) {
    let authority = Authority::new("ours");
    let identity = authority.server(&["db.example"], &Years::Now);
    let server = TlsServer::start(&identity, &authority, access);
    let roots = server.file("roots.crt", &authority.certificate());
    (server, roots)
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn x01_all_work_is_done_over_tls_with_a_server_that_is_who_it_says() {
    let (server, roots) = good_server(ENCRYPTED_ONLY);
    run(async {
        let checked = format!("sslmode=verify-full&sslrootcert={roots}");
        let store = server.open("db.example", &checked).await.unwrap();
        let incoming = Incoming::new("cli", "ann", "The bees live behind the mill.");
        store.accept(&incoming, second(0)).await.unwrap();
        let request = RecallRequest::new("ann", "bees");
        assert_eq!(store.recall(&request).await.unwrap().len(), 1);

        let folder = tempfile::tempdir().unwrap();
        let backup = folder.path().join("backup.db");
        store.back_up(&backup).await.unwrap();
        store.restore(&backup, Existing::Replace).await.unwrap();
        assert_eq!(store.recall(&request).await.unwrap().len(), 1);

        let connections = server.connections().await;
        assert!(!connections.is_empty());
        for (version, _) in connections {
            assert_eq!(version.as_deref(), Some("TLSv1.3"));
        }
    });
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn x01_a_certificate_of_another_host_is_refused_unless_names_do_not_matter() {
    let (server, roots) = good_server(OPEN);
    run(async {
        let with = |mode: &str| format!("sslmode={mode}&sslrootcert={roots}");
        let problem = server.problem("other.example", &with("verify-full")).await;
        let names = vec!["db.example".to_owned()];
        let host = "other.example".to_owned();
        assert_eq!(problem, TlsProblem::WrongName { host, names });
        let problem = server.problem("127.0.0.1", &with("verify-full")).await;
        assert!(matches!(problem, TlsProblem::WrongName { .. }), "{problem}");
        for mode in ["verify-ca", "require", "prefer"] {
            server.open("other.example", &with(mode)).await.unwrap();
        }
    });
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn x01_a_certificate_is_refused_before_and_after_its_time() {
    let authority = Authority::new("ours");
    for (years, told) in [
        (
            Years::Past,
            "the server sent a certificate that expired at 2021-01-01T00:00:00Z",
        ),
        (
            Years::Future,
            "the server sent a certificate that is not valid before 2119-01-01T00:00:00Z",
        ),
    ] {
        let identity = authority.server(&["db.example"], &years);
        let server = TlsServer::start(&identity, &authority, OPEN);
        let roots = server.file("roots.crt", &authority.certificate());
        run(async {
            for mode in ["verify-full", "verify-ca"] {
                let checked = format!("sslmode={mode}&sslrootcert={roots}");
                let problem = server.problem("db.example", &checked).await;
                assert_eq!(problem.to_string(), told);
            }
            server.open("db.example", "sslmode=require").await.unwrap();
        });
    }
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn x01_an_unknown_authority_is_refused_wherever_an_authority_is_asked_for() {
    let (server, _) = good_server(OPEN);
    let others = server.file("others.crt", &Authority::new("others").certificate());
    // Of the same name, with another key.
    let same_name = server.file("same.crt", &Authority::new("ours").certificate());
    run(async {
        let refused = async |parameters: &str| {
            let problem = server.problem("db.example", parameters).await;
            assert_eq!(problem, TlsProblem::UnknownAuthority, "{parameters}");
        };
        for mode in ["verify-full", "verify-ca", "require", "prefer"] {
            refused(&format!("sslmode={mode}&sslrootcert={others}")).await;
        }
        let forged = format!("sslmode=verify-full&sslrootcert={same_name}");
        let problem = server.problem("db.example", &forged).await;
        assert_eq!(problem, TlsProblem::UnknownAuthority);
        for mode in ["require", "prefer"] {
            let anybody = format!("sslmode={mode}");
            let store = server.open("db.example", &anybody).await.unwrap();
            let connections = server.connections().await;
            assert!(connections.iter().all(|(version, _)| version.is_some()));
            drop(store);
        }
    });
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn x01_a_server_that_signed_its_own_certificate_is_trusted_by_that_certificate() {
    let identity = self_signed("db.example");
    let server = TlsServer::start(&identity, &Authority::new("users"), OPEN);
    let own = server.file("own.crt", &identity.certificate);
    let other = server.file("other.crt", &self_signed("db.example").certificate);
    run(async {
        let trusting = |file: &str| format!("sslmode=verify-full&sslrootcert={file}");
        server.open("db.example", &trusting(&own)).await.unwrap();
        let problem = server.problem("db.example", &trusting(&other)).await;
        assert_eq!(problem, TlsProblem::UnknownAuthority);
        let problem = server.problem("other.example", &trusting(&own)).await;
        assert!(matches!(problem, TlsProblem::WrongName { .. }), "{problem}");
    });
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn x01_a_client_certificate_is_shown_and_missed_where_the_server_wants_one() {
    let authority = Authority::new("ours");
    let identity = authority.server(&["db.example"], &Years::Now);
    let access = "hostssl all all 127.0.0.1/32 cert";
    let server = TlsServer::start(&identity, &authority, access);
    let with = |name: &str, identity: &Identity| {
        let certificate = server.file(&format!("{name}.crt"), &identity.certificate);
        let key = server.file(&format!("{name}.key"), &identity.key);
        format!("sslmode=require&sslcert={certificate}&sslkey={key}")
    };
    let ours = with("ours", &authority.user("postgres"));
    let other_user = with("ann", &authority.user("ann"));
    let foreign = with("foreign", &Authority::new("others").user("postgres"));
    run(async {
        let store = server.open("db.example", &ours).await.unwrap();
        let connections = server.connections().await;
        let name = connections[0].1.as_deref();
        assert_eq!(name, Some("/CN=postgres"));
        drop(store);

        let problem = server.problem("db.example", "sslmode=require").await;
        assert!(
            matches!(problem, TlsProblem::ClientCertificateMissing { .. }),
            "{problem}"
        );
        for refused in [&other_user, &foreign] {
            let problem = server.problem("db.example", refused).await;
            assert!(
                matches!(problem, TlsProblem::ClientCertificateRefused { .. }),
                "{problem}"
            );
        }
    });
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn x01_a_password_is_bound_to_the_encrypted_connection_and_never_told() {
    let (server, roots) = good_server("host all all 127.0.0.1/32 scram-sha-256");
    run(async {
        let role = "CREATE ROLE ann SUPERUSER LOGIN PASSWORD 'honey-1'";
        server.execute(role).await;
        let as_user = async |user: &str, tls: &str| {
            let parameters = format!("{tls}&channel_binding=require");
            Store::open(&server.address(user, "db.example", &parameters)).await
        };
        let checked = format!("sslmode=verify-full&sslrootcert={roots}");
        as_user("ann:honey-1", &checked).await.unwrap();
        for (user, tls) in [
            ("ann:honey-2", checked.as_str()),
            ("ann:honey-1", "sslmode=disable"),
        ] {
            let error = as_user(user, tls).await.err().unwrap();
            assert!(matches!(error, StoreError::Connect { .. }), "{error}");
            assert!(!format!("{error} {error:?}").contains("honey"), "{error}");
        }
    });
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn x01_a_server_without_tls_is_refused_where_the_address_demands_it() {
    let server = TlsServer::start_without_tls();
    run(async {
        for demanding in ["sslmode=require", "sslrootcert=system"] {
            let problem = server.problem("db.example", demanding).await;
            assert_eq!(problem, TlsProblem::NotOffered);
        }
        // On this machine nothing is demanded.
        for lenient in ["sslmode=prefer", "sslmode=disable", "sslmode="] {
            server.open("db.example", lenient).await.unwrap();
        }
    });
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn x01_a_server_that_takes_encrypted_connections_only_is_told() {
    let (server, _) = good_server(ENCRYPTED_ONLY);
    run(async {
        let problem = server.problem("db.example", "sslmode=disable").await;
        assert!(matches!(problem, TlsProblem::Demanded { .. }), "{problem}");
        server.open("db.example", "sslmode=").await.unwrap();
    });
}

/// Files are read before anybody is spoken to.
#[test]
fn x01_a_file_that_cannot_be_used_is_named_with_its_parameter() {
    let authority = Authority::new("ours");
    let (ours, other) = (authority.user("ann"), authority.user("ann"));
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let certificate = file("ours.crt", &ours.certificate);
    let key = file("ours.key", &ours.key);
    let other = file("other.key", &other.key);
    let encrypted = ours.key.replace("PRIVATE", "ENCRYPTED PRIVATE");
    let encrypted = file("encrypted.key", &encrypted);
    let cut = file("cut.key", ours.key.split("-----END").next().unwrap());
    let folder = folder.path().display();
    for (parameters, told) in [
        (
            format!("sslrootcert={folder}/none.crt"),
            "none.crt, named by `sslrootcert`: No such file or directory (os error 2)",
        ),
        (
            format!("sslrootcert={folder}"),
            ", named by `sslrootcert`: Is a directory (os error 21)",
        ),
        (
            format!("sslrootcert={key}"),
            "ours.key, named by `sslrootcert`: it holds no certificate in PEM form",
        ),
        (
            format!("sslcert={key}&sslkey={key}"),
            "ours.key, named by `sslcert`: it holds no certificate in PEM form",
        ),
        (
            format!("sslcert={certificate}&sslkey={certificate}"),
            "ours.crt, named by `sslkey`: it holds no private key in PEM form",
        ),
        (
            format!("sslcert={certificate}&sslkey={encrypted}"),
            "encrypted.key, named by `sslkey`: the key is encrypted; decrypt it with `openssl pkey`",
        ),
        (
            format!("sslcert={certificate}&sslkey={cut}"),
            "cut.key, named by `sslkey`: its PEM form has no end",
        ),
        (
            format!("sslcert={certificate}&sslkey={other}"),
            "other.key, named by `sslkey`: it is not the key of the certificate in `sslcert`",
        ),
    ] {
        let address = format!("postgresql://ann:honey@db.example/d?{parameters}");
        let problem = problem_of(run(Store::open(&address.parse().unwrap())));
        assert!(matches!(problem, TlsProblem::File { .. }), "{problem}");
        assert!(problem.to_string().ends_with(told), "{problem}");
    }
}
