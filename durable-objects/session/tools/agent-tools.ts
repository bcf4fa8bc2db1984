import { Releases } from "../../../src/async/releases";
import type { AcquireSlot, ResultFile, SessionInputs, Slot } from "../../../src/engine/ports";
import { objectFields } from "../../../src/agents/call-arguments";
import {
  agentAt,
  runningTurn,
  shouldForward,
  type ToolCallEffect,
  type TurnState,
} from "../../../src/coordination";
import type { FileAccess } from "../../../src/protocol/events";
import type { ToolRule } from "../../../src/protocol/team";
import type { ToolNotification } from "../../../src/protocol/events/tool";
import type { ToolSpec } from "../../../src/providers/provider";
import {
  toolFaultResult,
  type Tool,
  type ToolContext,
  type ToolResult,
} from "../../../src/tools/tool";
import {
  bytesWithin,
  RESULT_LIMITS,
  RESULT_READERS,
  type ResultLimits,
  type ResultReader,
} from "../../../src/tools/large-results";
import type { AgentFiles, StagedChanges } from "../../../src/workspace/agent-files";
import { withoutChanges } from "../../../src/workspace/audit-trail";
import { FileError } from "../../../src/workspace/types";
import { logError, logInfo } from "../../../src/redaction/log";
import { isRelayLost } from "../../../src/tools/relay-lost";
import { isPlatformFault } from "../platform-fault";
import type { Team } from "../../../src/config/team";
import type { CallStore } from "../calls/call-store";
import { argumentsOf } from "../calls/planned-call-reader";
import type { Workspaces } from "../files/workspaces";
import { type FiledResult, fileResult } from "../files/result-files";

type Options = {
  session: SessionInputs;
  sessionId: string;
  /** The team of the running turn. */
  team: () => Team;
  calls: Pick<CallStore, "read">;
  workspaces: Workspaces;
  /** Unix ms, by the session's clock. */
  now: () => number;
  /** The tools of the agent at this index. */
  toolsOf: (agent: number) => readonly Tool[];
  /** The guarded `fetch` of tools, over the relay with this number. */
  fetchOver: (relay: number) => typeof fetch;
  /** The ratio of the provider's token count to our estimate. */
  calibrationOf: (agent: number) => number;
};

/** The result of a call, with everything that is stored together with the result. */
type SettledCall = Pick<ToolResult, "outcome" | "text"> & {
  accesses: readonly FileAccess[];
  staged: StagedChanges | null;
  results: readonly ResultFile[];
};

/**
 * Runs agents' own tools. A call works on files that are staged in memory. Its file changes, its
 * audit entry and its result are written as one entry of the journal, so a call that fails or is
 * interrupted changes nothing.
 */
export class AgentTools {
  readonly #options: Options;
  /**
   * The end of each agent's latest call that uses files. Such calls run one after the other, so
   * that each call sees the changes of the call before it.
   */
  readonly #latest = new Map<number, Promise<unknown>>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** The specifications of an agent's tools, in order. */
  specs(agent: number): ToolSpec[] {
    return this.#options.toolsOf(agent).map(({ spec }) => spec);
  }

  /**
   * Performs a call. A call that uses files waits for the agent's earlier calls; a call to a server
   * also waits for a slot. If the call's relay was lost, returns a function that reports the call
   * as interrupted. Throws `signal.reason`, and faults of the platform.
   */
  async perform(
    effect: ToolCallEffect,
    signal: AbortSignal,
    acquireSlot: AcquireSlot,
  ): Promise<(() => void) | undefined> {
    const { session, sessionId } = this.#options;
    try {
      await this.#performInOrder(effect, signal, acquireSlot);
      return undefined;
    } catch (error) {
      if (signal.aborted || !isRelayLost(error)) throw error;
      logInfo(`a relay was lost during the tool ${effect.name}`, sessionId);
      return () => void session.handle({ type: "effect_interrupted", effect: effect.id });
    }
  }

  async #performInOrder(
    effect: ToolCallEffect,
    signal: AbortSignal,
    acquireSlot: AcquireSlot,
  ): Promise<void> {
    const turn = runningTurn(this.#options.session.state);
    const usesFiles =
      turn &&
      this.#options.workspaces.holdsFiles(turn, effect.agent) &&
      !this.#toolOf(effect)?.leavesFiles;
    const begin = () => this.#begin(effect, signal, acquireSlot);
    await (usesFiles ? this.#inTurn(effect.agent, begin) : begin());
  }

  async #begin(
    effect: ToolCallEffect,
    signal: AbortSignal,
    acquireSlot: AcquireSlot,
  ): Promise<void> {
    signal.throwIfAborted();
    const { session } = this.#options;
    const slot = this.#toolOf(effect)?.staysInside ? null : await acquireSlot();
    const facts = session.handle({ type: "tool_ready", effect: effect.id });
    if (
      !facts.some((event) => event.type === "tool.started" && event.tool_call === effect.toolCall)
    )
      return;
    const turn = runningTurn(session.state);
    const tool = this.#toolOf(effect);
    if (!turn) return;
    const releases = new Releases(signal);
    try {
      await this.#perform(
        { effect, turn, signal, slot, releases, room: this.#roomOf(effect.agent) },
        tool,
      );
    } finally {
      releases.release();
    }
  }

  async #perform(call: Call, tool: Tool | undefined): Promise<void> {
    const { workspaces } = this.#options;
    const { effect, turn, signal } = call;
    if (!tool)
      return this.#settle(call, {
        outcome: "error",
        text: "This tool is not available.",
        ...NO_FILES,
      });
    if (!workspaces.holdsFiles(turn, effect.agent))
      return this.#settle(call, await this.#run(call, tool, null));
    if (!tool.leavesFiles) return this.#settle(call, await this.#onFiles(call, tool));
    const result = await this.#resultOf(call, tool, null);
    await this.#inTurn(effect.agent, async () => {
      signal.throwIfAborted();
      await this.#settle(call, await this.#withFiles(call, result, null));
    });
  }

  #toolOf({ agent, name }: ToolCallEffect): Tool | undefined {
    return this.#options.toolsOf(agent).find(({ spec }) => spec.name === name);
  }

  /** Runs the tool on the agent's files. */
  async #onFiles(call: Call, tool: Tool): Promise<SettledCall> {
    const { workspaces } = this.#options;
    try {
      await workspaces.prepare(call.turn);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      return { outcome: "error", text: `Nothing was done: ${error.message}`, ...NO_FILES };
    }
    return this.#run(call, tool, workspaces.open(call.turn, call.effect.agent));
  }

  /** Runs work after the agent's earlier work on files has ended. */
  async #inTurn(agent: number, work: () => Promise<void>): Promise<void> {
    const earlierWork = this.#latest.get(agent);
    const thisWork = (async () => {
      await earlierWork?.catch(() => undefined);
      await work();
    })();
    this.#latest.set(agent, thisWork);
    await thisWork;
  }

  async #run(call: Call, tool: Tool, files: AgentFiles | null): Promise<SettledCall> {
    const result = await this.#resultOf(call, tool, files);
    return this.#withFiles(call, result, files);
  }

  /**
   * Moves large parts of the result to files, and collects the call's file changes. A failed call
   * changes no files, but its result may still need its own file. The same holds for the
   * result of a tool that ran without files.
   */
  async #withFiles(
    call: Call,
    toolResult: ToolResult,
    files: AgentFiles | null,
  ): Promise<SettledCall> {
    const { workspaces } = this.#options;
    const { turn, effect } = call;
    const { outcome } = toolResult;
    const resultFiles =
      workspaces.holdsFiles(turn, effect.agent) && (outcome !== "ok" || !files)
        ? workspaces.open(turn, effect.agent)
        : files;
    const { text, results } = await this.#storeLargeParts(call, toolResult, resultFiles);
    const accesses =
      resultFiles === files
        ? (files?.accessed ?? [])
        : [...withoutChanges(files?.accessed ?? []), ...(resultFiles?.accessed ?? [])];
    return { outcome, text, accesses, staged: resultFiles?.staged() ?? null, results };
  }

  /**
   * Runs the tool and returns its result. Afterwards the call no longer waits for a server, so its
   * slot is released before files are stored.
   */
  async #resultOf(call: Call, tool: Tool, files: AgentFiles | null): Promise<ToolResult> {
    try {
      return await this.#runTool(call, tool, files);
    } finally {
      call.slot?.onHeaders();
    }
  }

  async #runTool(
    { effect, turn, signal, slot, releases, room }: Call,
    tool: Tool,
    files: AgentFiles | null,
  ): Promise<ToolResult> {
    const { calls, sessionId, now, fetchOver } = this.#options;
    const place = {
      turn: turn.number,
      attempt: turn.attempt.number,
      agent: effect.agent,
      round: effect.round,
    };
    const args = objectFields(argumentsOf(calls, place, effect.toolCall));
    if (!args.ok) return { outcome: "error", text: args.problem };
    const { id: agent } = agentAt(turn.attempt, effect.agent);
    const context: ToolContext = {
      place: { ...place, session: sessionId, agent, toolCall: effect.toolCall },
      files,
      fetch: slot ? fetchOver(slot.relay) : noNetwork,
      signal,
      ...(slot && { onHeaders: slot.onHeaders, relay: slot.relay }),
      onResultStored: (release) => releases.add(release),
      idempotencyKey: `${sessionId}_${effect.id}`,
      now,
      notify: (news) => this.#notify(effect, news),
      resultBytes: bytesWithin(room.limits.inlineTokens, room.calibration),
    };
    try {
      return await tool.run(args.value, context);
    } catch (error) {
      if (signal.aborted || isRelayLost(error) || isPlatformFault(error)) throw error;
      logError(`the tool ${tool.spec.name} failed unexpectedly`, sessionId, error);
      return toolFaultResult(tool);
    }
  }

  /**
   * Reports a tool's notification to the rules, but only if they forward it: servers may send
   * thousands of notifications a second.
   */
  #notify({ id }: ToolCallEffect, news: ToolNotification): void {
    const { session, now } = this.#options;
    const turn = runningTurn(session.state);
    if (turn && shouldForward(turn, id, news, now()))
      session.handle({ type: "tool_notified", effect: id, notification: news });
  }

  /** Moves parts of the result that do not belong in the conversation to files and R2. */
  #storeLargeParts(
    { effect, turn, room }: Call,
    { text, files: attached }: ToolResult,
    files: AgentFiles | null,
  ): Promise<FiledResult> {
    const reader = readerOf(turn.rules.agents[effect.agent]?.tools ?? []);
    const found = {
      ...(reader && { reader }),
      tool: effect.name,
      id: effect.toolCall,
      at: this.#options.now(),
      text,
      calibration: room.calibration,
      ...(attached && { files: attached }),
    };
    return fileResult(found, room.limits, files);
  }

  /**
   * The space for a call's result in the conversation. The tool itself and the check of its result
   * use the same space.
   */
  #roomOf(agent: number): Room {
    const { maxTokens, previewTokens } = this.#options.team().agents[agent]?.toolResults ?? {};
    const limits = {
      inlineTokens: maxTokens ?? RESULT_LIMITS.inlineTokens,
      previewTokens: previewTokens ?? RESULT_LIMITS.previewTokens,
    };
    return { limits, calibration: this.#options.calibrationOf(agent) };
  }

  /**
   * Reports the result of a call to the rules. Before, stores contents in R2 that are too large for
   * a row.
   */
  async #settle({ effect, signal }: Call, settled: SettledCall): Promise<void> {
    const { session } = this.#options;
    const { outcome, text, accesses, staged, results } = await this.#storeContents(settled, signal);
    signal.throwIfAborted();
    session.handle(
      {
        type: "tool_settled",
        effect: effect.id,
        outcome,
        ...(outcome === "unknown" && { message: text }),
        accesses,
      },
      {
        toolResult: { toolCall: effect.toolCall, text },
        files: staged || results.length > 0 ? { toolCall: effect.toolCall, staged, results } : null,
      },
    );
  }

  /**
   * Stores large contents. If that fails, returns a failed call instead: the turn continues, and
   * the model may repeat the call.
   */
  async #storeContents(settled: SettledCall, signal: AbortSignal): Promise<SettledCall> {
    const failed = {
      outcome: "error" as const,
      accesses: withoutChanges(settled.accesses),
      staged: null,
      results: [],
    };
    try {
      await this.#options.workspaces.spill(settled, signal);
      return settled;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof FileError)
        return { ...failed, text: `Nothing was done: ${error.message}` };
      logError("files of a tool call were not stored", this.#options.sessionId, error);
      const text =
        "The call was made, but the storage for large files does not answer: neither its changes to files nor its result are kept. Make it again only if doing it twice does no harm.";
      return { ...failed, text };
    }
  }
}

/** The agent's tool that reads stored results; `null` if it has none. */
function readerOf(rules: readonly ToolRule[]): ResultReader | null {
  const names = new Set(rules.map(({ name }) => name));
  return RESULT_READERS.find((name) => names.has(name)) ?? null;
}

const NO_FILES = { accesses: [], staged: null, results: [] };

/** The `fetch` of a tool that `staysInside`. */
const noNetwork: typeof fetch = async () => {
  throw new Error("a tool without requests has made a request");
};

type Room = { limits: ResultLimits; calibration: number };
type Call = {
  effect: ToolCallEffect;
  turn: TurnState;
  signal: AbortSignal;
  /** `null` if the tool makes no requests. */
  slot: Slot | null;
  releases: Releases;
  room: Room;
};
