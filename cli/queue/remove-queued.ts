import { CliError, EXIT } from "../exit-codes";
import type { RequestContext } from "../service/problem";
import { toLine } from "../terminal/sanitize";
import { readQueue, removeQueued } from "./queue-calls";

/** Removes the question at this position. Returns a message about it. Throws CliError. */
export async function removeAt(
  session: string,
  position: number,
  context: RequestContext,
): Promise<string> {
  const { data } = await readQueue(session, context);
  const entry = data.data.find((one) => one.position === position);
  if (!entry)
    throw new CliError(
      EXIT.config,
      data.data.length === 0
        ? "No question waits."
        : `The queue has the positions 1 to ${data.data.length}.`,
    );
  await removeQueued({ session, id: entry.id }, context);
  return `Removed: ${toLine(entry.question_preview)}`;
}
