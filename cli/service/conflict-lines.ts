import * as z from "zod";
import { type ContextConflict, ContextConflictSchema } from "../../src/protocol/api/contexts";
import type { Problem } from "../../src/protocol/api";
import { commandAt } from "../invocation";
import { toLine } from "../terminal/sanitize";

const ConflictsSchema = z.object({
  conflicts: z.array(ContextConflictSchema),
  conflicts_more: z.int().optional(),
});

/** Most conflicts that a refusal lists. */
const MAX_LISTED = 50;

/**
 * The files that both the last turn and a push changed, and the two commands that choose a side.
 * Empty for other problems. `retry`: the words of the command that asks again.
 */
export function conflictLines(
  problem: Problem,
  { server, retry = ["ask"] }: { server: string; retry?: readonly string[] },
): string[] {
  const { data } = ConflictsSchema.safeParse(problem);
  if (problem.code !== "context_conflicts" || !data) return [];
  const listed = data.conflicts.slice(0, MAX_LISTED);
  const more = data.conflicts.length - listed.length + (data.conflicts_more ?? 0);
  const command = (side: string): string => commandAt(server, ...retry, "--conflicts", side);
  return [
    ...listed.map(lineOf),
    ...(more > 0 ? [`  and ${more} more`] : []),
    `To keep the turn's files:  ${command("turn")}`,
    `To keep the pushed files:  ${command("upload")}`,
  ];
}

const lineOf = ({ context, path, turn, upload }: ContextConflict): string =>
  `  ${context}: ${toLine(path)}  ${wordsOf(turn, upload)}`;

function wordsOf(turn: string | null, upload: string | null): string {
  if (turn === null) return "deleted by the turn, changed by your push";
  if (upload === null) return "changed by the turn, deleted by your push";
  return "changed by the turn and by your push";
}
