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

/** A request that the server received. Times are times of the simulated world. */
export type ToolRequest = ReachedTool & {
  /** Number of the relay that sent the request. */
  relay: number;
  sentAt: number;
  headersAt: number | null;
  endedAt: number | null;
};

type Options = {
  seed: number;
  habits: readonly string[];
  time: VirtualTime;
  faults: Faults;
  /** Resolves when all earlier writes are on disk. An object sends nothing before that. */
  gate: () => Promise<void>;
  /** Kills the process if the fault strikes now. Returns whether it killed the process. */
  crashIf: (fault: Fault) => boolean;
};

/** The length of a long result in characters. Two or three such results fill a small window. */
const LONG_RESULT = 30_000;

/** The server's tools. A call of `look_up` may be repeated, a call of `place_order` may not. */
const SERVER_TOOLS = [
  { name: "look_up", acts_outside: false, idempotent: true },
  { name: "place_order", acts_outside: true, idempotent: false },
] as const;
type Rule = (typeof SERVER_TOOLS)[number];
type ToolRun = { rule: Rule; context: ToolContext; isDead: () => boolean };

/** The server's name, used in runs in which agents must list its tools first. */
const SERVER = "box";
/** Maximum number of changes of the list. It is higher than the number that agents receive. */
const MAX_CHANGES = 12;

/**
 * The tools that agents know from the start: the service's file tools, and the server's tools
 * unless agents must list them first.
 */
export function toolRules(
  has: (habit: Habit) => boolean,
): Pick<AgentRules, "tools" | "tool_servers"> {
  const files = has("tools") ? fileTools().map(({ rule }) => rule) : [];
  if (has("served")) return { tools: files, tool_servers: [SERVER] };
  return { tools: has("tools") ? [...SERVER_TOOLS, ...files] : [] };
}

/** The server of the agents' tools. It records its requests. Its calls may fail. */
export class ToolServer {
  /** All requests in order of arrival. */
  readonly received: ToolRequest[] = [];
  readonly #options: Options;
  readonly #open = new Set<ToolRequest>();
  /** The random generator of listings and their changes. */
  readonly #listChance: Chance;
  /** The tools that the server has at present. */
  #tools: readonly Rule[] = SERVER_TOOLS;
  #problem: string | null = null;
  #changes = 0;
  /** The number of the process that sends requests. It increases with each crash. */
  #life = 0;
  /** Called when the list has changed, unless the connection was lost. */
  onChange: (listing: ToolsListing) => void = () => {};

  constructor(options: Options) {
    this.#options = options;
    this.#listChance = new Chance(options.seed ^ hash("lists"));
  }

  /** Must be called when the process crashes. Responses are no longer delivered to it. */
  disconnect(): void {
    this.#life += 1;
    for (const request of [...this.#open]) this.#end(request);
  }

  /** The tools of an agent. `listed`: the names that the server listed to the agent. */
  tools(listed: readonly string[]): Tool[] {
    const { habits } = this.#options;
    const known = habits.includes("served")
      ? SERVER_TOOLS.filter(({ name }) => listed.includes(name))
      : SERVER_TOOLS;
    const serverTools = known.map((rule) => ({
      spec: {
        name: rule.name,
        description: "Asks far away.",
        parameters: { type: "object", properties: {} },
      },
      rule,
      run: (_: unknown, context: ToolContext) => this.#answer(rule, context),
    }));
    return [...serverTools, ...(habits.includes("tools") ? fileTools() : [])];
  }

  /** Lists the server's tools. */
  async list(signal: AbortSignal): Promise<ToolsListing> {
    const { faults, gate, crashIf } = this.#options;
    const life = this.#life;
    if (crashIf("crash_before_send")) return never();
    await gate();
    if (life !== this.#life) return never();
    signal.throwIfAborted();
    if (crashIf("crash_in_tool")) return never();
    await this.#after(
      faults.strikes("tool_slow", 30_000)
        ? this.#listChance.latency(1_000, 30_000)
        : this.#listChance.latency(5, 2_000),
      signal,
    );
    if (life !== this.#life) return never();
    this.#problem = faults.strikes("tool_fails") ? "The server is busy." : null;
    this.#scheduleChange();
    return this.#listing();
  }

  #listing(): ToolsListing {
    const tools =
      this.#problem === null
        ? this.#tools.map((rule) => ({
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

  /** Schedules that the list changes, fails or recovers. Notifies only an existing connection. */
  #scheduleChange(): void {
    const { time } = this.#options;
    const life = this.#life;
    if (this.#changes >= MAX_CHANGES) return;
    this.#changes += 1;
    time.timeline.schedule(time.now + this.#listChance.latency(200, 60_000), () => {
      this.#tools = SERVER_TOOLS.filter(() => this.#listChance.is(0.7));
      this.#problem = this.#listChance.is(0.1) ? "It cannot be reached." : null;
      if (life !== this.#life) return;
      this.#scheduleChange();
      this.onChange(this.#listing());
    });
  }

  async #answer(rule: Rule, context: ToolContext): Promise<ToolResult> {
    const { time, gate, crashIf } = this.#options;
    const { place, idempotencyKey, signal } = context;
    const life = this.#life;
    const isDead = () => life !== this.#life;
    if (crashIf("crash_before_send")) return never();
    await gate();
    if (isDead()) return never();
    signal.throwIfAborted();
    const { session: _, toolCall, ...rest } = place;
    const request: ToolRequest = {
      ...{ ...rest, tool_call: toolCall, name: rule.name, key: idempotencyKey, answered: false },
      ...{ relay: context.relay ?? 0, sentAt: time.now, headersAt: null, endedAt: null },
    };
    this.received.push(request);
    this.#open.add(request);
    if (crashIf("crash_in_tool")) return never();
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

  /** Performs a call. The headers arrive with the first message: a notification or the result. */
  async #work(request: ToolRequest, { rule, context, isDead }: ToolRun): Promise<ToolResult> {
    const { seed, habits, faults, time } = this.#options;
    const { idempotencyKey, signal } = context;
    const sendHeaders = (): void => {
      request.headersAt ??= time.now;
      context.onHeaders?.();
    };
    const chance = new Chance(seed ^ hash(idempotencyKey));
    const afterMs = faults.strikes("tool_slow", 30_000)
      ? chance.int(1_000, 30_000)
      : chance.latency(5, 2_000);
    const notifications = drawNotifications(new Chance(seed ^ hash(`${idempotencyKey} news`)));
    const gapMs = Math.floor(afterMs / (notifications.length + 1));
    for (const notification of notifications) {
      await this.#after(gapMs, signal);
      if (isDead()) return never();
      sendHeaders();
      context.notify?.(notification);
    }
    await this.#after(afterMs - notifications.length * gapMs, signal);
    if (isDead()) return never();
    const fails = faults.strikes("tool_fails");
    request.answered = fails || !faults.strikes("tool_lost");
    if (request.answered) sendHeaders();
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

  /** Waits `ms`. Rejects when the caller aborts. */
  #after(ms: number, signal: AbortSignal): Promise<void> {
    const { time } = this.#options;
    // The previous notification may have ended the turn. Then the signal is already aborted, and no
    // abort event follows.
    if (signal.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const stop = time.timeline.schedule(time.now + ms, () => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      });
      const onAbort = () => {
        stop();
        reject(signal.reason);
      };
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }
}

const never = (): Promise<never> => new Promise(() => {});
