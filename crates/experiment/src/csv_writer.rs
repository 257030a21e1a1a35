//! CSV files that are written: cells with a comma, a quote or a line break are quoted.

/// The text of a CSV file, row by row.
///
/// ```
/// let mut csv = lawful_experiment::CsvWriter::new();
/// csv.row(["name", "mse"]);
/// csv.row(["a, b", "0.5"]);
/// assert_eq!(csv.into_text(), "name,mse\n\"a, b\",0.5\n");
/// ```
#[derive(Debug)]
pub struct CsvWriter(csv::Writer<Vec<u8>>);

impl Default for CsvWriter {
    fn default() -> Self {
        Self::new()
    }
}

impl CsvWriter {
    /// A file without rows.
    pub fn new() -> Self {
        Self(csv::WriterBuilder::new().flexible(true).from_writer(Vec::new()))
    }

    /// Adds a row.
    pub fn row<T: AsRef<[u8]>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.0.write_record(cells).expect("memory can be written");
    }

    /// Adds a cell to a row that [`Self::end_row`] ends.
    pub fn cell(&mut self, cell: impl AsRef<[u8]>) {
        self.0.write_field(cell).expect("memory can be written");
    }

    /// Ends a row of cells.
    pub fn end_row(&mut self) {
        self.0.write_record(None::<&[u8]>).expect("memory can be written");
    }

    /// Returns the whole text.
    ///
    /// # Panics
    /// If a cell was not UTF-8.
    pub fn into_text(self) -> String {
        let bytes = self.0.into_inner().expect("memory can be written");
        String::from_utf8(bytes).expect("cells are text")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_read_back_the_same_whatever_is_in_them() {
        let rows = [["a", "b,c", "d\"e"], ["1\n2", "", " x "], ["1\r2", "ü", "#"]];
        let mut writer = CsvWriter::new();
        for row in rows {
            writer.row(row);
        }
        let text = writer.into_text();
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
        for (row, back) in rows.iter().zip(reader.records()) {
            assert_eq!(back.unwrap(), row[..]);
        }
    }

    #[test]
    fn plain_cells_are_written_as_they_are() {
        let mut writer = CsvWriter::new();
        writer.row(["trajectory", "t", "x"]);
        for cell in ["run 1", "0.5", ""] {
            writer.cell(cell);
        }
        writer.end_row();
        assert_eq!(writer.into_text(), "trajectory,t,x\nrun 1,0.5,\n");
    }
}
