import type { CapTooSmall } from "../../src/coordination";
import type { ContextChanges } from "../../src/protocol/api/contexts";
import type { HandedFiles, LeftOut } from "../../src/protocol/events/file";
import type { AttachmentRefusal, WantedAttachment } from "../../src/agents/attached";
import type { FileEntry } from "../../src/workspace/types";
import type { SessionStatus, TurnResponse } from "../../src/protocol/api";
import type { Budget } from "../../src/protocol/team";
import type { PriceRefusal, QuotaRefusal } from "../../src/tenancy/quota";
import type { Team } from "../../src/config/team";
import type { ContextRefusal } from "./admission/turn-contexts";

/**
 * The RPC methods of a session. Refusals are values with a code: errors lose their own fields
 * between objects.
 */
type SessionRefusal = {
  ok: false;
  code: "session_not_found" | "turn_not_found" | "answer_not_found";
};

/** A turn to be started. */
export type StartTurn = {
  question: string;
  /** Images and files of the question. Omitted if there are none. */
  attachments?: readonly WantedAttachment[];
  /** The turn to continue; `null` for the latest. */
  parentTurn: number | null;
  budget: Budget;
  /** Time limit; `null` for the team's. */
  timeoutMs: number | null;
  /**
   * Identifies the start: a repeated start with the same id is the same turn. Omitted: each start
   * is a new turn.
   */
  startId?: string;
};

/** The number of a started turn. */
export type StartedTurn = { ok: true; turn: number };
/** Why a turn was not started. */
export type StartRefusal =
  | { ok: false; code: "session_not_found" | "turn_not_found" }
  | AttachmentRefusal
  | PriceRefusal
  /** The turn's own budget cannot pay for any first call. */
  | ({ ok: false } & CapTooSmall)
  /** `turn`: the running turn. */
  | { ok: false; code: "turn_running"; turn: number }
  /** Contexts of the team are missing or too large. */
  | ContextRefusal
  /** A limit of the tenant. */
  | QuotaRefusal;

/** An answer or a final text. `revision`: `null` for a final text. `at`: unix ms. */
export type AnswerText = {
  label: string;
  attempt: number;
  agent: string;
  revision: number | null;
  content: string;
  /** `presentation`: a final text that the presenter wrote. */
  origin: "tool" | "partial" | "presentation" | "answer";
  at: number;
  /**
   * Whether the answer has a snapshot, which may be empty. Logs of versions without this
   * information count as true.
   */
  hasFiles: boolean;
  /** The event's `files`. */
  handed_files?: HandedFiles;
  left_out?: LeftOut;
};

/** The frozen files of an answer or of a turn's result. */
export type FrozenFiles = {
  attempt: number;
  label: string;
  tree: ({ path: string } & FileEntry)[];
};

/**
 * The contents of a file. `interrupted`: R2 does not answer. `contents_lost`: they are stored
 * nowhere.
 */
export type Contents =
  | { ok: true; bytes: Uint8Array<ArrayBuffer> }
  | { ok: false; code: "file_not_found" | "contents_lost" | "interrupted" };

/** `events` are JSON texts as on the wire, in order. */
export type EventPage = { events: string[]; hasMore: boolean };

/**
 * A page of events after number `after`. `turn` `null`: of all turns. `limit`: number of events.
 */
export type PageRequest = { after: number; turn: number | null; deltas: boolean; limit: number };

/** The caller of a stream. Set by the Worker for its objects, never accepted from clients. */
export const CALLER_TENANT_HEADER = "x-caller-tenant";
export const CALLER_KEY_HEADER = "x-caller-key";

/** The methods of a session, for callers of one tenant. */
type SessionApi = {
  /**
   * Creates the session with its team and starts its first turn. Idempotent: a repeated call
   * confirms the turn.
   */
  create(sessionId: string, team: Team, turn: StartTurn): Promise<StartedTurn | StartRefusal>;
  startTurn(turn: StartTurn): Promise<StartedTurn | StartRefusal>;
  /** Cancels the running turn. Idempotent. */
  cancel(): Promise<{ ok: true; turn: number; status: string } | SessionRefusal>;
  /**
   * Cancels the running turn, closes all streams and erases all stored data. False if the session
   * does not exist.
   */
  erase(): Promise<boolean>;
  status(): Promise<{ ok: true; status: SessionStatus } | SessionRefusal>;
  turn(number: number): Promise<{ ok: true; turn: TurnResponse } | SessionRefusal>;
  answer(
    turn: number,
    label: string,
    attempt: number | null,
  ): Promise<{ ok: true; answer: AnswerText } | SessionRefusal>;
  /** `label` `null`: the turn's result. An answer without files has an empty tree. */
  files(
    turn: number,
    label: string | null,
    attempt: number | null,
  ): Promise<{ ok: true; files: FrozenFiles } | SessionRefusal>;
  /**
   * Contents by hash. `interrupted`: R2 does not answer. `contents_lost`: they are stored nowhere.
   */
  blob(hash: string): Promise<Contents>;
  /** The changes of a turn to contexts; empty unless the turn completed. */
  changes(turn: number): Promise<{ ok: true; changes: ContextChanges[] } | SessionRefusal>;
  /** New contents of a file in these changes, by hash. */
  changedContents(turn: number, hash: string): Promise<Contents | SessionRefusal>;
  events(request: PageRequest): Promise<{ ok: true; page: EventPage } | SessionRefusal>;
  /** A ticket for one of the session's streams, on behalf of a key. `expiresAt`: unix ms. */
  issueTicket(
    keyId: string | null,
  ): Promise<{ ok: true; ticket: string; expiresAt: number } | SessionRefusal>;
  /** Consumes a ticket. Returns its key; `null` if the ticket is not valid (any more). */
  redeemTicket(ticket: string): Promise<{ keyId: string | null } | null>;
};

/**
 * The methods of the object: each gets the caller's tenant first, and finds only sessions of that
 * tenant.
 */
export type SessionObjectApi = {
  [Method in keyof SessionApi]: (
    tenant: string,
    ...args: Parameters<SessionApi[Method]>
  ) => ReturnType<SessionApi[Method]>;
};

/** A session as its callers reach it: its methods, and its stream through `fetch`. */
export type SessionStub = SessionApi & { fetch(url: string): Promise<Response> };
