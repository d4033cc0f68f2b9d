//! Reads certificates and keys from PEM files. No byte of a key gets into an error.

use std::fs;
use std::path::Path;

use rustls::pki_types::pem::{Error, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::error::TlsProblem;

/// All certificates of a file, at least one.
pub(super) fn certificates(
    parameter: &'static str,
    path: &Path,
) -> Result<Vec<CertificateDer<'static>>, TlsProblem> {
    let fail = |reason: String| problem(parameter, path, reason);
    let text = read(parameter, path)?;
    let found: Result<Vec<_>, Error> = CertificateDer::pem_slice_iter(&text).collect();
    let found = found.map_err(|error| fail(malformed(&error)))?;
    match found.is_empty() {
        true => Err(fail("it holds no certificate in PEM form".to_owned())),
        false => Ok(found),
    }
}

/// The key of a file.
pub(super) fn key(
    parameter: &'static str,
    path: &Path,
) -> Result<PrivateKeyDer<'static>, TlsProblem> {
    let text = read(parameter, path)?;
    let key = PrivateKeyDer::from_pem_slice(&text);
    // Looked for only after a failure, which it explains better than the parser does.
    let is_encrypted = || {
        let has = |words: &[u8]| text.windows(words.len()).any(|some| some == words);
        has(b"BEGIN ENCRYPTED PRIVATE KEY") || has(b"Proc-Type: 4,ENCRYPTED")
    };
    key.map_err(|error| {
        let reason = match error {
            _ if is_encrypted() => {
                "the key is encrypted; decrypt it with `openssl pkey`".to_owned()
            }
            Error::NoItemsFound => "it holds no private key in PEM form".to_owned(),
            error => malformed(&error),
        };
        problem(parameter, path, reason)
    })
}

/// The error for a key that was read but cannot be used.
pub(super) fn unusable_key(
    parameter: &'static str,
    path: &Path,
    error: &rustls::Error,
) -> TlsProblem {
    let reason = match error {
        rustls::Error::InconsistentKeys(_) => {
            "it is not the key of the certificate in `sslcert`".to_owned()
        }
        other => format!("the key cannot be used ({other})"),
    };
    problem(parameter, path, reason)
}

fn read(parameter: &'static str, path: &Path) -> Result<Vec<u8>, TlsProblem> {
    fs::read(path).map_err(|error| problem(parameter, path, error.to_string()))
}

/// The error without the parser's words, which may quote a line of the file.
fn malformed(error: &Error) -> String {
    match error {
        Error::MissingSectionEnd { .. } => "its PEM form has no end".to_owned(),
        _ => "its PEM form is malformed".to_owned(),
    }
}

fn problem(parameter: &'static str, path: &Path, reason: String) -> TlsProblem {
    TlsProblem::File {
        parameter,
        path: path.to_owned(),
        reason,
    }
}
