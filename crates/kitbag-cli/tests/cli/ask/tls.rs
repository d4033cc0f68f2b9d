//! HTTPS with certificates of the test's own, directly and through a proxy.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::key::assert_key_is_nowhere;
use super::upstream::{self, Reply, Upstream};
use super::{KEY, served, served_at, served_within};
use crate::run::{Folder, Output};

/// Stands in no output either.
const PASSWORD: &str = "proxy-password-0123456789";

#[test]
fn o07_a_private_authority_is_trusted_where_a_file_names_it() {
    let authority = Authority::new();
    let upstream = authority.serve("localhost");
    let folder = secure(&upstream, &authority);
    let trusted = ask(&folder, &[("SSL_CERT_FILE", "authority.pem")]);
    assert_key_is_nowhere(&folder, &trusted);
    assert_eq!(trusted.success(), "In Porto.\n");
    assert!(upstream.requests()[0].contains(KEY));
}

#[test]
fn o07_a_certificate_that_cannot_be_trusted_is_a_clear_error_and_gets_no_key() {
    let authority = Authority::new();
    for (host, file, told) in [
        ("localhost", "another.pem", "its authority is not known"),
        ("elsewhere.test", "authority.pem", "not valid for name"),
    ] {
        let upstream = authority.serve(host);
        let folder = secure(&upstream, &authority);
        folder.write("another.pem", Authority::new().0.pem());
        let output = ask(&folder, &[("SSL_CERT_FILE", file)]);
        let error = &output.stderr;
        assert!(
            error.contains("the certificate of https://localhost:"),
            "{error}"
        );
        assert!(error.contains(told), "{error}");
        assert!(error.contains("SSL_CERT_FILE"), "{error}");
        assert_eq!(output.code, Some(1), "{error}");
        assert_eq!(error.matches("provider_retry").count(), 0, "{error}");
        assert!(upstream.requests().is_empty());
        assert_key_is_nowhere(&folder, &output);
    }
}

#[test]
fn o07_authorities_that_cannot_be_read_are_told_and_no_others_are_trusted() {
    let authority = Authority::new();
    let upstream = authority.serve("localhost");
    let folder = secure(&upstream, &authority);
    folder.write("empty.pem", "");
    for (name, value) in [
        ("SSL_CERT_FILE", "missing.pem"),
        ("SSL_CERT_FILE", "empty.pem"),
        ("SSL_CERT_DIR", "missing"),
    ] {
        let mut command = command(&folder, &[(name, value)]);
        if name == "SSL_CERT_DIR" {
            command.env_remove("SSL_CERT_FILE");
        }
        let output = crate::run::finish(command, Some(b""));
        assert_key_is_nowhere(&folder, &output);
        let error = output.failure(1);
        let told = format!("no certificate can be read from {name}");
        assert!(error.contains(&told), "{error}");
    }
    assert!(upstream.requests().is_empty());
    // Without encryption nobody is asked for a certificate.
    let upstream = Upstream::start(vec![Reply::stream(upstream::ANTHROPIC)]);
    let plain = served(&upstream, "anthropic");
    let output = ask(
        &plain,
        &[("SSL_CERT_FILE", "missing.pem"), ("NO_PROXY", "127.0.0.1")],
    );
    assert_eq!(output.success(), "In Porto.\n");
}

#[test]
fn o07_a_server_or_a_proxy_that_accepts_and_stays_silent_is_given_up() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    thread::spawn(move || silent.incoming().collect::<Vec<_>>());
    let proxy = format!("http://127.0.0.1:{port}");
    let server = format!("https://127.0.0.1:{port}");
    for (address, variable) in [
        (server.as_str(), ("NO_PROXY", "127.0.0.1")),
        ("https://elsewhere.test", ("HTTPS_PROXY", proxy.as_str())),
    ] {
        let folder = served_within(address, "anthropic", "connect: 300ms, first_byte: 60s");
        let error = ask(&folder, &[variable]).failure(1);
        assert!(error.contains("no connection within 0.300 s"), "{error}");
    }
}

#[test]
fn o07_a_proxy_opens_a_tunnel_and_reads_nothing_in_it() {
    let authority = Authority::new();
    let upstream = authority.serve("localhost");
    let folder = secure(&upstream, &authority);
    let proxy = Proxy::start(None);
    let address = proxy.address_with_password();
    let through = ask(
        &folder,
        &[
            ("HTTPS_PROXY", &address),
            ("SSL_CERT_FILE", "authority.pem"),
        ],
    );
    assert_key_is_nowhere(&folder, &through);
    let printed = format!("{}{}", through.stdout, through.stderr);
    assert!(!printed.contains(PASSWORD), "{printed}");
    assert_eq!(through.success(), "In Porto.\n");
    assert_eq!(upstream.requests().len(), 1);
    let seen = proxy.seen();
    let connect = format!("CONNECT localhost:{} HTTP/1.1", upstream.port());
    assert!(seen.starts_with(&connect), "{seen}");
    assert!(
        seen.to_lowercase().contains("proxy-authorization: basic "),
        "{seen}"
    );
    assert!(!seen.contains(KEY) && !seen.contains("bees"), "{seen}");
}

#[test]
fn o07_a_proxy_for_plain_addresses_is_used_unless_the_address_is_excepted() {
    for (excepted, is_used) in [("", true), ("127.0.0.1", false)] {
        let upstream = Upstream::start(vec![Reply::stream(upstream::ANTHROPIC)]);
        let folder = served(&upstream, "anthropic");
        let proxy = Proxy::start(None);
        let address = proxy.address_with_password();
        let output = ask(&folder, &[("HTTP_PROXY", &address), ("NO_PROXY", excepted)]);
        assert_eq!(output.success(), "In Porto.\n");
        assert_eq!(!proxy.seen().is_empty(), is_used, "{}", proxy.seen());
        assert_eq!(upstream.requests().len(), 1);
    }
}

#[test]
fn o07_a_proxy_that_refuses_is_a_clear_error() {
    let upstream = Upstream::start(Vec::new());
    let folder = served(&upstream, "anthropic");
    let proxy = Proxy::start(Some("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"));
    let address = proxy.address_with_password();
    let output = ask(&folder, &[("HTTP_PROXY", &address)]);
    assert_key_is_nowhere(&folder, &output);
    let error = output.failure(1);
    assert!(error.contains("proxy authorization required"), "{error}");
    assert!(error.contains("HTTPS_PROXY"), "{error}");
    assert!(!error.contains(PASSWORD), "{error}");
}

fn ask(folder: &Folder, variables: &[(&str, &str)]) -> Output {
    crate::run::finish(command(folder, variables), Some(b""))
}

fn command(folder: &Folder, variables: &[(&str, &str)]) -> Command {
    let args = ["--store", "sqlite:memory.db", "--log", "trace"];
    let ask = ["ask", "Where are the bees?", "--config", "served.yaml"];
    let mut command = folder.command(&[&args[..], &ask].concat());
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"] {
        command.env_remove(name).env_remove(name.to_lowercase());
    }
    command
        .env_remove("SSL_CERT_DIR")
        .envs(variables.iter().copied());
    command
}

/// A folder whose provider is a server with a certificate, of an authority whose own is in a file.
fn secure(upstream: &Upstream, authority: &Authority) -> Folder {
    let address = format!("https://localhost:{}", upstream.port());
    let folder = served_at(&address, "anthropic");
    folder.write("authority.pem", authority.0.pem());
    folder
}

/// Somebody who signs certificates.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params
            .distinguished_name
            .push(DnType::CommonName, "An authority of its own");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap());
        Self(issuer.unwrap())
    }

    /// A server with a certificate for this name.
    fn serve(&self, host: &str) -> Upstream {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![host.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        let config = Arc::new(config);
        Upstream::over(
            |_| Reply::stream(upstream::ANTHROPIC),
            move |stream| {
                let connection = ServerConnection::new(Arc::clone(&config));
                let connection = connection.map_err(io::Error::other)?;
                Ok(StreamOwned::new(connection, stream))
            },
        )
    }
}

/// A proxy that opens tunnels and keeps what it can read, or refuses.
struct Proxy {
    port: u16,
    seen: Arc<Mutex<Vec<u8>>>,
}

impl Proxy {
    fn start(refusal: Option<&'static str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&seen);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let kept = Arc::clone(&kept);
                thread::spawn(move || tunnel(stream?, refusal, &kept));
            }
        });
        Self { port, seen }
    }

    fn address_with_password(&self) -> String {
        format!("http://someone:{PASSWORD}@127.0.0.1:{}", self.port)
    }

    /// All that was sent to it.
    fn seen(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().unwrap()).into_owned()
    }
}

fn tunnel(mut client: TcpStream, refusal: Option<&str>, seen: &Mutex<Vec<u8>>) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        client.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    seen.lock().unwrap().extend_from_slice(&head);
    if let Some(refusal) = refusal {
        return client.write_all(refusal.as_bytes());
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let port = head
        .split(' ')
        .nth(1)
        .and_then(|target| target.rsplit_once(':'));
    let port: u16 = port.and_then(|(_, port)| port.parse().ok()).unwrap();
    let mut server = TcpStream::connect(("127.0.0.1", port))?;
    client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
    let (mut from_server, mut to_client) = (server.try_clone()?, client.try_clone()?);
    thread::spawn(move || {
        io::copy(&mut from_server, &mut to_client)?;
        to_client.shutdown(Shutdown::Write)
    });
    let mut buffer = [0; 4096];
    loop {
        match client.read(&mut buffer)? {
            0 => return Ok(()),
            count => {
                seen.lock().unwrap().extend_from_slice(&buffer[..count]);
                server.write_all(&buffer[..count])?;
            }
        }
    }
}
