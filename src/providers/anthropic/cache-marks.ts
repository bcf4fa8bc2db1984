import type { Fields } from "./schema";
import type { Turn } from "./server-blocks";

/**
 * Where the provider's cache of a prompt ends. A prompt is cached as a whole from its beginning (tools, then system, then
 * messages) up to a mark; a later request is looked up at its own marks, and up to 20 blocks before each. Four marks are
 * allowed: one ends what every round has in common, one what the question brought, two lie in the turns. Writing costs a quarter
 * more than reading afresh, reading a tenth.
 */

const MARK = { cache_control: { type: "ephemeral" } };

/** Tools and system are the same for every round of an agent: always worth a mark. */
export const marked = (block: Fields): Fields => ({ ...block, ...MARK });

/**
 * Marks the user's last turn if the conversation goes on from here, and always the one before it: that is exactly where the call
 * before wrote its cache. Without it a reply with many calls would push that place out of the 20 blocks, and a call that
 * writes no cache of its own would read none.
 */
export function markTurns(turns: readonly Turn[], continues: boolean): Turn[] {
  const places = turns.flatMap(({ role }, place) => (role === "user" ? [place] : []));
  const [before, last] = [places.at(-2), places.at(-1)];
  return turns.map((turn, place) =>
    place === before || (place === last && continues) ? markLast(turn) : turn,
  );
}

function markLast({ role, blocks }: Turn): Turn {
  return {
    role,
    blocks: blocks.map((block, place) => (place === blocks.length - 1 ? marked(block) : block)),
  };
}

/**
 * What a question brought, its end marked: it stands before a text that changes from round to round, and may be most of what a
 * prompt costs. With a mark of its own it is read from the cache in every round.
 */
export function markBrought(blocks: readonly Fields[]): Fields[] {
  const last = blocks.at(-1);
  return last ? [...blocks.slice(0, -1), marked(last)] : [];
}
