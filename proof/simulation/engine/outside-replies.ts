import type { NumberedEvent } from "../../../checker";
import type { OutsideCheck } from "./outside";
import type { ReceivedRequest } from "./received-request";

/**
 * Decisions match the replies that the provider sent. A call of the reply contains the exact text
 * of the answer, or the target and the reason of the vote. The provider neither cut nor withheld
 * this reply.
 */
export const decisionsMatchReplies: OutsideCheck = ({ log, platform }) => {
  const replies = new Map(
    platform.providers.received
      .filter(({ kind }) => kind === "reply")
      .map((request) => [request.call, request]),
  );
  const history: ReplyHistory = { last: new Map(), authors: new Map(), aliases: {} };
  return log.flatMap((event) => {
    const agent = replierOf(event);
    addEvent(history, event);
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
 * The state after some events. `last`: the last completed call of each agent. `authors`: the author
 * of each answer of this attempt, by label. `aliases`: the aliases of the turn.
 */
type ReplyHistory = {
  last: Map<string, string>;
  authors: Map<string, string>;
  aliases: Readonly<Record<string, string>>;
};

function addEvent(history: ReplyHistory, event: NumberedEvent): void {
  if (event.type === "turn.started") history.aliases = event.aliases;
  if (event.type === "call.completed") history.last.set(event.agent, event.call);
  if (event.type === "answer.submitted") history.authors.set(event.label, event.agent);
}

/** The agent whose last reply caused this event; `null` if no reply did. */
function replierOf(event: NumberedEvent): string | null {
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

/** Whether the event matches the reply. If a reply has several votes, the last vote counts. */
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

/** The arguments of all calls of a tool, without incomplete arguments. */
const argumentsOf = (calls: ReceivedRequest["calls"], name: string): Record<string, unknown>[] =>
  calls.flatMap((call) => (call.name === name ? parseArguments(call.arguments) : []));

/** An empty array if the text is no JSON object. */
function parseArguments(text: string): Record<string, unknown>[] {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? [{ ...value }] : [];
  } catch {
    return [];
  }
}
