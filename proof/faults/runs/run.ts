import { setTimeout as sleep } from "node:timers/promises";
import { sha256 } from "../../../local/sha256";
import { RunResponseSchema, SessionStatusSchema } from "../../../src/protocol/api";
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
import { keyOf } from "./exposure";
import type { ToolRequest } from "./tool-records";

/**
 * Under each of these caps the third of the first three calls must wait. The smallest is spent
 * before the story ends.
 */
const CAPS_USD = [0.002, 0.005, 0.01, 0.015, 0.02] as const;
const ACTION_WITHIN_MS = 1_400;
/** After failures, R2 is retried after one, two, four and eight seconds. */
const STORED_WITHIN_MS = 30_000;

/** The list has whole seconds. The rest is tolerance: it costs at most one more page. */
const A_CLOCKS_ERROR_MS = 5_000;

/** A run that is cancelled during its tool calls waits for so many of them. */
const TOOLS_AT_WORK = 2;

type Options = {
  client: PatientClient;
  providers: RunServers;
  tools: ToolServer;
  chance: Chance;
  /**
   * When the service was killed, Unix ms; `null` if other faults may interrupt it at unknown times.
   */
  killedAt: readonly number[] | null;
};

/** One run under faults. Clients that retry start it, watch it, and perhaps cancel or erase it. */
export class Run {
  readonly kind: Kind;
  readonly mark = crypto.randomUUID();
  /** Prefix of each agent's key, which must never appear again. */
  readonly canary = `${CANARY}${this.mark}`;
  readonly capUsd: number | null;
  session = "";
  watchers: Watcher[] = [];
  /** When its cancel was first acknowledged, Unix ms. */
  cancelledAt: number | null = null;
  /** The reply to each cancel. */
  readonly cancelled: string[] = [];
  erasedAt: number | null = null;
  readonly #options: Options;
  readonly #requests: RecordedRequest[] = [];
  #lookedAt = 0;
  #isStopped = false;
  readonly #actionAfterMs: number;
  readonly #madeAt = Date.now();

  constructor(
    readonly name: KindName,
    options: Options,
  ) {
    this.kind = kindOf(name);
    this.#options = options;
    this.capUsd = this.kind.isCapped ? options.chance.pick(CAPS_USD) : null;
    this.#actionAfterMs = options.chance.int(0, ACTION_WITHIN_MS);
  }

  get killedAt(): readonly number[] | null {
    return this.#options.killedAt;
  }

  get turns(): number {
    return this.kind.userAction === "second turn" ? 2 : 1;
  }

  /** Whether a client has seen an event of it. */
  get hasBegun(): boolean {
    return (this.watchers[0]?.frames.length ?? 0) > 0;
  }

  /** Whether a client has seen it begin, and not end. */
  get isRunning(): boolean {
    return this.hasBegun && !this.isOver;
  }

  /** Whether a client has seen its end. */
  get isOver(): boolean {
    return this.watchers[0]?.isOver ?? false;
  }

  /** When its last event was seen, `performance.now()`; 0 if none was. */
  get lastEventAt(): number {
    return this.watchers[0]?.cameAt.at(-1) ?? 0;
  }

  /** Whether its cancel or its erase was acknowledged. */
  get isAcknowledged(): boolean {
    return this.cancelledAt !== null || this.erasedAt !== null;
  }

  /** From its start to the end of its watchers. Throws if the start is refused. */
  async drive(): Promise<void> {
    const { client } = this.#options;
    const started = await client.ask("/api/runs", {
      method: "POST",
      body: this.#request(),
      key: this.mark,
    });
    if (started.status !== 202)
      throw new Error(`the start was answered ${started.status}: ${started.body}`);
    this.session = RunResponseSchema.parse(JSON.parse(started.body)).session_id;
    if (this.#isStopped) return this.erase(); // The verdict was already given.
    this.watchers = this.#watch();
    // Its watchers end at an arbitrary event.
    if (this.kind.userAction === "erase") return this.#act();
    await Promise.all([this.#act(), ...this.watchers.map(({ ended }) => ended)]);
  }

  /** All requests of this run that reached the providers. Each request is searched only once. */
  requests(): readonly RecordedRequest[] {
    const all = this.#options.providers.requests();
    this.#requests.push(
      ...all.slice(this.#lookedAt).filter(({ body }) => JSON.stringify(body).includes(this.mark)),
    );
    this.#lookedAt = all.length;
    return this.#requests;
  }

  /**
   * All calls that reached its tools: their keys begin with its session. Calls without a key may
   * belong to any run and are included.
   */
  toolCalls(): ReceivedCall[] {
    const { tools, providers } = this.#options;
    const reached = [
      ...(this.kind.tools === "mcp" ? [] : tools.reached()),
      ...(this.kind.tools === "http" ? [] : providers.toolCalls()),
    ];
    return reached.filter(({ key }) => key === "" || key.startsWith(`${this.session}_`));
  }

  /** Every request of this run that reached a tool's server, with its times. */
  toolRequests(): ToolRequest[] {
    const { tools, providers } = this.#options;
    const overHttp = tools.reached().filter(({ key }) => key.startsWith(`${this.session}_`));
    return [
      ...overHttp.map((call) => ({ ...call, purpose: "work" as const })),
      ...providers.toolRequests(this.mark),
    ];
  }

  async status() {
    const { body } = await this.#options.client.ask(sessionPath(this.session));
    return SessionStatusSchema.parse(JSON.parse(body));
  }

  /** Its whole log, as a new reader receives it. */
  async replay(): Promise<readonly Buffer[]> {
    const watcher = new Watcher(`${this.#options.client.url}${sessionPath(this.session)}/events`, {
      turns: this.turns,
    });
    await watcher.ended;
    return watcher.frames;
  }

  /** The start of its log as pages, for people. */
  async log(): Promise<string> {
    return (await this.#options.client.ask(`${sessionPath(this.session)}/events?limit=1000`)).body;
  }

  /** Ids of listed sessions that begin with its question, among sessions created since then. */
  async listed(): Promise<string[]> {
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
        ({ created_at }) => created_at * 1_000 < this.#madeAt - A_CLOCKS_ERROR_MS,
      );
      if (!has_more || isOlder) return found;
      after = `&after=${last_id}`;
    }
  }

  /** The files of its first turn's result: text by path. */
  async files(): Promise<Record<string, string>> {
    const { client } = this.#options;
    const below = `${sessionPath(this.session)}/turns/1/files`;
    const { data } = SessionFilesSchema.parse(JSON.parse((await client.ask(below)).body));
    const texts = data.map(
      async ({ path }): Promise<[string, string]> => [
        path,
        (await client.ask(`${below}/${path}`)).body,
      ],
    );
    return Object.fromEntries(await Promise.all(texts));
  }

  /**
   * The files of an answer or a final of its first turn, from the API: `{sha256} {size}` by path.
   */
  async answerFiles(attempt: number, label: string): Promise<Record<string, string>> {
    const { client } = this.#options;
    const below = `${sessionPath(this.session)}/turns/1/answers/${label}/files`;
    const { data } = SessionFilesSchema.parse(
      JSON.parse((await client.ask(`${below}?attempt=${attempt}`)).body),
    );
    const read = data.map(async ({ path }): Promise<[string, string]> => {
      const { body } = await client.ask(`${below}/${path}?attempt=${attempt}`);
      return [path, `${sha256(body)} ${Buffer.byteLength(body)}`];
    });
    return Object.fromEntries(await Promise.all(read));
  }

  /**
   * Its snapshots in R2 once no file job is left. `left`: number of jobs that remain after a while.
   */
  async stored(): Promise<StoredSnapshots & { left: number }> {
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

  /** The reply of an erased session's address. */
  look = (): Promise<Reply> => this.#options.client.ask(sessionPath(this.session));

  /** Called after the verdict. */
  stop(): void {
    this.#isStopped = true;
    for (const watcher of this.watchers) watcher.leave();
  }

  /**
   * Ends the session, also one whose start was not answered. Throws if the service does not answer.
   */
  async erase(): Promise<void> {
    if (this.session === "") this.session = (await this.listed())[0] ?? "";
    if (this.session !== "")
      await this.#options.client.ask(sessionPath(this.session), { method: "DELETE" });
  }

  #request() {
    const { agents, config = {} } = this.kind;
    const { providers } = this.#options;
    const tools =
      this.kind.tools === "http" || this.kind.tools === "both"
        ? { custom_tools: this.#options.tools.declared }
        : {};
    const team = agents(addressedBy(this.mark, providers)).map(({ id, model, backend }) => ({
      id,
      backend: { ...backend, ...tools, model, api_key: keyOf(this.canary, id) },
    }));
    const budget = {
      ...(this.capUsd !== null && { max_cost_usd: this.capUsd }),
      ...(this.kind.maxTokens !== undefined && { max_tokens: this.kind.maxTokens }),
    };
    const limited = Object.keys(budget).length > 0 ? { budget } : {};
    return {
      question: `When does water boil? ${this.mark}`,
      config: { agents: team, ...config },
      ...limited,
    };
  }

  /**
   * One watcher reconnects at once, one late, one also disconnects by itself, and one reads the
   * summary.
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

  /** Waits until its log has so many events of this type, or it is over. */
  async #sees(type: string, times: number): Promise<void> {
    const [full] = this.watchers;
    const seen = () =>
      full?.frames.filter((frame) => frame.includes(`event: ${type}\n`)).length ?? 0;
    while (full && !full.isOver && seen() < times) await sleep(20);
  }

  async #act(): Promise<void> {
    const { client } = this.#options;
    switch (this.kind.userAction) {
      case undefined:
        return;
      case "cancel":
      case "cancel during tool calls":
      case "cancel while rate-limited": {
        if (this.kind.userAction === "cancel") await sleep(this.#actionAfterMs);
        else if (this.kind.userAction === "cancel while rate-limited")
          await this.#sees("call.waiting", 1);
        else await this.#sees("tool.started", TOOLS_AT_WORK);
        const path = `${sessionPath(this.session)}/cancel`;
        for (let times = 0; times < 2; times += 1) {
          const { at, body } = await client.ask(path, { method: "POST", body: {} });
          this.cancelledAt ??= at;
          this.cancelled.push(body);
        }
        return;
      }
      case "erase":
        await sleep(this.#actionAfterMs);
        this.erasedAt = (await client.ask(sessionPath(this.session), { method: "DELETE" })).at;
        return;
      case "second turn": {
        await this.watchers.at(-1)?.ended;
        const body = { question: `And in the mountains? ${this.mark}` };
        const path = `${sessionPath(this.session)}/turns`;
        const asked = await client.ask(path, { method: "POST", body, key: `${this.mark} 2` });
        if (asked.status !== 202)
          throw new Error(`the second turn was answered ${asked.status}: ${asked.body}`);
        return;
      }
    }
  }
}

/** The tool servers, at addresses that only this run uses. */
const addressedBy = (
  mark: string,
  { toolsUrl, askingUrl, silentUrl, ...others }: RunServers,
): RunServers => ({
  ...others,
  toolsUrl: `${toolsUrl}/${mark}`,
  askingUrl: `${askingUrl}/${mark}`,
  silentUrl: `${silentUrl}/${mark}`,
});
