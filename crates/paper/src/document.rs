//! A report as headings, paragraphs, tables and figures, before it becomes Markdown or HTML.

/// A part of a report.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// A heading of this level, from 1.
    Heading(usize, String),
    /// A paragraph; `*word*` is emphasised, and `` `word` `` is code.
    Paragraph(String),
    /// A list of such paragraphs.
    List(Vec<String>),
    /// A table: header and rows, of as many cells each.
    Table(Vec<String>, Vec<Vec<String>>),
    /// A figure: its file name without the ending, and its caption.
    Figure(String, String),
}

/// Returns the report as Markdown; figures are linked, below `figures/`.
pub fn markdown(blocks: &[Block]) -> String {
    joined(blocks, |block| match block {
        Block::Heading(level, words) => format!("{} {words}\n\n", "#".repeat(*level)),
        Block::Paragraph(words) => format!("{words}\n\n"),
        Block::List(items) => joined(items, |item| format!("- {item}\n")) + "\n",
        Block::Table(header, rows) => {
            let line = |cells: &Vec<String>| format!("| {} |\n", cells.join(" | "));
            let rule = "---|".repeat(header.len());
            format!("{}|{rule}\n{}\n", line(header), joined(rows, line))
        }
        Block::Figure(name, caption) => {
            format!("![{caption}](figures/{name}.svg)\n\n*{caption}*\n\n")
        }
    })
}

/// Returns the report as one HTML file; `svg_of` gives the SVG of a figure.
pub fn html(title: &str, blocks: &[Block], svg_of: impl Fn(&str) -> Option<String>) -> String {
    let body = joined(blocks, |block| match block {
        Block::Heading(level, words) => format!("<h{level}>{}</h{level}>\n", inline(words)),
        Block::Paragraph(words) => format!("<p>{}</p>\n", inline(words)),
        Block::List(items) => {
            let items = joined(items, |item| format!("<li>{}</li>\n", inline(item)));
            format!("<ul>\n{items}</ul>\n")
        }
        Block::Table(header, rows) => {
            let row = |cells: &Vec<String>, tag: &str| {
                let cells = joined(cells, |cell| format!("<{tag}>{}</{tag}>", inline(cell)));
                format!("<tr>{cells}</tr>\n")
            };
            let rows = joined(rows, |cells| row(cells, "td"));
            format!("<table>\n{}{rows}</table>\n", row(header, "th"))
        }
        Block::Figure(name, caption) => {
            let svg = svg_of(name).unwrap_or_default();
            let svg = svg.find("<svg").map_or("", |start| &svg[start..]);
            let caption = inline(caption);
            format!("<figure>\n{svg}\n<figcaption>{caption}</figcaption>\n</figure>\n")
        }
    });
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n",
        escape(title)
    )
}

fn joined<T>(parts: &[T], text: impl Fn(&T) -> String) -> String {
    parts.iter().map(text).collect::<Vec<_>>().concat()
}

const STYLE: &str = "body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; \
    padding: 0 1rem; color: #1e1e1e; }\ntable { border-collapse: collapse; margin: 1rem 0; font-size: \
    14px; }\nth, td { border-bottom: 1px solid #ddd; padding: 0.25rem 0.75rem; text-align: left; \
    vertical-align: top; }\nfigure { margin: 1.5rem 0; }\nfigure svg { width: 100%; height: auto; }\n\
    figcaption { color: #5f5f5f; font-size: 14px; }\ncode { background: #f4f4f4; padding: 0 0.2em; }\n";

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// `*emphasis*` and `` `code` `` as HTML; a mark without its partner stays as it is.
fn inline(text: &str) -> String {
    let mut text = escape(text);
    for (mark, tag) in [('`', "code"), ('*', "em")] {
        let parts: Vec<&str> = text.split(mark).collect();
        let last = parts.len() - 1 - (parts.len() - 1) % 2;
        let opened = |(n, part): (usize, &str)| match n {
            0 => part.to_owned(),
            n if n > last => format!("{mark}{part}"),
            n if n % 2 == 1 => format!("<{tag}>{part}"),
            _ => format!("</{tag}>{part}"),
        };
        text = parts.into_iter().enumerate().map(opened).collect::<Vec<_>>().concat();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks() -> Vec<Block> {
        vec![
            Block::Heading(2, "A < B".to_owned()),
            Block::Paragraph("it *holds* for `a & b`".to_owned()),
            Block::List(vec!["one".to_owned()]),
            Block::Table(vec!["x".to_owned(), "y".to_owned()], vec![vec!["1".to_owned(); 2]]),
            Block::Figure("f".to_owned(), "what".to_owned()),
        ]
    }

    #[test]
    fn markdown_has_every_block() {
        let expected = "## A < B\n\nit *holds* for `a & b`\n\n- one\n\n| x | y |\n|---|---|\n\
                        | 1 | 1 |\n\n![what](figures/f.svg)\n\n*what*\n\n";
        assert_eq!(markdown(&blocks()), expected);
    }

    #[test]
    fn html_has_every_block_and_the_picture_itself() {
        let page = html("t", &blocks(), |name| Some(format!("<?xml?><svg id=\"{name}\"></svg>")));
        for part in [
            "<h2>A &lt; B</h2>",
            "<p>it <em>holds</em> for <code>a &amp; b</code></p>",
            "<li>one</li>",
            "<tr><td>1</td><td>1</td></tr>",
            "<figure>\n<svg id=\"f\"></svg>",
        ] {
            assert!(page.contains(part), "{part} is not in\n{page}");
        }
        assert!(!page.contains("<?xml"));
    }

    #[test]
    fn a_lonely_mark_stays() {
        assert_eq!(inline("2 * 3"), "2 * 3");
    }
}
