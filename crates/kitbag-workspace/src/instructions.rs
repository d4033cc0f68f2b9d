//! The instructions that a project has for agents.
