/**
 * The types of the service's schemas. The built package contains copies that need no other package.
 */
export type {
  CompactRequest,
  Problem,
  RunRequest,
  RunResponse,
  SessionStatus,
  TurnRequest,
  TurnResponse,
} from "../src/protocol/api";
export type {
  BlobsStored,
  Context,
  ContextFile,
  ContextList,
  ContextManifest,
  ContextUpload,
  IncludedTurn,
  LeftOutFiles,
  TurnChanges,
} from "../src/protocol/api/contexts";
export type { Diff } from "../src/protocol/api/diff";
export type {
  Queue as SessionQueue,
  QueuedResponse,
  QueuedTurn,
} from "../src/protocol/api/queue";
export type { WireEvent } from "../src/protocol/events";
export type { SessionFiles } from "../src/protocol/api/files";
export type {
  Answer,
  CancelledTurn,
  EventList,
  Head,
  SessionList,
  TurnList,
} from "../src/protocol/api/listings";
