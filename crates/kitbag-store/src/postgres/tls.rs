//! Encrypted connections, configured by the parameters that libpq has, with the same meaning:
//! `sslmode`, `sslrootcert`, `sslcert`, `sslkey`.
//!
//! Two things differ. Without `sslmode`, libpq continues in the clear when a server offers no TLS;
//! we do so only with a server on this machine unless the address says otherwise, since memories
//! and passwords should not cross a network in the clear. And nothing is read from `~/.postgresql`
//! or the environment: the address alone says who is trusted.

mod files;
mod problem;
mod verify;

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::crypto::ring;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::TlsProblem;

pub(super) use problem::problem_of;
use verify::{ServerCheck, Trusted};

/// The parameters of an address that concern TLS.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TlsOptions {
    mode: Option<Mode>,
    roots: Option<Roots>,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// In the clear.
    Disable,
    /// Encrypted if the server offers it.
    Prefer,
    /// Encrypted, to whoever answers.
    Require,
    /// Encrypted, to a server whose certificate comes from a trusted authority.
    VerifyCa,
    /// Encrypted, to a server whose certificate is moreover for the host in the address.
    VerifyFull,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Roots {
    System,
    File(PathBuf),
}

const MODES: [(&str, Mode); 5] = [
    ("disable", Mode::Disable),
    ("prefer", Mode::Prefer),
    ("require", Mode::Require),
    ("verify-ca", Mode::VerifyCa),
    ("verify-full", Mode::VerifyFull),
];

impl TlsOptions {
    /// Takes a parameter if it is about TLS. An empty value counts as absent.
    pub(super) fn take(&mut self, name: &str, value: &str) -> Result<bool, String> {
        let file = (!value.is_empty()).then(|| PathBuf::from(value));
        match name {
            "sslmode" => self.mode = mode(value)?,
            "sslrootcert" if value == "system" => self.roots = Some(Roots::System),
            "sslrootcert" => self.roots = file.map(Roots::File),
            "sslcert" => self.certificate = file,
            "sslkey" => self.key = file,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Refuses parameters that contradict each other.
    pub(super) fn check(&self) -> Result<(), String> {
        let weak = self.mode.is_some_and(|mode| mode != Mode::VerifyFull);
        let reason = match (self.mode, &self.roots) {
            // Anybody can get a certificate from a public authority for a name of their own.
            (Some(Mode::VerifyCa), None) => {
                "`sslmode=verify-ca` needs `sslrootcert=FILE`; `verify-full` can do with the system's authorities"
            }
            (_, Some(Roots::System)) if weak => {
                "`sslrootcert=system` needs `sslmode=verify-full`, which checks the host's name too"
            }
            _ if self.certificate.is_some() && self.key.is_none() => {
                "`sslcert` needs the certificate's key as `sslkey=FILE`"
            }
            _ if self.key.is_some() && self.certificate.is_none() => {
                "`sslkey` needs the key's certificate as `sslcert=FILE`"
            }
            _ => return Ok(()),
        };
        Err(reason.to_owned())
    }

    /// Sets the driver's mode, and makes the connector that encrypts its connections.
    pub(super) fn connector(&self, config: &mut Config) -> Result<MakeRustlsConnect, TlsProblem> {
        let mode = self.mode_for(config);
        config.ssl_mode(match mode {
            Mode::Disable => SslMode::Disable,
            Mode::Prefer => SslMode::Prefer,
            Mode::Require | Mode::VerifyCa | Mode::VerifyFull => SslMode::Require,
        });
        let provider = Arc::new(ring::default_provider());
        let algorithms = provider.signature_verification_algorithms;
        let trusted = match mode {
            Mode::Disable => None,
            _ => self.trusted(mode)?,
        };
        let client = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| problem::of_rustls(&error))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(ServerCheck {
                algorithms,
                trusted,
            }));
        let mut client = match (&self.certificate, &self.key) {
            (Some(certificate), Some(key)) if mode != Mode::Disable => {
                let chain = files::certificates("sslcert", certificate)?;
                let secret = files::key("sslkey", key)?;
                let client = client.with_client_auth_cert(chain, secret);
                client.map_err(|error| files::unusable_key("sslkey", key, &error))?
            }
            _ => client.with_no_client_auth(),
        };
        // With `sslnegotiation=direct` TLS starts without a request for it, and the server insists
        // on this.
        client.alpn_protocols = vec![b"postgresql".to_vec()];
        Ok(MakeRustlsConnect::new(client))
    }

    fn mode_for(&self, config: &Config) -> Mode {
        // No server offers TLS on a UNIX socket, and libpq does not ask for it there.
        if are_sockets(config) {
            return Mode::Disable;
        }
        match (self.mode, &self.roots) {
            (Some(mode), _) => mode,
            // Anybody can get a certificate from a public authority, so only the name tells the
            // right server.
            (None, Some(Roots::System)) => Mode::VerifyFull,
            (None, _) if is_this_machine(config) => Mode::Prefer,
            (None, _) => Mode::Require,
        }
    }

    /// The authorities that may vouch for the server: those of a named file in every mode, the
    /// system's only if the name of the host is checked too.
    fn trusted(&self, mode: Mode) -> Result<Option<Trusted>, TlsProblem> {
        let check = match mode {
            Mode::VerifyFull => verify::Names::Checked,
            _ => verify::Names::Ignored,
        };
        match &self.roots {
            Some(Roots::File(file)) => {
                let authorities = files::certificates("sslrootcert", file)?;
                let trusted = Trusted::new(authorities, check);
                let trusted = trusted.map_err(|reason| TlsProblem::File {
                    parameter: "sslrootcert",
                    path: file.clone(),
                    reason,
                });
                trusted.map(Some)
            }
            _ if mode == Mode::VerifyFull => Trusted::by_the_system().map(Some),
            _ => Ok(None),
        }
    }
}

fn mode(value: &str) -> Result<Option<Mode>, String> {
    if value.is_empty() {
        return Ok(None);
    }
    let found = MODES.iter().find(|(name, _)| *name == value);
    let found = found.ok_or_else(|| {
        let names = MODES.map(|(name, _)| name).join(", ");
        format!("`sslmode={value}` is not one of {names}")
    });
    found.map(|(_, mode)| Some(*mode))
}

fn are_sockets(config: &Config) -> bool {
    let is_socket = |host: &Host| !matches!(host, Host::Tcp(_));
    config.get_hostaddrs().is_empty() && config.get_hosts().iter().all(is_socket)
}

/// Returns true if the connection never reaches a network.
fn is_this_machine(config: &Config) -> bool {
    let is_here = |host: &Host| match host {
        Host::Tcp(name) => {
            name == "localhost" || name.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    };
    match config.get_hostaddrs() {
        [] => config.get_hosts().iter().all(is_here),
        addresses => addresses.iter().all(IpAddr::is_loopback),
    }
}

#[cfg(test)]
mod tests;
