//! Arguments as types: the same values as `serde_json` reads, from whatever spelling; what our reader refuses that `serde_json`
//! takes, class by class; no unknown member at any level; the place of each misfit; room and stack.

#[path = "support/random_json.rs"]
mod random_json;

use std::fmt::Debug;
use std::marker::PhantomData;

use linegate::action::testing::Allow;
use linegate::action::{Action, Journal, Misfit, RawArguments, Target};
use linegate::{AuditKey, Code, Direction, Event, Gate, Options, Policy, Profile, Switch, Switches};
use linegate_host::HeapStorage;
use random_json::{Json, Of, Random, Shape};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A type of arguments, the type that `serde_json` reads them into, and what fits it.
trait Family {
    type Ours<'a>: Deserialize<'a> + Debug;
    type Theirs: DeserializeOwned + Debug;
    fn shape() -> Shape;
}

/// The tool `t` with arguments of that type.
struct Tool<F>(PhantomData<F>);

impl<F: Family> Action for Tool<F> {
    const TARGET: Target<'static> = Target::Tool("t");
    type Arguments<'a> = F::Ours<'a>;
    fn read(arguments: RawArguments<'_>) -> Result<F::Ours<'_>, Misfit<'_>> {
        arguments.typed()
    }
}

/// The same types twice: closed by their own word, and open. What differs is `deny_unknown_fields`.
macro_rules! types {
    ($module:ident, $($deny:tt)*) => {
        mod $module {
            use std::borrow::Cow;
            use std::collections::BTreeMap;

            use serde::Deserialize;

            use super::random_json::Shape;
            use super::{Family, array, map, option, optional, required, variant};

            #[derive(Debug, Deserialize)]
            #[serde($($deny)*)]
            #[allow(dead_code)]
            pub struct Integers { a: i8, b: i16, c: i32, d: i64, e: i128, f: u8, g: u16, h: u32, i: u64, j: u128, k: isize, l: usize }
            impl Family for Integers {
                type Ours<'a> = Self;
                type Theirs = Self;
                fn shape() -> Shape {
                    let integer = |name, from: i128, to: i128| required(name, Shape::Integer(from, to));
                    Shape::Struct(vec![
                        integer(&["a"], i8::MIN.into(), i8::MAX.into()), integer(&["b"], i16::MIN.into(), i16::MAX.into()),
                        integer(&["c"], i32::MIN.into(), i32::MAX.into()), integer(&["d"], i64::MIN.into(), i64::MAX.into()),
                        integer(&["e"], i128::MIN, i128::MAX), integer(&["f"], 0, u8::MAX.into()),
                        integer(&["g"], 0, u16::MAX.into()), integer(&["h"], 0, u32::MAX.into()),
                        integer(&["i"], 0, u64::MAX.into()), integer(&["j"], 0, i128::MAX),
                        integer(&["k"], i32::MIN.into(), i32::MAX.into()), integer(&["l"], 0, u32::MAX.into()),
                    ])
                }
            }

            #[derive(Debug, Deserialize)]
            #[serde($($deny)*)]
            #[allow(dead_code)]
            pub struct Numbers { small: i8, byte: u8, single: f32, double: f64, yes: bool, unit: (), floats: Vec<f64> }
            impl Family for Numbers {
                type Ours<'a> = Self;
                type Theirs = Self;
                fn shape() -> Shape {
                    Shape::Struct(vec![
                        required(&["small"], Shape::Integer(-128, 127)), required(&["byte"], Shape::Integer(0, 255)),
                        required(&["single"], Shape::Single), required(&["double"], Shape::Float),
                        required(&["yes"], Shape::Bool), required(&["unit"], Shape::Null),
                        required(&["floats"], array(Shape::Float, 0, 4)),
                    ])
                }
            }

            #[derive(Debug, Deserialize)]
            #[serde($($deny)*)]
            #[allow(dead_code)]
            pub struct Texts<'a> { plain: &'a str, #[serde(borrow)] cow: Cow<'a, str>, own: String, letter: char, some: Option<&'a str> }
            pub mod owned {
                #[derive(Debug, serde::Deserialize)]
                #[serde($($deny)*)]
                #[allow(dead_code)]
                pub struct Texts { plain: String, cow: String, own: String, letter: char, some: Option<String> }
            }
            impl Family for owned::Texts {
                type Ours<'a> = Texts<'a>;
                type Theirs = Self;
                fn shape() -> Shape {
                    Shape::Struct(vec![
                        required(&["plain"], Shape::Text), required(&["cow"], Shape::Text), required(&["own"], Shape::Text),
                        required(&["letter"], Shape::Char), optional(&["some"], option(Shape::Text)),
                    ])
                }
            }

            #[derive(Debug, Deserialize)]
            pub struct Newtype(#[allow(dead_code)] u16);
            #[derive(Debug, Deserialize)]
            pub struct Pair(#[allow(dead_code)] bool, #[allow(dead_code)] String);
            #[derive(Debug, Deserialize)]
            pub struct Marker;

            #[derive(Debug, Deserialize)]
            #[serde($($deny)*)]
            #[allow(dead_code)]
            pub struct Sequences {
                list: Vec<u8>, tuple: (i32, bool, Option<char>), pair: Pair, fixed: [i8; 3], new: Newtype,
                marker: Marker, lists: Vec<Vec<Newtype>>,
            }
            impl Family for Sequences {
                type Ours<'a> = Self;
                type Theirs = Self;
                fn shape() -> Shape {
                    let byte = || Shape::Integer(0, 255);
                    Shape::Struct(vec![
                        required(&["list"], array(byte(), 0, 4)),
                        required(&["tuple"], Shape::Tuple(vec![Shape::Integer(-9, 9), Shape::Bool, option(Shape::Char)])),
                        required(&["pair"], Shape::Tuple(vec![Shape::Bool, Shape::Text])),
                        required(&["fixed"], array(Shape::Integer(-128, 127), 3, 3)),
                        required(&["new"], Shape::Integer(0, 65535)), required(&["marker"], Shape::Null),
                        required(&["lists"], array(array(byte(), 0, 2), 0, 3)),
                    ])
                }
            }

            #[derive(Debug, Deserialize)]
            #[serde($($deny)*)]
            #[allow(dead_code)]
            pub struct Point { x: i32, y: i32 }
            pub fn point() -> Shape {
                Shape::Struct(vec![required(&["x"], Shape::Integer(-9, 9)), required(&["y"], Shape::Integer(-9, 9))])
            }

            #[derive(Debug, Deserialize)]
            #[serde($($deny)*)]
            #[allow(dead_code)]
            pub struct Nested { at: Point, path: Vec<Point>, named: BTreeMap<String, Point>, maybe: Option<Box<Nested>>, flags: BTreeMap<String, bool> }
            impl Family for Nested {
                type Ours<'a> = Self;
                type Theirs = Self;
                fn shape() -> Shape {
                    Shape::Struct(vec![
                        required(&["at"], point()), required(&["path"], array(point(), 0, 3)),
                        required(&["named"], map(point())), required(&["flags"], map(Shape::Bool)),
                        optional(&["maybe"], Shape::Again(Self::shape, Box::new(Shape::Null))),
                    ])
                }
            }

            #[derive(Debug, Deserialize)]
            #[serde($($deny)*)]
            #[allow(dead_code)]
            pub enum Choice { Unit, Newtype(u8), Tuple(u8, String), Struct { a: bool, b: Option<u8> }, #[serde(rename = "re named")] Renamed(Point) }
            pub fn choice() -> Shape {
                Shape::OneOf(vec![
                    Shape::Unit("Unit"), variant("Newtype", Shape::Integer(0, 255)),
                    variant("Tuple", Shape::Tuple(vec![Shape::Integer(0, 255), Shape::Text])),
                    variant("Struct", Shape::Struct(vec![required(&["a"], Shape::Bool), optional(&["b"], Shape::Integer(0, 255))])),
                    variant("re named", point()),
                ])
            }
            #[derive(Debug, Deserialize)]
            #[serde($($deny)*)]
            #[allow(dead_code)]
            pub struct Choices { one: Choice, many: Vec<Choice>, named: BTreeMap<String, Choice>, some: Option<Choice> }
            impl Family for Choices {
                type Ours<'a> = Self;
                type Theirs = Self;
                fn shape() -> Shape {
                    Shape::Struct(vec![
                        required(&["one"], choice()), required(&["many"], array(choice(), 0, 3)),
                        required(&["named"], map(choice())), optional(&["some"], option(choice())),
                    ])
                }
            }

            /// Arguments that are an enum as a whole.
            impl Family for Choice {
                type Ours<'a> = Self;
                type Theirs = Self;
                fn shape() -> Shape {
                    let Shape::OneOf(mut shapes) = choice() else { unreachable!() };
                    // Arguments are an object.
                    shapes.remove(0);
                    Shape::OneOf(shapes)
                }
            }

            #[derive(Debug, Deserialize)]
            #[serde(tag = "kind", content = "of")]
            #[serde($($deny)*)]
            #[allow(dead_code)]
            pub enum Adjacent { Newtype(u8), Point(Point), Tuple(u8, bool), Unit }
            impl Family for Adjacent {
                type Ours<'a> = Self;
                type Theirs = Self;
                fn shape() -> Shape {
                    let tagged = |tag, content| Shape::Struct(vec![
                        required(&["kind"], Shape::Unit(tag)), required(&["of"], content),
                    ]);
                    Shape::OneOf(vec![
                        tagged("Newtype", Shape::Integer(0, 255)), tagged("Point", point()),
                        tagged("Tuple", Shape::Tuple(vec![Shape::Integer(0, 255), Shape::Bool])),
                        Shape::Struct(vec![required(&["kind"], Shape::Unit("Unit"))]),
                    ])
                }
            }

            #[derive(Debug, Deserialize)]
            #[serde(rename_all = "camelCase")]
            #[serde($($deny)*)]
            #[allow(dead_code)]
            pub struct Attributes {
                #[serde(rename = "new")] renamed: u8,
                #[serde(alias = "second", alias = "third")] aliased: u8,
                #[serde(default)] defaulted: u8,
                #[serde(default = "seven")] seven: u8,
                #[serde(skip)] skipped: u8,
                two_words: bool,
                maybe: Option<u8>,
            }
            const fn seven() -> u8 { 7 }
            impl Family for Attributes {
                type Ours<'a> = Self;
                type Theirs = Self;
                fn shape() -> Shape {
                    let byte = || Shape::Integer(0, 255);
                    Shape::Struct(vec![
                        required(&["new"], byte()), required(&["aliased", "second", "third"], byte()),
                        optional(&["defaulted"], byte()), optional(&["seven"], byte()), required(&["twoWords"], Shape::Bool),
                        optional(&["maybe"], option(byte())),
                    ])
                }
            }

            #[derive(Debug, Deserialize)]
            #[serde($($deny)*)]
            #[allow(dead_code)]
            pub enum Tree { Leaf(i32), Node(Vec<Tree>), Pair { left: Box<Tree>, right: Box<Tree> } }
            impl Family for Tree {
                type Ours<'a> = Self;
                type Theirs = Self;
                fn shape() -> Shape {
                    let again = || Shape::Again(Self::shape, Box::new(variant("Leaf", Shape::Integer(-1, 1))));
                    Shape::OneOf(vec![
                        variant("Leaf", Shape::Integer(-1, 1)), variant("Node", array(again(), 0, 3)),
                        variant("Pair", Shape::Struct(vec![required(&["left"], again()), required(&["right"], again())])),
                    ])
                }
            }
        }
    };
}

types!(closed, deny_unknown_fields);
types!(open,);

type Names = &'static [&'static str];

fn required(names: Names, shape: Shape) -> (Names, Shape, bool) {
    (names, shape, false)
}

fn optional(names: Names, shape: Shape) -> (Names, Shape, bool) {
    (names, shape, true)
}

fn option(shape: Shape) -> Shape {
    Shape::Option(Box::new(shape))
}

fn array(of: Shape, least: usize, most: usize) -> Shape {
    Shape::Array(Box::new(of), least, most)
}

fn map(of: Shape) -> Shape {
    Shape::Map(Box::new(of))
}

fn variant(name: &'static str, content: Shape) -> Shape {
    Shape::Variant(name, Box::new(content))
}

const HEAD: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":"#;

fn gate(profile: Profile) -> Gate<HeapStorage> {
    let mut options = Options::new(Direction::FromClient, AuditKey::new([3; 16])).with_profile(profile);
    options.policy = Policy::Continue;
    options.limits.max_depth = linegate::MAX_DEPTH;
    options.allowed = options.allowed.with(Switch::Depth);
    Gate::new(options, HeapStorage::new()).unwrap()
}

/// Every switch: what they let through is here the reader's to deal with.
fn all() -> Switches {
    Switch::ALL.iter().fold(Switches::NONE, |all, switch| all.with(*switch))
}

/// Why arguments don't fit, and the byte of the arguments that it is about.
#[derive(Debug, PartialEq, Eq)]
struct No {
    reason: &'static str,
    member: Option<&'static str>,
    at: isize,
}

/// What comes of the arguments; nothing where the gate refuses the line.
fn read<F: Family>(gate: &mut Gate<HeapStorage>, arguments: &str, room: &mut [u8]) -> Option<Result<String, No>> {
    let line = format!("{HEAD}{arguments}}}}}\n");
    let Event::Message(message) = gate.feed(line.as_bytes()).event else { return None };
    let journal = Journal::new();
    let call = message.into_call(all()).expect("a request, with every switch granted");
    Some(match call.arguments::<Tool<F>>(room) {
        Ok(typed) => Ok(format!("{:?}", typed.authorize(&Allow, &journal).expect("allowed").open())),
        Err(refusal) => {
            assert_eq!(refusal.code(), Code::ArgumentsSchema);
            let at = refusal.at().cast_signed() - HEAD.len().cast_signed();
            Err(No { reason: refusal.reason().unwrap(), member: refusal.subject(), at })
        }
    })
}

const TYPE: &str = "A value has a JSON type that the tool does not take there";
const UNKNOWN: &str = "There is a member that the tool does not know";
const MISSING: &str = "A required member is missing";
const VALUE: &str = "A value is out of its range or form";
const ROOM: &str = "A string written with escapes is longer than there is room for";

/// What `serde_json` takes and our reader refuses, by the value that it is about. Each is one more spelling of a value that has
/// one already, or would need a copy of what it finds.
fn is_justified(no: &No, arguments: &str, adjacent: bool) -> bool {
    let value = &arguments[no.at.unsigned_abs()..];
    no.reason == TYPE
        // An array for a struct: its members by their places, which a later version of the type may move.
        && (value.starts_with('[')
        // A null beside the name of a variant that has no content.
        || value.starts_with("null")
        // Minus zero for an integer of 128 bits: no id, and an integer to this library, is spelt like that.
        || value.starts_with("-0")
        // Content that stands before its tag must be kept until the tag is known.
        || adjacent)
}

fn compare<F: Family>(seed: u64) -> [usize; 4] {
    let adjacent = std::any::type_name::<F>().ends_with("Adjacent");
    let mut random = Random::new(seed);
    let mut gates = [gate(Profile::Strict), gate(Profile::Rfc8259)];
    let mut seen = [0; 4];
    let mut room = vec![0; 1 << 16];
    for _ in 0..3000 {
        let mut value = F::shape().value(&mut random, 0);
        for _ in 0..random.below(3) {
            value.spoil(&mut random);
        }
        let arguments = value.write(&mut random);
        let gate = &mut gates[random.below(2)];
        let Some(ours) = read::<F>(gate, &arguments, &mut room) else {
            seen[3] += 1;
            continue;
        };
        let theirs = serde_json::from_slice::<F::Theirs>(arguments.as_bytes()).map(|theirs| format!("{theirs:?}"));
        match (ours, theirs) {
            (Ok(ours), Ok(theirs)) => {
                assert_eq!(ours, theirs, "{arguments}");
                seen[0] += 1;
            }
            (Err(_), Err(_)) => seen[1] += 1,
            (Ok(ours), Err(theirs)) => panic!("{arguments}: {ours}, and serde_json: {theirs}"),
            (Err(no), Ok(theirs)) => {
                assert!(is_justified(&no, &arguments, adjacent), "{arguments}: {no:?}, and serde_json: {theirs}");
                seen[2] += 1;
            }
        }
    }
    seen
}

#[test]
fn the_same_values_as_serde_json_reads() {
    let seen = [
        compare::<closed::Integers>(1),
        compare::<closed::Numbers>(2),
        compare::<closed::owned::Texts>(3),
        compare::<closed::Sequences>(4),
        compare::<closed::Nested>(5),
        compare::<closed::Choices>(6),
        compare::<closed::Choice>(7),
        compare::<closed::Adjacent>(8),
        compare::<closed::Attributes>(9),
        compare::<closed::Tree>(10),
    ];
    for seen in seen {
        let [equal, neither, stricter, unread] = seen;
        assert!(equal > 300 && neither > 300, "{seen:?}");
        assert!(stricter < 900 && unread < 2000, "{seen:?}");
    }
}

/// At each struct of a value that fits, in types that don't say `deny_unknown_fields`, one member more.
fn plant<F: Family>(seed: u64) -> usize {
    let mut random = Random::new(seed);
    let mut gate = gate(Profile::Rfc8259);
    let mut room = vec![0; 1 << 16];
    let is_struct = |value: &Json| matches!(value, Json::Object(Of::Struct, _));
    // An adjacently tagged enum reads no content before its tag.
    let is_untagged = |value: &Json| matches!(value, Json::Object(_, members) if members.first().is_some_and(|(name, _)| name == "of"));
    let mut planted = 0;
    for _ in 0..300 {
        let mut value = F::shape().value(&mut random, 0);
        if value.count(is_untagged) > 0 {
            continue;
        }
        for nth in 0..value.count(is_struct) {
            let mut value = value.clone();
            let member = F::shape().value(&mut random, 3);
            let place = random.below(100);
            value.change(nth, is_struct, |value| {
                let Json::Object(_, members) = value else { unreachable!() };
                members.insert(place % (members.len() + 1), ("unheardOf".to_owned(), member));
            });
            // Without escapes the name can be found.
            let arguments = loop {
                let arguments = value.write(&mut random);
                if arguments.contains("\"unheardOf\"") {
                    break arguments;
                }
            };
            let no = read::<F>(&mut gate, &arguments, &mut room).expect("accepted").expect_err(&arguments);
            let at = arguments.find("\"unheardOf\"").unwrap().cast_signed();
            assert_eq!(no, No { reason: UNKNOWN, member: None, at }, "{arguments}");
            planted += 1;
        }
    }
    planted
}

#[test]
fn an_unknown_member_is_refused_at_every_level_of_types_that_are_open() {
    for planted in [
        plant::<open::Integers>(1),
        plant::<open::Numbers>(2),
        plant::<open::owned::Texts>(3),
        plant::<open::Sequences>(4),
        plant::<open::Nested>(5),
        plant::<open::Choices>(6),
        plant::<open::Choice>(7),
        plant::<open::Adjacent>(8),
        plant::<open::Attributes>(9),
        plant::<open::Tree>(10),
    ] {
        assert!(planted > 90, "{planted}");
    }
}

macro_rules! family {
    ($type:ty) => {
        impl Family for $type {
            type Ours<'a> = Self;
            type Theirs = Self;
            fn shape() -> Shape {
                Shape::Null
            }
        }
    };
}

#[derive(Debug, Deserialize)]
#[allow(dead_code)]
struct Flattened {
    a: u8,
    #[serde(flatten)]
    rest: std::collections::BTreeMap<String, u8>,
}
family!(Flattened);

#[derive(Debug, Deserialize)]
#[serde(untagged)]
#[allow(dead_code)]
enum Untagged {
    A { a: u8 },
    B { b: u8 },
}
family!(Untagged);

#[derive(Debug, Deserialize)]
#[serde(tag = "kind")]
#[allow(dead_code)]
enum Internal {
    A { a: u8 },
}
family!(Internal);

#[derive(Debug, Deserialize)]
#[serde(tag = "kind", content = "of")]
#[allow(dead_code)]
enum AdjacentStruct {
    A { a: u8 },
    Unit,
}
family!(AdjacentStruct);

#[derive(Debug, Deserialize)]
#[allow(dead_code)]
struct Dynamic {
    any: serde_json::Value,
}
family!(Dynamic);

#[derive(Debug, Deserialize)]
#[allow(dead_code)]
struct Keyed {
    by_number: std::collections::BTreeMap<u8, u8>,
}
family!(Keyed);

#[derive(Debug, Deserialize)]
#[allow(dead_code)]
struct Dropped {
    read: u8,
    dropped: serde::de::IgnoredAny,
}
family!(Dropped);

#[test]
fn what_would_hide_its_members_does_not_fit() {
    fn refused<F: Family>(arguments: &str) {
        assert!(serde_json::from_str::<F::Theirs>(arguments).is_ok(), "{arguments}");
        let no = read::<F>(&mut gate(Profile::Strict), arguments, &mut [0; 64]).unwrap().unwrap_err();
        assert_eq!(no.reason, TYPE, "{arguments}");
    }
    refused::<Flattened>(r#"{"a":1,"b":2}"#);
    refused::<Untagged>(r#"{"a":1}"#);
    refused::<Untagged>(r#"{"a":1,"unheardOf":2}"#);
    refused::<Internal>(r#"{"kind":"A","a":1}"#);
    refused::<Internal>(r#"{"kind":"A","a":1,"unheardOf":1}"#);
    refused::<AdjacentStruct>(r#"{"of":{"a":1},"kind":"A"}"#);
    refused::<AdjacentStruct>(r#"{"kind":"A","of":{"a":1}}"#);
    refused::<AdjacentStruct>(r#"{"kind":"Unit","of":null}"#);
    refused::<Dynamic>(r#"{"any":1}"#);
    refused::<Keyed>(r#"{"by_number":{"1":2}}"#);
}

#[test]
fn what_a_type_reads_and_drops_is_known() {
    let mut gate = gate(Profile::Strict);
    let mut reads = |arguments: &str| read::<Dropped>(&mut gate, arguments, &mut []).unwrap().is_ok();
    assert!(reads(r#"{"read":1,"dropped":{"a":[1,{}]}}"#));
    assert!(!reads(r#"{"read":1,"dropped":{},"more":{}}"#));
    // A flattened type whose rest is empty hides nothing.
    assert!(read::<Flattened>(&mut self::gate(Profile::Strict), r#"{"a":1}"#, &mut []).unwrap().is_ok());
}

/// A value with a rule of its own, which serde asks for behind our back.
#[derive(Debug, Deserialize)]
#[serde(try_from = "u8")]
struct Even(#[allow(dead_code)] u8);

impl TryFrom<u8> for Even {
    type Error = &'static str;
    fn try_from(number: u8) -> Result<Self, Self::Error> {
        if number.is_multiple_of(2) { Ok(Self(number)) } else { Err("odd") }
    }
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "closed::Point")]
#[allow(dead_code)]
struct Never;

impl TryFrom<closed::Point> for Never {
    type Error = &'static str;
    fn try_from(_: closed::Point) -> Result<Self, Self::Error> {
        Err("never")
    }
}
family!(Never);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct Table {
    byte: u8,
    point: Option<closed::Point>,
    list: Option<Vec<i8>>,
    pair: Option<(u8, bool)>,
    choice: Option<closed::Choice>,
    even: Option<Even>,
    evens: Option<Vec<Even>>,
    new: Option<closed::Newtype>,
    text: Option<String>,
    letter: Option<char>,
    single: Option<f32>,
    double: Option<f64>,
    unit: Option<Box<closed::Marker>>,
    #[serde(alias = "other")]
    alias: Option<bool>,
    variant: Option<Variants>,
}
family!(Table);

#[derive(Debug, Deserialize)]
enum Variants {
    Even(#[allow(dead_code)] Even),
}

/// `^` stands before the byte that the verdict is about.
const MISFITS: &[(&str, &str, Option<&str>)] = &[
    (r#"^{}"#, MISSING, Some("byte")),
    (r#"{"byte":^"1"}"#, TYPE, Some("byte")),
    (r#"{"byte":^1.0}"#, TYPE, Some("byte")),
    (r#"{"byte":^1e2}"#, TYPE, Some("byte")),
    (r#"{"byte":^null}"#, TYPE, Some("byte")),
    (r#"{"byte":^[1]}"#, TYPE, Some("byte")),
    (r#"{"byte":^256}"#, VALUE, Some("byte")),
    (r#"{"byte": ^-1}"#, VALUE, Some("byte")),
    (r#"{"byte":1,^"more":2}"#, UNKNOWN, None),
    (r#"{^"more":{"deep":[1]},"byte":1}"#, UNKNOWN, None),
    (r#"{^"\u006dore":1,"byte":1}"#, UNKNOWN, None),
    (r#"{"byte":1,"point":^{"x":1}}"#, MISSING, Some("y")),
    (r#"{"byte":1,"point":{"x":1,"y":^true}}"#, TYPE, Some("y")),
    (r#"{"byte":1,"point":{"x":1,"y":2,^"z":3}}"#, UNKNOWN, None),
    (r#"{"byte":1,"point":^[1,2]}"#, TYPE, Some("point")),
    (r#"{"byte":1,"list":^{}}"#, TYPE, Some("list")),
    (r#"{"byte":1,"list":[1,2,^300]}"#, VALUE, Some("list")),
    (r#"{"byte":1,"list":[1,^[]]}"#, TYPE, Some("list")),
    (r#"{"byte":1,"pair":^[1]}"#, VALUE, Some("pair")),
    (r#"{"byte":1,"pair":[1,^2]}"#, TYPE, Some("pair")),
    (r#"{"byte":1,"pair":[1,true,^3]}"#, VALUE, Some("pair")),
    (r#"{"byte":1,"choice":^"unit"}"#, VALUE, Some("choice")),
    (r#"{"byte":1,"choice":^7}"#, TYPE, Some("choice")),
    (r#"{"byte":1,"choice":^{}}"#, VALUE, Some("choice")),
    (r#"{"byte":1,"choice":^{"Newtype":1,"Unit":null}}"#, VALUE, Some("choice")),
    (r#"{"byte":1,"choice":{^"newtype":1}}"#, VALUE, Some("choice")),
    (r#"{"byte":1,"choice":{"Newtype":^-1}}"#, VALUE, Some("choice")),
    (r#"{"byte":1,"choice":^"Newtype"}"#, TYPE, Some("choice")),
    (r#"{"byte":1,"choice":{"Unit":^1}}"#, TYPE, Some("choice")),
    (r#"{"byte":1,"choice":{"Tuple":^[1]}}"#, VALUE, Some("choice")),
    (r#"{"byte":1,"choice":{"Struct":^{}}}"#, MISSING, Some("a")),
    (r#"{"byte":1,"choice":{"Struct":{"a":true,^"c":1}}}"#, UNKNOWN, None),
    (r#"{"byte":1,"even":^3}"#, VALUE, Some("even")),
    (r#"{"byte":1,"evens":[2,4,^5,6]}"#, VALUE, Some("evens")),
    (r#"{"byte":1,"variant":{"Even":^5}}"#, VALUE, Some("variant")),
    (r#"{"byte":1,"new":^70000}"#, VALUE, Some("new")),
    (r#"{"byte":1,"text":^1}"#, TYPE, Some("text")),
    (r#"{"byte":1,"letter":^"ab"}"#, VALUE, Some("letter")),
    (r#"{"byte":1,"letter":^""}"#, VALUE, Some("letter")),
    (r#"{"byte":1,"single":^1e39}"#, VALUE, Some("single")),
    (r#"{"byte":1,"double":^"1"}"#, TYPE, Some("double")),
    (r#"{"byte":1,"unit":^{}}"#, TYPE, Some("unit")),
    (r#"{"byte":1,"other":^1}"#, TYPE, Some("other")),
    (r#"{"byte":1,"alias":true,^"other":true}"#, VALUE, Some("alias")),
];

#[test]
fn a_misfit_says_where() {
    let mut gate = gate(Profile::Strict);
    for (marked, reason, member) in MISFITS {
        let at = marked.find('^').unwrap();
        let arguments = marked.replacen('^', "", 1);
        let no = read::<Table>(&mut gate, &arguments, &mut [0; 256]).expect(&arguments).expect_err(&arguments);
        assert_eq!((no.reason, no.member, no.at), (*reason, *member, at.cast_signed()), "{arguments}");
    }
    let no = read::<Never>(&mut gate, r#"{"x":1,"y":2}"#, &mut []).unwrap().unwrap_err();
    assert_eq!(no, No { reason: VALUE, member: None, at: 0 });
}

#[test]
fn room_that_just_suffices() {
    let mut gate = gate(Profile::Strict);
    // Names that are written with escapes take room as well.
    let arguments = r#"{"pl\u0061in":"\u00e9\n","cow":"plain","own":"\ud83d\ude00","letter":"\u20ac"}"#;
    let needed = "plain".len() + "é\n".len() + "😀".len() + "€".len();
    for len in 0..needed {
        let no = read::<closed::owned::Texts>(&mut gate, arguments, &mut vec![0; len]).unwrap().unwrap_err();
        assert_eq!(no.reason, ROOM, "{len}");
    }
    let read = read::<closed::owned::Texts>(&mut gate, arguments, &mut vec![0; needed]).unwrap().unwrap();
    assert_eq!(read, r#"Texts { plain: "é\n", cow: "plain", own: "😀", letter: '€', some: None }"#);
}

#[test]
fn no_room_is_needed_for_what_is_written_plainly() {
    let arguments = r#"{"plain":"é","cow":"","own":"a b","letter":"€","some":"/"}"#;
    assert!(read::<closed::owned::Texts>(&mut gate(Profile::Strict), arguments, &mut []).unwrap().is_ok());
}

/// Half of a surrogate pair is no text, wherever it stands.
#[test]
fn half_a_pair_is_no_text() {
    let mut gate = gate(Profile::Rfc8259);
    for arguments in [
        r#"{"plain":"\ud800","cow":"","own":"","letter":"a"}"#,
        r#"{"plain":"","cow":"","own":"a\udfff","letter":"a"}"#,
        r#"{"plain":"","cow":"","own":"","letter":"\ud800"}"#,
    ] {
        assert_eq!(
            read::<closed::owned::Texts>(&mut gate, arguments, &mut [0; 64]).unwrap().unwrap_err().reason,
            VALUE
        );
    }
}

#[derive(Debug, Deserialize)]
#[allow(dead_code)]
struct List {
    next: Option<Box<List>>,
}
family!(List);

/// The deepest line that any gate can pass, read into types that hold themselves: 1 KiB of stack a level suffices even where
/// nothing is optimised much; and into types that don't, for which the depth of the text is nothing.
#[test]
fn the_deepest_text_needs_a_small_stack() {
    fn on_stack(kib: usize, run: impl FnOnce() + Send + 'static) {
        std::thread::Builder::new().stack_size(kib << 10).spawn(run).unwrap().join().unwrap();
    }
    // The line and its params are two levels; the innermost value is one.
    let levels = usize::from(linegate::MAX_DEPTH) - 3;
    let deep =
        |open: &str, end: &str, close: &str, times| format!("{}{end}{}", open.repeat(times), close.repeat(times));
    let list = deep("{\"next\":", "null", "}", levels);
    let tree = deep("{\"Node\":[", "{\"Leaf\":1}", "]}", (levels - 1) / 2);
    let bare = deep("[", "1", "]", levels - 1);
    on_stack(512, move || {
        let mut gate = gate(Profile::Rfc8259);
        assert!(read::<List>(&mut gate, &list, &mut []).expect("accepted").is_ok());
        assert!(read::<closed::Tree>(&mut gate, &tree, &mut []).expect("accepted").is_ok());
        let deeper = format!("{{\"next\":{list}}}");
        assert!(read::<List>(&mut gate, &deeper, &mut []).is_none(), "the deepest");
    });
    on_stack(64, move || {
        let mut gate = gate(Profile::Rfc8259);
        let arguments = format!("{{\"read\":1,\"dropped\":{bare}}}");
        assert!(read::<Dropped>(&mut gate, &arguments, &mut []).expect("accepted").is_ok());
        let arguments = format!("{{\"byte\":{bare}}}");
        assert_eq!(read::<Table>(&mut gate, &arguments, &mut []).expect("accepted").unwrap_err().reason, TYPE);
    });
}
