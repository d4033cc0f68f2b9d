//! Prompts that told of a message in other words than its own, once the message is forgotten.

use kitbag_core::assembly::{AssemblySettings, Draft, OutputForm, assemble};
use kitbag_core::chunk::{ChunkType, ContextChunk};
use kitbag_core::history::{HistoryRoom, shorten};
use kitbag_core::tokens::{Characters, Tokens};
use kitbag_store::{Forget, Learned, Location, MessageId, Store, StoredMessage, TurnId};

use crate::on_both;
use crate::place::{run, second};
use crate::prompts::{begin, sent};

on_both! {
    x03_a_prompt_with_a_sentence_of_a_forgotten_message_cannot_be_rebuilt
}

const SAID: &str = "I have decided to sell the xylophone in May. It was fun while it lasted, and \
    there is not much more to be said about that, as you will understand.";
const SENTENCE: &str = "I have decided to sell the xylophone in May.";

/// A turn whose prompt holds this chunk and no history.
async fn turn(store: &Store, text: &str, at: i64, chunk: Option<ContextChunk>) -> TurnId {
    let lease = begin(store, text, at).await;
    if let Some(chunk) = chunk {
        let draft = Draft::new(text);
        let settings = AssemblySettings::new(OutputForm::Flat, Tokens(4_000));
        let chunks = vec![chunk.into()];
        let assembly = assemble(&draft, chunks, &settings, &Characters, None).unwrap();
        assert_eq!(assembly.kept.len(), 1);
        let prompt = sent(draft, settings, assembly);
        store.sent(&lease, prompt, second(at)).await.unwrap();
    }
    let learned = Learned::reply("I see.", second(at));
    store.learned(&lease, learned, second(at)).await.unwrap();
    lease.turn
}

/// The chunk that stands for a conversation's messages where none of them has room.
async fn in_short(store: &Store, turn: TurnId) -> ContextChunk {
    let said = store.messages(turn.conversation(), 9).await.unwrap();
    let said = said.into_iter().map(StoredMessage::into_history);
    let room = HistoryRoom {
        tokens: Tokens(0),
        messages: 0,
    };
    let text = |message: &kitbag_core::message::Message| message.content.text().into_owned();
    let short = shorten(said.collect(), 0, room, None, &text, &Characters);
    let chunk = short.earlier.unwrap();
    assert!(chunk.content().contains(SENTENCE), "{}", chunk.content());
    assert!(!chunk.content().contains(SAID));
    chunk
}

fn pending() -> ContextChunk {
    ContextChunk::new(
        ChunkType::Summary,
        "pending",
        "Sell the xylophone, or keep it?",
    )
}

/// A message in the second turn, and prompts that told of it.
struct Talk {
    message: MessageId,
    before: TurnId,
    telling: [TurnId; 2],
    other: TurnId,
}

impl Talk {
    async fn held_on(store: &Store) -> Self {
        let entity = ContextChunk::new(ChunkType::Entity, "entity/shop_1", "`shop_1`: Corner Shop");
        let before = turn(store, "Good morning!", 0, Some(entity)).await;
        let said = turn(store, SAID, 1, None).await;
        let message = store.turn(said).await.unwrap().message;
        let earlier = in_short(store, said).await;
        let first = turn(store, "What now?", 2, Some(earlier)).await;
        let then = turn(store, "And then?", 3, Some(pending())).await;
        let fact = ContextChunk::new(ChunkType::Fact, "fact/home", "home: Lisbon");
        let other = turn(store, "Where do I live?", 4, Some(fact)).await;
        Self {
            message,
            before,
            telling: [first, then],
            other,
        }
    }
}

async fn x03_a_prompt_with_a_sentence_of_a_forgotten_message_cannot_be_rebuilt(store: Store) {
    let talk = Talk::held_on(&store).await;
    for turn in talk.telling {
        store.replay(turn, None).await.unwrap();
    }
    let gone = store.forget(Forget::Message(talk.message)).await.unwrap();
    assert_eq!((gone.messages, gone.prompts), (1, 2));
    for turn in talk.telling {
        let refused = store.replay(turn, None).await.unwrap_err().to_string();
        let reason = format!("message {} was forgotten", talk.message);
        assert!(refused.contains(&reason), "{refused}");
    }
    // One that came before the message, and one that holds nothing of what was said.
    store.replay(talk.before, None).await.unwrap();
    store.replay(talk.other, None).await.unwrap();
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

#[test]
fn x03_a_sentence_of_a_forgotten_message_is_in_no_byte_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let holds = || {
        std::fs::read_dir(folder.path()).unwrap().any(|entry| {
            let bytes = std::fs::read(entry.unwrap().path()).unwrap();
            bytes.windows(9).any(|window| window == b"xylophone")
        })
    };
    run(async {
        let location = Location::Sqlite(folder.path().join("memory.db"));
        let store = Store::open(&location).await.unwrap();
        let talk = Talk::held_on(&store).await;
        assert!(holds());
        store.forget(Forget::Message(talk.message)).await.unwrap();
        assert!(!holds());
    });
}
