/**
 * The relay of a request was lost before response headers arrived. The server is not at fault, and
 * it may have received the request.
 */
export class RelayLostError extends Error {
  override readonly name = "RelayLostError";
}

/** Whether an error, or one of its causes, is a `RelayLostError`. */
export const isRelayLost = (error: unknown): boolean =>
  error instanceof Error && (error instanceof RelayLostError || isRelayLost(error.cause));
