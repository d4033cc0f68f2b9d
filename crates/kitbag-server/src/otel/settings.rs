//! The variables of OpenTelemetry that say where telemetry goes.

use std::sync::Mutex;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use jiff::Timestamp;
use kitbag::provider::Secret;
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::export::Target;
use super::{Telemetry, json};

/// Telemetry that cannot be sent as the environment says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the variable `{variable}` is invalid: {problem}")]
pub struct TelemetryError {
    variable: String,
    problem: String,
}

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

impl Telemetry {
    /// Telemetry as the environment says; nothing where it names no endpoint.
    ///
    /// # Errors
    /// When a variable cannot be followed.
    pub fn from_variables(
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, TelemetryError> {
        let given = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        // It overrides all other variables.
        if given("OTEL_SDK_DISABLED").is_some_and(|it| it.eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        let [spans, metrics] = [("TRACES", "traces"), ("METRICS", "metrics")]
            .map(|(signal, path)| target(&given, signal, path));
        let (spans, metrics) = (spans?, metrics?);
        // Nothing is counted for a collector that nobody named.
        if spans.is_none() && metrics.is_none() {
            return Ok(None);
        }
        let content = given("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT");
        Ok(Some(Self {
            spans,
            metrics,
            resource: resource(&given),
            tells_content: content.is_some_and(|it| it.eq_ignore_ascii_case("true")),
            delay: millis(&given, "OTEL_BSP_SCHEDULE_DELAY", 5_000)?,
            interval: millis(&given, "OTEL_METRIC_EXPORT_INTERVAL", 60_000)?,
            began: Timestamp::now(),
            queue: Mutex::default(),
            filled: Notify::new(),
            measured: Mutex::default(),
        }))
    }
}

type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The target of a signal: at an address of its own, or below the one of all.
fn target(
    given: Variables<'_>,
    signal: &str,
    path: &str,
) -> Result<Option<Target>, TelemetryError> {
    let own = format!("OTEL_EXPORTER_OTLP_{signal}_ENDPOINT");
    // An address for all signals gets a path, an address for one signal is used as it is: the specification
    // says so.
    let below = |base: String| format!("{}/v1/{path}", base.trim_end_matches('/'));
    let (variable, address) = match (given(&own), given(ENDPOINT)) {
        (Some(address), _) => (own.as_str(), address),
        (None, Some(base)) => (ENDPOINT, below(base)),
        (None, None) => return Ok(None),
    };
    let exporter = given(&format!("OTEL_{signal}_EXPORTER"));
    // A signal can be turned off although the address is for all.
    if exporter.is_some_and(|exporter| exporter == "none") {
        return Ok(None);
    }
    let protocol = [
        format!("OTEL_EXPORTER_OTLP_{signal}_PROTOCOL"),
        "OTEL_EXPORTER_OTLP_PROTOCOL".to_owned(),
    ];
    for name in protocol {
        // Better an error at the start than a collector that gets bytes it cannot read.
        if let Some(protocol) = given(&name).filter(|protocol| protocol != "http/json") {
            let problem = format!("`{protocol}` is not supported; only `http/json` is");
            return Err(wrong(&name, problem));
        }
    }
    let headers = headers(given, signal)?;
    let limit = millis(given, "OTEL_EXPORTER_OTLP_TIMEOUT", 10_000)?;
    let uri = address.trim().parse();
    let uri = uri.map_err(|_| {
        wrong(
            variable,
            "it is not an address, such as http://localhost:4318",
        )
    })?;
    let target = Target::new(uri, headers, limit).map_err(|problem| wrong(variable, problem))?;
    Ok(Some(target))
}

/// Headers as `name=value` with commas between. They may hold keys, and appear in no message.
fn headers(given: Variables<'_>, signal: &str) -> Result<HeaderMap, TelemetryError> {
    let own = format!("OTEL_EXPORTER_OTLP_{signal}_HEADERS");
    let all = "OTEL_EXPORTER_OTLP_HEADERS";
    let mut headers = HeaderMap::new();
    // The variable of one signal comes last, so that it overrides the one for all.
    for variable in [all, &own] {
        let Some(list) = given(variable).map(Secret::new) else {
            continue;
        };
        for (name, value) in pairs(list.expose()) {
            let name = HeaderName::try_from(name.to_ascii_lowercase());
            let value = HeaderValue::try_from(value);
            let (Ok(name), Ok(mut value)) = (name, value) else {
                return Err(wrong(
                    variable,
                    "it is not a list, such as name=value,other=value",
                ));
            };
            // So that no log of a request prints it.
            value.set_sensitive(true);
            headers.insert(name, value);
        }
    }
    Ok(headers)
}

fn resource(given: Variables<'_>) -> Value {
    let listed = given("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default();
    let mut attributes: Vec<(String, Value)> = pairs(&listed)
        // Added below, where another variable can override it.
        .filter(|(name, _)| name != "service.name")
        .map(|(name, value)| (name, value.into()))
        .collect();
    let named = pairs(&listed).find(|(name, _)| name == "service.name");
    let named = given("OTEL_SERVICE_NAME").or(named.map(|(_, value)| value));
    let named = named.unwrap_or_else(|| "kitbag".to_owned());
    attributes.push(("service.name".to_owned(), named.into()));
    attributes.push((
        "service.version".to_owned(),
        env!("CARGO_PKG_VERSION").into(),
    ));
    let attributes = attributes
        .iter()
        .map(|(name, value)| (name.as_str(), value.clone()));
    json!({ "attributes": json::attributes(attributes) })
}

/// The pairs of a list. Bytes that would end a name or a value are written as `%2C` there.
fn pairs(list: &str) -> impl Iterator<Item = (String, String)> {
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=')?;
        let text = |text: &str| {
            let bytes = percent_encoding::percent_decode_str(text.trim());
            bytes.decode_utf8_lossy().into_owned()
        };
        Some((text(name), text(value))).filter(|(name, _)| !name.is_empty())
    };
    list.split(',').filter_map(pair)
}

fn millis(given: Variables<'_>, variable: &str, usual: u64) -> Result<Duration, TelemetryError> {
    let millis = match given(variable) {
        Some(text) => text.trim().parse().ok().filter(|millis| *millis > 0),
        None => Some(usual),
    };
    let millis = millis.ok_or_else(|| wrong(variable, "it is not a number of milliseconds"))?;
    Ok(Duration::from_millis(millis))
}

fn wrong(variable: &str, problem: impl Into<String>) -> TelemetryError {
    TelemetryError {
        variable: variable.to_owned(),
        problem: problem.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(given: &[(&str, &str)]) -> Result<Option<Telemetry>, TelemetryError> {
        let variable = |name: &str| {
            let found = given.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Telemetry::from_variables(&variable)
    }

    #[test]
    fn the_usual_variables_of_opentelemetry_are_followed() {
        let base = (ENDPOINT, "http://127.0.0.1:4318/");
        assert!(opened(&[]).unwrap().is_none());
        assert!(
            opened(&[base, ("OTEL_SDK_DISABLED", "true")])
                .unwrap()
                .is_none()
        );
        let all = opened(&[
            base,
            ("OTEL_TRACES_EXPORTER", "none"),
            ("OTEL_SERVICE_NAME", "bees"),
            ("OTEL_RESOURCE_ATTRIBUTES", "service.name=x,host.name=a%2Cb"),
        ]);
        let all = all.unwrap().unwrap();
        assert!(all.spans.is_none() && all.metrics.is_some() && !all.tells_content);
        let resource = all.resource.to_string();
        assert!(
            resource.contains("bees") && resource.contains("a,b"),
            "{resource}"
        );
        let shown = opened(&[base, ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=sk-hidden")]);
        assert!(!format!("{shown:?}").contains("sk-hidden"));
        for (name, value) in [
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
            ("OTEL_BSP_SCHEDULE_DELAY", "soon"),
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "not an address"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "a\nb=sk-hidden"),
        ] {
            let error = opened(&[base, (name, value)]).unwrap_err().to_string();
            assert!(
                error.contains(name) && !error.contains("sk-hidden"),
                "{error}"
            );
        }
    }
}
