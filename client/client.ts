import {
  cancelPath,
  compactPath,
  diffPath,
  headPath,
  runLinks,
  RUNS_PATH,
  SESSIONS_PATH,
  sessionPath,
  turnsPath,
} from "../src/protocol/paths";
import { Contexts } from "./contexts";
import { type FollowedEvent, type FollowOptions, followTurn, type TurnPlace } from "./follow";
import { Queue } from "./queue";
import { type Call, type HttpResponse, Transport, type TransportOptions } from "./transport";
import type {
  Answer,
  CancelledTurn,
  CompactRequest,
  Diff,
  EventList,
  Head,
  QueuedResponse,
  RunRequest,
  RunResponse,
  SessionFiles,
  SessionList,
  SessionStatus,
  TurnList,
  TurnRequest,
  TurnResponse,
} from "./types";

type Cancellable = { signal?: AbortSignal | undefined };
export type StartOptions = Cancellable & {
  /** Two starts with the same key start one turn. Default: a new key for each call. */
  idempotencyKey?: string | undefined;
};
export type DiffOptions = Cancellable & { from?: string | undefined; to?: string | undefined };
export type Page = { after?: string | undefined; limit?: number | undefined };
/** A turn, for the files of its result. With `label`, one answer of the turn, for its files. */
export type FilesPlace = TurnPlace & { label?: string | undefined; attempt?: number | undefined };

/**
 * A client of one service. The constructor sends nothing. Every function throws ClientError, or the
 * signal's reason after an abort.
 */
export class Client {
  readonly server: string;
  readonly runs: Runs;
  readonly turns: Turns;
  readonly queue: Queue;
  readonly sessions: Sessions;
  readonly files: Files;
  readonly contexts: Contexts;
  readonly #transport: Transport;

  /** Throws ClientError if `server` is no http address, or if the key must not be sent to it. */
  constructor(options: TransportOptions) {
    const transport = new Transport(options);
    this.#transport = transport;
    this.server = transport.server;
    this.runs = new Runs(transport);
    this.turns = new Turns(transport);
    this.queue = new Queue(transport);
    this.sessions = new Sessions(transport);
    this.files = new Files(transport);
    this.contexts = new Contexts(transport);
  }

  /** Calls any route and returns its JSON, which is not validated. */
  json<T>(call: Call): Promise<T> {
    return this.#transport.json<T>(call);
  }

  /** Calls any route and returns its successful response. */
  send(call: Call): Promise<HttpResponse> {
    return this.#transport.send(call);
  }

  /**
   * Calls any route once and returns the response with any status. Throws ClientError only if there
   * is no complete response.
   */
  receive(call: Call): Promise<HttpResponse> {
    return this.#transport.receive(call);
  }

  /** The error for an unsuccessful response of `receive`. */
  errorFrom(response: HttpResponse) {
    return this.#transport.errorFrom(response);
  }
}

/** Starts sessions with their first turn. */
class Runs {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Starts a session with its first turn. A lost request is repeated and starts only one turn. */
  start(body: RunRequest, options: StartOptions = {}): Promise<RunResponse> {
    return this.#transport.json<RunResponse>(startCall(RUNS_PATH, body, options));
  }

  /**
   * Starts a session and follows its first turn over the same connection. `event.session_id` names
   * the session.
   */
  stream(
    body: RunRequest,
    options: StartOptions & FollowOptions = {},
  ): AsyncGenerator<FollowedEvent, void> {
    return followTurn(this.#transport, { start: startCall(RUNS_PATH, body, options) }, options);
  }
}

/** A request that a busy session refuses, so that its response always has a turn. */
type StartingRequest = TurnRequest & { on_busy?: "reject" | undefined };

/** Turns of a session. */
class Turns {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Starts a turn that only summarises the conversation until the head. Later turns read the
   * summary in place of the turns that it covers.
   */
  compact(
    session: string,
    body: CompactRequest = {},
    options: StartOptions = {},
  ): Promise<RunResponse> {
    return this.#transport.json<RunResponse>(startCall(compactPath(session), body, options));
  }

  /**
   * Starts the next turn of a session. A lost request is repeated and starts only one turn. With
   * `on_busy`, a busy session queues the request: the response then has `queued` and no turn.
   */
  start(session: string, body: StartingRequest, options?: StartOptions): Promise<RunResponse>;
  start(
    session: string,
    body: TurnRequest,
    options?: StartOptions,
  ): Promise<RunResponse | QueuedResponse>;
  start(
    session: string,
    body: TurnRequest,
    options: StartOptions = {},
  ): Promise<RunResponse | QueuedResponse> {
    const call = startCall(turnsPath(session), body, options);
    return this.#transport.json<RunResponse | QueuedResponse>(call);
  }

  /**
   * Starts the next turn of a session and follows it over the same connection. A busy session
   * refuses it.
   */
  stream(
    session: string,
    body: StartingRequest,
    options: StartOptions & FollowOptions = {},
  ): AsyncGenerator<FollowedEvent, void> {
    const start = startCall(turnsPath(session), body, options);
    return followTurn(this.#transport, { start }, options);
  }

  /**
   * Yields each event of a turn once and in order. Reconnects after lost connections and restarts
   * of the service. Ends after the turn's last event. Leaving the loop, or aborting `signal`, does
   * not change the turn.
   */
  follow(place: TurnPlace, options: FollowOptions = {}): AsyncGenerator<FollowedEvent, void> {
    return followTurn(this.#transport, { place }, options);
  }

  /** Reads one turn: status, question, answer, votes, cost. */
  get({ session, turn }: TurnPlace, { signal }: Cancellable = {}): Promise<TurnResponse> {
    const path = runLinks(session, turn).turn;
    return this.#transport.json<TurnResponse>({ method: "GET", path, signal });
  }

  /** Reads one answer by its label, such as `agent2.1` or `agent2.final`. */
  answer(
    { session, turn, label }: TurnPlace & { label: string },
    { signal }: Cancellable = {},
  ): Promise<Answer> {
    const path = `${runLinks(session, turn).turn}/answers/${encodeURIComponent(label)}`;
    return this.#transport.json<Answer>({ method: "GET", path, signal });
  }

  /**
   * Lists all turns of a session, the first one first, and its head. Each turn names its parent, so
   * the list is a tree. Reads as many pages as there are.
   */
  async list(session: string, { signal }: Cancellable = {}): Promise<TurnList> {
    const data: TurnList["data"] = [];
    for (;;) {
      const query = queryOf({ after: data.at(-1)?.turn, limit: MAX_TURNS_PER_PAGE });
      const path = `${turnsPath(session)}?${query}`;
      const page = await this.#transport.json<TurnList>({ method: "GET", path, signal });
      data.push(...page.data);
      if (!page.has_more || page.data.length === 0)
        return { ...page, data, has_more: false, ...idsOf(data) };
    }
  }

  /**
   * Moves the head: the next turn follows `turn` unless it names another. Changes no turn and no
   * file. A second call has no further effect.
   */
  moveHead(session: string, turn: number, { signal }: Cancellable = {}): Promise<Head> {
    const path = headPath(session);
    return this.#transport.json<Head>({ method: "POST", path, json: { turn }, signal });
  }

  /** Cancels the running turn of a session. A second call has no further effect. */
  cancel(session: string, { signal }: Cancellable = {}): Promise<CancelledTurn> {
    const path = cancelPath(session);
    return this.#transport.json<CancelledTurn>({ method: "POST", path, json: {}, signal });
  }
}

/** Sessions: conversations of several turns. */
class Sessions {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists sessions, newest first. `after`: `last_id` of the previous page; `limit`: 1 to 100. */
  list({ signal, ...page }: Page & Cancellable = {}): Promise<SessionList> {
    const path = `${SESSIONS_PATH}?${queryOf(page)}`;
    return this.#transport.json<SessionList>({ method: "GET", path, signal });
  }

  /** Reads a session's current state and its turns. */
  get(session: string, { signal }: Cancellable = {}): Promise<SessionStatus> {
    return this.#transport.json<SessionStatus>({
      method: "GET",
      path: sessionPath(session),
      signal,
    });
  }

  /**
   * Lists stored events, oldest first. `after`: number of the last event that the caller has;
   * `limit`: 1 to 1,000.
   */
  events(
    session: string,
    { after, limit, signal }: { after?: number; limit?: number } & Cancellable = {},
  ): Promise<EventList> {
    const path = `${sessionPath(session)}/events?${queryOf({ after, limit })}`;
    return this.#transport.json<EventList>({ method: "GET", path, signal });
  }

  /**
   * Compares two points of a session. References: `parent`, `turn_2`, `turn_2/agent1.1`. Default:
   * the latest completed turn with its parent.
   */
  diff(session: string, { from, to, signal }: DiffOptions = {}): Promise<Diff> {
    const path = diffPath(session, { from, to });
    return this.#transport.json<Diff>({ method: "GET", path, signal });
  }

  /** Stops a session and erases all its data. */
  async delete(session: string, { signal }: Cancellable = {}): Promise<void> {
    await this.#transport.send({ method: "DELETE", path: sessionPath(session), signal });
  }
}

/** Files that agents created. */
class Files {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists the files of a turn's result, or of the answer `label`, sorted by path. */
  list(place: FilesPlace, { signal }: Cancellable = {}): Promise<SessionFiles> {
    const path = filesPath(place, "files");
    return this.#transport.json<SessionFiles>({ method: "GET", path, signal });
  }

  /** Reads the contents of one file. `path` is relative to the root of the workspace. */
  read(
    place: FilesPlace,
    path: string,
    { signal }: Cancellable = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    const encoded = path.split("/").map(encodeURIComponent).join("/");
    return this.#bytes(filesPath(place, `files/${encoded}`), signal);
  }

  /** Reads all files as one zip. */
  archive(place: FilesPlace, { signal }: Cancellable = {}): Promise<Uint8Array<ArrayBuffer>> {
    return this.#bytes(filesPath(place, "archive.zip"), signal);
  }

  #bytes(path: string, signal: AbortSignal | undefined): Promise<Uint8Array<ArrayBuffer>> {
    return this.#transport.bytes({
      method: "GET",
      path,
      maxBytes: MAX_FILE_BYTES,
      timeoutMs: TRANSFER_MS,
      retry: "transfer",
      signal,
    });
  }
}

/** Most turns per page of the service. */
const MAX_TURNS_PER_PAGE = 1_000;
const MAX_FILE_BYTES = 256 * 1024 * 1024;
/** Time limit of one download: long enough for a large archive over a slow connection. */
const TRANSFER_MS = 10 * 60_000;

/** The ids of a list's ends. */
const idsOf = (data: TurnList["data"]): Pick<TurnList, "first_id" | "last_id"> => ({
  first_id: data[0]?.turn ?? null,
  last_id: data.at(-1)?.turn ?? null,
});

function filesPath({ session, turn, label, attempt }: FilesPlace, rest: string): string {
  const path = runLinks(session, turn).turn;
  if (label === undefined) return `${path}/${rest}`;
  const query = attempt === undefined ? "" : `?attempt=${attempt}`;
  return `${path}/answers/${encodeURIComponent(label)}/${rest}${query}`;
}

const startCall = (
  path: string,
  json: unknown,
  { idempotencyKey = newKey(), signal }: StartOptions,
): Call => ({ method: "POST", path, json, idempotencyKey, retry: "start", signal });

/** A random key of 128 bits. Pages without https have no `crypto.randomUUID`. */
const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");

const queryOf = (fields: Readonly<Record<string, string | number | undefined>>): string =>
  new URLSearchParams(
    Object.entries(fields).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    ),
  ).toString();
