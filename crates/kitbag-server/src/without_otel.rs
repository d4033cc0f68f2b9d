//! Calls of models without the feature `otel`: they are not reported.

use http::HeaderMap;
use kitbag::core::record::Usage;
use kitbag::core::role::Role;
use kitbag::provider::Reply;
use kitbag::wire::Dialect;
use serde_json::Value;

use crate::App;

/// A call that is reported, which never exists here.
#[derive(Debug)]
pub(crate) enum Call {}

impl Call {
    pub(crate) const fn begin(_: &App, _: &HeaderMap) -> Option<Self> {
        None
    }

    pub(crate) fn speaks(&mut self, _: Dialect) {
        match *self {}
    }

    pub(crate) fn forget(self) {
        match self {}
    }

    pub(crate) fn asks(&mut self, _: &[u8]) {
        match *self {}
    }

    pub(crate) fn names(&mut self, _: impl Into<String>) {
        match *self {}
    }

    pub(crate) fn tell(&mut self, _: &'static str, _: impl Into<Value>) {
        match *self {}
    }

    pub(crate) fn tells_content(&self) -> bool {
        match *self {}
    }

    pub(crate) fn said(&mut self, _: impl DoubleEndedIterator<Item = (Role, String)>) {
        match *self {}
    }

    pub(crate) fn begins_to_answer(&mut self) {
        match *self {}
    }

    pub(crate) fn answered(&mut self, _: &Reply) {
        match *self {}
    }

    pub(crate) fn billed(&mut self, _: Option<Usage>) {
        match *self {}
    }

    pub(crate) fn failed(&mut self, _: impl Into<String>) {
        match *self {}
    }
}
