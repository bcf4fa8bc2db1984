import { fileTools } from "../../../src/tools/files";
import type { ToolsListing } from "../../../src/protocol/events";
import type { Tool, ToolContext, ToolResult } from "../../../src/tools/tool";
import type { AgentRules } from "../../../src/protocol/team";
import type { ReachedTool } from "../../../checker/types";
import { drawNotifications } from "../world/notifications";
import { Chance } from "../../../simulated/chance";
import { type Fault, type Faults, hash } from "./faults";
import type { Habit } from "./habits";
import type { VirtualTime } from "./virtual-time";

/** A request that reached the server. Times are those of the simulated world. */
export type ToolRequest = ReachedTool & {
  sentAt: number;
  headersAt: number | null;
  endedAt: number | null;
};

type Options = {
  seed: number;
  habits: readonly string[];
  time: VirtualTime;
  faults: Faults;
  /** Resolves when everything written so far is on disk. Nothing may leave an object earlier. */
  gate: () => Promise<void>;
  /** Whether the process dies at this point. */
  dies: (fault: Fault) => boolean;
};

/** Two or three such results fill a small context window. */
const LONG_RESULT = 30_000;

/** Tools on a server: one may be repeated, the other may not. */
const SERVED = [
  { name: "look_up", acts_outside: false, idempotent: true },
  { name: "place_order", acts_outside: true, idempotent: false },
] as const;
type Rule = (typeof SERVED)[number];
type ToolRun = { rule: Rule; context: ToolContext; isDead: () => boolean };

/** Name of their server if agents must list its tools first. */
const SERVER = "box";
/** Maximum number of announced changes of the list. Exceeds the number that agents receive. */
const MAX_CHANGES = 12;

/**
 * Tools that agents know from the start: the service's file tools, and the server's tools unless
 * they must be listed first.
 */
export function toolRules(
  has: (habit: Habit) => boolean,
): Pick<AgentRules, "tools" | "tool_servers"> {
  const files = has("tools") ? fileTools().map(({ rule }) => rule) : [];
  if (has("served")) return { tools: files, tool_servers: [SERVER] };
  return { tools: has("tools") ? [...SERVED, ...files] : [] };
}

/**
 * The server of the agents' tools. Records the requests it received; may fail or lose its response.
 */
export class ToolServer {
  /** In order of arrival. */
  readonly reached: ToolRequest[] = [];
  readonly #options: Options;
  readonly #open = new Set<ToolRequest>();
  readonly #lists: Chance;
  #has: readonly Rule[] = SERVED;
  #problem: string | null = null;
  #changes = 0;
  #life = 0;
  /** Called when the list has changed, if the connection still exists. */
  onChange: (listing: ToolsListing) => void = () => {};

  constructor(options: Options) {
    this.#options = options;
    this.#lists = new Chance(options.seed ^ hash("lists"));
  }

  /** The calling process died: responses are no longer delivered to it. */
  disconnect(): void {
    this.#life += 1;
    for (const request of [...this.#open]) this.#end(request);
  }

  /** The tools of an agent whose server listed these names. */
  tools(listed: readonly string[]): Tool[] {
    const { habits } = this.#options;
    const known = habits.includes("served")
      ? SERVED.filter(({ name }) => listed.includes(name))
      : SERVED;
    const served = known.map((rule) => ({
      spec: {
        name: rule.name,
        description: "Asks far away.",
        parameters: { type: "object", properties: {} },
      },
      rule,
      run: (_: unknown, context: ToolContext) => this.#answer(rule, context),
    }));
    return [...served, ...(habits.includes("tools") ? fileTools() : [])];
  }

  /** Lists the server's tools. */
  async list(signal: AbortSignal): Promise<ToolsListing> {
    const { faults, gate, dies } = this.#options;
    const life = this.#life;
    if (dies("crash_before_send")) return never();
    await gate();
    if (life !== this.#life) return never();
    signal.throwIfAborted();
    if (dies("crash_in_tool")) return never();
    await this.#after(
      faults.strikes("tool_slow", 30_000)
        ? this.#lists.latency(1_000, 30_000)
        : this.#lists.latency(5, 2_000),
      signal,
    );
    if (life !== this.#life) return never();
    this.#problem = faults.strikes("tool_fails") ? "The server is busy." : null;
    this.#changesLater();
    return this.#listing();
  }

  #listing(): ToolsListing {
    const tools =
      this.#problem === null
        ? this.#has.map((rule) => ({
            ...rule,
            tool: rule.name,
            hash: hash(rule.name).toString(16),
          }))
        : [];
    return {
      server: SERVER,
      version: this.#problem === null ? "2025-06-18" : null,
      problem: this.#problem,
      tools,
      refused: [],
    };
  }

  /** Later the list changes, fails or recovers. Only a live connection is notified. */
  #changesLater(): void {
    const { time } = this.#options;
    const life = this.#life;
    if (this.#changes >= MAX_CHANGES) return;
    this.#changes += 1;
    time.timeline.schedule(time.now + this.#lists.latency(200, 60_000), () => {
      this.#has = SERVED.filter(() => this.#lists.is(0.7));
      this.#problem = this.#lists.is(0.1) ? "It cannot be reached." : null;
      if (life !== this.#life) return;
      this.#changesLater();
      this.onChange(this.#listing());
    });
  }

  async #answer(rule: Rule, context: ToolContext): Promise<ToolResult> {
    const { time, gate, dies } = this.#options;
    const { place, idempotencyKey, signal } = context;
    const life = this.#life;
    const isDead = () => life !== this.#life;
    if (dies("crash_before_send")) return never();
    await gate();
    if (isDead()) return never();
    signal.throwIfAborted();
    const { session: _, toolCall, ...rest } = place;
    const request: ToolRequest = {
      ...{ ...rest, tool_call: toolCall, name: rule.name, key: idempotencyKey, answered: false },
      ...{ sentAt: time.now, headersAt: null, endedAt: null },
    };
    this.reached.push(request);
    this.#open.add(request);
    if (dies("crash_in_tool")) return never();
    try {
      return await this.#work(request, { rule, context, isDead });
    } finally {
      this.#end(request);
    }
  }

  #end(request: ToolRequest): void {
    request.endedAt ??= this.#options.time.now;
    this.#open.delete(request);
  }

  /** Headers arrive with the first message: a notification or the result. */
  async #work(request: ToolRequest, { rule, context, isDead }: ToolRun): Promise<ToolResult> {
    const { seed, habits, faults, time } = this.#options;
    const { idempotencyKey, signal } = context;
    const speak = (): void => {
      request.headersAt ??= time.now;
      context.onHeaders?.();
    };
    const chance = new Chance(seed ^ hash(idempotencyKey));
    const afterMs = faults.strikes("tool_slow", 30_000)
      ? chance.int(1_000, 30_000)
      : chance.latency(5, 2_000);
    const news = drawNotifications(new Chance(seed ^ hash(`${idempotencyKey} news`)));
    for (const one of news) {
      await this.#after(Math.floor(afterMs / (news.length + 1)), signal);
      if (isDead()) return never();
      speak();
      context.notify?.(one);
    }
    await this.#after(afterMs - news.length * Math.floor(afterMs / (news.length + 1)), signal);
    if (isDead()) return never();
    const fails = faults.strikes("tool_fails");
    request.answered = fails || !faults.strikes("tool_lost");
    if (request.answered) speak();
    if (fails) return { outcome: "error", text: "The server is busy." };
    if (!request.answered)
      return rule.idempotent
        ? { outcome: "error", text: "No answer." }
        : { outcome: "unknown", text: "Verify before repeating." };
    return {
      outcome: "ok",
      text: "x".repeat(
        habits.includes("long_results") ? chance.int(15_000, LONG_RESULT) : chance.int(1, 300),
      ),
    };
  }

  /** Waits, and rejects when the caller aborts. */
  #after(ms: number, signal: AbortSignal): Promise<void> {
    const { time } = this.#options;
    // The last notification may have ended the turn; no abort event would follow.
    if (signal.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const stop = time.timeline.schedule(time.now + ms, () => {
        signal.removeEventListener("abort", aborted);
        resolve();
      });
      const aborted = () => {
        stop();
        reject(signal.reason);
      };
      signal.addEventListener("abort", aborted, { once: true });
    });
  }
}

const never = (): Promise<never> => new Promise(() => {});
