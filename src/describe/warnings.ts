import type { LeftOut } from "../protocol/events";
import { countLeftOut } from "../protocol/left-out";
import { type Participant, participantsOfTurn, TOO_LATE } from "../protocol/view/participation";
import type { TurnView } from "../protocol/view";

/**
 * Warnings that the reader of an answer needs: agents that dropped out, a final text that the
 * presenter did not write or finish, and missing files.
 */

/** All warnings about a turn, one sentence each. */
export function warningsOf(turn: TurnView): string[] {
  const attempt = turn.attempts.at(-1);
  return [
    ...participationWarnings(participantsOfTurn(turn), turn.status),
    ...fallbackWarnings(attempt?.presentation),
    ...leftOutWarnings(attempt?.answers ?? []),
  ];
}

/**
 * A sentence for each agent that dropped out. If the turn is completed, the last sentence adds how
 * many agents took part. A failed turn has no such sentences, because its failure names the reason
 * of every agent. Agents that were stopped by a cancellation did not drop out.
 */
export function participationWarnings(
  participants: readonly Omit<Participant, "status">[],
  status: string,
): string[] {
  if (status === "failed") return [];
  const dropped = participants.filter(({ error }) => error !== null && error.code !== "cancelled");
  const participantCount = participants.filter(({ tookPart }) => tookPart).length;
  const countSentence =
    status === "completed"
      ? ` ${participantCount} of ${participants.length} agents took part.`
      : "";
  return dropped.map(({ agent, tookPart, error }, index) => {
    const when = tookPart && !TOO_LATE.has(error?.code ?? "") ? " after its answer" : "";
    return `${agent} dropped out${when}: ${asSentence(error?.message ?? "")}${index === dropped.length - 1 ? countSentence : ""}`;
  });
}

/** Adds a full stop to a provider's message if it has none. */
const asSentence = (message: string): string =>
  /[.!?…]$/.test(message.trimEnd()) ? message.trimEnd() : `${message.trimEnd()}.`;

type Presentation = {
  source: string;
  fallback?: string | null | undefined;
  changed_files?: number | undefined;
};

/**
 * Describes a failed presentation and what is used instead, as the end of a sentence about its
 * agent. `fallback`: the stable code of the reason.
 */
export function fallbackWords({ source, fallback, changed_files }: Presentation): string {
  const why = fallback ?? "unknown";
  const files = changed_files
    ? `; the files it had changed are handed over (${changed_files})`
    : "";
  return source === "partial"
    ? `could not finish the final text (${why}): it is cut off${files}`
    : `could not present the final text (${why}): its answer is used instead${files}`;
}

/**
 * A list with one sentence about a failed presentation, with the words of `fallbackWords`. The list
 * is empty if the presenter wrote the final text, or if there is no final text.
 */
export function fallbackWarnings(
  presented: (Presentation & { agent: string }) | null | undefined,
): string[] {
  if (!presented || presented.fallback == null) return [];
  return [`${presented.agent} ${fallbackWords(presented)}.`];
}

/** A sentence for each answer that leaves out files. */
export function leftOutWarnings(
  answers: readonly { label: string; left_out?: LeftOut | undefined }[],
): string[] {
  return answers.flatMap(({ label, left_out }) => {
    if (!left_out) return [];
    const { count, paths } = left_out;
    const more = count > paths.length ? ` and ${count - paths.length} more` : "";
    return [
      `${label} leaves out ${countLeftOut(left_out)} of its author's previous answer: ${paths.join(", ")}${more}.`,
    ];
  });
}

/** Why each agent of a failed turn has no answer; empty if the turn did not fail. */
export function failureReasons({ failure, agents }: TurnView): { agent: string; reason: string }[] {
  const views = new Map(agents.map((view) => [view.id, view]));
  return (failure?.agents ?? []).map(({ agent, code, message }) => {
    const callError = views.get(agent)?.callError ?? null;
    const before =
      callError === null || callError.code === code
        ? ""
        : ` Its last call failed: ${callError.message}`;
    return { agent, reason: `${message}${before}` };
  });
}
