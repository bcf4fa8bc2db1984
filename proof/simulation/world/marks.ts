import type { EventOf } from "../../../src/protocol/events";
import type { NumberedEvent } from "../../../checker";

/**
 * Counts marks: names of what happened in runs. A missing mark shows that the simulation no longer
 * reaches a part of the rules.
 */
export class Marks {
  readonly counts = new Map<string, number>();

  add(log: readonly NumberedEvent[]): void {
    for (const event of log) for (const mark of marksOf(event)) this.hit(mark);
  }

  hit(mark: string): void {
    this.counts.set(mark, (this.counts.get(mark) ?? 0) + 1);
  }

  /** The expected marks that runs met fewer than `least` times, with their counts. */
  missing(expected: readonly string[], least: number): string[] {
    return expected.flatMap((mark) => {
      const seen = this.counts.get(mark) ?? 0;
      return seen < least ? [`${mark}: ${seen}`] : [];
    });
  }
}

function marksOf(event: NumberedEvent): string[] {
  return [event.type, ...detailsOf(event)];
}

function detailsOf(event: NumberedEvent): string[] {
  switch (event.type) {
    case "attempt.settled":
      return [`ended by ${event.ended_by}`, ...(event.tie ? ["a tie"] : [])];
    case "answer.refused":
    case "vote.refused":
    case "agent.failed":
    case "agent.abstained":
      return [`${event.type} ${event.code}`];
    case "answers.injected":
      return [`via ${event.via}`];
    case "call.failed":
      return [
        `class ${event.class}`,
        ...(event.class === "context_too_long" && event.retry_at !== null
          ? ["too long and made again"]
          : []),
      ];
    case "call.completed":
      return [`stop ${event.stop_reason}`];
    case "call.started":
      return [
        `call for ${event.purpose}`,
        `offers ${event.offers.join("+") || "nothing"}`,
        ...researchOf(event),
        ...summaryOf(event),
        ...grantOf(event),
      ];
    case "round.started":
      return [`cause ${event.cause}`];
    case "tool.completed":
      return [`tool ${event.outcome}`];
    case "answer.submitted":
      return [`origin ${event.origin}`];
    case "presentation.completed":
      return [
        `presented ${event.source}`,
        ...(event.fallback === null ? [] : [`fallback ${event.fallback}`]),
      ];
    default:
      return [];
  }
}

function summaryOf({ compacts, try: nth }: EventOf<"call.started">): string[] {
  if (!compacts) return [];
  return nth > 1 ? ["a summary", "a summary tried again"] : ["a summary"];
}

function researchOf({ purpose, offers, compacts, try: nth }: EventOf<"call.started">): string[] {
  if (purpose !== "coordination" || offers.length > 0 || compacts) return [];
  return nth > 1 ? ["research", "research tried again"] : ["research"];
}

/** Whether the call may use hosted tools as often as `rules-situation.ts` allows, or less often. */
function grantOf({ hosted_tools: tools }: EventOf<"call.started">): string[] {
  if (!tools) return [];
  const maxUses = { web_search: 5, code_execution: 20, x_search: 2 };
  return [
    `hosted tools granted ${tools.every(({ name, max_uses }) => max_uses === maxUses[name]) ? "in full" : "some uses"}`,
  ];
}
