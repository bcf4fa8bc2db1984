/** Reads the orchestrator's blocks in a message strictly: only marks with the nonce count. */
export type Block = { title: string; text: string; inside: Block[] };

/** Throws if a mark closes a block that is not open, or if a block is never closed. */
export function readBlocks(message: string, nonce: string): Block[] {
  const root: Block = { title: "", text: "", inside: [] };
  const open = [root];
  const marks = new RegExp(`<<<${nonce} (END )?([^\\n]*?)>>>`, "g");
  const starts = new Map<Block, number>();
  for (const found of message.matchAll(marks)) {
    const [mark, end, title = ""] = found;
    if (title === "NAME") continue; // the announcement shows what marks look like
    if (!end) {
      const block: Block = { title, text: "", inside: [] };
      open.at(-1)?.inside.push(block);
      open.push(block);
      starts.set(block, found.index + mark.length);
      continue;
    }
    const closed = open.pop();
    if (!closed || closed.title !== title)
      throw new Error(`${title} is closed while ${closed?.title} is open`);
    closed.text = message.slice(starts.get(closed) ?? 0, found.index).trim();
  }
  if (open.length !== 1) throw new Error(`${open.at(-1)?.title} is left open`);
  return root.inside;
}

/** Titles of blocks and the blocks inside them, as one readable list. */
export const outline = (blocks: readonly Block[]): unknown[] =>
  blocks.map(({ title, inside }) => (inside.length === 0 ? title : [title, ...outline(inside)]));
