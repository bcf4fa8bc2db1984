import { setTimeout as sleep } from "node:timers/promises";
import { sha256 } from "../../../local/sha256";
import { RunResponseSchema, SessionStatusSchema } from "../../../src/protocol/api";
import { TurnListSchema } from "../../../src/protocol/api/listings";
import { SessionFilesSchema } from "../../../src/protocol/api/files";
import { SessionListSchema } from "../../../src/protocol/api/listings";
import { eventsPath, sessionPath } from "../../../src/protocol/paths";
import type { Chance } from "../../../simulated/chance";
import { Watcher } from "../../../tests/e2e/support/watcher";
import type { RecordedRequest } from "../../../simulated/providers/ledger";
import type { ReceivedCall, ToolServer } from "../../../simulated/providers/tool-server";
import type { StoredSnapshots } from "../../../simulated/stored-snapshots";
import { CONTROL_PATH } from "../build/orders";
import type { Reply, PatientClient } from "../patient-client";
import { type Kind, type KindName, kindOf, type RunServers } from "./kinds";
import { CANARY } from "./left-on-disk";
import {
  type QueueEnd,
  QueueUser,
  type QueueUse,
  readQueueEnd,
  TURNS_OF_QUEUE,
} from "./queue-user";
import { furtherRequest, questionOf, startRequest } from "./start-request";
import { relayOf, type ToolRequest } from "./tool-records";

/**
 * Under each of these caps, the third call of the run must wait for the first two. The smallest cap
 * is used up before the story ends.
 */
const CAPS_USD = [0.002, 0.005, 0.01, 0.015, 0.02] as const;
const LATEST_ACTION_MS = 1_400;
/**
 * Longer than all retries of R2, which the service makes after one, two, four and eight seconds.
 */
const STORED_WITHIN_MS = 30_000;

/** The list has times in whole seconds. A larger tolerance costs at most one more page. */
const CREATED_AT_TOLERANCE_MS = 5_000;

/** A run that is cancelled during its tool calls is cancelled once so many calls have started. */
const STARTED_TOOL_CALLS = 2;

type Options = {
  client: PatientClient;
  providers: RunServers;
  tools: ToolServer;
  chance: Chance;
  /**
   * Times of the kills of the service, Unix ms. `null` if other faults may interrupt the service at
   * unknown times.
   */
  killedAt: readonly number[] | null;
};

/** One run under faults. Clients that retry start the run, watch it, and may cancel or erase it. */
export class Run {
  readonly kind: Kind;
  /** A text that only this run's questions and addresses contain. */
  readonly mark = crypto.randomUUID();
  /** Prefix of each agent's key. No event and no output may contain it. */
  readonly canary = `${CANARY}${this.mark}`;
  readonly capUsd: number | null;
  session = "";
  watchers: Watcher[] = [];
  /** When the service first acknowledged a cancel of this run, Unix ms. */
  cancelledAt: number | null = null;
  /** The reply to each cancel. */
  readonly cancelReplies: string[] = [];
  /** When the service acknowledged the erase of this run, Unix ms. */
  erasedAt: number | null = null;
  /** The questions that were queued; `null` if there are none. */
  queueUse: QueueUse | null = null;
  readonly #options: Options;
  readonly #requests: RecordedRequest[] = [];
  #searchedCount = 0;
  #isStopped = false;
  readonly #actionAfterMs: number;
  readonly #createdAt = Date.now();

  constructor(
    readonly name: KindName,
    options: Options,
  ) {
    this.kind = kindOf(name);
    this.#options = options;
    this.capUsd = this.kind.isCapped ? options.chance.pick(CAPS_USD) : null;
    this.#actionAfterMs = options.chance.int(0, LATEST_ACTION_MS);
  }

  get killedAt(): readonly number[] | null {
    return this.#options.killedAt;
  }

  get turns(): number {
    switch (this.kind.userAction) {
      case "further turns":
        return 3;
      case "queue":
        return TURNS_OF_QUEUE;
      default:
        return 1;
    }
  }

  /** Whether a client has received an event of this run. */
  get hasBegun(): boolean {
    return (this.watchers[0]?.frames.length ?? 0) > 0;
  }

  /** Whether a client has received an event of this run, and not its end. */
  get isRunning(): boolean {
    return this.hasBegun && !this.isOver;
  }

  /** Whether a client has received the end of this run. */
  get isOver(): boolean {
    return this.watchers[0]?.isOver ?? false;
  }

  /** When a client received the last event, `performance.now()`; 0 if it received none. */
  get lastEventAt(): number {
    return this.watchers[0]?.cameAt.at(-1) ?? 0;
  }

  /** Whether the service acknowledged a cancel or an erase of this run. */
  get isAcknowledged(): boolean {
    return this.cancelledAt !== null || this.erasedAt !== null;
  }

  /** Starts the run, performs its user action, and waits for its end. Throws if the start fails. */
  async drive(): Promise<void> {
    const { client } = this.#options;
    const started = await client.ask("/api/runs", {
      method: "POST",
      body: startRequest(this, this.#options),
      key: this.mark,
    });
    if (started.status !== 202)
      throw new Error(`the start was answered ${started.status}: ${started.body}`);
    this.session = RunResponseSchema.parse(JSON.parse(started.body)).session_id;
    if (this.#isStopped) return this.erase(); // The verdict was already given.
    this.watchers = this.#watch();
    // Not waiting for the watchers: an erase ends them at an arbitrary event.
    if (this.kind.userAction === "erase") return this.#performAction();
    await Promise.all([this.#performAction(), ...this.watchers.map(({ ended }) => ended)]);
  }

  /** All requests of this run that reached the providers. Searches each request only once. */
  requests(): readonly RecordedRequest[] {
    const all = this.#options.providers.requests();
    this.#requests.push(
      ...all
        .slice(this.#searchedCount)
        .filter(({ body }) => JSON.stringify(body).includes(this.mark)),
    );
    this.#searchedCount = all.length;
    return this.#requests;
  }

  /**
   * All calls of this run that reached a tool. Their keys begin with the session's id. Calls
   * without a key are included, because they may belong to this run.
   */
  toolCalls(): ReceivedCall[] {
    const { tools, providers } = this.#options;
    const calls = [
      ...(this.kind.tools === "mcp" ? [] : tools.reached()),
      ...(this.kind.tools === "http" ? [] : providers.toolCalls()),
    ];
    return calls.filter(({ key }) => key === "" || key.startsWith(`${this.session}_`));
  }

  /** All requests of this run that reached the server of a tool. */
  toolRequests(): ToolRequest[] {
    const { tools, providers } = this.#options;
    const overHttp = tools.reached().filter(({ key }) => key.startsWith(`${this.session}_`));
    return [
      ...overHttp.map(({ headers, ...call }) => ({
        ...call,
        relay: relayOf(headers),
        purpose: "work" as const,
      })),
      ...providers.toolRequests(this.mark),
    ];
  }

  async status() {
    const { body } = await this.#options.client.ask(sessionPath(this.session));
    return SessionStatusSchema.parse(JSON.parse(body));
  }

  /** The frames of the whole log, as a new reader receives them. */
  async replay(): Promise<readonly Buffer[]> {
    const watcher = new Watcher(`${this.#options.client.url}${sessionPath(this.session)}/events`, {
      turns: this.turns,
    });
    await watcher.ended;
    return watcher.frames;
  }

  /** The first 1,000 events of the log as JSON. */
  async log(): Promise<string> {
    return (await this.#options.client.ask(`${sessionPath(this.session)}/events?limit=1000`)).body;
  }

  /**
   * Ids of all listed sessions with this run's question. Reads the list back to the run's start.
   */
  async listedIds(): Promise<string[]> {
    const found: string[] = [];
    for (let after = ""; ; ) {
      const { body } = await this.#options.client.ask(`/api/sessions?limit=100${after}`);
      const { data, last_id, has_more } = SessionListSchema.parse(JSON.parse(body));
      found.push(
        ...data
          .filter(({ question_preview }) => question_preview.includes(this.mark))
          .map(({ id }) => id),
      );
      const isOlder = data.some(
        ({ created_at }) => created_at * 1_000 < this.#createdAt - CREATED_AT_TOLERANCE_MS,
      );
      if (!has_more || isOlder) return found;
      after = `&after=${last_id}`;
    }
  }

  /** The queue after the run; `null` if nothing was queued. */
  async queueEnd(): Promise<QueueEnd | null> {
    return this.queueUse && readQueueEnd(this.#options.client, this.session, this.queueUse);
  }

  /** The files of the first turn's result: text by path. */
  async files(): Promise<Record<string, string>> {
    const { client } = this.#options;
    const filesPath = `${sessionPath(this.session)}/turns/1/files`;
    const { data } = SessionFilesSchema.parse(JSON.parse((await client.ask(filesPath)).body));
    const texts = data.map(
      async ({ path }): Promise<[string, string]> => [
        path,
        (await client.ask(`${filesPath}/${path}`)).body,
      ],
    );
    return Object.fromEntries(await Promise.all(texts));
  }

  /**
   * The files of an answer or a presentation of the first turn, read from the API: `{sha256}
   * {size}` by path.
   */
  async answerFiles(attempt: number, label: string): Promise<Record<string, string>> {
    const { client } = this.#options;
    const filesPath = `${sessionPath(this.session)}/turns/1/answers/${label}/files`;
    const { data } = SessionFilesSchema.parse(
      JSON.parse((await client.ask(`${filesPath}?attempt=${attempt}`)).body),
    );
    const read = data.map(async ({ path }): Promise<[string, string]> => {
      const { body } = await client.ask(`${filesPath}/${path}?attempt=${attempt}`);
      return [path, `${sha256(body)} ${Buffer.byteLength(body)}`];
    });
    return Object.fromEntries(await Promise.all(read));
  }

  /**
   * The run's snapshots in R2, read once no file job is left. `left`: number of file jobs that are
   * still left after `STORED_WITHIN_MS`.
   */
  async storedSnapshots(): Promise<StoredSnapshots & { left: number }> {
    const giveUpAt = performance.now() + STORED_WITHIN_MS;
    for (;;) {
      const { body } = await this.#options.client.ask(
        `${CONTROL_PATH}?session=${this.session}&stored`,
      );
      const stored: StoredSnapshots & { left: number } = JSON.parse(body);
      if (stored.left === 0 || performance.now() > giveUpAt) return stored;
      await sleep(100);
    }
  }

  /** The reply to a request for the session's status, for example after an erase. */
  sessionReply = (): Promise<Reply> => this.#options.client.ask(sessionPath(this.session));

  /** Stops all watchers. A start that succeeds later is erased at once. */
  stop(): void {
    this.#isStopped = true;
    for (const watcher of this.watchers) watcher.leave();
  }

  /**
   * Erases the session, also if the reply to its start was lost. Throws if the service does not
   * reply.
   */
  async erase(): Promise<void> {
    if (this.session === "") this.session = (await this.listedIds())[0] ?? "";
    if (this.session !== "")
      await this.#options.client.ask(sessionPath(this.session), { method: "DELETE" });
  }

  /**
   * Four watchers: the first reconnects at once, the second waits before it reconnects, the third
   * also disconnects by itself, and the fourth reads the summary of the first turn.
   */
  #watch(): Watcher[] {
    const { url } = this.#options.client;
    const session = `${url}${sessionPath(this.session)}/events`;
    const { turns } = this;
    return [
      new Watcher(session, { turns }),
      new Watcher(session, { turns, retryMs: 400 }),
      new Watcher(session, { turns, leavesAfterMs: 90, retryMs: 60 }),
      new Watcher(`${url}${eventsPath(this.session, 1)}?detail=summary`),
    ];
  }

  /** Waits until the log has so many events of this type, or until the run is over. */
  async #waitForEvents(type: string, times: number): Promise<void> {
    const [full] = this.watchers;
    const seen = () =>
      full?.frames.filter((frame) => frame.includes(`event: ${type}\n`)).length ?? 0;
    while (full && !full.isOver && seen() < times) await sleep(20);
  }

  async #performAction(): Promise<void> {
    const { client } = this.#options;
    switch (this.kind.userAction) {
      case undefined:
        return;
      case "cancel":
      case "cancel during tool calls":
      case "cancel while rate-limited": {
        if (this.kind.userAction === "cancel") await sleep(this.#actionAfterMs);
        else if (this.kind.userAction === "cancel while rate-limited")
          await this.#waitForEvents("call.waiting", 1);
        else await this.#waitForEvents("tool.started", STARTED_TOOL_CALLS);
        const path = `${sessionPath(this.session)}/cancel`;
        for (let times = 0; times < 2; times += 1) {
          const { at, body } = await client.ask(path, { method: "POST", body: {} });
          this.cancelledAt ??= at;
          this.cancelReplies.push(body);
        }
        return;
      }
      case "erase":
        await sleep(this.#actionAfterMs);
        this.erasedAt = (await client.ask(sessionPath(this.session), { method: "DELETE" })).at;
        return;
      case "further turns":
        await this.watchers.at(-1)?.ended;
        await this.#ask(2, "And in the mountains?");
        await this.#waitForEvents("turn.completed", 2);
        await this.#moveHead(1);
        return this.#ask(3, "And under water?");
      case "queue":
        return this.#useQueue();
    }
  }

  /** Asks the next question. `turn`: the number of its turn. */
  async #ask(turn: number, text: string): Promise<void> {
    const { client } = this.#options;
    const path = `${sessionPath(this.session)}/turns`;
    const body = furtherRequest(this, { turn, text }, this.#options);
    const asked = await client.ask(path, { method: "POST", body, key: `${this.mark} ${turn}` });
    if (asked.status !== 202)
      throw new Error(`turn ${turn} was answered ${asked.status}: ${asked.body}`);
  }

  async #useQueue(): Promise<void> {
    const { session, mark } = this;
    this.queueUse = await new QueueUser({
      ...{ client: this.#options.client, session, mark },
      questionOf: (text) => questionOf(this, text),
      turnsStarted: (count) => this.#waitForEvents("turn.started", count),
      onCancelled: (reply) => this.cancelReplies.push(reply),
    }).act();
  }

  /** Moves the head. Throws if the session does not have it there afterwards. */
  async #moveHead(turn: number): Promise<void> {
    const { client } = this.#options;
    const path = sessionPath(this.session);
    const moved = await client.ask(`${path}/head`, { method: "POST", body: { turn } });
    const { body } = await client.ask(`${path}/turns`, { method: "GET" });
    const { head } = TurnListSchema.parse(JSON.parse(body));
    if (moved.status !== 200 || head !== turn)
      throw new Error(`the head is turn ${head} instead of ${turn}: ${moved.status} ${moved.body}`);
  }
}
