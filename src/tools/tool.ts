import type { ToolRule } from "../protocol/team";
import type { ToolNotification } from "../protocol/events/tool";
import type { ToolSpec } from "../providers/provider";
import type { AgentFiles } from "../workspace/agent-files";

/** Position of a call; ids as in the log. */
type ToolPlace = {
  session: string;
  turn: number;
  attempt: number;
  agent: string;
  round: number;
  toolCall: string;
};

export type ToolContext = {
  place: ToolPlace;
  /** `null` if the agent has no workspace. */
  files: AgentFiles | null;
  /** The only way to the network: guarded, without redirects. */
  fetch: typeof fetch;
  /** Aborted when the result is no longer needed. */
  signal: AbortSignal;
  /** The same for every try of this call, so that a server can recognise repeats. */
  idempotencyKey: string;
  /** Unix ms. */
  now(): number;
  /**
   * Called when the tool has received response headers, to free one of the few slots for waiting
   * requests. Omitted if slots are not counted.
   */
  onHeaders?: (() => void) | undefined;
  /**
   * Registers a function that is called once the result has been stored, even if the call fails. A
   * tool releases the memory of a large result there. Omitted: release when `run` ends.
   */
  onResultStored?: ((release: () => void) => void) | undefined;
  /**
   * UTF-8 bytes that a result may have in the conversation. A tool that can return a part and say
   * where the rest is returns no more. Omitted: the usual limit.
   */
  resultBytes?: number;
  /**
   * Reports progress for people who watch. Texts must be safe to show. May be called at any rate:
   * the coordination rules decide what is forwarded. Omitted: progress is not shown.
   */
  notify?(news: ToolNotification): void;
};

/**
 * A file of a result. Its name is ours and contains nothing from the server. `extension` has no
 * dot.
 */
export type ToolFile = { mediaType: string; extension: string; bytes: Uint8Array };

/**
 * The outcome of a call. `error`: it failed, and the text explains why. `unknown`: it may or may
 * not have happened. `text` goes into the conversation; the caller, not the tool, cuts it if it is
 * too large. The caller also stores `files` and lists them below the text, which refers to them as
 * `file 1` and so on.
 */
export type ToolResult = {
  outcome: "ok" | "error" | "unknown";
  text: string;
  files?: readonly ToolFile[];
};

/** A tool of an agent. */
export type Tool = {
  /** Name, description and JSON Schema that the model sees. */
  spec: ToolSpec;
  /** Properties for the coordination rules. */
  rule: ToolRule;
  /**
   * Whether it never accesses the agent's files, so that it may run in parallel with calls that do.
   * Omitted: it may access them.
   */
  leavesFiles?: boolean;
  /**
   * Whether it sends no request, so that it needs no slot for waiting. Omitted: it may send one.
   */
  staysInside?: boolean;
  /**
   * Runs the tool. `args` is the model's JSON, parsed but not validated. Errors of the model or a
   * server are results, never thrown. A throw is a fault of ours, which ends this call alone, or
   * the signal's reason.
   */
  run(args: unknown, context: ToolContext): Promise<ToolResult>;
};

const BROKE = "The tool broke: a fault of the service, not of your arguments.";

/**
 * The result of a call whose tool threw unexpectedly. The error goes to the service's log, not to
 * the model. A tool with a side effect that must not be repeated may have performed it, so its
 * outcome is unknown.
 */
export function toolFaultResult({
  rule,
  staysInside = false,
}: Pick<Tool, "rule" | "staysInside">): ToolResult {
  if (staysInside || rule.idempotent)
    return {
      outcome: "error",
      text: `${BROKE} Nothing it did to files was kept. The same call may break again: try another way.`,
    };
  return {
    outcome: "unknown",
    text: `${BROKE} Whether it did its work is unknown: verify before repeating it.`,
  };
}
