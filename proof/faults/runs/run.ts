import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { RunResponseSchema, SessionStatusSchema } from "../../../src/protocol/api";
import { SessionFilesSchema } from "../../../src/protocol/api/files";
import { SessionListSchema } from "../../../src/protocol/api/listings";
import { eventsPath, sessionPath } from "../../../src/protocol/paths";
import type { Chance } from "../../../simulated/chance";
import { Watcher } from "../../../tests/e2e/support/watcher";
import type { RecordedRequest } from "../../../simulated/providers/ledger";
import type { ReachedCall, ToolServer } from "../../../simulated/providers/tool-server";
import type { StoredSnapshots } from "../../../simulated/stored-snapshots";
import { CONTROL_PATH } from "../build/orders";
import type { Answered, PatientClient } from "../patient-client";
import { type Kind, type KindName, kindOf, type Surroundings } from "./kinds";
import { CANARY } from "./left-on-disk";
import { keyOf } from "./shown";
import type { ToolRequest } from "./tool-witness";

/** Caps under which the third of the first three calls has to wait at once; of the least nothing is left before the story is over. */
const CAPS_USD = [0.002, 0.005, 0.01, 0.015, 0.02] as const;
const DEED_WITHIN_MS = 1_400;
/** R2 that failed is asked again after a second, two, four and eight. */
const STORED_WITHIN_MS = 30_000;

/** A session's time in the list is told in whole seconds. What is more than one is room: to read on costs a page at most. */
const A_CLOCKS_ERROR_MS = 5_000;

/** Of a run that is cancelled once its tools work, before it is. */
const TOOLS_AT_WORK = 2;

type Options = {
  client: PatientClient;
  providers: Surroundings;
  tools: ToolServer;
  chance: Chance;
  /** When the service was killed, Unix ms; null: other things may cut off what it does, and nobody knows when. */
  killedAt: readonly number[] | null;
};

/** One run under fire: it is started, watched, and perhaps cancelled or erased, by clients that do not give up. */
export class Run {
  readonly kind: Kind;
  readonly mark = crypto.randomUUID();
  /** How each agent's key begins: it must never be seen again. */
  readonly canary = `${CANARY}${this.mark}`;
  readonly capUsd: number | null;
  session = "";
  watchers: Watcher[] = [];
  /** When its cancel was first acknowledged, Unix ms. */
  cancelledAt: number | null = null;
  /** What each of its cancels was answered. */
  readonly cancelled: string[] = [];
  erasedAt: number | null = null;
  readonly #options: Options;
  readonly #requests: RecordedRequest[] = [];
  #lookedAt = 0;
  #isStopped = false;
  readonly #deedAfterMs: number;
  readonly #madeAt = Date.now();

  constructor(
    readonly name: KindName,
    options: Options,
  ) {
    this.kind = kindOf(name);
    this.#options = options;
    this.capUsd = this.kind.isCapped ? options.chance.pick(CAPS_USD) : null;
    this.#deedAfterMs = options.chance.int(0, DEED_WITHIN_MS);
  }

  get killedAt(): readonly number[] | null {
    return this.#options.killedAt;
  }

  get turns(): number {
    return this.kind.deed === "asks again" ? 2 : 1;
  }

  /** Whether it has been seen to run. */
  get hasBegun(): boolean {
    return (this.watchers[0]?.frames.length ?? 0) > 0;
  }

  /** Whether it has been seen to run, and not to end. */
  get isRunning(): boolean {
    return this.hasBegun && !this.isOver;
  }

  /** Whether its end was seen. */
  get isOver(): boolean {
    return this.watchers[0]?.isOver ?? false;
  }

  /** When something of it was last seen, `performance.now()`; 0: nothing was yet. */
  get heardAt(): number {
    return this.watchers[0]?.cameAt.at(-1) ?? 0;
  }

  /** Whether its cancel or its erasing was acknowledged. */
  get isAcknowledged(): boolean {
    return this.cancelledAt !== null || this.erasedAt !== null;
  }

  /** From its start to what its watchers saw last. Throws if it is refused. */
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
    if (this.#isStopped) return this.erase(); // nobody waits for it any more
    this.watchers = this.#watch();
    if (this.kind.deed === "erases it") return this.#act(); // its watchers end wherever they are
    await Promise.all([this.#act(), ...this.watchers.map(({ ended }) => ended)]);
  }

  /** All that reached the providers for it. What came since the last look is looked through, and nothing twice. */
  requests(): readonly RecordedRequest[] {
    const all = this.#options.providers.requests();
    this.#requests.push(
      ...all.slice(this.#lookedAt).filter(({ body }) => JSON.stringify(body).includes(this.mark)),
    );
    this.#lookedAt = all.length;
    return this.#requests;
  }

  /** All that reached its tools: a call brings a key that begins with its session. One that brings none may be anybody's. */
  toolCalls(): ReachedCall[] {
    const { tools, providers } = this.#options;
    const reached = [
      ...(this.kind.tools === "mcp" ? [] : tools.reached()),
      ...(this.kind.tools === "http" ? [] : providers.toolCalls()),
    ];
    return reached.filter(({ key }) => key === "" || key.startsWith(`${this.session}_`));
  }

  /** Every request of it that reached a tool's server, with its times. */
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

  /** Its whole log, as a new reader gets it. */
  async replay(): Promise<readonly Buffer[]> {
    const watcher = new Watcher(`${this.#options.client.url}${sessionPath(this.session)}/events`, {
      turns: this.turns,
    });
    await watcher.ended;
    return watcher.frames;
  }

  /** The start of its log as pages have it, for people. */
  async log(): Promise<string> {
    return (await this.#options.client.ask(`${sessionPath(this.session)}/events?limit=1000`)).body;
  }

  /** The sessions of the list that begin with its question, of all that were made since it was. */
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

  /** The files of an answer of its first turn, or of a final, as the API gives them: `{sha256} {size}` by path. */
  async answerFiles(attempt: number, label: string): Promise<Record<string, string>> {
    const { client } = this.#options;
    const below = `${sessionPath(this.session)}/turns/1/answers/${label}/files`;
    const { data } = SessionFilesSchema.parse(
      JSON.parse((await client.ask(`${below}?attempt=${attempt}`)).body),
    );
    const read = data.map(async ({ path }): Promise<[string, string]> => {
      const { body } = await client.ask(`${below}/${path}?attempt=${attempt}`);
      return [
        path,
        `${createHash("sha256").update(body).digest("hex")} ${Buffer.byteLength(body)}`,
      ];
    });
    return Object.fromEntries(await Promise.all(read));
  }

  /** What of its files lies in R2, once all of them should; `left`: what is still not there after a while. */
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

  /** What an erased session's address answers. */
  look = (): Promise<Answered> => this.#options.client.ask(sessionPath(this.session));

  /** Nobody waits for it any more. */
  stop(): void {
    this.#isStopped = true;
    for (const watcher of this.watchers) watcher.leave();
  }

  /** Lets nothing of it go on, also if its start was not answered but made. Throws if the service does not answer. */
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

  /** One that is there again at once, one that comes late, and one that leaves even without a kill. */
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

  /** Until its log says this of it, or it is over. */
  async #sees(type: string, times: number): Promise<void> {
    const [full] = this.watchers;
    const seen = () =>
      full?.frames.filter((frame) => frame.includes(`event: ${type}\n`)).length ?? 0;
    while (full && !full.isOver && seen() < times) await sleep(20);
  }

  async #act(): Promise<void> {
    const { client } = this.#options;
    switch (this.kind.deed) {
      case undefined:
        return;
      case "cancels it":
      case "cancels it once its tools work":
      case "cancels it once it waits": {
        if (this.kind.deed === "cancels it") await sleep(this.#deedAfterMs);
        else if (this.kind.deed === "cancels it once it waits") await this.#sees("call.waiting", 1);
        else await this.#sees("tool.started", TOOLS_AT_WORK);
        const path = `${sessionPath(this.session)}/cancel`;
        for (let times = 0; times < 2; times += 1) {
          const { at, body } = await client.ask(path, { method: "POST", body: {} });
          this.cancelledAt ??= at;
          this.cancelled.push(body);
        }
        return;
      }
      case "erases it":
        await sleep(this.#deedAfterMs);
        this.erasedAt = (await client.ask(sessionPath(this.session), { method: "DELETE" })).at;
        return;
      case "asks again": {
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

/** Tool servers, by addresses that only this run asks. */
const addressedBy = (
  mark: string,
  { toolsUrl, askingUrl, silentUrl, ...others }: Surroundings,
): Surroundings => ({
  ...others,
  toolsUrl: `${toolsUrl}/${mark}`,
  askingUrl: `${askingUrl}/${mark}`,
  silentUrl: `${silentUrl}/${mark}`,
});
