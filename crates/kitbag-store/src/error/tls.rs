//! Reasons why a server cannot be reached over TLS.

use std::path::PathBuf;

use jiff::Timestamp;

/// A failure of TLS: of a file that it needs, of the server's certificate, or of the client's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TlsProblem {
    /// The address demands TLS, and the server offers none.
    #[error("the server offers no TLS")]
    NotOffered,
    /// The address forbids TLS, and the server demands it.
    #[error("the server takes encrypted connections only: {reason}")]
    Demanded {
        /// The server's own words.
        reason: String,
    },
    /// The certificate belongs to another host.
    #[error("the server's certificate is not for `{host}` but for {}", list(names))]
    WrongName {
        /// The host in the address.
        host: String,
        /// The names in the certificate.
        names: Vec<String>,
    },
    /// The certificate, or one that vouches for it, has expired.
    #[error("the server sent a certificate that expired at {at}")]
    Expired {
        /// The end of its validity.
        at: Timestamp,
    },
    /// The certificate, or one that vouches for it, is not valid yet.
    #[error("the server sent a certificate that is not valid before {from}")]
    NotYetValid {
        /// The beginning of its validity.
        from: Timestamp,
    },
    /// No authority that is trusted here vouches for the certificate.
    #[error("the server's certificate comes from an authority that is not trusted here")]
    UnknownAuthority,
    /// The certificate has no extensions and so cannot name a host.
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
        /// The server's alert, or its own words.
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
    /// The handshake failed otherwise.
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
