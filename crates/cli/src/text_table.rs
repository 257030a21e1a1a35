//! Plain tables with aligned columns: text to the left, numbers to the right.

use unicode_width::UnicodeWidthStr;

/// Returns a table; the first `texts` columns are text, the others are numbers.
pub(crate) fn render(header: &[&str], texts: usize, rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width());
        cells.chain([header[column].width()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let header: Vec<String> = header.iter().map(ToString::to_string).collect();
    let mut text = String::new();
    for row in std::iter::once(&header).chain(rows) {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, space))| {
            let gap = " ".repeat(space - cell.width());
            if column < texts { format!("{cell}{gap}") } else { format!("{gap}{cell}") }
        });
        text += cells.collect::<Vec<_>>().join("  ").trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_in_line() {
        let rows = vec![
            vec!["a".to_owned(), "1".to_owned()],
            vec!["längst".to_owned(), "1.5e-10".to_owned()],
            vec!["温度".to_owned(), "–".to_owned()],
        ];
        let expected = "set         mse\na             1\nlängst  1.5e-10\n温度          –\n";
        assert_eq!(render(&["set", "mse"], 1, &rows), expected);
    }
}
