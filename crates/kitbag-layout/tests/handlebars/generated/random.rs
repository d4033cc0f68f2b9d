//! Chance that repeats itself, and values made by it.

use kitbag_layout::Value;

pub(crate) const KEYS: [&str; 8] = ["a", "b", "c", "list", "map", "name", "7", "my-key"];

/// SplitMix64.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// True in so many of a hundred cases.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn object(&mut self, depth: usize) -> Value {
        let mut entries = Vec::new();
        for key in KEYS {
            if self.chance(70) {
                entries.push((key, self.value(depth - 1)));
            }
        }
        let turned = self.below(entries.len().max(1));
        entries.rotate_left(turned);
        Value::map(entries)
    }

    fn value(&mut self, depth: usize) -> Value {
        let text = [
            "",
            "x",
            "<b>",
            "two words",
            "a\nb",
            "é&'=`\"",
            "{{a}}",
            "1",
            "name",
            "b",
        ];
        let number = [0.0, 1.0, -1.0, 2.5, 1e21, 3.0, 1e-7];
        match self.below(if depth == 0 { 6 } else { 11 }) {
            0 => Value::Null,
            1 => Value::Bool(self.chance(50)),
            2 => Value::Number(self.pick(&number).into()),
            3..=5 => self.pick(&text).into(),
            6..=8 => {
                let length = self.below(4);
                Value::List((0..length).map(|_| self.value(depth - 1)).collect())
            }
            _ => self.object(depth),
        }
    }
}
