/** A block of the service in a message, with the blocks inside it. */
export type Block = { title: string; text: string; inside: Block[] };

/**
 * Reads the blocks in a message. Only marks with the nonce count. Throws if a mark closes a block
 * that is not open, or if a block is never closed.
 */
export function readBlocks(message: string, nonce: string): Block[] {
  const root: Block = { title: "", text: "", inside: [] };
  const open = [root];
  const marks = new RegExp(`<<<${nonce} (END )?([^\\n]*?)>>>`, "g");
  const starts = new Map<Block, number>();
  for (const match of message.matchAll(marks)) {
    const [mark, end, title = ""] = match;
    if (title === "NAME") continue; // the announcement shows what marks look like
    if (!end) {
      const block: Block = { title, text: "", inside: [] };
      open.at(-1)?.inside.push(block);
      open.push(block);
      starts.set(block, match.index + mark.length);
      continue;
    }
    const closed = open.pop();
    if (!closed || closed.title !== title)
      throw new Error(`${title} is closed while ${closed?.title} is open`);
    closed.text = message.slice(starts.get(closed) ?? 0, match.index).trim();
  }
  if (open.length !== 1) throw new Error(`${open.at(-1)?.title} is left open`);
  return root.inside;
}

/**
 * The titles of the blocks. A block with other blocks inside is a list: its title, then the titles
 * inside.
 */
export const outline = (blocks: readonly Block[]): unknown[] =>
  blocks.map(({ title, inside }) => (inside.length === 0 ? title : [title, ...outline(inside)]));
