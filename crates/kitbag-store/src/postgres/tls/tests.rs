//! The mode that the driver gets for an address; no server is spoken to.

use super::*;
use crate::postgres::AddressOptions;

/// The driver's mode for an address.
fn driver_mode(address: &str) -> SslMode {
    let (address, options) = AddressOptions::split(address).unwrap();
    let mut config: Config = address.parse().unwrap();
    options.tls.connector(&mut config).unwrap();
    config.get_ssl_mode()
}

#[test]
fn x01_only_this_machine_is_spoken_to_in_the_clear_unless_the_address_says_so() {
    for (address, mode) in [
        ("postgresql://db.example/d", SslMode::Require),
        ("postgresql://192.0.2.1/d", SslMode::Require),
        ("postgresql://localhost,db.example/d", SslMode::Require),
        (
            "postgresql://localhost/d?hostaddr=192.0.2.1",
            SslMode::Require,
        ),
        ("postgresql://localhost/d?sslmode=require", SslMode::Require),
        ("host=db.example sslmode = 'disable'", SslMode::Disable),
        ("postgresql://db.example/d?sslmode=prefer", SslMode::Prefer),
        ("postgresql://localhost/d", SslMode::Prefer),
        ("postgresql://127.0.0.1/d", SslMode::Prefer),
        ("postgresql://[::1]/d", SslMode::Prefer),
        (
            "postgresql://db.example/d?hostaddr=127.0.0.1",
            SslMode::Prefer,
        ),
    ] {
        assert_eq!(driver_mode(address), mode, "{address}");
    }
}

#[test]
fn x01_a_socket_is_never_asked_for_tls() {
    for address in [
        "postgresql://%2Ftmp/d",
        "host=/tmp sslmode=require",
        "host=/tmp sslmode=verify-full sslrootcert=/none.crt",
    ] {
        assert_eq!(driver_mode(address), SslMode::Disable, "{address}");
    }
}
