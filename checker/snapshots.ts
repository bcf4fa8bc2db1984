import { isDeepStrictEqual } from "node:util";
import type { EventOf } from "../src/protocol/events";
import { agentOf } from "./board";
import { type Invariant, unless, type Workspace } from "./types";

type Text = EventOf<"answer.submitted" | "presentation.completed">;

/**
 * I10: a text's files are its agent's workspace if a tool of the round changed a file. Otherwise
 * they are the previous ones: those of the author's previous answer, or of the start of the turn;
 * for a presenter, those it started with, also if its answer replaces its text. The log states
 * which, whether the round emptied the workspace, which files an answer omits and how many remain.
 * An agent without a workspace has no files.
 */
export const snapshots: Invariant = {
  id: "I10",
  watch: ({ files }) => {
    let before = new Map<string, string>();
    return {
      see: ({ event, board }) => {
        if (event.type === "attempt.started") before = new Map();
        if (event.type === "presentation.started")
          before.set(event.agent, event.workspace ?? "base");
        if (event.type !== "answer.submitted" && event.type !== "presentation.completed") return [];
        const earlier = before.get(event.agent) ?? "base";
        if (event.snapshot) before.set(event.agent, event.snapshot);
        if (agentOf(board, event.agent)?.rules.workspace !== true)
          return unless(
            !event.snapshot && !hasText(event),
            "a snapshot of an agent without a workspace",
          );
        return judged(event, earlier, files?.get(event.sequence_number));
      },
    };
  },
};

/** Whether the text itself was stored as a file: then the files are new and not empty. */
const hasText = (event: Text): boolean =>
  event.type === "presentation.completed" && event.text_file !== undefined;

/** `known` is `undefined` without a record of the workspace. */
function judged(event: Text, earlier: string, known: Workspace | null | undefined): string[] {
  const isReused =
    event.type === "presentation.completed" && event.source === "answer" && event.fallback === null;
  if (known === undefined && !isReused)
    return unless(event.snapshot !== null, `${event.label} lost its snapshot`);
  const isKept = isReused || (known?.changed === false && !hasText(event));
  const due = isKept ? earlier : event.label;
  const stated = isKept
    ? "kept"
    : known?.files === 0 && !hasText(event)
      ? "workspace_cleared"
      : "workspace";
  const leftOut = event.type === "answer.submitted" ? event.left_out : undefined;
  return [
    ...unless(
      event.snapshot === due,
      `${event.label} points to the snapshot ${event.snapshot} where ${due} is due`,
    ),
    ...unless(
      event.files === stated,
      `${event.label} is logged with files "${event.files}" where "${stated}" is due`,
    ),
    ...unless(
      event.type !== "answer.submitted" || event.kept_files === known?.kept,
      `${event.label} is logged as keeping ${event.type === "answer.submitted" && event.kept_files} files`,
    ),
    ...unless(
      event.type !== "answer.submitted" || isDeepStrictEqual(leftOut, known?.leftOut),
      `${event.label} is logged as leaving out ${JSON.stringify(leftOut)}`,
    ),
  ];
}
