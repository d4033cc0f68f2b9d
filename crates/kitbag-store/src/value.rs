//! Values that go into a database and come out of it, of the same kinds in both.

use jiff::Timestamp;

use crate::error::Result;

/// A parameter or a cell.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    /// Numbers, times in microseconds, and flags.
    Int(i64),
    /// Names and JSON. PostgreSQL takes no NUL character here, so names are checked for it.
    Text(String),
    /// Any text that a person wrote. Bytes in PostgreSQL, whose text takes no NUL character.
    Body(String),
    Blob(Vec<u8>),
}

/// The kind of value that each Rust type becomes.
macro_rules! values {
    ($($type:ty: $kind:ident),+) => {
        $(impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Self::$kind(value.into())
            }
        })+
    };
}

values!(i64: Int, u32: Int, bool: Int, &str: Text, &String: Text, String: Text, Vec<u8>: Blob);

impl From<Timestamp> for Value {
    fn from(time: Timestamp) -> Self {
        Self::Int(time.as_microsecond())
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// Parameters of a statement, or a row to insert: one value, or several in order.
pub(crate) trait Parameters {
    /// Appends the values to a list.
    fn add_to(self, values: &mut Vec<Value>);
}

impl<T> Parameters for T
where
    Value: From<T>,
{
    fn add_to(self, values: &mut Vec<Value>) {
        values.push(self.into());
    }
}

impl Parameters for Vec<Value> {
    fn add_to(mut self, values: &mut Vec<Value>) {
        values.append(&mut self);
    }
}

/// A type that one cell can be read as.
pub(crate) trait Cell: Sized {
    /// The content that the schema prescribes for such a cell, for errors.
    const EXPECTED: &'static str;

    /// Converts the value, or returns none when the cell holds something else.
    fn from_value(value: Value) -> Option<Self>;
}

impl Cell for i64 {
    const EXPECTED: &'static str = "a number";

    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Int(number) => Some(number),
            _ => None,
        }
    }
}

impl Cell for u32 {
    const EXPECTED: &'static str = "a number from 0 to 4294967295";

    fn from_value(value: Value) -> Option<Self> {
        i64::from_value(value)?.try_into().ok()
    }
}

/// A number that the caller can do without: one out of range reads as missing, so that a damaged
/// cell does not keep the rest of its row from being read.
pub(crate) struct LenientU32(pub(crate) Option<u32>);

impl Cell for LenientU32 {
    const EXPECTED: &'static str = i64::EXPECTED;

    fn from_value(value: Value) -> Option<Self> {
        let number: Option<i64> = Cell::from_value(value)?;
        Some(Self(number.and_then(|number| number.try_into().ok())))
    }
}

impl Cell for u64 {
    const EXPECTED: &'static str = "a number from 0";

    fn from_value(value: Value) -> Option<Self> {
        i64::from_value(value)?.try_into().ok()
    }
}

impl Cell for bool {
    const EXPECTED: &'static str = "a number";

    fn from_value(value: Value) -> Option<Self> {
        Some(i64::from_value(value)? != 0)
    }
}

impl Cell for Timestamp {
    const EXPECTED: &'static str = "a time";

    fn from_value(value: Value) -> Option<Self> {
        Self::from_microsecond(i64::from_value(value)?).ok()
    }
}

impl Cell for String {
    const EXPECTED: &'static str = "a text in UTF-8";

    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Text(text) | Value::Body(text) => Some(text),
            Value::Blob(bytes) => Self::from_utf8(bytes).ok(),
            Value::Null | Value::Int(_) => None,
        }
    }
}

impl Cell for Vec<u8> {
    const EXPECTED: &'static str = "bytes";

    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Blob(bytes) => Some(bytes),
            _ => None,
        }
    }
}

impl<T: Cell> Cell for Option<T> {
    const EXPECTED: &'static str = T::EXPECTED;

    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Null => Some(None),
            other => T::from_value(other).map(Some),
        }
    }
}

impl Cell for Value {
    const EXPECTED: &'static str = "anything";

    fn from_value(value: Value) -> Option<Self> {
        Some(value)
    }
}

/// A row of a result. Cells are taken in order, from the first.
pub(crate) struct Row {
    // A cell is moved out when it is read: texts of messages are large, and nobody reads one twice.
    cells: std::vec::IntoIter<Value>,
    taken: usize,
}

impl Row {
    pub(crate) fn new(cells: Vec<Value>) -> Self {
        Self {
            cells: cells.into_iter(),
            taken: 0,
        }
    }

    /// Reads the next cell.
    pub(crate) fn cell<T: Cell>(&mut self) -> Result<T, WrongCell> {
        self.taken += 1;
        // A row that is too short is as wrong as a cell: a missing column must not read as NULL.
        let cell = self.cells.next().and_then(T::from_value);
        cell.ok_or(WrongCell {
            column: self.taken,
            expected: T::EXPECTED,
        })
    }

    /// The remaining cells, unread.
    pub(crate) fn into_cells(self) -> Vec<Value> {
        self.cells.collect()
    }

    /// Reads the next cells, as many as the type takes.
    pub(crate) fn read<T: FromRow>(&mut self) -> Result<T> {
        T::from_row(self)
    }
}

/// A type that is read from a row: from one cell, or from several in order.
pub(crate) trait FromRow: Sized {
    fn from_row(row: &mut Row) -> Result<Self>;
}

impl<T: Cell> FromRow for T {
    fn from_row(row: &mut Row) -> Result<Self> {
        Ok(row.cell()?)
    }
}

/// Implements [`FromRow`] for a struct whose fields have the order of the columns.
macro_rules! from_row {
    ($type:ident: $($field:ident),+) => {
        impl $crate::value::FromRow for $type {
            fn from_row(row: &mut $crate::value::Row) -> $crate::error::Result<Self> {
                Ok(Self { $($field: row.read()?),+ })
            }
        }
    };
}

pub(crate) use from_row;

impl FromRow for Row {
    fn from_row(row: &mut Row) -> Result<Self> {
        Ok(Self::new(std::mem::take(&mut row.cells).collect()))
    }
}

/// Implements both traits for tuples, which take and give their parts one after the other.
macro_rules! tuples {
    () => {
        impl Parameters for () {
            fn add_to(self, _: &mut Vec<Value>) {}
        }
    };
    ($first:ident $($rest:ident)*) => {
        impl<$first: Parameters, $($rest: Parameters),*> Parameters for ($first, $($rest),*) {
            #[expect(non_snake_case, reason = "named as their types")]
            fn add_to(self, values: &mut Vec<Value>) {
                let ($first, $($rest),*) = self;
                $first.add_to(values);
                $($rest.add_to(values);)*
            }
        }

        impl<$first: FromRow, $($rest: FromRow),*> FromRow for ($first, $($rest),*) {
            fn from_row(row: &mut Row) -> Result<Self> {
                Ok(($first::from_row(row)?, $($rest::from_row(row)?),*))
            }
        }

        tuples!($($rest)*);
    };
}

// Ten parts are the most that a statement needs at once; longer ones nest tuples.
tuples!(A B C D E F G H I J);

/// A cell that holds something else than the schema says, so another program wrote it.
#[derive(Debug, thiserror::Error)]
#[error("column {column} of a result is not {expected}")]
pub(crate) struct WrongCell {
    column: usize,
    pub(crate) expected: &'static str,
}
