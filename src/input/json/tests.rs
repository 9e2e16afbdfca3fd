use super::*;
use crate::error::ErrorKind;
use proptest::prelude::*;
use serde_json::Value;

/// A document as serde_json's tree, built from tokens with a stack, as readers of call trees do.
fn tree(bytes: &[u8]) -> Result<Value> {
    let mut json = Scanner::new(bytes, 0);
    let mut open: Vec<(Value, Option<String>)> = Vec::new();
    let mut key = None;
    while let Some(token) = json.token()? {
        let value = match token {
            Token::BeginObject => {
                open.push((Value::Object(Default::default()), key.take()));
                continue;
            }
            Token::BeginArray => {
                open.push((Value::Array(Vec::new()), key.take()));
                continue;
            }
            Token::Key(text) => {
                key = Some(text.decode().into_owned());
                continue;
            }
            Token::EndObject | Token::EndArray => {
                let (value, outer) = open.pop().expect("what ends was opened");
                key = outer;
                value
            }
            Token::String(text) => text.decode().into_owned().into(),
            Token::Number(number) if number.raw().iter().any(|byte| b".eE".contains(byte)) => {
                number.float()?.into()
            }
            Token::Number(number) => {
                number.unsigned().map(Value::from).or_else(|_| number.signed().map(Value::from))?
            }
            Token::Bool(value) => value.into(),
            Token::Null => Value::Null,
        };
        match open.last_mut() {
            None => return Ok(value),
            Some((Value::Object(members), _)) => {
                _ = members.insert(key.take().expect("members have keys"), value)
            }
            Some((Value::Array(items), _)) => items.push(value),
            Some(_) => unreachable!("only containers are open"),
        }
    }
    unreachable!("a document has a value")
}

fn document() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[a-c\"\\\\\u{1}é🦀]{0,40}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 60, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::btree_map("[a-e\"]{0,3}", inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn documents_have_the_tree_that_serde_json_wrote(value in document(), pretty: bool) {
        let bytes = if pretty { serde_json::to_vec_pretty(&value) } else { serde_json::to_vec(&value) }.unwrap();
        prop_assert_eq!(tree(&bytes).unwrap(), value);
        let mut json = Scanner::new(&bytes, 7);
        json.skip().unwrap();
        prop_assert_eq!((json.offset(), json.depth()), (7 + bytes.len() as u64, 0));
        prop_assert!(json.token().unwrap().is_none());
    }

    #[test]
    fn a_document_that_is_cut_anywhere_is_truncated(value in document(), cut: prop::sample::Index) {
        let bytes = serde_json::to_vec(&Value::from(vec![value])).unwrap();
        let bytes = &bytes[..cut.index(bytes.len())];
        let error = tree(bytes).unwrap_err();
        prop_assert_eq!((error.kind(), error.offset()), (ErrorKind::Truncated, Some(bytes.len() as u64)));
    }

    #[test]
    fn no_bytes_make_the_scanner_panic(bytes: Vec<u8>, json in "[\\[\\]{}\",:0-9a-z\\\\ .e+-]{0,60}") {
        for bytes in [&bytes[..], json.as_bytes()] {
            let mut scanner = Scanner::new(bytes, 0);
            while let Ok(Some(token)) = scanner.token() {
                if let Token::Key(text) | Token::String(text) = token {
                    text.decode();
                }
            }
            let mut numbers = Numbers::new(bytes, 0, false);
            while let Ok(Some(_)) = numbers.unsigned() {}
            while let Ok(Some(_)) = numbers.float() {}
        }
    }

    #[test]
    fn arrays_of_numbers_come_back(numbers in prop::collection::vec((any::<u64>(), 0u32..64), 0..60), separator in 0..4usize) {
        let numbers: Vec<u64> = numbers.into_iter().map(|(number, shift)| number >> shift).collect();
        let separator = [",", "\n,", ", ", " \r\n,\t"][separator];
        let text = format!("[{}]", numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(separator));
        let mut read = Vec::new();
        Scanner::new(text.as_bytes(), 0).unsigned_array(|number| read.push(number)).unwrap();
        prop_assert_eq!(&read, &numbers);
        let mut floats = Vec::new();
        Scanner::new(text.as_bytes(), 0).float_array(|number| floats.push(number)).unwrap();
        prop_assert_eq!(floats, numbers.iter().map(|&number| number as f64).collect::<Vec<_>>());
    }

    #[test]
    fn floats_in_arrays_come_back(numbers in prop::collection::vec(prop_oneof![any::<f64>(), (-1000i64..1000).prop_map(|n| n as f64)], 0..60)) {
        let text = serde_json::to_string(&numbers).unwrap();
        let mut read = Vec::new();
        Scanner::new(text.as_bytes(), 0).float_array(|number| read.push(number)).unwrap();
        prop_assert_eq!(read, numbers);
    }
}

#[test]
fn a_cut_array_gives_the_numbers_that_are_certainly_whole() {
    let mut read = Vec::new();
    let error =
        Scanner::new(b"[1,22,33", 0).unsigned_array(|number| read.push(number)).unwrap_err();
    assert_eq!((read, error.kind(), error.offset()), (vec![1, 22], ErrorKind::Truncated, Some(8)));
}

#[test]
fn members_and_items_are_read_by_what_they_should_be() {
    let mut json = Scanner::new(
        br#"{"a": "x", "skipped": [{"b": [1, "]"]}, 2], "list": [1, [2.5], {}], "n": 7}"#,
        0,
    );
    let mut seen = Vec::new();
    json.begin_object().unwrap();
    while let Some(key) = json.key().unwrap() {
        match key.raw() {
            b"a" => seen.push(json.text().unwrap().decode().into_owned()),
            b"list" => {
                json.begin_array().unwrap();
                while json.item().unwrap() {
                    seen.push(format!("{:?}", json.peek().unwrap()));
                    json.skip().unwrap();
                }
            }
            b"n" => seen.push(json.unsigned().unwrap().to_string()),
            _ => json.skip().unwrap(),
        }
    }
    assert_eq!(seen, ["x", "Number", "Array", "Object", "7"]);
}

#[test]
fn what_writers_get_wrong_is_read_all_the_same() {
    let text = |raw: &[u8]| Scanner::new(raw, 0).text().unwrap().decode().into_owned();
    assert_eq!(text(br#""\ud83e\udd80 \ud800 \udc00x \u00e9""#), "🦀 \u{fffd} \u{fffd}x é");
    for array in [&b"[1,2,]"[..], b"[ 1 , 2 , ]", b"[1.5,2.5,]"] {
        let mut count = 0;
        Scanner::new(array, 0).float_array(|_| count += 1).unwrap();
        assert_eq!(count, 2);
    }
    assert_eq!(text(b"\"a\xffb\n\\q\\u12\""), "a\u{fffd}b\nq\u{fffd}12");
    assert_eq!(Scanner::new(b"\xef\xbb\xbf 1e3", 0).unsigned().unwrap(), 1000);
    assert_eq!(Scanner::new(b"2.0", 0).unsigned().unwrap(), 2);
    assert!(Scanner::new(b"NaN", 0).number().unwrap().float().unwrap().is_nan());
    assert_eq!(
        Scanner::new(b"-9223372036854775808", 0).number().unwrap().signed().unwrap(),
        i64::MIN
    );
}

#[test]
fn errors_name_the_byte_at_fault() {
    for (bytes, offset, message) in [
        (&br#"{"a" 1}"#[..], 5, "expected a colon, found `1`"),
        (b"[1 2]", 3, "expected a comma or the end of the array or object, found `2`"),
        (b"[1,]", 3, "expected a value, found `]`"),
        (b"[1}", 2, "expected a comma or the end of the array or object, found `}`"),
        (b"{1:2}", 1, "expected a key, found `1`"),
        (b"[nul]", 1, "expected a value, found `n`"),
        (b"\x00", 0, "expected a value, found byte 0x00"),
    ] {
        let error = tree(bytes).unwrap_err();
        assert_eq!(
            (error.offset(), error.message()),
            (Some(offset), format!("malformed JSON; {message}"))
        );
    }
    let mut json = Scanner::new(b"[1,-2,3]", 100);
    let error = json.unsigned_array(|_| {}).unwrap_err();
    assert_eq!(error.offset(), Some(103), "{error}");
    assert!(Scanner::new(b"18446744073709551616", 0).unsigned().is_err());
}

#[test]
fn deep_nesting_takes_a_bit_a_level_and_has_a_limit() {
    let deep = [vec![b'['; MAX_DEPTH], vec![b']'; MAX_DEPTH]].concat();
    Scanner::new(&deep, 0).skip().unwrap();
    let deeper = vec![b'['; MAX_DEPTH + 1];
    let error = Scanner::new(&deeper, 0).skip().unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Limit, Some(MAX_DEPTH as u64)));
}

#[test]
fn the_end_of_a_long_array_is_found_in_any_part() {
    for digits in [0, 1 << 20, (9 << 20) - 1, 9 << 20, (17 << 20) + 5] {
        let mut text = vec![b'1'; digits];
        assert_eq!(numbers::closing_bracket(&text), None);
        text.extend(b"]2]");
        assert_eq!(numbers::closing_bracket(&text), Some(digits));
    }
}

#[test]
fn whole_numbers_end_where_their_digits_do() {
    for (text, number, rest) in [
        ("7", 7, ""),
        ("0075]", 75, "]"),
        ("12345678", 12_345_678, ""),
        ("12345678,", 12_345_678, ","),
        ("123456789012345,1", 123_456_789_012_345, ",1"),
        ("18446744073709551615}", u64::MAX, "}"),
        ("1234567 1234567", 1_234_567, " 1234567"),
    ] {
        assert_eq!(whole_number(text.as_bytes()), Some((number, rest.as_bytes())), "{text}");
    }
    for text in ["", "x", ",12345678", "-1", "18446744073709551616", "99999999999999999999999"] {
        assert_eq!(whole_number(text.as_bytes()), None, "{text}");
    }
}
