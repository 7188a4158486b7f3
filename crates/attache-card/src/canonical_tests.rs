use super::*;

use proptest::prelude::*;
use serde_json::json;

#[track_caller]
fn check(json: &str, expected: &str) {
    let value: Value = serde_json::from_str(json).unwrap();
    assert_eq!(String::from_utf8(canonical(&value)).unwrap(), expected);
}

/// Appendix B of the RFC: the bits of a double, and how it is written.
#[test]
fn numbers_are_written_as_the_rfc_lists_them() {
    for (bits, expected) in [
        (0x0000_0000_0000_0000_u64, "0"),
        (0x8000_0000_0000_0000, "0"),
        (0x0000_0000_0000_0001, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
        (0x4340_0000_0000_0000, "9007199254740992"),
        (0xc340_0000_0000_0000, "-9007199254740992"),
        (0x4430_0000_0000_0000, "295147905179352830000"),
        (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
        (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
        (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
        (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
        (0x444b_1ae4_d6e2_ef50, "1e+21"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
        (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x41b3_de43_5555_5553, "333333333.3333332"),
        (0x41b3_de43_5555_5554, "333333333.33333325"),
        (0x41b3_de43_5555_5555, "333333333.3333333"),
        (0x41b3_de43_5555_5556, "333333333.3333334"),
        (0x41b3_de43_5555_5557, "333333333.33333343"),
        (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
    ] {
        let number = f64::from_bits(bits);
        assert_eq!(number::format_double(number), expected, "{bits:016x}");
        if bits != 0x8000_0000_0000_0000 {
            check(&number.to_string(), expected);
        }
    }
}

#[test]
fn integers_are_doubles_too() {
    check("[0,-0,1,-17,10,1e2,100000000000000000000]", "[0,0,1,-17,10,100,100000000000000000000]");
    check("[9007199254740993,18446744073709551615]", "[9007199254740992,18446744073709552000]");
    check("-9223372036854775808", "-9223372036854776000");
}

#[test]
fn the_example_of_the_rfc_comes_out_as_it_says() {
    check(
        r#"{
            "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
            "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
            "literals": [null, true, false]
        }"#,
        r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}"#,
    );
}

#[test]
fn members_are_sorted_by_their_utf_16_units() {
    check(
        r#"{"\u20ac":"Euro","\r":"Return","\ufb33":"Dalet","1":"One","\ud83d\ude00":"Face","\u0080":"Control","\u00f6":"O"}"#,
        "{\"\\r\":\"Return\",\"1\":\"One\",\"\u{80}\":\"Control\",\"ö\":\"O\",\"€\":\"Euro\",\"😀\":\"Face\",\"\u{fb33}\":\"Dalet\"}",
    );
    check(
        r#"{"b":{"z":1,"a":[{"d":1,"c":2}]},"":0,"a":{}}"#,
        r#"{"":0,"a":{},"b":{"a":[{"c":2,"d":1}],"z":1}}"#,
    );
}

#[test]
fn only_what_must_be_is_escaped() {
    check(r#""\u0000\u0001\b\t\n\u000b\f\r\u001f""#, r#""\u0000\u0001\b\t\n\u000b\f\r\u001f""#);
    check("\"/\u{7f}\u{2028}ü<>&\"", "\"/\u{7f}\u{2028}ü<>&\"");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter("finite", |it| it.is_finite()).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn what_was_written_reads_back_and_is_written_the_same(value in any_json()) {
        let once = canonical(&value);
        let again: Value = serde_json::from_slice(&once).unwrap();
        prop_assert_eq!(canonical(&again), once);
    }

    #[test]
    fn a_number_reads_back_as_itself(bits in any::<u64>()) {
        let number = f64::from_bits(bits);
        prop_assume!(number.is_finite());
        let read: f64 = number::format_double(number).parse().unwrap();
        prop_assert_eq!(read, number);
    }

    #[test]
    fn the_order_of_members_does_not_matter(members in prop::collection::btree_map(any::<String>(), any::<i32>(), 0..8)) {
        let one: Map<String, Value> = members.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        let other: Map<String, Value> =
            members.iter().rev().map(|(name, value)| (name.clone(), json!(value))).collect();
        prop_assert_eq!(canonical_object(&one), canonical_object(&other));
    }
}
