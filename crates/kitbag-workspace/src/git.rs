//! What git knows of the work tree.
