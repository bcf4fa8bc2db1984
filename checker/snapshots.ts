import { isDeepStrictEqual } from "node:util";
import type { EventOf } from "../src/protocol/events";
import { agentOf } from "./board";
import { type Invariant, unless, type Workspace } from "./types";

type Text = EventOf<"answer.submitted" | "presentation.completed">;

/**
 * I10: an answer or a final text has the right files. If a tool of the round changed a file, they
 * are the files of the agent's workspace. Otherwise they are the files of the author's previous
 * answer, or of the start of the turn. A presenter that changed nothing keeps the files with which
 * it started, also if its answer replaces its text. The log states which files these are, whether
 * the round emptied the workspace, which files an answer omits, and how many files remain. An agent
 * without a workspace has no files.
 */
export const snapshots: Invariant = {
  id: "I10",
  watch: ({ files }) => {
    /** The snapshot of each agent before its current text; `base` for the start of the turn. */
    let snapshots = new Map<string, string>();
    return {
      see: ({ event, board }) => {
        if (event.type === "attempt.started") snapshots = new Map();
        if (event.type === "presentation.started")
          snapshots.set(event.agent, event.workspace ?? "base");
        if (event.type !== "answer.submitted" && event.type !== "presentation.completed") return [];
        const previous = snapshots.get(event.agent) ?? "base";
        if (event.snapshot) snapshots.set(event.agent, event.snapshot);
        if (agentOf(board, event.agent)?.rules.workspace !== true)
          return unless(
            !event.snapshot && !isStoredAsFile(event),
            "a snapshot of an agent without a workspace",
          );
        return fileViolations(event, previous, files?.get(event.sequence_number));
      },
    };
  },
};

/** Whether the text itself was stored as a file. Then the files have changed and are not empty. */
const isStoredAsFile = (event: Text): boolean =>
  event.type === "presentation.completed" && event.text_file !== undefined;

/** `known`: the recorded workspace. `undefined` without records, `null` if it is unknown. */
function fileViolations(
  event: Text,
  previous: string,
  known: Workspace | null | undefined,
): string[] {
  const isReused =
    event.type === "presentation.completed" && event.source === "answer" && event.fallback === null;
  if (known === undefined && !isReused)
    return unless(event.snapshot !== null, `${event.label} lost its snapshot`);
  const isKept = isReused || (known?.changed === false && !isStoredAsFile(event));
  const expected = isKept ? previous : event.label;
  const expectedFiles = isKept
    ? "kept"
    : known?.files === 0 && !isStoredAsFile(event)
      ? "workspace_cleared"
      : "workspace";
  const leftOut = event.type === "answer.submitted" ? event.left_out : undefined;
  return [
    ...unless(
      event.snapshot === expected,
      `${event.label} points to the snapshot ${event.snapshot} where ${expected} is due`,
    ),
    ...unless(
      event.files === expectedFiles,
      `${event.label} is logged with files "${event.files}" where "${expectedFiles}" is due`,
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
