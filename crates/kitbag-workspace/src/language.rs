//! Which language a file is written in.
