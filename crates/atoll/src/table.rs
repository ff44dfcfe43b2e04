//! Tables for people: aligned columns, without control characters.

/// Longest text of a cell in characters; `--json` prints all of it.
const CELL_MAX: usize = 60;

/// Formats rows below a heading. The last column is not padded.
pub(crate) fn table(heading: &[&str], rows: &[Vec<String>]) -> String {
    let heading: Vec<String> = heading.iter().map(|&name| name.to_owned()).collect();
    let lines: Vec<Vec<String>> = std::iter::once(&heading).chain(rows).map(|row| plain(row)).collect();
    let width = |column: usize| lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..heading.len()).map(|column| width(column).unwrap_or(0)).collect();
    lines.iter().map(|line| aligned(line, &widths)).collect()
}

/// Formats names and values, one pair per line.
pub(crate) fn pairs(pairs: &[(&str, String)]) -> String {
    let width = pairs.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    pairs.iter().map(|(name, value)| format!("{name:width$}  {}\n", sanitize(value))).collect()
}

fn plain(row: &[String]) -> Vec<String> {
    row.iter().map(|text| cell(text)).collect()
}

/// Returns text without control characters, shortened to the length of a cell.
pub(crate) fn cell(text: &str) -> String {
    shortened(&sanitize(text))
}

fn aligned(line: &[String], widths: &[usize]) -> String {
    let cells = line.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
    let mut text = cells.collect::<Vec<_>>().join("  ").trim_end().to_owned();
    text.push('\n');
    text
}

/// Replaces control characters, so that text from a sandbox cannot control the terminal.
pub(crate) fn sanitize(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }).collect()
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= CELL_MAX {
        return text.to_owned();
    }
    text.chars().take(CELL_MAX - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_sanitized() {
        let rows = [vec!["a".to_owned(), "x".to_owned()], vec!["longer".to_owned(), "\u{1b}[2J".to_owned()]];
        assert_eq!(table(&["ID", "WHAT"], &rows), "ID      WHAT\na       x\nlonger  \u{fffd}[2J\n");
        assert_eq!(table(&["ID"], &[]), "ID\n");
        assert_eq!(shortened(&"x".repeat(61)).chars().count(), CELL_MAX);
        assert_eq!(pairs(&[("a", "1".to_owned()), ("bcd", "2".to_owned())]), "a    1\nbcd  2\n");
    }
}
