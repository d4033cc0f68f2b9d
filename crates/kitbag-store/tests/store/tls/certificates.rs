//! Certificates for the tests, made anew each time.

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, IsCa, KeyPair,
    date_time_ymd,
};

/// Somebody who signs certificates.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate and its key, as PEM.
pub(crate) struct Identity {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

/// The years in which a certificate is valid.
pub(crate) enum Years {
    Now,
    Past,
    Future,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let params = params(
            name,
            &[],
            &Years::Now,
            IsCa::Ca(BasicConstraints::Unconstrained),
        );
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub(crate) fn certificate(&self) -> String {
        self.0.pem()
    }

    /// The certificate of a server with these names.
    pub(crate) fn server(&self, hosts: &[&str], years: &Years) -> Identity {
        self.sign("server", hosts, years)
    }

    /// The certificate of a user.
    pub(crate) fn user(&self, name: &str) -> Identity {
        self.sign(name, &[], &Years::Now)
    }

    fn sign(&self, name: &str, hosts: &[&str], years: &Years) -> Identity {
        let key = KeyPair::generate().unwrap();
        let params = params(name, hosts, years, IsCa::NoCa);
        Identity {
            certificate: params.signed_by(&key, &self.0).unwrap().pem(),
            key: key.serialize_pem(),
        }
    }
}

/// A server's own certificate, marked as that of an authority, as `openssl req -x509` makes it.
pub(crate) fn self_signed(host: &str) -> Identity {
    let key = KeyPair::generate().unwrap();
    let constraints = IsCa::Ca(BasicConstraints::Unconstrained);
    let params = params(host, &[host], &Years::Now, constraints);
    Identity {
        certificate: params.self_signed(&key).unwrap().pem(),
        key: key.serialize_pem(),
    }
}

fn params(name: &str, hosts: &[&str], years: &Years, is_ca: IsCa) -> CertificateParams {
    let hosts: Vec<String> = hosts.iter().map(ToString::to_string).collect();
    let mut params = CertificateParams::new(hosts).unwrap();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = is_ca;
    let (from, until) = match years {
        Years::Now => (2020, 2120),
        Years::Past => (2020, 2021),
        Years::Future => (2119, 2120),
    };
    params.not_before = date_time_ymd(from, 1, 1);
    params.not_after = date_time_ymd(until, 1, 1);
    params
}
