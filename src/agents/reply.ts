import { byteLength, LIMITS, type Reply } from "../coordination";
import type { Decision, Purpose, StopReason, Usage } from "../protocol/events";
import type { Citation, HostedUse } from "../protocol/hosted-tools";
import { hostedFields } from "../providers/hosted";
import type { ReplyItem } from "../providers/provider";
import { type ParsedArguments, objectFields, textFields } from "./call-arguments";
import { personasOf, type ToolCall, verdictOf } from "./verdict";

export { staysItsId, takenCallIds, uniqueCallIds } from "../providers/call-ids";

/**
 * Converts a complete reply to the form that the coordination rules read. Only tool calls count as
 * decisions: text is not searched for them, and broken JSON is not repaired.
 */

export type CompleteReply = {
  items: readonly ReplyItem[];
  text: string;
  stopReason: StopReason;
  usage: Usage | null;
  hosted?: readonly HostedUse[];
  citations?: readonly Citation[];
};

type ReplyContext = {
  purpose: Purpose;
  /** Names of the agent's own tools. */
  ownTools: readonly string[];
};

export function toReply(reply: CompleteReply, { purpose, ownTools }: ReplyContext): Reply {
  const calls = reply.items.filter((item) => item.type === "tool_call");
  const isDecision = (call: ToolCall) =>
    purpose === "coordination" && (call.name === "new_answer" || call.name === "vote");
  const mayUseTools = purpose === "coordination" || purpose === "presentation";
  const otherCalls = mayUseTools ? calls.filter((call) => !isDecision(call)) : [];
  return {
    stopReason: reply.stopReason,
    usage: reply.usage,
    ...hostedFields(reply.hosted ?? [], reply.citations ?? []),
    text: reply.text,
    tools: otherCalls.map(({ id, name }) => ({
      toolCall: id,
      name: ownTools.includes(name) ? name : shortenName(name),
    })),
    decisions: decisionsOf(calls.filter(isDecision), reply.stopReason === "length"),
    verdict: purpose === "judgement" ? verdictOf(calls) : null,
    personas: purpose === "personas" ? personasOf(calls) : null,
  };
}

/** A model may invent a tool name of any length. The log keeps only its beginning. */
const shortenName = (name: string): string =>
  name.length <= 64 ? name : `${name.slice(0, 63).toWellFormed()}…`;

/**
 * The decisions of a reply. Only the last vote can count, and no answer if there are several. So
 * all votes but the last, and all answers but the first, become short `invalid` entries. This
 * bounds the size of the event.
 */
function decisionsOf(calls: readonly ToolCall[], isCut: boolean): Decision[] {
  const lastVote = calls.findLast(({ name }) => name === "vote");
  const firstAnswer = calls.find(({ name }) => name === "new_answer");
  return calls.map((call) => {
    if (call.name === "vote")
      return call === lastVote
        ? toVote(call, isCut)
        : invalid(call, "Your later vote takes its place.");
    return call === firstAnswer
      ? toAnswer(call, isCut)
      : invalid(call, "Give exactly one answer, once.");
  });
}

function toAnswer(call: ToolCall, isCut: boolean): Decision {
  const fields = textFields(call.arguments, ["content"]);
  if (!fields.ok) return invalid(call, problemOf(call, fields.problem, isCut));
  const { content } = fields.value;
  if (byteLength(content) > LIMITS.answerBytes) {
    return invalid(
      call,
      `The answer is over ${LIMITS.answerBytes / 1024} KB. Put the bulk of it in a file.`,
    );
  }
  return { name: "new_answer", tool_call: call.id, content };
}

/** Longer than any alias of the largest team. */
const MAX_ALIAS_CHARS = 32;

function toVote(call: ToolCall, isCut: boolean): Decision {
  const fields = textFields(call.arguments, ["agent_id", "reason"]);
  if (!fields.ok) return invalid(call, problemOf(call, fields.problem, isCut));
  const { agent_id, reason } = fields.value;
  const alias = agent_id.trim();
  if (alias.length > MAX_ALIAS_CHARS) return invalid(call, "The field `agent_id` names no agent.");
  if (byteLength(reason) > LIMITS.reasonBytes)
    return invalid(call, "Give the reason in at most 4 KB.");
  return { name: "vote", tool_call: call.id, alias, reason };
}

/**
 * The problem of invalid arguments. If they are broken because the reply was cut at its output
 * limit, the model learns about the cut, because the invalid JSON is not its mistake.
 */
function problemOf(call: ToolCall, problem: string, isCut: boolean): string {
  const parsed: ParsedArguments<unknown> = objectFields(call.arguments);
  if (isCut && !parsed.ok)
    return "Your reply was cut at its output limit before the call was complete. Make it shorter and call again.";
  return problem;
}

function invalid(call: ToolCall, problem: string): Decision {
  return {
    name: "invalid",
    tool: call.name === "vote" ? "vote" : "new_answer",
    tool_call: call.id,
    problem,
  };
}
