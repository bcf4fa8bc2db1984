import { byteLength, LIMITS, type Reply } from "../coordination";
import type { Decision, Purpose, StopReason, Usage } from "../protocol/events";
import type { Citation, HostedUse } from "../protocol/hosted-tools";
import { hostedFields } from "../providers/hosted";
import type { ReplyItem } from "../providers/provider";
import { type ParsedArguments, objectFields, textFields } from "./call-arguments";
import { personasOf, type ToolCall, verdictOf } from "./verdict";

export { staysItsId, takenCallIds, uniqueCallIds } from "../providers/call-ids";

/**
 * Interprets a complete reply for the rules. Only tool calls count: text is not searched for
 * decisions, and broken JSON is not repaired.
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
  const decides = (call: ToolCall) =>
    purpose === "coordination" && (call.name === "new_answer" || call.name === "vote");
  const uses = purpose === "coordination" || purpose === "presentation";
  const others = uses ? calls.filter((call) => !decides(call)) : [];
  return {
    stopReason: reply.stopReason,
    usage: reply.usage,
    ...hostedFields(reply.hosted ?? [], reply.citations ?? []),
    text: reply.text,
    tools: others.map(({ id, name }) => ({
      toolCall: id,
      name: ownTools.includes(name) ? name : shortened(name),
    })),
    decisions: decisionsOf(calls.filter(decides), reply.stopReason === "length"),
    verdict: purpose === "judgement" ? verdictOf(calls) : null,
    personas: purpose === "personas" ? personasOf(calls) : null,
  };
}

/** A model may call a tool by any name; the log keeps a recognisable prefix. */
const shortened = (name: string): string =>
  name.length <= 64 ? name : `${name.slice(0, 63).toWellFormed()}…`;

/**
 * Only the last vote can count, and no answer if there are several. So less is kept of the others,
 * to bound the events.
 */
function decisionsOf(calls: readonly ToolCall[], cut: boolean): Decision[] {
  const lastVote = calls.findLast(({ name }) => name === "vote");
  const firstAnswer = calls.find(({ name }) => name === "new_answer");
  return calls.map((call) => {
    if (call.name === "vote")
      return call === lastVote
        ? toVote(call, cut)
        : invalid(call, "Your later vote takes its place.");
    return call === firstAnswer
      ? toAnswer(call, cut)
      : invalid(call, "Give exactly one answer, once.");
  });
}

function toAnswer(call: ToolCall, cut: boolean): Decision {
  const checked = textFields(call.arguments, ["content"]);
  if (!checked.ok) return invalid(call, problemOf(call, checked.problem, cut));
  const { content } = checked.value;
  if (byteLength(content) > LIMITS.answerBytes) {
    return invalid(
      call,
      `The answer is over ${LIMITS.answerBytes / 1024} KB. Put the bulk of it in a file.`,
    );
  }
  return { name: "new_answer", tool_call: call.id, content };
}

/** Longer than any alias of the largest team. */
const LONGEST_ALIAS = 32;

function toVote(call: ToolCall, cut: boolean): Decision {
  const checked = textFields(call.arguments, ["agent_id", "reason"]);
  if (!checked.ok) return invalid(call, problemOf(call, checked.problem, cut));
  const { agent_id, reason } = checked.value;
  const alias = agent_id.trim();
  if (alias.length > LONGEST_ALIAS) return invalid(call, "The field `agent_id` names no agent.");
  if (byteLength(reason) > LIMITS.reasonBytes)
    return invalid(call, "Give the reason in at most 4 KB.");
  return { name: "vote", tool_call: call.id, alias, reason };
}

/**
 * Arguments cut at the output limit are not a formal mistake, so the model is informed about the
 * cut.
 */
function problemOf(call: ToolCall, problem: string, cut: boolean): string {
  const broken: ParsedArguments<unknown> = objectFields(call.arguments);
  if (cut && !broken.ok)
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
