//! The number of records of each kind in an import, with their fate.

use std::collections::BTreeMap;

/// A kind of record in an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RecordKind {
    /// Conversations of an export.
    Conversations,
    /// Titles of conversations.
    Titles,
    /// Summaries of conversations, by the model of the service.
    Summaries,
    /// Messages of role user.
    UserMessages,
    /// Messages of role assistant.
    AssistantMessages,
    /// Messages of role tool.
    ToolMessages,
    /// Messages of role system.
    SystemMessages,
    /// Canvas documents, artifacts and created files, as messages in their latest version.
    Documents,
    /// Texts of attached files, in the messages that they were attached to.
    FileTexts,
    /// Pictures, sounds and files, as their names in the messages that they were attached to.
    FileNames,
    /// Texts of the service's memory, as facts.
    Memories,
    /// The memory that a service wrote about its user, as messages.
    MemoryTexts,
    /// Branches of conversations that were left for another one, by editing or asking again.
    Branches,
    /// Records and messages without text.
    Empty,
    /// Messages that the service marked as hidden, and those of role system.
    Hidden,
    /// Custom instructions and remembered facts that the service added to a conversation: nobody said
    /// them there, and each conversation has them again.
    Instructions,
    /// Reasoning of the model.
    Thoughts,
    /// Calls of tools.
    ToolCalls,
    /// Results of tools, such as web pages and outputs of programs.
    ToolResults,
    /// Versions of documents that a later one replaced.
    OlderVersions,
    /// Changes of documents whose place in the document was not found.
    LostChanges,
    /// Memories that are too long for a fact, or that no message of the conversation belongs to.
    LostMemories,
    /// Files of an archive that hold no conversations.
    Files,
}

/// The fate of the records of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// Kept as it is.
    Kept,
    /// Kept as something else.
    Converted,
    /// Left out on purpose.
    LeftOut,
}

impl RecordKind {
    /// All of them, in the order in which they are reported.
    pub const ALL: [Self; 23] = [
        Self::Conversations,
        Self::Titles,
        Self::Summaries,
        Self::UserMessages,
        Self::AssistantMessages,
        Self::ToolMessages,
        Self::SystemMessages,
        Self::Documents,
        Self::FileTexts,
        Self::FileNames,
        Self::Memories,
        Self::MemoryTexts,
        Self::Branches,
        Self::Empty,
        Self::Hidden,
        Self::Instructions,
        Self::Thoughts,
        Self::ToolCalls,
        Self::ToolResults,
        Self::OlderVersions,
        Self::LostChanges,
        Self::LostMemories,
        Self::Files,
    ];

    /// Their fate.
    #[must_use]
    pub fn fate(self) -> Fate {
        match self {
            Self::Conversations
            | Self::Titles
            | Self::Summaries
            | Self::UserMessages
            | Self::AssistantMessages
            | Self::ToolMessages
            | Self::SystemMessages => Fate::Kept,
            Self::Documents
            | Self::FileTexts
            | Self::FileNames
            | Self::Memories
            | Self::MemoryTexts => Fate::Converted,
            _ => Fate::LeftOut,
        }
    }

    /// Its name in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Conversations => "conversations",
            Self::Titles => "titles",
            Self::Summaries => "summaries",
            Self::UserMessages => "user_messages",
            Self::AssistantMessages => "assistant_messages",
            Self::ToolMessages => "tool_messages",
            Self::SystemMessages => "system_messages",
            Self::Documents => "documents",
            Self::FileTexts => "file_texts",
            Self::FileNames => "file_names",
            Self::Memories => "memories",
            Self::MemoryTexts => "memory_texts",
            Self::Branches => "branches",
            Self::Empty => "empty",
            Self::Hidden => "hidden",
            Self::Instructions => "instructions",
            Self::Thoughts => "thoughts",
            Self::ToolCalls => "tool_calls",
            Self::ToolResults => "tool_results",
            Self::OlderVersions => "older_versions",
            Self::LostChanges => "lost_changes",
            Self::LostMemories => "lost_memories",
            Self::Files => "files",
        }
    }

    /// One of them and several in words, with what became of them or why.
    #[must_use]
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Conversations => ("conversation", "conversations"),
            Self::Titles => ("title", "titles"),
            Self::Summaries => ("summary", "summaries"),
            Self::UserMessages => ("message by a user", "messages by users"),
            Self::AssistantMessages => ("message by an assistant", "messages by assistants"),
            Self::ToolMessages => ("message by a tool", "messages by tools"),
            Self::SystemMessages => ("system message", "system messages"),
            Self::Documents => ("document into a message", "documents into messages"),
            Self::FileTexts => (
                "attached text into its message",
                "attached texts into their messages",
            ),
            Self::FileNames => (
                "picture or file into its name",
                "pictures and files into their names",
            ),
            Self::Memories => ("memory into a fact", "memories into facts"),
            Self::MemoryTexts => (
                "text of the service's memory into a message",
                "texts of the service's memory into messages",
            ),
            Self::Branches => ("abandoned branch", "abandoned branches"),
            Self::Empty => ("message without text", "messages without text"),
            Self::Hidden => ("message that nobody saw", "messages that nobody saw"),
            Self::Instructions => (
                "set of custom instructions, which nobody said",
                "sets of custom instructions, which nobody said",
            ),
            Self::Thoughts => ("thought of the model", "thoughts of the model"),
            Self::ToolCalls => ("tool call", "tool calls"),
            Self::ToolResults => ("tool result", "tool results"),
            Self::OlderVersions => ("older version of a document", "older versions of documents"),
            Self::LostChanges => (
                "change of a document whose place was not found",
                "changes of documents whose places were not found",
            ),
            Self::LostMemories => (
                "memory that is too long or belongs to no message",
                "memories that are too long or belong to no message",
            ),
            Self::Files => (
                "file of the archive without conversations",
                "files of the archive without conversations",
            ),
        }
    }
}

/// Counts of records by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportTally(BTreeMap<RecordKind, u64>);

impl ImportTally {
    /// The number of records of a kind.
    #[must_use]
    pub fn count(&self, kind: RecordKind) -> u64 {
        self.0.get(&kind).copied().unwrap_or(0)
    }

    /// The counts of all kinds with the same fate, those that did not occur among them.
    pub fn of(&self, fate: Fate) -> impl Iterator<Item = (RecordKind, u64)> + '_ {
        let kinds = RecordKind::ALL.into_iter();
        let kinds = kinds.filter(move |kind| kind.fate() == fate);
        kinds.map(|kind| (kind, self.count(kind)))
    }

    pub(in crate::memory) fn add(&mut self, kind: RecordKind) {
        self.add_many(kind, 1);
    }

    pub(in crate::memory) fn add_many(&mut self, kind: RecordKind, count: u64) {
        let counted = self.0.entry(kind).or_default();
        // A file may claim any number of versions; a sum beyond all numbers must not stop the import.
        *counted = counted.saturating_add(count);
    }
}
