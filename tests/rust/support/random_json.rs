//! JSON of a shape: values that a type takes, values that it just doesn't, and the many ways to write one value.

/// Numbers that look random and are the same in every run.
pub struct Random(u64);

impl Random {
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % end as u64) as usize
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// What stands as an object in the text of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// A struct, or a variant with named members.
    Struct,
    /// A map, which takes any name.
    Map,
    /// A variant with its content.
    Variant,
}

/// A value. Numbers, booleans and null are kept as they are written.
#[derive(Clone, Debug)]
pub enum Json {
    Plain(String),
    Text(String),
    Array(Vec<Json>),
    Object(Of, Vec<(String, Json)>),
}

/// What a type takes.
#[derive(Clone)]
pub enum Shape {
    /// An integer literal from one number to another.
    Integer(i128, i128),
    Float,
    /// One of 32 bits.
    Single,
    Bool,
    Null,
    Text,
    Char,
    Option(Box<Shape>),
    Array(Box<Shape>, usize, usize),
    Tuple(Vec<Shape>),
    Map(Box<Shape>),
    /// Members: the names that each may have, its shape, whether it may be missing.
    Struct(Vec<(&'static [&'static str], Shape, bool)>),
    /// A variant by its name alone.
    Unit(&'static str),
    Variant(&'static str, Box<Shape>),
    OneOf(Vec<Shape>),
    /// A shape that comes back to itself: made on demand, up to a depth, beyond which the other stands.
    Again(fn() -> Shape, Box<Shape>),
}

const FLOATS: &[&str] =
    &["1e39", "0", "1", "-1", "0.5", "-0.0", "1e3", "1.5E-7", "0.1", "123456789012345", "3.4e38", "2.5e-308", "1E+10"];
const LETTERS: &[char] = &['a', 'B', '7', ' ', '/', '"', '\\', '\n', '\t', 'é', '€', '\u{2028}', '😀', '{', ':', ','];
const JUNK: &[&str] =
    &["null", "true", "0", "-0", "-1", "1.0", "1e2", "256", "9007199254740991", "9007199254740993", "1e39", "1e400"];

fn letters(random: &mut Random, most: usize) -> String {
    (0..random.below(most + 1)).map(|_| *random.pick(LETTERS)).collect()
}

impl Shape {
    /// A value that fits.
    pub fn value(&self, random: &mut Random, depth: usize) -> Json {
        match self {
            Self::Integer(from, to) => {
                let near = random.below(3) as i128;
                let number = match random.below(3) {
                    0 => from + near,
                    1 => to - near,
                    _ => (*from).max(-100) + random.below(100) as i128,
                };
                Json::Plain(number.clamp(*from, *to).to_string())
            }
            Self::Float => Json::Plain((*random.pick(FLOATS)).to_owned()),
            Self::Single => Json::Plain((*random.pick(&FLOATS[1..])).to_owned()),
            Self::Bool => Json::Plain(["true", "false"][random.below(2)].to_owned()),
            Self::Null => Json::Plain("null".to_owned()),
            Self::Text => Json::Text(letters(random, 6)),
            Self::Char => Json::Text(random.pick(LETTERS).to_string()),
            Self::Option(_) if random.one_in(3) => Json::Plain("null".to_owned()),
            Self::Option(some) => some.value(random, depth),
            Self::Array(of, least, most) => {
                let len = least + random.below(most - least + 1);
                Json::Array((0..len).map(|_| of.value(random, depth + 1)).collect())
            }
            Self::Tuple(of) => Json::Array(of.iter().map(|of| of.value(random, depth + 1)).collect()),
            Self::Map(of) => {
                // Names that no fold of case makes equal.
                let names = (0..random.below(4)).map(|n| format!("{n}{}", letters(random, 3)));
                let names: Vec<String> = names.collect();
                Json::Object(Of::Map, names.into_iter().map(|name| (name, of.value(random, depth + 1))).collect())
            }
            Self::Struct(members) => {
                let mut object = Vec::new();
                for (names, shape, optional) in members {
                    if !optional || !random.one_in(4) {
                        object.push(((*random.pick(names)).to_owned(), shape.value(random, depth + 1)));
                    }
                }
                for place in (1..object.len()).rev() {
                    object.swap(place, random.below(place + 1));
                }
                Json::Object(Of::Struct, object)
            }
            Self::Unit(name) => Json::Text((*name).to_owned()),
            Self::Variant(name, content) => {
                Json::Object(Of::Variant, vec![((*name).to_owned(), content.value(random, depth + 1))])
            }
            Self::OneOf(shapes) => random.pick(shapes).value(random, depth),
            Self::Again(shape, end) => if depth < 6 { shape() } else { (**end).clone() }.value(random, depth),
        }
    }
}

impl Json {
    /// The value and all in it, the outermost first.
    fn each(&mut self, visit: &mut impl FnMut(&mut Json)) {
        visit(self);
        match self {
            Self::Plain(_) | Self::Text(_) => {}
            Self::Array(elements) => elements.iter_mut().for_each(|element| element.each(visit)),
            Self::Object(_, members) => members.iter_mut().for_each(|(_, member)| member.each(visit)),
        }
    }

    /// How many values there are for which `counts`.
    pub fn count(&mut self, counts: impl Fn(&Json) -> bool) -> usize {
        let mut count = 0;
        self.each(&mut |value| count += usize::from(counts(value)));
        count
    }

    /// Changes the `nth` of them.
    pub fn change(&mut self, nth: usize, counts: impl Fn(&Json) -> bool, change: impl FnOnce(&mut Json)) {
        let (mut count, mut change) = (0, Some(change));
        self.each(&mut |value| {
            if counts(value) {
                if count == nth {
                    (change.take().unwrap())(value);
                }
                count += 1;
            }
        });
        assert!(change.is_none());
    }

    /// Makes one thing wrong, or at least other.
    pub fn spoil(&mut self, random: &mut Random) {
        let nth = random.below(self.count(|_| true));
        let mut fresh = Random::new(random.below(1 << 30) as u64);
        self.change(
            nth,
            |_| true,
            |value| match (fresh.below(4), &mut *value) {
                (0, Self::Object(_, members)) if !members.is_empty() => {
                    members.remove(fresh.below(members.len()));
                }
                (1, Self::Object(_, members)) => {
                    members.insert(fresh.below(members.len() + 1), ("other".to_owned(), Self::Plain("1".to_owned())));
                }
                (0, Self::Array(elements)) if !elements.is_empty() => {
                    elements.remove(fresh.below(elements.len()));
                }
                (1, Self::Array(elements)) => {
                    let one = elements.first().cloned().unwrap_or(Self::Plain("1".to_owned()));
                    elements.insert(fresh.below(elements.len() + 1), one);
                }
                // The members of a struct in their order, without names.
                (2, Self::Object(_, members)) => {
                    *value = Self::Array(members.drain(..).map(|(_, member)| member).collect());
                }
                _ => {
                    *value = match fresh.below(5) {
                        0 => Self::Text(letters(&mut fresh, 3)),
                        1 => Self::Array(vec![Self::Plain("1".to_owned())]),
                        2 => Self::Object(Of::Map, vec![("Unit".to_owned(), Self::Plain("null".to_owned()))]),
                        _ => Self::Plain((*fresh.pick(JUNK)).to_owned()),
                    };
                }
            },
        );
    }

    /// One way to write it.
    pub fn write(&self, random: &mut Random) -> String {
        let mut text = String::new();
        self.write_to(&mut text, random);
        text
    }

    fn write_to(&self, text: &mut String, random: &mut Random) {
        match self {
            Self::Plain(plain) => text.push_str(plain),
            Self::Text(letters) => write_string(letters, text, random),
            Self::Array(elements) => {
                text.push('[');
                for (place, element) in elements.iter().enumerate() {
                    text.push_str(if place > 0 { "," } else { "" });
                    space(text, random);
                    element.write_to(text, random);
                    space(text, random);
                }
                text.push(']');
            }
            Self::Object(_, members) => {
                text.push('{');
                for (place, (name, member)) in members.iter().enumerate() {
                    text.push_str(if place > 0 { "," } else { "" });
                    space(text, random);
                    write_string(name, text, random);
                    space(text, random);
                    text.push(':');
                    space(text, random);
                    member.write_to(text, random);
                    space(text, random);
                }
                text.push('}');
            }
        }
    }
}

fn space(text: &mut String, random: &mut Random) {
    text.push_str(["", "", "", "", " ", "\t", "  "][random.below(7)]);
}

fn write_string(letters: &str, text: &mut String, random: &mut Random) {
    text.push('"');
    let often = random.below(4);
    for letter in letters.chars() {
        match letter {
            _ if often == 0 && random.one_in(2) => {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    let upper = random.one_in(2);
                    text.push_str(&if upper { format!("\\u{unit:04X}") } else { format!("\\u{unit:04x}") });
                }
            }
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '/' if random.one_in(2) => text.push_str("\\/"),
            letter => text.push(letter),
        }
    }
    text.push('"');
}
