//! How wide a text is, where it may break, and which characters it may hold.

/// Advance widths of the PNG's font, `DejaVu Sans`, from space to tilde, in thousandths of the size.
const ASCII: [u16; 95] = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
];

/// Width of a text; exact for ASCII, a little too wide for everything else.
pub(super) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(advance).sum::<f64>() * size / 1000.0
}

fn advance(character: char) -> f64 {
    let code = character as usize;
    match code {
        0x20..=0x7e => f64::from(ASCII[code - 0x20]),
        0x300..=0x36f => 0.0,
        0xb2 | 0xb3 | 0xb9 => 401.0,
        0x2070..=0x209f => 530.0,
        0xa0..=0x4ff | 0x1e00..=0x1eff => 760.0,
        _ => 1050.0,
    }
}

/// The text with every character that XML forbids, and every control, made visible or a space.
pub(super) fn clean(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            '\t' | '\n' | '\r' => ' ',
            '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
            _ if character.is_control() => '\u{fffd}',
            _ => character,
        })
        .collect()
}

/// The text if it is at most `room` wide, else its beginning and an ellipsis.
pub(super) fn shorten(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut short = String::new();
    let mut used = width("…", size);
    for character in text.chars() {
        used += advance(character) * size / 1000.0;
        if used > room {
            break;
        }
        short.push(character);
    }
    short.push('…');
    short
}

/// The text in lines of at most `room`, broken between words; the last of `most` lines is
/// shortened if it must be.
pub(super) fn wrap(text: &str, size: f64, room: f64, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line, size) + width(" ", size) + width(word, size) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    if lines.len() > most {
        let rest = lines.split_off(most.max(1) - 1).join(" ");
        lines.push(rest);
    }
    lines.iter().map(|line| shorten(line, size, room)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_fits_its_room() {
        let text = "the energy of the oscillator must never rise from one step to the next";
        for room in [5.0, 40.0, 90.0, 300.0, 5000.0] {
            for line in wrap(text, 12.0, room, 3) {
                assert!(width(&line, 12.0) <= room.max(width("…", 12.0)), "{line} in {room}");
            }
        }
        assert_eq!(wrap(text, 12.0, 5000.0, 3), [text]);
        assert_eq!(wrap(text, 12.0, 200.0, 9).join(" "), text);
    }

    #[test]
    fn what_is_cut_off_is_marked() {
        assert!(shorten("a long name of a state", 12.0, 60.0).ends_with('…'));
        assert!(wrap("one two three four five six", 12.0, 40.0, 2)[1].ends_with('…'));
    }

    #[test]
    fn forbidden_characters_become_visible() {
        assert_eq!(clean("a\u{0}b\tc\u{ffff}θ"), "a\u{fffd}b c\u{fffd}θ");
    }
}
