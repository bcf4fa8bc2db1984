import type { Io } from "../io";
import type { TreeFacts } from "../service/schema";
import { type Output, paint, wantsColor } from "../terminal/output";
import { treeLines } from "./tree-lines";

/**
 * Prints the turns of a session as a tree. At a terminal, lines are cut at the edge; in a pipe,
 * questions are as long as the service shows them.
 */
export function printTree(tree: TreeFacts, stdout: Output, { stderr, env }: PrintWorld): void {
  if (tree.data.length === 0) stderr.write("No turns yet.\n");
  const width =
    stdout.isTTY === true ? Math.max(20, (stdout.columns || 80) - 1) : Number.POSITIVE_INFINITY;
  const style = { width, color: wantsColor(stdout, env) };
  for (const line of treeLines(tree, { width, now: Date.now() }))
    stdout.write(`${paint(line, style)}\n`);
}
type PrintWorld = Pick<Io, "stderr" | "env">;
