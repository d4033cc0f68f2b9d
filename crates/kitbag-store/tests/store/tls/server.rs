//! A PostgreSQL server that speaks TLS on a port of this machine.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;

use kitbag_store::{Location, Store, StoreError, TlsProblem};

use super::certificates::{Authority, Identity};
use crate::place::superuser;
use crate::server::Server;

/// Lets everybody in, encrypted or not.
pub(crate) const OPEN: &str = "host all all 127.0.0.1/32 trust";

/// Runs until it is dropped.
pub(crate) struct TlsServer {
    server: Server,
    port: u16,
    files: tempfile::TempDir,
}

impl TlsServer {
    /// Starts a server with this certificate, which trusts the users of an authority.
    pub(crate) fn start(identity: &Identity, users: &Authority, access: &str) -> Self {
        let tls = "ssl = on\n\
             ssl_cert_file = '../server.crt'\n\
             ssl_key_file = '../server.key'\n\
             ssl_ca_file = '../users.crt'\n";
        Self::start_with(
            tls,
            access,
            &[
                ("server.crt", identity.certificate.clone()),
                ("server.key", identity.key.clone()),
                ("users.crt", users.certificate()),
            ],
        )
    }

    /// Starts a server that knows no TLS.
    pub(crate) fn start_without_tls() -> Self {
        Self::start_with("ssl = off\n", OPEN, &[])
    }

    fn start_with(tls: &str, access: &str, files: &[(&str, String)]) -> Self {
        let port = free_port();
        let settings = format!("{tls}listen_addresses = '127.0.0.1'\nhba_file = 'access.conf'\n");
        let access = format!("local all all trust\n{access}\n");
        let mut all = vec![("extra.conf", settings), ("access.conf", access)];
        all.extend_from_slice(files);
        Self {
            server: Server::start_with(port, &all),
            port,
            files: tempfile::tempdir().unwrap(),
        }
    }

    /// The address of a user at the server under a name of any host.
    pub(crate) fn address(&self, user: &str, host: &str, parameters: &str) -> Location {
        let port = self.port;
        let address =
            format!("postgresql://{user}@{host}:{port}/postgres?hostaddr=127.0.0.1&{parameters}");
        address.parse().unwrap()
    }

    /// Opens the store as the superuser.
    pub(crate) async fn open(&self, host: &str, parameters: &str) -> Result<Store, StoreError> {
        Store::open(&self.address("postgres", host, parameters)).await
    }

    /// The problem for which the store cannot be opened, after its message and its hint were checked.
    pub(crate) async fn problem(&self, host: &str, parameters: &str) -> TlsProblem {
        problem_of(self.open(host, parameters).await)
    }

    /// Writes a file for the client.
    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        let path: PathBuf = self.files.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    /// For each connection of Kitbag: the version of TLS if it is encrypted, and the client's name.
    pub(crate) async fn connections(&self) -> Vec<(Option<String>, Option<String>)> {
        let address = self.server.url.strip_prefix("postgresql:").unwrap();
        let sql = "SELECT version, client_dn FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
             WHERE application_name = 'kitbag'";
        let rows = superuser(address).await.query(sql, &[]).await.unwrap();
        let row = |row: &tokio_postgres::Row| (row.get(0), row.get(1));
        rows.iter().map(row).collect()
    }

    /// Runs statements as the superuser, at the socket.
    pub(crate) async fn execute(&self, sql: &str) {
        let address = self.server.url.strip_prefix("postgresql:").unwrap();
        superuser(address).await.batch_execute(sql).await.unwrap();
    }
}

/// A port that was free a moment ago. The system gives another one each time, of some 28,000.
fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap().port()
}

pub(crate) fn problem_of(opened: Result<Store, StoreError>) -> TlsProblem {
    let error = opened.err().unwrap();
    let (shown, hint) = (error.to_string(), error.hint());
    let StoreError::Tls { problem, .. } = error else {
        panic!("no problem of TLS: {error}");
    };
    assert!(shown.starts_with("no encrypted connection to PostgreSQL at "));
    assert!(shown.ends_with(&problem.to_string()), "{shown}");
    assert!(hint.is_some(), "{shown}");
    problem
}
