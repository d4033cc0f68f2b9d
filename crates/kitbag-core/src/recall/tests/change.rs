//! Messages that say that something has changed.

use std::sync::LazyLock;

use crate::recall::{Query, ToldMessage};
use crate::statement::{Statements, ToldChange};

static STATEMENTS: LazyLock<Statements> = LazyLock::new(Statements::new);

fn outdates(later: &str, earlier: &str, asked: &str) -> Option<ToldChange> {
    let read = |text| ToldMessage::new(&STATEMENTS, text);
    let (later, earlier) = (read(later), read(earlier));
    later.outdates(&earlier, &Query::new(asked, None))
}

#[test]
fn x12_a_change_outdates_a_statement_about_the_same() {
    for (earlier, later, asked) in [
        (
            "I go to FitOne",
            "I left FitOne, I train at CrossBox now",
            "Which gym do I go to?",
        ),
        (
            "My doctor is Dr. Hall",
            "I changed doctors, it's Dr. Patel these days",
            "Who is my doctor?",
        ),
        (
            "I take the bus to work",
            "I stopped taking the bus",
            "How do I get to work?",
        ),
        (
            "Ich trainiere bei FitOne",
            "Bei FitOne habe ich gekündigt",
            "In welches Fitnessstudio gehe ich?",
        ),
        (
            "Je m'entraîne chez FitOne",
            "J'ai quitté FitOne hier soir",
            "Dans quelle salle est-ce que je m'entraîne ?",
        ),
        (
            "Entreno en FitOne",
            "Dejé FitOne en mayo",
            "¿En qué gimnasio entreno?",
        ),
        ("我在乐刻健身。", "我退掉了乐刻的卡。", "我在哪里健身？"),
        (
            "I train at FitOne",
            "I finally cancelled my FitOne membership last week",
            "Where do I train?",
        ),
    ] {
        let change = outdates(later, earlier, asked);
        assert_eq!(change, Some(ToldChange::Explicit), "{later}");
    }
}

#[test]
fn x12_a_change_says_the_same_with_another_value() {
    for (earlier, later, asked) in [
        (
            "The billing service runs on Postgres",
            "The billing service runs on MySQL now",
            "Which database does the billing service use?",
        ),
        (
            "I pay 900 euros of rent",
            "They raised the rent, it's 1050 euros now",
            "How much rent do I pay?",
        ),
        (
            "My rent is 900 euros",
            "They raised my rent to 1050 euros",
            "What is my rent?",
        ),
        (
            "Meine Miete beträgt 900 Euro",
            "Meine Miete wurde auf 1050 Euro erhöht",
            "Wie hoch ist meine Miete?",
        ),
        (
            "My manager is Sarah Klein",
            "Sarah Klein left the company, my new manager is Tom Becker",
            "Who is my manager?",
        ),
        (
            "Meine Chefin ist Sarah Klein",
            "Sarah Klein hat die Firma verlassen, meine neue Chefin ist Petra Becker",
            "Wer ist meine Chefin?",
        ),
        (
            "Mon responsable est Paul Morel",
            "Paul Morel a quitté la société, mon nouveau responsable est Luc Girard",
            "Qui est mon responsable ?",
        ),
        (
            "我的牙医预约在星期一。",
            "我的牙医预约改到星期四了。",
            "我的牙医预约是什么时候？",
        ),
        (
            "Meine Telefonnummer ist 555-1234",
            "Meine Telefonnummer ist jetzt 555-9876",
            "Was ist meine Telefonnummer?",
        ),
    ] {
        let change = outdates(later, earlier, asked);
        assert_eq!(change, Some(ToldChange::Implied), "{later}");
    }
}

#[test]
fn x12_what_is_about_something_else_or_not_meant_outdates_nothing() {
    for (earlier, later, asked) in [
        (
            "I met Clara in Paris",
            "I left Paris yesterday",
            "Where did I meet Clara?",
        ),
        (
            "I work as a nurse",
            "I wish I no longer worked as a nurse",
            "Do I work as a nurse?",
        ),
        (
            "I work as a nurse",
            "Have I stopped working as a nurse?",
            "Do I work as a nurse?",
        ),
        (
            "I work as a nurse",
            "The coffee machine at work is new",
            "Do I work as a nurse?",
        ),
        (
            "I play the piano",
            "My new headphones are great",
            "What do I play?",
        ),
        (
            "I live in Oslo.",
            "I left my umbrella in Oslo.",
            "Where do I live?",
        ),
        ("I live in Oslo.", "My cat left Oslo.", "Do I live in Oslo?"),
        (
            "My doctor is Dr. Hall.",
            "I moved my appointment with Dr. Hall to Friday.",
            "Who is my doctor?",
        ),
        (
            "My dog is called Rex.",
            "I stopped feeding Rex at night.",
            "What is my dog called?",
        ),
        (
            "I drive a Volvo.",
            "I sold the old tyres of the Volvo.",
            "Do I drive a Volvo?",
        ),
        (
            "My manager is Clara.",
            "I moved the meeting with Clara to Monday.",
            "Who is my manager?",
        ),
        (
            "I take the bus to work.",
            "I stopped eating lunch at work.",
            "How do I get to work?",
        ),
        (
            "I work at Siemens.",
            "I quit smoking at work.",
            "Where do I work?",
        ),
        (
            "The staging server runs on Postgres.",
            "The billing server runs on Postgres now.",
            "Which database does the staging server run on?",
        ),
        (
            "The staging server runs on Postgres.",
            "The billing server runs on Postgres now.",
            "What does the server run on?",
        ),
        (
            "The staging server runs on Postgres.",
            "The billing server runs on MySQL now.",
            "Which database does the staging server use?",
        ),
        (
            "My doctor is Dr. Hall.",
            "My new neighbour is a doctor.",
            "Who is my doctor?",
        ),
        ("I love jazz.", "I love hiking now.", "What do I love?"),
        (
            "I want to ask my sister for a job",
            "I'm gonna take your advice and work at my sister's job for now",
            "What is my job?",
        ),
        (
            "It's a pottery class and today we are making bowls.",
            "This week I enjoyed some tea from the new cup that I made in my pottery class.",
            "Which bowls did I make in my pottery class?",
        ),
        (
            "I'm starting a dance studio because I'm passionate about dancing.",
            "The dance studio is on tenuous grounds right now, but I'm staying positive.",
            "How is my dance studio doing?",
        ),
        (
            "I met Clara in Paris.",
            "I met Clara in Lyon recently, too.",
            "Where did I meet Clara?",
        ),
    ] {
        assert_eq!(outdates(later, earlier, asked), None, "{later}");
    }
}

#[test]
fn x12_what_was_so_before_is_known_in_each_language() {
    for (text, asked) in [
        ("I used to live in Bonn.", "Where do I live?"),
        ("Früher wohnte ich in Bonn.", "Wo wohnte ich?"),
        ("Avant, j'habitais à Lyon.", "Où j'habitais ?"),
        ("Antes vivía en Bonn.", "¿Dónde vivía?"),
        ("我以前住在北京。", "我住在哪里？"),
    ] {
        let told = ToldMessage::new(&STATEMENTS, text);
        assert!(told.is_past(&Query::new(asked, None)), "{text}");
    }
    for (text, asked) in [
        ("Entonces vivo en Bonn.", "¿Dónde vivo?"),
        ("Je dîne avant huit heures.", "Quand est-ce que je dîne ?"),
        ("Ceno prima di te.", "Quando ceno?"),
    ] {
        let told = ToldMessage::new(&STATEMENTS, text);
        assert!(!told.is_past(&Query::new(asked, None)), "{text}");
    }
    let told = ToldMessage::new(&STATEMENTS, "I live in Porto. I used to play the oboe.");
    assert!(!told.is_past(&Query::new("Where do I live?", None)));
}
