//! What goes into a database and comes out of it: four kinds of values, the same in both.

/// A parameter or a cell.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// Nothing.
    Null,
    /// Numbers, times in microseconds, and flags.
    Int(i64),
    /// Names and JSON. PostgreSQL takes no NUL character here, so names are checked for it.
    Text(String),
    /// What a person wrote: any text. Bytes in PostgreSQL, where text takes no NUL character.
    Body(String),
    /// Bytes.
    Blob(Vec<u8>),
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Int(number.into())
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Int(flag.into())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<u8>> for Value {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Blob(bytes)
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// A row of a result. Cells are taken in order, from the first.
pub(crate) struct Row {
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

    /// The next cell, whatever it is.
    pub(crate) fn cell(&mut self) -> Value {
        self.taken += 1;
        self.cells.next().unwrap_or(Value::Null)
    }

    /// The next cell, a number.
    pub(crate) fn int(&mut self) -> Result<i64, WrongCell> {
        self.int_or_null()?.ok_or_else(|| self.wrong("a number"))
    }

    /// The next cell, a small number.
    pub(crate) fn u32(&mut self) -> Result<u32, WrongCell> {
        let number = self.int()?;
        u32::try_from(number).map_err(|_| self.wrong("a number from 0 to 4294967295"))
    }

    /// The next cell, a flag.
    pub(crate) fn flag(&mut self) -> Result<bool, WrongCell> {
        Ok(self.int()? != 0)
    }

    /// The next cell, a number or nothing.
    pub(crate) fn int_or_null(&mut self) -> Result<Option<i64>, WrongCell> {
        match self.cell() {
            Value::Int(number) => Ok(Some(number)),
            Value::Null => Ok(None),
            _ => Err(self.wrong("a number")),
        }
    }

    /// The next cell, a text.
    pub(crate) fn text(&mut self) -> Result<String, WrongCell> {
        self.text_or_null()?.ok_or_else(|| self.wrong("a text"))
    }

    /// The next cell, a text or nothing.
    pub(crate) fn text_or_null(&mut self) -> Result<Option<String>, WrongCell> {
        match self.cell() {
            Value::Text(text) | Value::Body(text) => Ok(Some(text)),
            Value::Blob(bytes) => String::from_utf8(bytes)
                .map(Some)
                .map_err(|_| self.wrong("a text in UTF-8")),
            Value::Null => Ok(None),
            Value::Int(_) => Err(self.wrong("a text")),
        }
    }

    /// The next cell, bytes or nothing.
    pub(crate) fn blob_or_null(&mut self) -> Result<Option<Vec<u8>>, WrongCell> {
        match self.cell() {
            Value::Blob(bytes) => Ok(Some(bytes)),
            Value::Null => Ok(None),
            _ => Err(self.wrong("bytes")),
        }
    }

    /// The next cell, bytes.
    pub(crate) fn blob(&mut self) -> Result<Vec<u8>, WrongCell> {
        self.blob_or_null()?.ok_or_else(|| self.wrong("bytes"))
    }

    fn wrong(&self, expected: &'static str) -> WrongCell {
        WrongCell {
            column: self.taken,
            expected,
        }
    }
}

/// A cell that holds something else than the schema says: the database was changed by others.
#[derive(Debug, thiserror::Error)]
#[error("column {column} of a result is not {expected}")]
pub(crate) struct WrongCell {
    column: usize,
    expected: &'static str,
}

impl WrongCell {
    /// What the schema says.
    pub(crate) fn expected(&self) -> &'static str {
        self.expected
    }
}
