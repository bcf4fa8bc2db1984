import type { ToolRule } from "../protocol/team";
import type { ToolNotification } from "../protocol/events/tool";
import type { ToolSpec } from "../providers/provider";
import type { AgentFiles } from "../workspace/agent-files";

/**
 * Identifies a call: session, turn, attempt, agent, round, and the id of the call, as in the log.
 */
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
  /** The only access to the network. It checks addresses and does not follow redirects. */
  fetch: typeof fetch;
  /** Aborted when the result is no longer needed. */
  signal: AbortSignal;
  /** The same key for each try of this call, so that a server can recognise a repeated call. */
  idempotencyKey: string;
  /** The current time in Unix ms. */
  now(): number;
  /**
   * The tool calls this when it has received response headers. It releases the request slot of the
   * call; there are only a few slots. Omitted: there are no slots.
   */
  onHeaders?: (() => void) | undefined;
  /** The relay of the call's slot: see `RelaySlot`. Omitted: there are no slots. */
  relay?: number | undefined;
  /**
   * Registers a function that is called after the result is stored, or after the call has failed.
   * The tool uses it to release the lease of a large result. Omitted: the tool releases when `run`
   * ends.
   */
  onResultStored?: ((release: () => void) => void) | undefined;
  /**
   * Maximum UTF-8 bytes of a result in the conversation. A tool that can return a part and say how
   * to get the rest returns at most this size. Omitted: the tool's own limit.
   */
  resultBytes?: number;
  /**
   * Reports progress for people who follow the session. Texts must be safe to show. The tool may
   * call this at any rate, because the coordination rules decide which notifications are forwarded.
   * Omitted: progress is not shown.
   */
  notify?(notification: ToolNotification): void;
};

/**
 * A file of a result. The service chooses its name, and the name contains no text from the server.
 * `extension` has no dot.
 */
export type ToolFile = { mediaType: string; extension: string; bytes: Uint8Array };

/** The result of a call. */
export type ToolResult = {
  /** `error`: the call failed, and the text says why. `unknown`: the call may have taken effect. */
  outcome: "ok" | "error" | "unknown";
  /** The text for the conversation. If it is too large, the caller cuts it, not the tool. */
  text: string;
  /**
   * Files that the caller stores and lists below the text. In the text, they are called `file 1`,
   * `file 2` and so on.
   */
  files?: readonly ToolFile[];
};

/** A tool of an agent. */
export type Tool = {
  /** The tool's name, description and JSON Schema, as the model sees them. */
  spec: ToolSpec;
  /** The tool's properties for the coordination rules. */
  rule: ToolRule;
  /**
   * Whether the tool never accesses the agent's files. Then it may run in parallel with calls that
   * access them. Omitted: it may access them.
   */
  leavesFiles?: boolean;
  /**
   * Whether the tool sends no requests. Then it needs no request slot. Omitted: it may send
   * requests.
   */
  staysInside?: boolean;
  /**
   * Runs the tool. `args` is the parsed JSON of the model, not validated yet. Mistakes of the model
   * and errors of a server are results; they are not thrown. If `run` throws, the error is the
   * signal's reason, a `RelayLostError`, which interrupts the call, or a fault of the service,
   * which ends only this call.
   */
  run(args: unknown, context: ToolContext): Promise<ToolResult>;
};

const FAULT_TEXT = "The tool broke: a fault of the service, not of your arguments.";

/**
 * The result of a call whose tool threw an unexpected error. The error is written to the service's
 * log, and the model does not see it. If the tool is not safe to repeat, it may already have had
 * its side effect, so the outcome is unknown.
 */
export function toolFaultResult({
  rule,
  staysInside = false,
}: Pick<Tool, "rule" | "staysInside">): ToolResult {
  if (staysInside || rule.idempotent)
    return {
      outcome: "error",
      text: `${FAULT_TEXT} Nothing it did to files was kept. The same call may break again: try another way.`,
    };
  return {
    outcome: "unknown",
    text: `${FAULT_TEXT} Whether it did its work is unknown: verify before repeating it.`,
  };
}
