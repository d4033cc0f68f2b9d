//! The vectors of a model, as a safetensors file stores them.

use std::ops::Range;
use std::path::Path;

use safetensors::{Dtype, SafeTensors};

use super::error::EmbeddingError;

/// The tensor's usual names, the likelier first.
const NAMES: [&str; 2] = ["embeddings", "embedding.weight"];
/// Tensors that change the meaning of the table's rows.
const INDIRECT: [&str; 2] = ["mapping", "weights"];

/// The bytes in front of the header, which hold its length.
const HEADER_LENGTH: usize = 8;

/// A table with one row for each token. Rows stay as they are in the file and are converted when
/// needed, since a text touches few of them.
pub(super) struct Table {
    file: Vec<u8>,
    data: Range<usize>,
    kind: Kind,
    rows: usize,
    columns: usize,
}

#[derive(Clone, Copy)]
enum Kind {
    Single,
    Half,
}

impl Table {
    /// Finds the table in the bytes of a file. The path is for errors.
    pub(super) fn read(path: &Path, file: Vec<u8>) -> Result<Self, EmbeddingError> {
        let wrong = |problem: String| EmbeddingError::Weights {
            file: path.to_owned(),
            problem,
        };
        let read = SafeTensors::read_metadata(&file);
        let (header, tensors) = read.map_err(|error| wrong(error.to_string()))?;
        // Sorted, since the map has no order and the error lists them.
        let mut found: Vec<String> = tensors.tensors().into_keys().collect();
        found.sort_unstable();
        if let Some(tensor) = found.iter().find(|name| INDIRECT.contains(&name.as_str())) {
            return Err(EmbeddingError::Indirect {
                file: path.to_owned(),
                tensor: tensor.clone(),
            });
        }
        let mut named = NAMES.into_iter();
        let Some((name, tensor)) = named.find_map(|name| Some((name, tensors.info(name)?))) else {
            let file = path.to_owned();
            return Err(EmbeddingError::NoTable { file, found });
        };
        // At least one column: `add_row` cuts the data into rows of this many numbers, and 0 would
        // panic.
        let &[rows, columns @ (1..)] = tensor.shape.as_slice() else {
            return Err(EmbeddingError::Shape {
                file: path.to_owned(),
                tensor: name.to_owned(),
                shape: tensor.shape.clone(),
            });
        };
        let kind = match tensor.dtype {
            Dtype::F32 => Kind::Single,
            Dtype::F16 => Kind::Half,
            other => {
                return Err(EmbeddingError::Kind {
                    file: path.to_owned(),
                    tensor: name.to_owned(),
                    kind: format!("{other:?}"),
                });
            }
        };
        let start = HEADER_LENGTH + header;
        let (from, to) = tensor.data_offsets;
        Ok(Self {
            data: start + from..start + to,
            file,
            kind,
            rows,
            columns,
        })
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn dimensions(&self) -> usize {
        self.columns
    }

    /// Adds `weight` times the vector of a token. A token without a row adds nothing.
    pub(super) fn add_row(&self, token: u32, weight: f32, sum: &mut [f32]) {
        // `SafeTensors` has checked that the range lies in the file, so the default is never taken.
        let data = self.file.get(self.data.clone()).unwrap_or_default();
        let row = usize::try_from(token).unwrap_or(usize::MAX);
        match self.kind {
            Kind::Single => {
                let (numbers, _) = data.as_chunks::<4>();
                let row = numbers.chunks(self.columns).nth(row).unwrap_or_default();
                for (sum, &bytes) in sum.iter_mut().zip(row) {
                    *sum += weight * f32::from_le_bytes(bytes);
                }
            }
            Kind::Half => {
                let (numbers, _) = data.as_chunks::<2>();
                let row = numbers.chunks(self.columns).nth(row).unwrap_or_default();
                for (sum, &bytes) in sum.iter_mut().zip(row) {
                    *sum += weight * single(u16::from_le_bytes(bytes));
                }
            }
        }
    }
}

/// Converts a half-precision number, which single precision holds exactly.
fn single(half: u16) -> f32 {
    let bits = u32::from(half);
    let (sign, exponent, fraction) = (bits >> 15, (bits >> 10) & 0x1f, bits & 0x3ff);
    let size = match exponent {
        // Subnormal numbers are multiples of 2^-24.
        0 => (f32::from(half & 0x3ff) / 16_777_216.0).to_bits(),
        // Infinities and numbers that are none keep their fraction.
        0x1f => (0xff << 23) | (fraction << 13),
        // The exponents' biases differ by 127 - 15 = 112, the fractions' widths by 23 - 10 = 13.
        _ => ((exponent + 112) << 23) | (fraction << 13),
    };
    f32::from_bits((sign << 31) | size)
}

#[cfg(test)]
mod tests {
    use super::single;

    #[test]
    fn halves_are_read_exactly() {
        let cases = [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_95),
            (0x7bff, 65_504.0),
            (0x0400, 6.103_515_6e-5),
            (0x03ff, 6.097_555e-5),
            (0x8001, -5.960_464_5e-8),
            (0x7c00, f32::INFINITY),
        ];
        for (half, expected) in cases {
            assert_eq!(single(half).to_bits(), f32::to_bits(expected), "{half:#x}");
        }
        assert_eq!(single(0x8000).to_bits(), (-0.0_f32).to_bits());
        assert!(single(0x7e00).is_nan());
    }
}
