//! Addresses, and the settings that are read out of them.

use super::*;

#[test]
fn x01_the_pools_parameters_are_taken_out_of_an_address() {
    for (address, left) in [
        (
            "postgresql://a@b/c?pool_size=4&pool_wait=1500ms",
            "postgresql://a@b/c",
        ),
        (
            "postgresql://a@b/c?connect_timeout=5&pool_wait=1500ms&pool_size=4",
            "postgresql://a@b/c?connect_timeout=5",
        ),
        (
            "host=/tmp pool_size=4 user='a b' pool_wait=1500ms",
            "host=/tmp user='a b'",
        ),
        (
            r"password='is\' it?' pool_size = '4' user=a\ b pool_wait =1500ms",
            r"password='is\' it?' user=a\ b",
        ),
    ] {
        let (rest, options) = AddressOptions::split(address).unwrap();
        assert_eq!(rest, left);
        assert_eq!(options.size, 4);
        assert_eq!(options.wait, Duration::from_millis(1_500));
    }
    let wrong = [
        "pool_size=0",
        "pool_size=x",
        "pool_wait=",
        "pool_wait=5h",
        "prepared=yes",
    ];
    for wrong in wrong {
        let error = AddressOptions::split(&format!("postgres://h/d?{wrong}")).unwrap_err();
        assert!(error.contains(wrong), "{error}");
    }
}

#[test]
fn statements_are_prepared_as_the_address_says() {
    for (address, statements) in [
        ("postgresql://h/d", Statements::Automatic),
        ("postgresql://h/d?prepared=auto", Statements::Automatic),
        ("postgresql://h/d?prepared=off", Statements::Unnamed),
        ("postgresql://h/d?prepared=on", Statements::Prepared),
        ("host=h prepared=on", Statements::Prepared),
    ] {
        let (rest, options) = AddressOptions::split(address).unwrap();
        assert!(!rest.contains("prepared"), "{rest}");
        assert_eq!(options.statements, statements);
    }
}

#[test]
fn files_of_tls_are_decoded_in_both_forms_of_an_address() {
    let of = |address: &str| AddressOptions::split(address).unwrap();
    let (rest, url) = of(
        "postgresql://h/d?sslmode=verify-full&sslrootcert=%2Fmy%20ca.pem&sslcert=/c&sslkey=/k&user=a",
    );
    assert_eq!(rest, "postgresql://h/d?user=a");
    let (rest, pairs) =
        of("host=h sslmode=verify-full sslrootcert='/my ca.pem' sslcert=/c sslkey=/k dbname=d");
    assert_eq!(rest, "host=h dbname=d");
    assert_eq!(url, pairs);
    assert_ne!(url, of("postgresql://h/d?sslmode=verify-full").1);
}

#[test]
fn parameters_of_tls_that_contradict_each_other_are_refused() {
    for (wrong, told) in [
        (
            "sslmode=always",
            "`sslmode=always` is not one of disable, prefer, require, verify-ca, verify-full",
        ),
        ("sslmode=verify-ca", "needs `sslrootcert=FILE`"),
        (
            "sslmode=require&sslrootcert=system",
            "`sslmode=verify-full`",
        ),
        ("sslcert=/c", "`sslkey=FILE`"),
        ("sslkey=/k", "`sslcert=FILE`"),
    ] {
        let error = AddressOptions::split(&format!("postgres://h/d?{wrong}")).unwrap_err();
        assert!(error.contains(told), "{error}");
    }
}
