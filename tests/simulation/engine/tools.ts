import { fileTools } from "../../../src/tools/files";
import type { Tool, ToolContext, ToolResult } from "../../../src/tools/tool";
import type { ReachedTool } from "../checker/types";
import { drawNews } from "../world/news";
import { Chance } from "../world/random";
import { type Fault, type Faults, hash } from "./faults";
import type { EngineSituation } from "./situation";
import type { VirtualTime } from "./virtual-time";

type Options = {
  situation: EngineSituation;
  time: VirtualTime;
  faults: Faults;
  /** When everything written so far is on disk; nothing leaves an object before. */
  gate: () => Promise<void>;
  /** The process may die here. True: it has. */
  dies: (fault: Fault) => boolean;
};

/** Two or three of these fill the window of a model that has a small one. */
const LONG_RESULT = 30_000;

/** Tools on a server of their own: one may be called again, the other may not. */
const SERVED = [
  { name: "look_up", acts_outside: false, idempotent: true },
  { name: "place_order", acts_outside: true, idempotent: false },
] as const;

/** What agents with tools have: those of a server, and the service's own for files. */
export const toolRules = () => [...SERVED, ...fileTools().map(({ rule }) => rule)];

/** The server of the agents' tools: it keeps its own account of what reached it, and may fail, or lose its answer. */
export class ToolServer {
  /** In order of arrival. */
  readonly reached: ReachedTool[] = [];
  readonly #options: Options;
  #life = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  /** The process at the other end is gone: nobody hears its answers any more. */
  disconnect(): void {
    this.#life += 1;
  }

  tools(): Tool[] {
    const served = SERVED.map((rule) => ({
      spec: { name: rule.name, description: "Asks far away.", parameters: { type: "object", properties: {} } },
      rule,
      run: (_: unknown, context: ToolContext) => this.#answer(rule, context),
    }));
    return [...served, ...fileTools()];
  }

  async #answer(rule: (typeof SERVED)[number], context: ToolContext): Promise<ToolResult> {
    const { situation, faults, gate, dies } = this.#options;
    const { seed, habits } = situation;
    const { place, idempotencyKey, signal } = context;
    const life = this.#life;
    const isDead = () => life !== this.#life;
    if (dies("crash_before_send")) return never();
    await gate();
    if (isDead()) return never();
    signal.throwIfAborted();
    const { session: _, toolCall, ...rest } = place;
    const reached: ReachedTool = { ...rest, tool_call: toolCall, name: rule.name, key: idempotencyKey, answered: false };
    this.reached.push(reached);
    if (dies("crash_in_tool")) return never();
    const chance = new Chance(seed ^ hash(idempotencyKey));
    const afterMs = faults.strikes("tool_slow", 30_000) ? chance.latency(1_000, 30_000) : chance.latency(5, 2_000);
    const news = drawNews(new Chance(seed ^ hash(`${idempotencyKey} news`)));
    for (const one of news) {
      await this.#passes(Math.floor(afterMs / (news.length + 1)), signal);
      if (isDead()) return never();
      context.tell?.(one);
    }
    await this.#passes(afterMs - news.length * Math.floor(afterMs / (news.length + 1)), signal);
    if (isDead()) return never();
    const fails = faults.strikes("tool_fails");
    reached.answered = fails || !faults.strikes("tool_lost");
    if (fails) return { outcome: "error", text: "The server is busy." };
    if (!reached.answered)
      return rule.idempotent
        ? { outcome: "error", text: "No answer." }
        : { outcome: "unknown", text: "Verify before repeating." };
    return {
      outcome: "ok",
      text: "x".repeat(habits.includes("long_results") ? chance.int(4_000, LONG_RESULT) : chance.int(1, 300)),
    };
  }

  /** Time passes at the server, until it answers or nobody waits. */
  #passes(ms: number, signal: AbortSignal): Promise<void> {
    const { time } = this.#options;
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
