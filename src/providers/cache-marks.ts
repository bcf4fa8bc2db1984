import type { Host } from "./host";
import type { ModelRequest } from "./provider";

/** The fields for prompt caches of hosts whose format has none of its own. */

type Block = Record<string, unknown>;

/** The blocks of a user message, with the part to which they belong. */
type MessageBlocks = { history: readonly Block[]; parts: readonly Block[] };

/** The most marks that a host writes in a request besides its own mark after the newest message. */
const MOST_MARKS = 3;

/** The field that names the cache of a request, if the host has one. A config may set it itself. */
export const cacheKeyField = (host: Host, { cacheKey }: Pick<ModelRequest, "cacheKey">): Block =>
  host.cacheKey && cacheKey !== undefined ? { prompt_cache_key: cacheKey } : {};

/** The fields of a cache mark for this model; `null` if the host takes none. */
export const cacheMarkOf = ({ cacheMarks }: Host, model: string): Block | null =>
  cacheMarks?.models.test(model) ? { ...cacheMarks.mark } : null;

/**
 * The blocks with marks after the newest entries of the history and after the attachments. The last
 * mark of the history writes the cache. The marks before it are where earlier turns wrote it: some
 * hosts search the cache only at the marks of a request. The text after the attachments changes
 * every round.
 */
export function withCacheMarks({ history, parts }: MessageBlocks, mark: Block | null): Block[] {
  const attachmentMarks = parts.length > 0 ? 1 : 0;
  return [
    ...markLast(history, MOST_MARKS - attachmentMarks, mark),
    ...markLast(parts, attachmentMarks, mark),
  ];
}

const markLast = (blocks: readonly Block[], count: number, mark: Block | null): Block[] =>
  blocks.map((block, index) => (index >= blocks.length - count ? { ...block, ...mark } : block));
