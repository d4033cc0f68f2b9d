//! The tree of a workspace as text.
