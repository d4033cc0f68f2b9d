//! The check of a server's certificate: by nobody, by an authority, or by an authority and its name.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use super::problem::is_authority_as_server;
use crate::error::TlsProblem;

/// Decides if a server is the one that was meant.
#[derive(Debug)]
pub(super) struct ServerCheck {
    pub(super) algorithms: WebPkiSupportedAlgorithms,
    /// Without it every certificate is taken: whoever listens in reads nothing, whoever stands between
    /// reads all.
    pub(super) trusted: Option<Trusted>,
}

/// Those who vouch for a server.
#[derive(Debug)]
pub(super) struct Trusted {
    roots: RootCertStore,
    certificates: Vec<CertificateDer<'static>>,
    names: Names,
}

/// The treatment of the names in a certificate.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Names {
    Checked,
    Ignored,
}

impl Trusted {
    /// Trusts these, each of which must be readable.
    pub(super) fn new(
        certificates: Vec<CertificateDer<'static>>,
        names: Names,
    ) -> Result<Self, String> {
        let mut roots = RootCertStore::empty();
        for certificate in &certificates {
            let added = roots.add(certificate.clone());
            added.map_err(|error| format!("a certificate in it is malformed ({error})"))?;
        }
        Ok(Self {
            roots,
            certificates,
            names,
        })
    }

    /// Trusts whom the system trusts, for the names that they vouch for.
    pub(super) fn by_the_system() -> Result<Self, TlsProblem> {
        let found = rustls_native_certs::load_native_certs();
        let mut roots = RootCertStore::empty();
        // A list of hundreds may hold an odd one.
        let (added, _) = roots.add_parsable_certificates(found.certs);
        if added == 0 {
            let reasons = found.errors.iter().map(ToString::to_string);
            let reasons: Vec<String> = reasons.collect();
            let reason = match reasons.is_empty() {
                true => "it is empty or missing".to_owned(),
                false => reasons.join("; "),
            };
            return Err(TlsProblem::NoAuthorities { reason });
        }
        Ok(Self {
            roots,
            certificates: Vec::new(),
            names: Names::Checked,
        })
    }
}

impl ServerCertVerifier for ServerCheck {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(trusted) = &self.trusted else {
            return Ok(ServerCertVerified::assertion());
        };
        let server = ParsedCertificate::try_from(end_entity)?;
        let (roots, algorithms) = (&trusted.roots, self.algorithms.all);
        let vouched = verify_server_cert_signed_by_trust_anchor(
            &server,
            roots,
            intermediates,
            now,
            algorithms,
        );
        match vouched {
            // `openssl req -x509` marks a server's own certificate as that of an authority. Where it is
            // trusted itself it needs nobody to vouch for it; its time was checked before.
            Err(error) if is_authority_as_server(&error) => {
                if !trusted.certificates.contains(end_entity) {
                    return Err(CertificateError::UnknownIssuer.into());
                }
            }
            // An authority of a trusted one's name with another key.
            Err(Error::InvalidCertificate(CertificateError::BadSignature)) => {
                return Err(CertificateError::UnknownIssuer.into());
            }
            vouched => vouched?,
        }
        if trusted.names == Names::Checked {
            verify_server_name(&server, server_name)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    // Signatures are checked whoever is trusted: they bind a password's proof (SCRAM) to this connection.
    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
