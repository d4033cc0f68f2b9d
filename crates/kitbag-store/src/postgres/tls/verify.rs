//! Checks a server's certificate: not at all, by its authority, or by authority and name.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use super::problem::is_authority_as_server;
use crate::error::TlsProblem;

/// The check that the server is the one that was meant.
#[derive(Debug)]
pub(super) struct ServerCheck {
    pub(super) algorithms: WebPkiSupportedAlgorithms,
    /// Without it every certificate is accepted: that protects against eavesdroppers, but not
    /// against somebody in the middle.
    pub(super) trusted: Option<Trusted>,
}

/// The authorities that vouch for a server.
#[derive(Debug)]
pub(super) struct Trusted {
    roots: RootCertStore,
    certificates: Vec<CertificateDer<'static>>,
    names: Names,
}

/// The treatment of the host names in a certificate.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Names {
    Checked,
    Ignored,
}

impl Trusted {
    /// Trusts these certificates, each of which must be readable.
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

    /// Trusts the system's authorities, and checks names.
    pub(super) fn by_the_system() -> Result<Self, TlsProblem> {
        let found = rustls_native_certs::load_native_certs();
        let mut roots = RootCertStore::empty();
        // A list of hundreds may hold one that cannot be parsed.
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
            // `openssl req -x509` marks a server's own certificate as an authority's. If that very
            // certificate is trusted it needs nobody to vouch for it; webpki has checked its dates
            // before.
            Err(error) if is_authority_as_server(&error) => {
                if !trusted.certificates.contains(end_entity) {
                    return Err(CertificateError::UnknownIssuer.into());
                }
            }
            // Signed by an authority that has a trusted one's name and another key.
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

    // Signatures are checked even if nobody is trusted: they bind the proof of the password (SCRAM)
    // to this connection.
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
