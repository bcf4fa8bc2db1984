import type { CapTooSmall } from "../../src/coordination";
import type { ContextChanges } from "../../src/protocol/api/contexts";
import type { HandedFiles, LeftOut } from "../../src/protocol/events/file";
import type { AttachmentRefusal, WantedAttachment } from "./admission/attachments";
import type { FileEntry } from "../../src/workspace/types";
import type { SessionStatus, TurnResponse } from "../../src/protocol/api";
import type { Budget } from "../../src/protocol/team";
import type { PriceRefusal, QuotaRefusal } from "../../src/tenancy/quota";
import type { Team } from "../../src/config/team";
import type { ContextRefusal } from "./admission/turn-contexts";

/**
 * What a session can be asked, by anyone who has its stub. Refusals are values with a code: an error's own fields do not
 * survive the way between objects.
 */
export type SessionRefusal = {
  ok: false;
  code: "session_not_found" | "turn_not_found" | "answer_not_found";
};

export type StartTurn = {
  question: string;
  /** Images and files that come with it; absent: none. */
  attachments?: readonly WantedAttachment[];
  /** null: after the latest turn. */
  parentTurn: number | null;
  budget: Budget;
  /** null: as the team says. */
  timeoutMs: number | null;
  /** By this the session knows the start again: the same one twice is one turn. Absent: each is a new one. */
  startId?: string;
};

export type StartedTurn = { ok: true; turn: number };
export type StartRefusal =
  | { ok: false; code: "session_not_found" | "turn_not_found" }
  | AttachmentRefusal
  | PriceRefusal
  /** No first call of the team fits into the turn's own budget. */
  | ({ ok: false } & CapTooSmall)
  /** `turn`: the one that runs. */
  | { ok: false; code: "turn_running"; turn: number }
  /** What the team is given is not there. */
  | ContextRefusal
  /** The tenant may not, now. */
  | QuotaRefusal;

export type AnswerText = {
  label: string;
  attempt: number;
  agent: string;
  revision: number | null;
  content: string;
  /** `presentation` for a final text written by the presenter. */
  origin: "tool" | "partial" | "presentation" | "answer";
  at: number;
  /** Whether it comes with files, be it none; what is not known of a log from before that was told counts as yes. */
  hasFiles: boolean;
  /** As `files` of its event. */
  handed_files?: HandedFiles;
  left_out?: LeftOut;
};

/** The files of an answer, or of a turn's result: a tree as it was frozen. */
export type FrozenFiles = {
  attempt: number;
  label: string;
  tree: ({ path: string } & FileEntry)[];
};

export type Contents =
  | { ok: true; bytes: Uint8Array<ArrayBuffer> }
  | { ok: false; code: "file_not_found" | "contents_lost" | "interrupted" };

/** `events` are the wire's JSON texts, in order. */
export type EventPage = { events: string[]; hasMore: boolean };

export type PageRequest = { after: number; turn: number | null; deltas: boolean; limit: number };

/** Who asks for a stream: set between the Worker and its objects only, never taken from a client. */
export const CALLER_TENANT_HEADER = "x-caller-tenant";
export const CALLER_KEY_HEADER = "x-caller-key";

export type SessionApi = {
  /** Makes the session with its team and starts its first turn. Called again, it only says that there is one. */
  create(sessionId: string, team: Team, turn: StartTurn): Promise<StartedTurn | StartRefusal>;
  startTurn(turn: StartTurn): Promise<StartedTurn | StartRefusal>;
  /** Twice is the same as once. */
  cancel(): Promise<{ ok: true; turn: number; status: string } | SessionRefusal>;
  /** Cancels what runs, ends every stream and erases all the session has. False if there is no such session (any more). */
  erase(): Promise<boolean>;
  status(): Promise<{ ok: true; status: SessionStatus } | SessionRefusal>;
  turn(number: number): Promise<{ ok: true; turn: TurnResponse } | SessionRefusal>;
  answer(
    turn: number,
    label: string,
    attempt: number | null,
  ): Promise<{ ok: true; answer: AnswerText } | SessionRefusal>;
  /** `label` null: the turn's result. An answer without files has an empty tree. */
  files(
    turn: number,
    label: string | null,
    attempt: number | null,
  ): Promise<{ ok: true; files: FrozenFiles } | SessionRefusal>;
  /** Contents by their hash. `interrupted`: they lie in R2, which does not answer; `contents_lost`: they are nowhere any more. */
  blob(hash: string): Promise<Contents>;
  /** What a turn made of contexts; nothing until it is completed, and where it is not. */
  changes(turn: number): Promise<{ ok: true; changes: ContextChanges[] } | SessionRefusal>;
  /** New contents of a file of these changes, by their hash. */
  changedContents(turn: number, hash: string): Promise<Contents | SessionRefusal>;
  events(request: PageRequest): Promise<{ ok: true; page: EventPage } | SessionRefusal>;
  /** A ticket for one of the session's streams, in the name of a key. `expiresAt`: unix ms. */
  issueTicket(
    keyId: string | null,
  ): Promise<{ ok: true; ticket: string; expiresAt: number } | SessionRefusal>;
  /** Uses a ticket up: whose it was, or null if it opens nothing here (any more). */
  redeemTicket(ticket: string): Promise<{ keyId: string | null } | null>;
};

/** The same as the object takes it: each method is told the tenant that asks, and knows no session of another's. */
export type SessionObjectApi = {
  [Method in keyof SessionApi]: (
    tenant: string,
    ...args: Parameters<SessionApi[Method]>
  ) => ReturnType<SessionApi[Method]>;
};

/** A tenant's session as whoever asks reaches it: its methods, and its stream by `fetch`. */
export type SessionStub = SessionApi & { fetch(url: string): Promise<Response> };
