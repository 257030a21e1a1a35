//! Plain tables: columns in line, numbers to the right.

/// A table; the first column is text, the others are numbers.
pub(crate) fn render(header: &[&str], rows: &[Vec<String>]) -> String {
    let columns = header.len();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([header[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    let header: Vec<String> = header.iter().map(ToString::to_string).collect();
    for row in std::iter::once(&header).chain(rows) {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let space = widths.get(column).copied().unwrap_or(0);
            if column == 0 {
                line += &format!("{cell:<space$}");
            } else {
                line += &format!("  {cell:>space$}");
            }
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// A number in three digits: `1.23e-4`, `0`, `12.3`.
pub(crate) fn short(value: f64) -> String {
    if value == 0.0 {
        "0".to_owned()
    } else if (0.01..1000.0).contains(&value.abs()) {
        format!("{value:.3}")
    } else {
        format!("{value:.2e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_in_line() {
        let rows = vec![
            vec!["a".to_owned(), "1".to_owned()],
            vec!["längst".to_owned(), "1.5e-10".to_owned()],
        ];
        let expected = "set          mse\na              1\nlängst  1.5e-10\n";
        assert_eq!(render(&["set", "mse"], &rows), expected);
    }

    #[test]
    fn numbers_are_short() {
        let cases = [
            (0.0, "0"),
            (1.0, "1.000"),
            (123.456, "123.456"),
            (1e-5, "1.00e-5"),
            (-2e9, "-2.00e9"),
        ];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
    }
}
