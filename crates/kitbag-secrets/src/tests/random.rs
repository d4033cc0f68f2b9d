//! A source of random numbers that repeats, and texts of random characters.

/// Numbers from a seed (SplitMix64).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }

    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Fills a form: `{w36}` becomes 36 characters of base 62. The letter says which characters.
    pub(super) fn fill(&mut self, form: &str) -> String {
        let mut parts = form.split('{');
        let mut filled = String::from(parts.next().unwrap());
        for part in parts {
            let field = part.split_once('}').and_then(|(field, rest)| {
                let (class, count) = field.split_at_checked(1)?;
                Some((class, count.parse::<usize>().ok()?, rest))
            });
            let Some((class, count, rest)) = field else {
                filled.push('{');
                filled.push_str(part);
                continue;
            };
            filled.extend((0..count).map(|_| char::from(self.pick(characters(class)))));
            filled.push_str(rest);
        }
        filled
    }

    /// A password as people make them: two halves of words, digits, a sign.
    pub(super) fn password(&mut self) -> String {
        let syllables = [
            "ro", "mi", "ta", "kel", "dun", "vix", "sor", "pha", "jem", "bo", "lur", "zen",
        ];
        let mut word = String::new();
        for _ in 0..3 {
            word.push_str(self.pick(&syllables));
        }
        if self.below(2) == 0 {
            word = super::made_secrets::capital(&word);
        }
        let digits = self.fill("{d3}");
        match self.below(3) {
            0 => word + &digits,
            1 => word + self.pick(&["!", "@", "#", "$", "%", "&"]) + &digits,
            _ => {
                let (start, rest) = word.split_at(3);
                format!("{start}{digits}{rest}!")
            }
        }
    }
}

fn characters(class: &str) -> &'static [u8] {
    match class {
        "w" => b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "u" => b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_",
        "b" => b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+/",
        "l" => b"0123456789abcdefghijklmnopqrstuvwxyz",
        "A" => b"234567ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "a" => b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "h" => b"0123456789abcdef",
        "H" => b"0123456789ABCDEF",
        "d" => b"0123456789",
        "n" => b"123456789",
        "q" => b"023456789ACDEFGHJKLMNPQRSTUVWXYZ",
        other => panic!("no characters called {other}"),
    }
}
