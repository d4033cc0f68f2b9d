//! Lists the files of a workspace.
