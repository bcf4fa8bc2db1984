import type { NumberedEvent } from "../../../checker";
import type { OutsideCheck } from "./outside";
import type { ReceivedRequest } from "./providers";

/**
 * Decisions match what the provider sent. An answer's text, a vote's target and its reason occur
 * verbatim in a call of the reply. According to the provider, that reply was neither cut at its
 * limit nor withheld.
 */
export const decisionsMatchReplies: OutsideCheck = ({ log, platform }) => {
  const replies = new Map(
    platform.providers.reached
      .filter(({ kind }) => kind === "reply")
      .map((reached) => [reached.call, reached]),
  );
  const history: ReplyHistory = { last: new Map(), authors: new Map(), aliases: {} };
  return log.flatMap((event) => {
    const agent = counting(event);
    remember(history, event);
    if (agent === null) return [];
    const reply = replies.get(history.last.get(agent) ?? "");
    if (!reply) return [`${event.type} of ${agent}, but no provider has replied to it`];
    const cut =
      reply.finish === "stop"
        ? []
        : [
            `${event.type} of ${agent} after ${reply.call}, which its provider ended with ${reply.finish}`,
          ];
    return [
      ...cut,
      ...(matchesReply(event, reply, history)
        ? []
        : [`${event.type} of ${agent} differs from the reply of ${reply.call}`]),
    ];
  });
};

/**
 * State so far: each agent's last call with a reply, the authors of this attempt's answers, and the
 * aliases of the turn.
 */
type ReplyHistory = {
  last: Map<string, string>;
  authors: Map<string, string>;
  aliases: Readonly<Record<string, string>>;
};

function remember(history: ReplyHistory, event: NumberedEvent): void {
  if (event.type === "turn.started") history.aliases = event.aliases;
  if (event.type === "call.completed") history.last.set(event.agent, event.call);
  if (event.type === "answer.submitted") history.authors.set(event.label, event.agent);
}

/** The agent whose last reply counts with this event; `null` if none does. */
function counting(event: NumberedEvent): string | null {
  switch (event.type) {
    case "vote.cast":
    case "vote.stale":
    case "tool.started":
    case "attempt.restarted":
      return event.agent;
    case "answer.submitted":
      return event.origin === "tool" ? event.agent : null;
    case "presentation.completed":
      return event.source === "presentation" ? event.agent : null;
    default:
      return null;
  }
}

/** Of several votes in a reply, the last counts. */
function matchesReply(
  event: NumberedEvent,
  { calls }: ReceivedRequest,
  { authors, aliases }: ReplyHistory,
): boolean {
  switch (event.type) {
    case "answer.submitted":
      return argumentsOf(calls, "new_answer").some(({ content }) => content === event.content);
    case "vote.cast":
    case "vote.stale": {
      const vote = argumentsOf(calls, "vote").at(-1);
      const isTarget = vote?.["agent_id"] === aliases[authors.get(event.label) ?? ""];
      return isTarget && (event.type === "vote.stale" || vote?.["reason"] === event.reason);
    }
    default:
      return true;
  }
}

/** The complete arguments among the calls of one tool. */
const argumentsOf = (calls: ReceivedRequest["calls"], name: string): Record<string, unknown>[] =>
  calls.flatMap((call) => (call.name === name ? parsed(call.arguments) : []));

function parsed(text: string): Record<string, unknown>[] {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? [{ ...value }] : [];
  } catch {
    return [];
  }
}
