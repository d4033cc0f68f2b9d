//! A server on the standard streams of its process.

use rmcp::service::{ServerInitializeError, serve_server};

use crate::Server;
use crate::lines::Lines;

/// The reason why a server stopped before its client went.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ServeError(String);

/// Serves until the client closes stdin. What was asked and is not answered by then is dropped: nobody
/// reads the answer. A line that is no JSON is answered with an error, and the next one is read.
///
/// # Errors
/// When the client does not speak the protocol.
pub async fn serve_stdio(server: Server) -> Result<(), ServeError> {
    let running = match serve_server(server, Lines::of_process()).await {
        Ok(running) => running,
        // A client of the newer protocol sends no `initialize`, so that its leaving looks like this.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(ServeError(error.to_string())),
    };
    match running.waiting().await {
        Ok(reason) => {
            tracing::debug!(event = "client_gone", ?reason);
            Ok(())
        }
        Err(error) => Err(ServeError(error.to_string())),
    }
}
