//! The text of a file: encodings, and what is no text.
