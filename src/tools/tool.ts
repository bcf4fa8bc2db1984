import type { ToolRule } from "../protocol/team";
import type { ToolNotification } from "../protocol/events/tool";
import type { ToolSpec } from "../providers/provider";
import type { AgentFiles } from "../workspace/agent-files";

/** Whose call it is; ids as in the log. */
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
  /** null where the agent has no workspace. */
  files: AgentFiles | null;
  /** How a tool reaches the outside: guarded, without redirects. */
  fetch: typeof fetch;
  /** Aborted when nobody waits for the result any more. */
  signal: AbortSignal;
  /** The same for every try of this call: what a server may tell repeats by. */
  idempotencyKey: string;
  /** Unix ms. */
  now(): number;
  /** To be told when the tool waits for a server's first word no more: few may do so at a time. Absent: nobody counts. */
  headersCame?: (() => void) | undefined;
  /**
   * To be given what must not be let go of before the result is filed; called once, also if nothing comes of the call. Absent: let
   * go of it when `run` ends.
   */
  untilFiled?: ((release: () => void) => void) | undefined;
  /**
   * UTF-8 bytes of a text that still goes into the conversation as it is: a tool that can give a part, and say where the rest is,
   * gives no more. Absent: as usual.
   */
  resultBytes?: number;
  /**
   * Told how it goes while the tool runs, for people who watch, with texts that are safe to be shown. May be told as often as one
   * likes: how much of it is passed on is the rules' affair. Absent: nobody listens.
   */
  tell?(news: ToolNotification): void;
};

/** A file that comes with a result. Its name is ours: nothing in it is what a server says. `extension`: without a dot. */
export type ToolFile = { mediaType: string; extension: string; bytes: Uint8Array };

/**
 * What came of a call. `error`: it went wrong and the model is told how. `unknown`: it may or may not have happened.
 * `text` is what the conversation gets; whatever is too large for it is cut by whoever runs the tool, not by the tool. So are `files`
 * kept, and named below it; in it they are `file 1` and so on, in their order.
 */
export type ToolResult = {
  outcome: "ok" | "error" | "unknown";
  text: string;
  files?: readonly ToolFile[];
};

/** One of an agent's own tools. */
export type Tool = {
  /** Name, description and JSON Schema, as the model sees them. */
  spec: ToolSpec;
  /** What the coordination rules need to know. */
  rule: ToolRule;
  /** Whether it leaves the agent's files alone, so that it need not take turns with calls that touch them. Absent: it may touch them. */
  leavesFiles?: boolean;
  /** Whether it asks no server, so that it needs none of the few places to wait for one. Absent: it may ask. */
  staysInside?: boolean;
  /**
   * Runs it. `args` is what the model wrote, parsed as JSON and not checked any further. Never throws for what the model or a
   * server did wrong; what it throws is a fault of ours, which ends this call alone, or the signal's reason.
   */
  run(args: unknown, context: ToolContext): Promise<ToolResult>;
};

const BROKE = "The tool broke: a fault of the service, not of your arguments.";

/**
 * What a call comes to whose tool threw something it should not have. What that was is for the service's log, not for a model. A tool
 * that may have asked a server for what must not be asked for twice may have done its work before it broke.
 */
export function brokenCall({
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
