//! Reasons why there is no encrypted connection to a server.

use std::path::PathBuf;

use jiff::Timestamp;

/// A failure of TLS: of a file that it needs, of the server's certificate, or of ours.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TlsProblem {
    /// The server speaks in the clear only, and the address demands TLS.
    #[error("the server offers no TLS")]
    NotOffered,
    /// The server speaks TLS only, and the address forbids it.
    #[error("the server takes encrypted connections only: {reason}")]
    Demanded {
        /// The server's own words.
        reason: String,
    },
    /// The certificate is that of another host.
    #[error("the server's certificate is not for `{host}` but for {}", list(names))]
    WrongName {
        /// The host in the address.
        host: String,
        /// The names in the certificate.
        names: Vec<String>,
    },
    /// The certificate, or one of those that vouch for it, is too old.
    #[error("the server sent a certificate that expired at {at}")]
    Expired {
        /// The end of its time.
        at: Timestamp,
    },
    /// The certificate, or one of those that vouch for it, is too new.
    #[error("the server sent a certificate that is not valid before {from}")]
    NotYetValid {
        /// The beginning of its time.
        from: Timestamp,
    },
    /// Nobody who is trusted here vouches for the certificate.
    #[error("the server's certificate comes from an authority that is not trusted here")]
    UnknownAuthority,
    /// The certificate has no extensions, so that it cannot name a host.
    #[error("the server's certificate has X.509 version 1, and version 3 is needed")]
    OldCertificate,
    /// The system has no list of authorities.
    #[error("this system has no list of trusted authorities: {reason}")]
    NoAuthorities {
        /// The reason, as far as it is known.
        reason: String,
    },
    /// The server wants a certificate from the client.
    #[error("the server wants a client certificate: {reason}")]
    ClientCertificateMissing {
        /// The server's own words.
        reason: String,
    },
    /// The server does not trust the client's certificate.
    #[error("the server refuses the client certificate: {reason}")]
    ClientCertificateRefused {
        /// The alert that it sent, or its own words.
        reason: String,
    },
    /// A file that the address names cannot be used.
    #[error("cannot use {}, named by `{parameter}`: {reason}", path.display())]
    File {
        /// The parameter of the address.
        parameter: &'static str,
        /// The file.
        path: PathBuf,
        /// The problem with it.
        reason: String,
    },
    /// The two sides did not come to terms.
    #[error("the TLS handshake failed: {reason}")]
    Handshake {
        /// The reason, as the client saw it.
        reason: String,
    },
}

impl TlsProblem {
    pub(super) const fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::NotOffered => {
                "turn on `ssl` in the server; on a network that you trust, `sslmode=disable` in the address does without"
            }
            Self::Demanded { .. } => {
                "set `sslmode=require` or `sslmode=verify-full` in the address"
            }
            Self::WrongName { .. } => {
                "use a name of the certificate in the address, or get a certificate with this name as a subjectAltName; `sslmode=verify-ca` checks no name"
            }
            Self::Expired { .. } => {
                "renew the certificate of the server, and check the clock of this machine"
            }
            Self::NotYetValid { .. } => {
                "check the clock of this machine and that of who made the certificate"
            }
            Self::UnknownAuthority | Self::NoAuthorities { .. } => {
                "name the file with the authority's certificate as `sslrootcert=FILE` in the address"
            }
            Self::OldCertificate => {
                "make the server's certificate anew with extensions, such as a subjectAltName"
            }
            Self::ClientCertificateMissing { .. } => {
                "name your certificate and its key as `sslcert=FILE` and `sslkey=FILE` in the address"
            }
            Self::ClientCertificateRefused { .. } => {
                "use a certificate that an authority in the server's `ssl_ca_file` has signed, and whose common name is the user"
            }
            Self::File { .. } => "name a PEM file that this user may read",
            Self::Handshake { .. } => return None,
        })
    }
}

fn list(names: &[String]) -> String {
    match names {
        [] => "no host at all".to_owned(),
        names => format!("`{}`", names.join("`, `")),
    }
}
