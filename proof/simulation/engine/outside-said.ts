import type { NumberedEvent } from "../../../checker";
import type { OutsideCheck } from "./outside";
import type { Reached } from "./providers";

/**
 * What counts is what its provider sent, and sent to its end: the text of an answer, the target of a vote and its reason stand word
 * for word in a call of the reply, and by the provider's own account that reply was neither cut at its limit nor held back.
 */
export const countsAsSaid: OutsideCheck = ({ log, platform }) => {
  const replies = new Map(
    platform.providers.reached
      .filter(({ asksFor }) => asksFor === "reply")
      .map((reached) => [reached.call, reached]),
  );
  const heard: Heard = { last: new Map(), authors: new Map(), aliases: {} };
  return log.flatMap((event) => {
    const agent = counting(event);
    note(heard, event);
    if (agent === null) return [];
    const reply = replies.get(heard.last.get(agent) ?? "");
    if (!reply) return [`${event.type} of ${agent}, to whom no provider has replied`];
    const cut =
      reply.finish === "stop"
        ? []
        : [
            `${event.type} of ${agent} after ${reply.call}, which its provider ended with ${reply.finish}`,
          ];
    return [
      ...cut,
      ...(isSaid(event, reply, heard)
        ? []
        : [`${event.type} of ${agent} is not what ${reply.call} said`]),
    ];
  });
};

/** Of what came before: each agent's last reply, who wrote which answer of this attempt, and what models call whom. */
type Heard = {
  last: Map<string, string>;
  authors: Map<string, string>;
  aliases: Readonly<Record<string, string>>;
};

function note(heard: Heard, event: NumberedEvent): void {
  if (event.type === "turn.started") heard.aliases = event.aliases;
  if (event.type === "call.completed") heard.last.set(event.agent, event.call);
  if (event.type === "answer.submitted") heard.authors.set(event.label, event.agent);
}

/** The agent whose last reply counts with this event; null: none does. */
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

/** Of several votes the last one counts. */
function isSaid(event: NumberedEvent, { calls }: Reached, { authors, aliases }: Heard): boolean {
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

/** Of the calls of one tool, the arguments that are whole. */
const argumentsOf = (calls: Reached["calls"], name: string): Record<string, unknown>[] =>
  calls.flatMap((call) => (call.name === name ? parsed(call.arguments) : []));

function parsed(text: string): Record<string, unknown>[] {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? [{ ...value }] : [];
  } catch {
    return [];
  }
}
