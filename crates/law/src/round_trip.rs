//! Tests that parsing the printed text restores the syntax, over random syntax.

use proptest::prelude::*;

use crate::functions::FUNCTIONS;
use crate::parser::parse_expression;
use crate::syntax::{Item, Operator, Syntax};

/// Random postfix code: leaves, followed by signs, operators and calls.
fn items() -> impl Strategy<Value = Vec<Item>> {
    let leaf = prop_oneof![
        any::<f64>()
            .prop_filter("numbers are finite", |value| value.is_finite())
            .prop_map(|value| vec![Item::Number(value.abs())]),
        (0_u32..1000).prop_map(|value| vec![Item::Number(f64::from(value) / 8.0)]),
        prop::sample::select(vec!["x", "θ", "E_1", "e2"])
            .prop_map(|name| vec![Item::Name(name.into())]),
    ];
    leaf.prop_recursive(8, 64, 3, |inner| {
        let operator = prop::sample::select(vec![
            Operator::Add,
            Operator::Subtract,
            Operator::Multiply,
            Operator::Divide,
            Operator::Power,
        ]);
        let function = prop::sample::select(FUNCTIONS.iter().collect::<Vec<_>>());
        prop_oneof![
            inner.clone().prop_map(|a| [a, vec![Item::Negate]].concat()),
            (inner.clone(), operator, inner.clone()).prop_map(|(a, operator, b)| [
                a,
                b,
                vec![Item::Binary(operator)]
            ]
            .concat()),
            (function, prop::collection::vec(inner, 3), 2_usize..=3).prop_map(
                |(function, arguments, several)| {
                    let count = if function.accepts(several) { several } else { 1 };
                    let call = vec![vec![Item::Call(function, count)]];
                    arguments.into_iter().take(count).chain(call).flatten().collect()
                }
            ),
        ]
    })
}

fn parsed(text: &str) -> Vec<Item> {
    parse_expression(text).unwrap().items.into_iter().map(|(item, _)| item).collect()
}

fn printed(items: &[Item]) -> String {
    let items = items.iter().map(|item| (item.clone(), 0..0)).collect();
    Syntax { items, span: 0..0 }.to_string()
}

/// Returns every text that differs from `text` by one missing pair of brackets.
fn with_fewer_brackets(text: &str) -> Vec<String> {
    let mut open = Vec::new();
    let mut texts = Vec::new();
    for (position, c) in text.char_indices() {
        match c {
            '(' => open.push(position),
            ')' => {
                let start = open.pop().unwrap();
                let inside = &text[start + 1..position];
                texts.push(format!("{}{inside}{}", &text[..start], &text[position + 1..]));
            }
            _ => {}
        }
    }
    texts
}

proptest! {
    #[test]
    fn parsing_the_printed_text_gives_the_same_syntax(items in items()) {
        let text = printed(&items);
        prop_assert_eq!(parsed(&text), items, "{}", text);
    }

    #[test]
    fn no_pair_of_brackets_can_be_left_out(items in items()) {
        let text = printed(&items);
        for shorter in with_fewer_brackets(&text) {
            let same = parse_expression(&shorter).is_ok_and(|syntax| {
                syntax.items.iter().map(|(item, _)| item).eq(&items)
            });
            prop_assert!(!same, "`{}` could be `{}`", text, shorter);
        }
    }

    #[test]
    fn spans_of_every_part_parse_to_that_part(items in items()) {
        let text = printed(&items);
        let syntax = parse_expression(&text).unwrap();
        for (end, (item, span)) in syntax.items.iter().enumerate() {
            let part = parsed(&text[span.clone()]);
            prop_assert_eq!(part.last(), Some(item));
            prop_assert_eq!(&items[end + 1 - part.len()..=end], &part[..]);
        }
    }
}
