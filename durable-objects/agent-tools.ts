import { objectFields } from "../src/agents/call-arguments";
import { agentAt, runningTurn, type ToolCallEffect, type TurnState } from "../src/coordination";
import type { FileAccess } from "../src/protocol/events";
import type { ToolSpec } from "../src/providers/provider";
import { keepResult, previewOf, RESULT_LIMITS } from "../src/tools/results";
import type { Tool, ToolResult } from "../src/tools/tool";
import type { AgentFiles, Staged } from "../src/workspace/agent-files";
import { FileError } from "../src/workspace/types";
import type { Engine } from "./engine";
import { argumentsOf } from "./planned-calls";

type Options = {
  engine: Engine;
  /** Tools of the agent at this index. */
  toolsOf: (agent: number) => readonly Tool[];
  /** How tools reach the outside. */
  fetch: typeof fetch;
};

/** What came of a call, with all that is written together with it. */
type Done = ToolResult & { accesses: readonly FileAccess[]; staged: Staged | null };

/**
 * Runs agents' own tools. A call works on files that are staged in memory; what it changed, its line of the audit trail and its
 * result are one entry of the journal, so a call that is cut off has changed nothing; nor has one that went wrong.
 */
export class AgentTools {
  readonly #options: Options;
  /** The end of each agent's latest call: calls that touch files take turns, so that each sees what the one before has done. */
  readonly #latest = new Map<number, Promise<unknown>>();

  constructor(options: Options) {
    this.#options = options;
  }

  specs(agent: number): ToolSpec[] {
    return this.#options.toolsOf(agent).map(({ spec }) => spec);
  }

  async perform(effect: ToolCallEffect, signal: AbortSignal): Promise<void> {
    const { engine } = this.#options;
    const facts = engine.handle({ type: "tool_ready", effect: effect.id });
    if (!facts.some((event) => event.type === "tool.started" && event.tool_call === effect.toolCall)) return;
    const turn = runningTurn(engine.state);
    const tool = this.#options.toolsOf(effect.agent).find(({ spec }) => spec.name === effect.name);
    if (!turn) return;
    const call = { effect, turn, signal };
    if (!tool) return this.#settle(call, { outcome: "error", text: "This tool is not available.", accesses: [], staged: null });
    if (!this.#options.engine.workspaces.has(turn, effect.agent)) return this.#settle(call, await this.#run(call, tool, null));
    await this.#inTurn(effect.agent, async () => {
      signal.throwIfAborted();
      const files = this.#options.engine.workspaces.open(turn, effect.agent);
      await this.#settle(call, await this.#run(call, tool, files));
    });
  }

  async #inTurn(agent: number, work: () => Promise<void>): Promise<void> {
    const before = this.#latest.get(agent);
    const after = (async () => {
      await before?.catch(() => undefined);
      await work();
    })();
    this.#latest.set(agent, after);
    await after;
  }

  /** What went wrong has changed nothing; its result may still need a file of its own. */
  async #run(call: Call, tool: Tool, files: AgentFiles | null): Promise<Done> {
    const { outcome, text } = await this.#resultOf(call, tool, files);
    const kept = files && outcome !== "ok" ? this.#options.engine.workspaces.open(call.turn, call.effect.agent) : files;
    const told = await this.#kept(call, text, kept);
    const accesses = [...(files?.accessed ?? []), ...(kept !== files ? (kept?.accessed ?? []) : [])];
    return { outcome, text: told, accesses, staged: kept?.staged() ?? null };
  }

  async #resultOf({ effect, turn, signal }: Call, tool: Tool, files: AgentFiles | null): Promise<ToolResult> {
    const { engine, fetch } = this.#options;
    const place = { turn: turn.number, attempt: turn.attempt.number, agent: effect.agent, round: effect.round };
    const args = objectFields(argumentsOf(engine.journal.calls, place, effect.toolCall));
    if (!args.ok) return { outcome: "error", text: args.problem };
    const { id: agent } = agentAt(turn.attempt, effect.agent);
    return tool.run(args.value, {
      place: { ...place, session: engine.facts.sessionId, agent, toolCall: effect.toolCall },
      files,
      fetch,
      signal,
      idempotencyKey: `${engine.facts.sessionId}_${effect.id}`,
      now: () => engine.now(),
    });
  }

  /** What would fill the conversation goes into a file of the agent's; without room for one only its beginning is kept. */
  async #kept({ effect }: Call, text: string, files: AgentFiles | null): Promise<string> {
    const { engine } = this.#options;
    const { maxTokens, previewTokens } = engine.facts.team.agents[effect.agent]?.toolResults ?? {};
    const inlineTokens = maxTokens ?? RESULT_LIMITS.inlineTokens;
    const limits = { inlineTokens, previewTokens: previewTokens ?? RESULT_LIMITS.previewTokens };
    const found = { tool: effect.name, id: effect.toolCall, at: engine.now(), text, calibration: 1 };
    const kept = keepResult(found, limits);
    if (kept.kind === "inline") return kept.text;
    const cut = (why: string) => `${previewOf(text, inlineTokens, 1)}\n[Cut: the result is too large, and ${why}]`;
    if (!files) return cut("there are no files to keep it in.");
    try {
      await files.write(kept.path, new TextEncoder().encode(kept.contents));
      return kept.reference;
    } catch (error) {
      if (error instanceof FileError) return cut(`it could not be kept in a file: ${error.message}`);
      throw error;
    }
  }

  /** What does not fit into a row is put into R2 before anything names it. */
  async #settle({ effect, turn, signal }: Call, { outcome, text, accesses, staged }: Done): Promise<void> {
    const { engine } = this.#options;
    const { workspaces } = engine;
    if (staged) await workspaces.spill(staged);
    signal.throwIfAborted();
    const workspaceFiles = workspaces.count(turn, effect.agent, staged);
    engine.handle(
      { type: "tool_settled", effect: effect.id, outcome, workspaceFiles, accesses },
      { toolResult: { toolCall: effect.toolCall, text }, files: staged && { toolCall: effect.toolCall, staged } },
    );
  }
}

type Call = { effect: ToolCallEffect; turn: TurnState; signal: AbortSignal };
