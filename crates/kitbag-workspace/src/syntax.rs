//! The structure of a source file: units, definitions, imports, outline, slices.
