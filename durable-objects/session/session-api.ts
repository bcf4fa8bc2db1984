import type { CapTooSmall, HeadRefusal, OnBusy, QuestionTooLong } from "../../src/coordination";
import type { Queue } from "../../src/protocol/api/queue";
import type { ConflictSide, ContextChanges } from "../../src/protocol/api/contexts";
import type { HandedFiles, LeftOut } from "../../src/protocol/events/file";
import type { AttachmentRefusal, WantedAttachment } from "../../src/agents/attached";
import type { FileEntry } from "../../src/workspace/types";
import type { SessionStatus, TurnResponse, TurnSummary } from "../../src/protocol/api";
import type { Budget } from "../../src/protocol/team";
import type { Overrides } from "../../src/protocol/turn-team";
import type { PriceRefusal, QuotaRefusal } from "../../src/tenancy/quota";
import type { RequestGrant } from "../../src/config/granted-contexts";
import type { Team } from "../../src/config/team";
import type { OverridesProblem } from "../../src/config/turn-overrides";
import type { ConflictRefusal } from "./admission/start-states";
import type { ContextRefusal } from "./admission/turn-contexts";

/**
 * Why a method of a session has no result. Refusals are values with a code instead of errors,
 * because an error loses its own fields when it is sent between objects.
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
  /** The number of the turn to continue; `null` for none. Omitted: the head. */
  parentTurn?: number | null;
  budget: Budget;
  /** Time limit in ms; `null` for the team's own limit. */
  timeoutMs: number | null;
  /**
   * Contexts for all agents. Omitted: those of the turn to continue. Empty: none besides those of
   * the config.
   */
  grants?: readonly RequestGrant[];
  /**
   * The side that wins where the parent turn and a newer version of a context changed the same
   * file. Omitted: the turn is refused.
   */
  conflictWinner?: ConflictSide;
  /** The team; its keys may be sealed. Omitted: the team of the turn to continue. */
  team?: Team;
  /** The turn whose team it uses, unless it has `team`. Omitted: the turn to continue. */
  teamOf?: number;
  /** Changes of the team for this turn only. Omitted: none. */
  overrides?: Overrides;
  /**
   * Identifies the start: a repeated start with the same id returns the same turn. If omitted, each
   * start is a new turn.
   */
  startId?: string;
  /** Id of the request in the queue. Omitted if it was not queued. */
  queueId?: string;
};

/**
 * A turn that asks the question of turn `repeats` again: with its attachments, contexts, team and
 * overrides, after the same turn.
 */
export type RepeatTurn = Pick<StartTurn, "budget" | "timeoutMs" | "conflictWinner" | "startId"> & {
  repeats: number;
};

/** A turn that only summarises the conversation until the head. Fields as in `StartTurn`. */
export type StartCompact = Pick<StartTurn, "budget" | "timeoutMs" | "startId">;

/** The number of a started turn. `warnings`: about its overrides; omitted if there are none. */
export type StartedTurn = { ok: true; turn: number; warnings?: OverridesProblem[] };
/** The overrides do not fit the team. */
export type OverridesRefused = {
  ok: false;
  code: "overrides_invalid";
  problems: OverridesProblem[];
};
/** A request that waits in the queue. `position`: from 1. */
export type QueuedStart = { ok: true; queued: { id: string; position: number } };
/** Why a busy session refuses a request. */
export type BusyRefusal =
  /** `turn`: the running turn. */
  | { ok: false; code: "turn_running"; turn: number }
  /** No turn runs, but `queued` requests will start before. */
  | { ok: false; code: "queue_not_empty"; queued: number }
  /** `most`: the maximum number of requests in the queue. */
  | { ok: false; code: "queue_full"; most: number };
/** Why a turn was not started. */
export type StartRefusal =
  | { ok: false; code: "session_not_found" | "turn_not_found" | "nothing_to_summarise" }
  /** The queue cannot store the request. Both sizes are of its JSON, in bytes. */
  | { ok: false; code: "request_too_long_to_wait"; bytes: number; most: number }
  | OverridesRefused
  | AttachmentRefusal
  | PriceRefusal
  /** The turn's own budget cannot pay for any first call. */
  | ({ ok: false } & CapTooSmall)
  /** The question fits the window of no model. */
  | QuestionTooLong
  | BusyRefusal
  /** Contexts of the team are missing or too large. */
  | ContextRefusal
  /** The parent turn and a newer version of a context changed the same files. */
  | ConflictRefusal
  /** A limit of the tenant is reached. */
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
  /** The field `files` of the event. */
  handed_files?: HandedFiles;
  /** Files of the author's previous answer that this answer does not have. */
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

/**
 * A point of a session for a diff. `turn`: `null` for the latest completed turn. `label`: `null`
 * for the turn as it ended. `attempt`: `null` for the latest attempt with the label.
 */
export type DiffPlace = { turn: number | null; attempt: number | null; label: string | null };

/**
 * The files and the text of a point. `tree`: the files of the workspace. `contexts`: names of the
 * contexts that the turn and its ancestors used, sorted. `isEnd`: whether contexts are those at the
 * end of the turn; if not, those at its start.
 */
export type DiffPoint = {
  turn: number;
  parent: number | null;
  status: TurnResponse["status"];
  attempt: number | null;
  label: string | null;
  text: string | null;
  tree: FrozenFiles["tree"];
  contexts: string[];
  isEnd: boolean;
};

/**
 * The state of a context: a version and the whole difference from it. `sources`: ids of the
 * versions that store contents of `changes`, by hash.
 */
export type ContextPoint = {
  version: string;
  changes: ReadonlyMap<string, FileEntry | null>;
  sources: ReadonlyMap<string, string>;
};

/** A page of turns. */
export type TurnPage = { turns: TurnSummary[]; hasMore: boolean; head: number };

/** A page of events. `events` are JSON texts as clients receive them, in order. */
export type EventPage = { events: string[]; hasMore: boolean };

/**
 * A request for a page of events with a number above `after`. `turn`: `null` for events of all
 * turns. `deltas`: whether streamed text is included. `limit`: maximum number of events.
 */
export type PageRequest = { after: number; turn: number | null; deltas: boolean; limit: number };

/**
 * Headers that name the caller of a stream. The Worker sets them for its objects and never accepts
 * them from clients.
 */
export const CALLER_TENANT_HEADER = "x-caller-tenant";
export const CALLER_KEY_HEADER = "x-caller-key";

/** The queue as clients see it. */
export type QueueState = Omit<Queue, "session_id">;
/** `position`: `null` once the turn exists. `turn`: `null` while the request waits. */
export type QueuedPlace = { ok: true; position: number | null; turn: number | null };
/** `turn`: the turn that the request has already started. */
export type QueueRefusal =
  | { ok: false; code: "queued_not_found" }
  | { ok: false; code: "queued_turn_started"; turn: number };

/** The methods of a session, for callers of one tenant. */
type SessionApi = {
  /**
   * Loads the session's object and its first relay, and stores nothing. To be called, without
   * waiting for it, before something slow that precedes `create`.
   */
  prepare(): Promise<void>;
  /**
   * Creates the session with its team and starts its first turn, whose own `team` is ignored.
   * Idempotent: a repeated call confirms the turn.
   */
  create(sessionId: string, team: Team, turn: StartTurn): Promise<StartedTurn | StartRefusal>;
  /**
   * Starts another turn, or queues it if the session is busy. Idempotent per `startId`. `caller`:
   * the id of the caller's key; `null` without keys.
   */
  startTurn(
    turn: StartTurn | RepeatTurn,
    onBusy?: OnBusy,
    caller?: string | null,
  ): Promise<StartedTurn | QueuedStart | StartRefusal>;
  /** The requests that wait for their turns. */
  readQueue(): Promise<{ ok: true; queue: QueueState } | SessionRefusal>;
  /** A queued request: its position while it waits, then its turn. */
  queued(id: string): Promise<QueuedPlace | QueueRefusal | SessionRefusal>;
  /** Removes a request from the queue, with its attachments. */
  removeQueued(id: string): Promise<{ ok: true } | QueueRefusal | SessionRefusal>;
  /** Resumes a held queue, with the authority of the caller's key. Idempotent. */
  resumeQueue(caller?: string | null): Promise<{ ok: true; queue: QueueState } | SessionRefusal>;
  /** Starts a turn that only summarises. A busy session refuses it. Idempotent per `startId`. */
  compact(turn: StartCompact): Promise<StartedTurn | StartRefusal>;
  /** A page of the turns with a number above `after`, in order, and the head. */
  turns(after: number, limit: number): Promise<({ ok: true } & TurnPage) | SessionRefusal>;
  /** Moves the head: the turn that the next turn continues unless it names another. Idempotent. */
  moveHead(turn: number): Promise<{ ok: true; head: number } | HeadRefusal | SessionRefusal>;
  /** Cancels the running turn. Idempotent. */
  cancel(): Promise<{ ok: true; turn: number; status: string } | SessionRefusal>;
  /**
   * Cancels the running turn, closes all streams and erases all stored data. Returns false if the
   * session does not exist.
   */
  erase(): Promise<boolean>;
  status(): Promise<{ ok: true; status: SessionStatus } | SessionRefusal>;
  turn(number: number): Promise<{ ok: true; turn: TurnResponse } | SessionRefusal>;
  /** An answer or a final text. `attempt`: `null` for the latest with this label. */
  answer(
    turn: number,
    label: string,
    attempt: number | null,
  ): Promise<{ ok: true; answer: AnswerText } | SessionRefusal>;
  /**
   * The files of an answer, or of the turn's result if `label` is `null`. An answer without files
   * has an empty tree.
   */
  files(
    turn: number,
    label: string | null,
    attempt: number | null,
  ): Promise<{ ok: true; files: FrozenFiles } | SessionRefusal>;
  /** Contents of a file by hash. */
  blob(hash: string): Promise<Contents>;
  /** The changes of a turn to contexts; empty unless the turn completed. */
  changes(turn: number): Promise<{ ok: true; changes: ContextChanges[] } | SessionRefusal>;
  /** New contents of a file in these changes, by hash. */
  changedContents(turn: number, hash: string): Promise<Contents | SessionRefusal>;
  /** The files and the text of a point, for a diff. */
  diffPoint(place: DiffPlace): Promise<{ ok: true; point: DiffPoint } | SessionRefusal>;
  /** The state of a context at a point; `null` if no turn until then used it. */
  contextPoint(place: {
    turn: number;
    context: string;
    isEnd: boolean;
  }): Promise<{ ok: true; state: ContextPoint | null } | SessionRefusal>;
  /** Contents of files by hash, in the order of the hashes. At most `MAX_BLOBS` are read. */
  blobs(hashes: readonly string[]): Promise<Contents[]>;
  events(request: PageRequest): Promise<{ ok: true; page: EventPage } | SessionRefusal>;
  /**
   * Issues a ticket that opens one of the session's streams, on behalf of a key. `expiresAt`: unix
   * ms.
   */
  issueTicket(
    keyId: string | null,
  ): Promise<{ ok: true; ticket: string; expiresAt: number } | SessionRefusal>;
  /** Consumes a ticket. Returns its key; `null` if the ticket is not or no longer valid. */
  redeemTicket(ticket: string): Promise<{ keyId: string | null } | null>;
};

/**
 * The RPC methods of a session's object. The first argument of each method is the caller's tenant;
 * for other tenants the session does not exist.
 */
export type SessionObjectApi = {
  [Method in keyof SessionApi]: (
    tenant: string,
    ...args: Parameters<SessionApi[Method]>
  ) => ReturnType<SessionApi[Method]>;
};

/** A session as its callers reach it: its methods, and its stream through `fetch`. */
export type SessionStub = SessionApi & { fetch(url: string): Promise<Response> };
