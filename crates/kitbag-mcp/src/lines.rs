//! The lines of the standard streams, one message each. `rmcp` drops a line that is no JSON without a word; the
//! protocol wants an error for it, by which a client learns that it writes nonsense.

use std::pin::pin;

use futures_util::future::{Either, select};
use rmcp::model::{ErrorCode, ErrorData};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::io::{StdioReader, StdioWriter, stdio_pipes};
use serde::de::IgnoredAny;
use tokio::io::{
    AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, duplex,
};
use tokio::sync::mpsc;

/// A longer line is no message.
const LONGEST: u64 = 16 << 20;

/// The bytes that a pipe between two tasks holds.
const PIPE: usize = 1 << 16;

/// The transport of a server on its standard streams.
pub(crate) struct Lines {
    messages: AsyncRwTransport<RoleServer, DuplexStream, StdioWriter>,
    /// The reasons why lines are no messages.
    refused: mpsc::UnboundedReceiver<String>,
}

impl Lines {
    /// The streams of this process.
    pub(crate) fn of_process() -> Self {
        let (stdin, stdout) = stdio_pipes();
        let (to_messages, from_stdin) = duplex(PIPE);
        let (refuse, refused) = mpsc::unbounded_channel();
        tokio::spawn(sift(stdin, to_messages, refuse));
        Self {
            messages: AsyncRwTransport::new(from_stdin, stdout),
            refused,
        }
    }
}

/// Passes the lines that are JSON on, until either end goes.
async fn sift(
    stdin: StdioReader,
    mut messages: DuplexStream,
    refuse: mpsc::UnboundedSender<String>,
) {
    let mut stdin = BufReader::new(stdin);
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut bounded = (&mut stdin).take(LONGEST);
        match bounded.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let problem = if line.last() != Some(&b'\n') && line.len() as u64 == LONGEST {
            if !skip_line(&mut stdin).await {
                return;
            }
            Some(format!("a message has at most {LONGEST} bytes"))
        } else {
            problem_of(&line)
        };
        let is_gone = match problem {
            Some(problem) => refuse.send(problem).is_err(),
            None => messages.write_all(&line).await.is_err(),
        };
        if is_gone {
            return;
        }
    }
}

/// Reads to the end of a line that is too long, and tells whether there is more behind it.
async fn skip_line(stdin: &mut BufReader<StdioReader>) -> bool {
    loop {
        let Ok(read) = stdin.fill_buf().await else {
            return false;
        };
        let (length, end) = (read.len(), read.iter().position(|byte| *byte == b'\n'));
        stdin.consume(end.map_or(length, |end| end + 1));
        match (length, end) {
            (0, _) => return false,
            (_, Some(_)) => return true,
            (_, None) => {}
        }
    }
}

/// The reason why a line is no JSON, if it is none. A blank one says nothing.
fn problem_of(line: &[u8]) -> Option<String> {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
    let line = line.trim_ascii();
    if line.is_empty() {
        return None;
    }
    let read = serde_json::from_slice::<IgnoredAny>(line);
    read.err().map(|error| error.to_string())
}

impl Transport<RoleServer> for Lines {
    type Error = std::io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.messages.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let problem =
                match select(pin!(self.messages.receive()), pin!(self.refused.recv())).await {
                    Either::Left((message, _)) => return message,
                    Either::Right((Some(problem), _)) => problem,
                    // Stdin is at its end; what it held is still to be received.
                    Either::Right((None, receive)) => return receive.await,
                };
            let error = ErrorData::new(
                ErrorCode::PARSE_ERROR,
                format!("the line is no JSON: {problem}"),
                None,
            );
            let told = TxJsonRpcMessage::<RoleServer>::error(error, None);
            // A client that reads nothing any more is about to go.
            drop(self.messages.send(told).await);
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.messages.close().await
    }
}
