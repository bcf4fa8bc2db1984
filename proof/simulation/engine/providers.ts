import { Continuity } from "../../../simulated/providers/continuity";
import type { Failure } from "../../../simulated/providers/reply";
import { type Json, RequestRefusal } from "../../../simulated/providers/dialect";
import { type Situation as Asked, toSituation } from "../../../simulated/providers/situation";
import { inProvidersWords, type Network } from "../../../durable-objects/shared/outgoing";
import { UnreachableOriginError } from "../../../src/outgoing/address-guard";
import { Chance } from "../../../simulated/chance";
import { drawFailure } from "./failures";
import { type Fault, type Faults, hash } from "./faults";
import { type Ending, type ModelReply, sentOf, speak } from "./model";
import { type EngineSituation, SEARCH_TOKENS } from "./engine-situation";
import {
  BREAKS,
  type Charge,
  connectionReset,
  cutAt,
  encoder,
  EVENTS,
  INSTANT,
  type Plan,
  rechunked,
  responseOf,
  withGarbage,
} from "./plan";
import type { VirtualTime } from "./virtual-time";
import { DIALECTS, type WireFormat } from "./wire";
import { mostSearches } from "./wire/anthropic";
import { sentText } from "../../../tests/providers/sent-body";

/**
 * A request that a provider received, in its own record. Times are those of the simulated world.
 */
export type ReceivedRequest = {
  agent: number;
  call: string;
  /** A new reply, the rest of a background reply, or the stop of one. */
  kind: "reply" | "rest" | "stop";
  stage: Asked["stage"] | null;
  body: string;
  headers: string;
  origin: string;
  sentAt: number;
  headersAt: number | null;
  endedAt: number | null;
  /** Time of the last chunk of the reply. */
  chunkAt: number | null;
  /** Requested delay before a retry, in ms; 0 if none. */
  retryAfterMs: number;
  /** Tool calls of the model, decisions included, in order, as sent. A cut call is incomplete. */
  calls: ModelReply["calls"];
  /** Finish reason that the provider sent; `null` if it has not replied. */
  finish: Ending | null;
  /** Charge so far; grows while the provider writes. */
  charged: Charge | null;
  /** Why the provider would reject the request by its own rules. */
  rejection: string | null;
};

type Options = {
  situation: EngineSituation;
  formats: readonly WireFormat[];
  /** Maximum tokens of one reply, by agent. */
  outputCaps: readonly number[];
  time: VirtualTime;
  faults: Faults;
  /** Resolves when everything written so far is on disk. Nothing may leave an object earlier. */
  gate: () => Promise<void>;
  /** Whether the process dies at this point. */
  dies: (fault: Fault) => boolean;
};

type Sending = {
  reached: ReceivedRequest;
  signal: AbortSignal | null;
  path: string;
  search: URLSearchParams;
  isDead: () => boolean;
};

/**
 * In-process providers of a simulated session: `fetch` in, streamed bytes of the real wire formats
 * out. They parse requests as real providers do, check the output that comes back to them, and
 * record their charges.
 */
export class Providers {
  readonly reached: ReceivedRequest[] = [];
  readonly #options: Options;
  readonly #memories: Continuity[];
  readonly #open = new Set<() => void>();
  /** Background replies, by id. */
  readonly #background = new Map<string, Uint8Array[]>();
  #life = 0;

  constructor(options: Options) {
    this.#options = options;
    this.#memories = options.formats.map(() => new Continuity());
  }

  /** The calling process died: connections break. */
  disconnect(): void {
    this.#life += 1;
    for (const close of [...this.#open]) close();
    this.#open.clear();
  }

  /** The network of one call of an agent. */
  networkFor(agent: number, call: string): Network {
    const { gate, dies, faults, time } = this.#options;
    let life = this.#life;
    const guard = inProvidersWords(async (url, signal, send) => {
      life = this.#life;
      if (dies("crash_before_send")) return never();
      await gate();
      if (life !== this.#life) return never();
      signal?.throwIfAborted();
      if (faults.strikes("connect_refused")) throw new UnreachableOriginError(url.host);
      return send();
    });
    const fetch: Network["fetch"] = (input, init) => {
      const sentIn = life;
      const url = new URL(String(input instanceof Request ? input.url : input));
      const reached: ReceivedRequest = {
        agent,
        call,
        kind: init?.method === "GET" ? "rest" : url.pathname.endsWith("/cancel") ? "stop" : "reply",
        stage: null,
        body: sentText(init?.body),
        headers: JSON.stringify([...new Headers(init?.headers)]),
        origin: url.origin,
        sentAt: time.now,
        headersAt: null,
        endedAt: null,
        chunkAt: null,
        retryAfterMs: 0,
        calls: [],
        finish: null,
        charged: null,
        rejection: null,
      };
      this.reached.push(reached);
      return this.#exchange({
        reached,
        search: url.searchParams,
        signal: init?.signal ?? null,
        path: url.pathname,
        isDead: () => sentIn !== this.#life,
      });
    };
    return { guard, fetch };
  }

  #exchange(sending: Sending): Promise<Response> {
    const { reached, signal } = sending;
    const { time, dies } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    const plan = this.#options.faults.replyingTo(reached.agent, () => this.#plan(sending));
    let body: ReadableStreamDefaultController<Uint8Array> | null = null;
    let stop = (): void => {};
    const close = (): void => {
      stop();
      if (plan.ending === "lost" || (plan.isBackground && reached.charged))
        reached.charged = plan.charged;
      reached.endedAt ??= time.now;
      this.#open.delete(close);
      signal?.removeEventListener("abort", aborted); // it would keep a dead process in memory
    };
    const breaks = (why: unknown): void => {
      if (sending.isDead() || reached.endedAt !== null) return;
      close();
      reject(why);
      body?.error(why);
    };
    const aborted = (): void => breaks(signal?.reason);
    this.#open.add(close);
    signal?.addEventListener("abort", aborted);
    const later = (ms: number, run: () => void): void => {
      stop = time.timeline.schedule(time.now + ms, () => {
        if (!sending.isDead() && reached.endedAt === null) run();
      });
    };
    const respond = (): void => {
      reached.headersAt = time.now;
      const start = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
        body = controller;
      };
      resolve(responseOf(plan, { start, cancel: close }));
      if (plan.charged) reached.charged = { ...plan.charged, output: 0 };
      if (dies("crash_after_headers")) return;
      later(plan.gapMs, () => write(0));
    };
    const write = (nth: number): void => {
      const frame = plan.frames[nth];
      if (frame === undefined) return finish();
      if (plan.charged && reached.charged)
        reached.charged.output = writtenOf(plan.charged, (nth + 1) / plan.whole);
      reached.chunkAt = time.now;
      body?.enqueue(frame);
      if (nth > 0 && dies("crash_in_stream")) return;
      later(plan.gapMs, () => write(nth + 1));
    };
    const finish = (): void => {
      if (plan.ending === "hang") return;
      if (plan.charged && plan.ending === "complete") reached.charged = plan.charged;
      close();
      if (plan.ending === "reset") body?.error(connectionReset());
      else body?.close();
    };
    const lose = (): void => breaks(new Error("Network connection lost."));
    if (Number.isFinite(plan.afterMs)) later(plan.afterMs, plan.ending === "lost" ? lose : respond);
    return promise;
  }

  /** Everything that will be sent, and when. */
  #plan(sending: Sending): Plan {
    const { reached } = sending;
    const { faults } = this.#options;
    const again = /\/responses\/([^/]+)(\/cancel)?$/.exec(sending.path);
    if (again) return this.#resumed(sending, again[1] ?? "");
    const read = this.#read(sending);
    if ("failure" in read) return this.#failing(reached.agent, read.failure);
    reached.stage = read.asked.stage;
    const failure = drawFailure(faults);
    if (failure) {
      reached.retryAfterMs = 1_000 * Number(failure.retryAfter ?? 0);
      return this.#failing(reached.agent, failure);
    }
    const plan = this.#replyPlan(sending, read);
    if (faults.strikes("lost_unanswered")) return { ...plan, ending: "lost" };
    if (faults.strikes("no_headers", 130_000))
      return { ...plan, afterMs: Number.POSITIVE_INFINITY, charged: null };
    return this.#withTransferFaults(plan);
  }

  #read({ reached, path }: Sending): { asked: Asked; body: Json } | { failure: Failure } {
    const format = this.#options.formats[reached.agent] ?? "openai-chat";
    const { dialect } = DIALECTS[format];
    try {
      const body: Json = JSON.parse(reached.body);
      const headers: Record<string, string> = Object.fromEntries(JSON.parse(reached.headers));
      const read = dialect.read({ path, headers, body });
      const mismatch = this.#memories[reached.agent]?.mismatch(dialect.modelTurns(body));
      if (mismatch)
        reached.rejection = `it received back a turn that it never sent: ${JSON.stringify(mismatch)}`;
      return { asked: toSituation(read), body };
    } catch (error) {
      if (!(error instanceof RequestRefusal)) throw error;
      reached.rejection = error.message;
      return { failure: error.failure };
    }
  }

  /** The rest of a background reply, or the confirmation of a stop. */
  #resumed({ reached, path, search }: Sending, id: string): Plan {
    const frames = this.#background.get(id);
    if (!frames || this.#options.faults.strikes("server_error"))
      return this.#failing(reached.agent, { status: 404, message: "Response not found." });
    const base = { ...INSTANT, headers: { "content-type": "application/json" } };
    if (path.endsWith("/cancel"))
      return {
        ...base,
        frames: [encoder.encode(JSON.stringify({ id, status: "cancelled", output: [] }))],
      };
    const rest = frames.slice(Number(search.get("starting_after")) + 1);
    return { ...INSTANT, headers: EVENTS, gapMs: 20, frames: rest, whole: rest.length };
  }

  #failing(agent: number, failure: Failure): Plan {
    const format = this.#options.formats[agent] ?? "openai-chat";
    const bytes = encoder.encode(JSON.stringify(DIALECTS[format].dialect.failureBody(failure)));
    const asked =
      failure.retryAfter === undefined ? {} : { "retry-after": String(failure.retryAfter) };
    const headers = { "content-type": "application/json", ...asked };
    return { ...INSTANT, status: failure.status, headers, frames: [bytes] };
  }

  #replyPlan({ reached }: Sending, { asked }: { asked: Asked }): Plan {
    const { situation, outputCaps, formats, faults } = this.#options;
    const { agent, call, body } = reached;
    const chance = new Chance(situation.seed ^ hash(`pace ${call}`));
    const said = speak(asked, { seed: situation.seed, call, agent, habits: situation.habits });
    const { encode } = DIALECTS[formats[agent] ?? "openai-chat"];
    const cap = Math.min(asked.asked.outputCap ?? Number.POSITIVE_INFINITY, outputCaps[agent] ?? 0);
    const length =
      said.text.length + said.calls.reduce((sum, one) => sum + one.arguments.length, 0);
    const isCut = faults.strikes("cut_short") || length / 4 > cap;
    reached.finish = isCut
      ? "length"
      : faults.strikes("content_filter")
        ? "content_filter"
        : "stop";
    const sent = sentOf(said, reached.finish, new Chance(situation.seed ^ hash(`cut ${call}`)));
    reached.calls = sent.calls;
    const searches = (said.searches ?? []).slice(0, mostSearches(body));
    const found = searches.length > 0 ? searches.length * chance.int(0, SEARCH_TOKENS) : 0;
    const tokensPerCharacter = new Chance(situation.seed ^ hash(`tokenizer ${agent}`)).pick([
      0.2, 0.25, 0.3,
    ]);
    const input = Math.ceil(body.length * tokensPerCharacter) + found;
    const counted = {
      input,
      output: Math.min(cap, Math.ceil(length / 4) + chance.int(0, 20)),
      cached: chance.is(0.4) ? Math.floor(input / 2) : 0,
      searches: searches.length,
    };
    const usage = faults.strikes("no_usage") ? null : counted;
    const id = call.replace("call_", "").replaceAll("_", "x");
    const { frames, items } = encode({
      id,
      model: asked.model,
      ...sent,
      searches,
      finish: reached.finish,
      usage,
    });
    this.#memories[agent]?.keep(items);
    const isSlow = faults.strikes("slow_reply", 60_000);
    const afterMs = isSlow ? chance.latency(2_000, 110_000) : chance.latency(20, 4_000);
    const gapMs = isSlow ? chance.latency(50, 20_000) : chance.latency(1, 300);
    const bytes = frames.map((frame) => encoder.encode(frame));
    const isBackground = JSON.parse(body).background === true;
    if (isBackground) this.#background.set(`resp_${id}`, bytes);
    return {
      isBackground,
      status: 200,
      headers: EVENTS,
      afterMs,
      gapMs,
      frames: bytes,
      whole: frames.length,
      ending: "complete",
      charged: counted,
    };
  }

  /** Faults during the transfer. */
  #withTransferFaults(plan: Plan): Plan {
    const { faults } = this.#options;
    if (faults.strikes("empty_reply"))
      return { ...plan, frames: [], charged: plan.charged && { ...plan.charged, output: 0 } };
    if (faults.strikes("web_page"))
      return {
        ...plan,
        headers: { "content-type": "text/html" },
        frames: [encoder.encode("<html>Bad gateway</html>")],
        charged: null,
      };
    if (faults.strikes("garbage")) return withGarbage(plan, faults.chance("garbage"));
    for (const [fault, ending] of BREAKS) {
      if (!faults.strikes(fault, ending === "hang" ? 95_000 : 0)) continue;
      return cutAt(plan, { at: faults.chance(fault).unit(), ending });
    }
    if (faults.strikes("odd_chunks"))
      return { ...plan, ...rechunked(plan.frames, faults.chance("odd_chunks")) };
    return plan;
  }
}

const never = (): Promise<never> => new Promise(() => {});

/** Output tokens written so far, by the share of sent frames. */
const writtenOf = ({ output }: Charge, share: number): number => Math.ceil(output * share);
