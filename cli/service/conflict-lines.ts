import * as z from "zod";
import {
  type ConflictSide,
  type ContextConflict,
  ContextConflictSchema,
} from "../../src/protocol/api/contexts";
import type { Problem } from "../../src/protocol/api";
import { commandAt, type Destination, shellArgument } from "../invocation";
import { toLine } from "../terminal/sanitize";

const ConflictsSchema = z.object({
  conflicts: z.array(ContextConflictSchema),
  conflicts_more: z.int().optional(),
});

/** Most conflicts that a refusal lists. */
const MAX_LISTED = 50;

/** How a user can continue after conflicts refused a turn. */
export type ConflictAdvice = {
  /** The command that asks the question again and lets a side win. */
  again: (side: ConflictSide) => string;
  /** Whether `again` is a command of a conversation. The other commands need another terminal. */
  isConversation: boolean;
  /** The turn whose changes are in conflict. `turn`: `null` means the session's latest turn. */
  session: string;
  turn: number | null;
  /** Folders of the question, by the name of their context. */
  folders: ReadonlyMap<string, string>;
};

/**
 * The files that both the last turn and a push changed, and the commands that continue. Empty for
 * other problems. `advice`: `null` if the question cannot be asked again by a command.
 */
export function conflictLines(
  problem: Problem,
  advice: ConflictAdvice | null,
  destination: Destination,
): string[] {
  const { data } = ConflictsSchema.safeParse(problem);
  if (problem.code !== "context_conflicts" || !data) return [];
  const listed = data.conflicts.slice(0, MAX_LISTED);
  const more = data.conflicts.length - listed.length + (data.conflicts_more ?? 0);
  const contexts = [...new Set(data.conflicts.map(({ context }) => context))];
  return [
    ...listed.map(lineOf),
    ...(more > 0 ? [`  and ${more} more`] : []),
    ...(advice === null ? [] : adviceLines(advice, contexts, destination)),
  ];
}

/** The commands that ask the question again and let a side win. */
export const winnerLines = (again: ConflictAdvice["again"]): string[] => [
  `To keep the turn's files:  ${again("turn")}`,
  `To keep the pushed files:  ${again("upload")}`,
];

/**
 * A file that the user merged by hand is a conflict again, because both sides still changed it. So
 * the last command names the upload as the side that wins.
 */
function adviceLines(
  { again, isConversation, session, turn, folders }: ConflictAdvice,
  contexts: readonly string[],
  destination: Destination,
): string[] {
  const places = contexts.map((context) => {
    const typed = folders.get(context);
    return typed === undefined
      ? { folder: "FOLDER", shown: `FOLDER, the folder of the context ${context}` }
      : { folder: shellArgument(typed), shown: toLine(typed) };
  });
  const ofTurn = ["--session", session, ...(turn === null ? [] : ["--turn", String(turn)])];
  const commands = (word: string, ...options: string[]): string[] =>
    places.map(({ folder }) => commandAt(destination, word, folder, ...options));
  return [
    ...winnerLines(again),
    `To decide file by file${isConversation ? ", in another terminal" : ""}:`,
    ...step(1, commands("pull", ...ofTurn, "--apply", "--skip-conflicts")),
    ...step(2, [
      `Edit the files above in ${places.map(({ shown }) => shown).join(", ")}. To see the turn's changes:`,
      ...commands("pull", ...ofTurn, "--patch"),
    ]),
    ...step(3, commands("push")),
    ...step(4, [again("upload")]),
  ];
}

const step = (number: number, lines: readonly string[]): string[] =>
  lines.map((line, index) => `  ${index === 0 ? `${number}.` : "  "} ${line}`);

const lineOf = ({ context, path, turn, upload }: ContextConflict): string =>
  `  ${context}: ${toLine(path)}  ${wordsOf(turn, upload)}`;

function wordsOf(turn: string | null, upload: string | null): string {
  if (turn === null) return "deleted by the turn, changed by your push";
  if (upload === null) return "changed by the turn, deleted by your push";
  return "changed by the turn and by your push";
}
