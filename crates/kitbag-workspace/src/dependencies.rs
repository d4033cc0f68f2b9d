//! What the project depends on, from its manifests.
