//! Translates errors of the driver and of rustls that are about TLS.

use std::error::Error;
use std::io;

use jiff::Timestamp;
use rustls::pki_types::UnixTime;
use rustls::{AlertDescription, CertificateError};
use tokio_postgres::error::SqlState;

use crate::error::TlsProblem;

/// Finds the problem with TLS behind a failed connection, if it failed because of one.
pub(in crate::postgres) fn problem_of(error: &tokio_postgres::Error) -> Option<TlsProblem> {
    if let Some(said) = error.as_db_error() {
        let is_refused = *said.code() == SqlState::INVALID_AUTHORIZATION_SPECIFICATION;
        return is_refused.then(|| of_refusal(said.message())).flatten();
    }
    let mut cause: Option<&dyn Error> = Some(error);
    // rustls' error is inside an `io::Error`, somewhere in the chain of causes.
    while let Some(inner) = cause {
        let within = inner
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref);
        if let Some(error) = within.and_then(|error| error.downcast_ref()) {
            return Some(of_rustls(error));
        }
        // The driver has no type for this error, only the text.
        if inner.to_string() == "server does not support TLS" {
            return Some(TlsProblem::NotOffered);
        }
        cause = inner.source();
    }
    None
}

/// Tells the reasons of a refusal apart. The server has one code for all of them, so only its words
/// help; in another language they stay a plain refusal.
fn of_refusal(said: &str) -> Option<TlsProblem> {
    let reason = said.to_owned();
    if said.contains("requires a valid client certificate") {
        return Some(TlsProblem::ClientCertificateMissing { reason });
    }
    if said.starts_with("certificate authentication failed") {
        return Some(TlsProblem::ClientCertificateRefused { reason });
    }
    let is_in_the_clear =
        said.starts_with("no pg_hba.conf entry") && said.ends_with("no encryption");
    is_in_the_clear.then_some(TlsProblem::Demanded { reason })
}

pub(super) fn of_rustls(error: &rustls::Error) -> TlsProblem {
    let other = || TlsProblem::Handshake {
        reason: error.to_string(),
    };
    match error {
        rustls::Error::InvalidCertificate(wrong) => of_certificate(wrong).unwrap_or_else(other),
        rustls::Error::AlertReceived(alert) if is_about_us(*alert) => {
            TlsProblem::ClientCertificateRefused {
                reason: error.to_string(),
            }
        }
        _ => other(),
    }
}

fn of_certificate(wrong: &CertificateError) -> Option<TlsProblem> {
    Some(match wrong {
        CertificateError::ExpiredContext { not_after, .. } => TlsProblem::Expired {
            at: timestamp(*not_after)?,
        },
        CertificateError::NotValidYetContext { not_before, .. } => TlsProblem::NotYetValid {
            from: timestamp(*not_before)?,
        },
        CertificateError::NotValidForNameContext {
            expected,
            presented,
        } => TlsProblem::WrongName {
            host: expected.to_str().into_owned(),
            names: presented.iter().map(|name| bare(name)).collect(),
        },
        CertificateError::UnknownIssuer => TlsProblem::UnknownAuthority,
        // rustls has no variant for this one and passes webpki's error on.
        _ => match webpki_error(wrong)? {
            webpki::Error::UnsupportedCertVersion => TlsProblem::OldCertificate,
            _ => return None,
        },
    })
}

/// Returns true if an authority's certificate was shown as that of a server.
pub(super) fn is_authority_as_server(error: &rustls::Error) -> bool {
    let rustls::Error::InvalidCertificate(wrong) = error else {
        return false;
    };
    matches!(webpki_error(wrong), Some(webpki::Error::CaUsedAsEndEntity))
}

fn webpki_error(wrong: &CertificateError) -> Option<&webpki::Error> {
    match wrong {
        CertificateError::Other(other) => other.0.downcast_ref(),
        _ => None,
    }
}

/// Returns true for alerts by which a server refuses a client's certificate.
const fn is_about_us(alert: AlertDescription) -> bool {
    use AlertDescription as Alert;
    matches!(
        alert,
        Alert::NoCertificate
            | Alert::BadCertificate
            | Alert::UnsupportedCertificate
            | Alert::CertificateRevoked
            | Alert::CertificateExpired
            | Alert::CertificateUnknown
            | Alert::UnknownCA
            | Alert::AccessDenied
            | Alert::DecryptError
            | Alert::CertificateRequired
    )
}

/// The name within `DnsName("…")` and the like: rustls has presented names only in debug form.
fn bare(presented: &str) -> String {
    let quoted = presented
        .split_once('(')
        .and_then(|(_, name)| name.strip_suffix(')'));
    quoted.unwrap_or(presented).trim_matches('"').to_owned()
}

fn timestamp(time: UnixTime) -> Option<Timestamp> {
    let seconds = i64::try_from(time.as_secs()).ok()?;
    Timestamp::from_second(seconds).ok()
}
