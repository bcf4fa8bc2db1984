/** The public surface of the client. */
export { Client, type DiffOptions, type FilesPlace, type Page, type StartOptions } from "./client";
export {
  type Contexts,
  contextFile,
  sha256Of,
  type UploadFile,
  type UploadOptions,
} from "./contexts";
export { ClientError, type ClientErrorDetails, type ClientErrorKind } from "./errors";
export { isEventStream, type ReadOptions, readEvents, type StreamEvent } from "./event-stream";
export { isKnownEvent, isTerminal } from "./event-types";
export type { FollowedEvent, FollowOptions, TurnPlace } from "./follow";
export type { Queue, QueuedPlace } from "./queue";
export type { RetryPolicy } from "./retries";
export { isLoopback, keyRisk, toOrigin } from "./server";
export type { Call, HttpResponse, TransportOptions as ClientOptions } from "./transport";
export type * from "./types";
