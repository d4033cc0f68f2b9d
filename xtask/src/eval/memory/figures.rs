//! The means of an evaluation: all questions, and categories of them.
//!
//! Questions of category 5 ask for something that was never said of the person they name; they always
//! have figures of their own.

use std::collections::BTreeSet;
use std::fmt;

use anyhow::Result;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::ser::PrettyFormatter;

use super::conversation::Label;
use super::program::Times;
use super::score::{Measure, Row};

/// The title of the questions that have an answer.
const ALL: &str = "all";
const ADVERSARIAL: Label = Label::Number(5);

/// The categories that have figures of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Groups {
    AdversarialApart,
    EachCategory,
}

/// The figures of one evaluation, as they are shown and written.
#[derive(Debug, Serialize)]
pub(super) struct Figures {
    #[serde(serialize_with = "as_map")]
    result: Vec<Group>,
    #[serde(skip_serializing_if = "Option::is_none")]
    times: Option<Times>,
}

#[derive(Debug)]
struct Group {
    title: String,
    count: usize,
    /// In percent with one decimal, in the order of [`Measure::ALL`]; none without questions.
    means: Vec<f64>,
}

impl Figures {
    pub(super) fn new(rows: &[Row], groups: Groups, times: Option<Times>) -> Self {
        let group = |title: String, belongs: &dyn Fn(&Label) -> bool| {
            let rows = rows.iter().filter(|row| belongs(&row.category));
            Group::new(title, &rows.collect::<Vec<_>>())
        };
        // First, since it is the figure that documents quote.
        let mut result = vec![group(ALL.to_owned(), &|category| *category != ADVERSARIAL)];
        let shown = rows.iter().map(|row| &row.category);
        let shown = shown.filter(|category| match groups {
            Groups::AdversarialApart => **category == ADVERSARIAL,
            Groups::EachCategory => true,
        });
        // Sorted, so that two runs can be compared line by line.
        let titles: BTreeSet<String> = shown.map(Label::to_string).collect();
        result.extend(titles.into_iter().map(|title| {
            group(format!("category {title}"), &|category| {
                category.to_string() == title
            })
        }));
        Self { result, times }
    }
}

impl Group {
    fn new(title: String, rows: &[&Row]) -> Self {
        let count = rows.len();
        let mut sums = [0.0; Measure::ALL.len()];
        for row in rows {
            // A mean over questions and not over conversations, which differ in length.
            for (sum, share) in sums.iter_mut().zip(row.shares) {
                *sum += share;
            }
        }
        let means = sums
            .iter()
            .map(|sum| rounded(100.0 * sum / count as f64, 1));
        Self {
            title,
            count,
            // Without questions the mean is no number, for which JSON has no value.
            means: means.filter(|_| count > 0).collect(),
        }
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n {}", self.count)?;
        for (measure, mean) in Measure::ALL.iter().zip(&self.means) {
            write!(f, "  {measure} {mean:.1}")?;
        }
        Ok(())
    }
}

/// The figures of several sets of conversations, a line for each group of questions.
#[derive(Debug, Default)]
pub(super) struct Table(Vec<(String, String)>);

impl Table {
    pub(super) fn add(&mut self, set: &str, figures: &Figures) {
        for group in &figures.result {
            let title = match group.title.as_str() {
                ALL => set.to_owned(),
                title => format!("{set}, {title}"),
            };
            self.0.push((title, group.to_string()));
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.0.iter().map(|(title, _)| title.chars().count());
        let width = widths.max().unwrap_or(0);
        for (title, figures) in &self.0 {
            writeln!(f, "{title:width$}  {figures}")?;
        }
        Ok(())
    }
}

/// With this many decimals, rounded as its decimal expansion is.
fn rounded(figure: f64, decimals: usize) -> f64 {
    // Through text, because rounding by multiplication is off in the last digit.
    format!("{figure:.decimals$}").parse().unwrap_or(figure)
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for group in &self.result {
            writeln!(f, "{:14} {group}", group.title)?;
        }
        let Some(Times { import_s, recall_s }) = self.times else {
            return Ok(());
        };
        let (import_s, recall_s) = (rounded(import_s, 2), rounded(recall_s, 2));
        writeln!(
            f,
            "time {{'import_s': {import_s:?}, 'recall_s': {recall_s:?}}}"
        )
    }
}

/// The output of `--json`.
#[derive(Serialize)]
pub(super) struct Report {
    #[serde(flatten)]
    pub(super) figures: Figures,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) long: Option<Figures>,
}

pub(super) fn to_json(figures: &impl Serialize) -> Result<Vec<u8>> {
    let mut json = Vec::new();
    let formatter = PrettyFormatter::with_indent(b" ");
    figures.serialize(&mut serde_json::Serializer::with_formatter(
        &mut json, formatter,
    ))?;
    Ok(json)
}

/// The groups by their titles, in their order.
fn as_map<S: Serializer>(groups: &[Group], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(groups.iter().map(|group| (&group.title, group)))
}

impl Serialize for Group {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("n", &self.count)?;
        for (measure, mean) in Measure::ALL.iter().zip(&self.means) {
            map.serialize_entry(&measure.to_string(), mean)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(category: i64, share: f64) -> Row {
        Row {
            category: Label::Number(category),
            shares: [share; 6],
        }
    }

    const TIMES: Option<Times> = Some(Times {
        import_s: 0.104,
        recall_s: 12.0,
    });

    #[test]
    fn x04_the_adversarial_questions_are_apart() {
        let rows = [row(4, 1.0), row(2, 0.0), row(4, 1.0), row(5, 0.5)];
        let figures = Figures::new(&rows, Groups::AdversarialApart, TIMES).to_string();
        assert_eq!(
            figures,
            "all            n 3  r@5 66.7  r@10 66.7  r@20 66.7  r@1kt 66.7  r@2kt 66.7  r@4kt 66.7\n\
             category 5     n 1  r@5 50.0  r@10 50.0  r@20 50.0  r@1kt 50.0  r@2kt 50.0  r@4kt 50.0\n\
             time {'import_s': 0.1, 'recall_s': 12.0}\n"
        );
    }

    #[test]
    fn x04_each_category_in_the_order_of_its_name() {
        let rows = [row(4, 1.0), row(2, 0.0), row(10, 0.0)];
        let figures = Figures::new(&rows, Groups::EachCategory, TIMES).to_string();
        let titles: Vec<&str> = figures
            .lines()
            .filter_map(|line| line.split(" n ").next())
            .map(str::trim_end)
            .collect();
        assert_eq!(
            titles[..4],
            ["all", "category 10", "category 2", "category 4"]
        );
    }

    #[test]
    fn x04_several_sets_are_one_table() {
        let figures = |share| {
            let rows = [row(1, share), row(5, 1.0)];
            Figures::new(&rows, Groups::AdversarialApart, None)
        };
        let mut table = Table::default();
        table.add("talk", &figures(0.5));
        table.add("mail", &figures(0.25));
        let shown = table.to_string();
        let lines: Vec<&str> = shown.lines().collect();
        assert!(
            lines[0].starts_with("talk              n 1  r@5 50.0  r@10 50.0"),
            "{shown}"
        );
        assert!(
            lines[1].starts_with("talk, category 5  n 1  r@5 100.0"),
            "{shown}"
        );
        assert!(
            lines[2].starts_with("mail              n 1  r@5 25.0"),
            "{shown}"
        );
    }

    #[test]
    fn x04_a_mean_is_rounded_as_its_decimal_expansion() {
        let mean = |shares: &[f64]| {
            let rows: Vec<Row> = shares.iter().map(|share| row(1, *share)).collect();
            Figures::new(&rows, Groups::AdversarialApart, TIMES).result[0]
                .means
                .first()
                .copied()
        };
        // 6.25 and 18.75 are exact and go to the even digit; 0.15 is stored as a little less than that.
        assert_eq!(mean(&[0.0625]), Some(6.2));
        assert_eq!(mean(&[0.1875]), Some(18.8));
        assert_eq!(mean(&[0.0015]), Some(0.1));
        assert_eq!(mean(&[]), None);
    }

    #[test]
    fn x04_json_keeps_the_order_of_the_measures() {
        let figures = |share| Figures::new(&[row(1, share)], Groups::AdversarialApart, TIMES);
        let report = Report {
            figures: figures(1.0),
            long: Some(figures(0.25)),
        };
        let json = String::from_utf8(to_json(&report).unwrap()).unwrap();
        assert!(
            json.starts_with(
                "{\n \"result\": {\n  \"all\": {\n   \"n\": 1,\n   \"r@5\": 100.0,\n   \"r@10\""
            ),
            "{json}"
        );
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(value["long"]["result"]["all"]["r@4kt"], 25.0);
        assert_eq!(value["times"]["recall_s"], 12.0);
    }
}
