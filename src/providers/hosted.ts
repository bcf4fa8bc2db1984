import type { Citation, HostedToolName, HostedUse } from "../protocol/hosted-tools";
import type { Usage } from "../protocol/events";
import {
  MAX_CITATION_TEXT_CHARS,
  MAX_CITATION_TITLE_CHARS,
  MAX_CITATION_URL_CHARS,
  MAX_CITATIONS,
  MAX_HOSTED_INPUT_CHARS,
  MAX_HOSTED_OUTPUT_CHARS,
  MAX_HOSTED_USES,
} from "./call-limits";

/**
 * Uses and citations of hosted tools, shortened to the limits in call-limits.ts. Both are stored
 * and shown to users. Neither is sent back to the model.
 */

type HostedFields = { hosted?: readonly HostedUse[]; citations?: readonly Citation[] };

/**
 * The fields of a `stop` event for these uses and citations, shortened. A field without entries is
 * omitted.
 */
export function hostedFields(
  uses: readonly HostedUse[],
  citations: readonly Citation[],
): HostedFields {
  const shortUses = uses.slice(0, MAX_HOSTED_USES).map(shortUse);
  const shortCitations = distinctCitations(citations);
  return {
    ...(shortUses.length > 0 && { hosted: shortUses }),
    ...(shortCitations.length > 0 && { citations: shortCitations }),
  };
}

/** The use with its input and output shortened. */
export function shortUse({ name, input, outcome, output }: HostedUse): HostedUse {
  return {
    name,
    input: shortText(input, MAX_HOSTED_INPUT_CHARS),
    outcome,
    output: shortText(output, MAX_HOSTED_OUTPUT_CHARS),
  };
}

/**
 * The citation, shortened. `null` if clients cannot follow its URL because it is too long or not
 * http(s).
 */
export function shortCitation({ url, title, text }: Citation): Citation | null {
  if (url.length > MAX_CITATION_URL_CHARS || !/^https?:\/\//i.test(url)) return null;
  const passage = shortText(text ?? "", MAX_CITATION_TEXT_CHARS);
  return {
    url,
    title: shortText(title, MAX_CITATION_TITLE_CHARS),
    ...(passage !== "" && { text: passage }),
  };
}

/**
 * The first citation of each URL, in order, shortened, at most MAX_CITATIONS. If the first citation
 * has no title or text, that of a later citation of the same URL is used.
 */
export function distinctCitations(citations: readonly Citation[]): Citation[] {
  const byUrl = new Map<string, Citation>();
  for (const citation of citations) {
    const short = shortCitation(citation);
    const earlier = short && byUrl.get(short.url);
    if (!short || (!earlier && byUrl.size >= MAX_CITATIONS)) continue;
    byUrl.set(
      short.url,
      earlier ? { ...short, ...earlier, title: earlier.title || short.title } : short,
    );
  }
  return [...byUrl.values()];
}

/**
 * The usage with the number of charged uses of each tool. Tools with 0 uses are omitted. Without
 * any use, the field is omitted.
 */
export function withHostedUses(
  usage: Usage,
  counts: Readonly<Partial<Record<HostedToolName, number>>>,
): Usage {
  const used = Object.entries(counts).filter(([, count]) => count > 0);
  return used.length === 0 ? usage : { ...usage, hosted_uses: Object.fromEntries(used) };
}

/** The text, cut to `limit` characters. A surrogate pair is never split. */
function shortText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const cut = text.slice(0, limit - 1);
  return `${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}
