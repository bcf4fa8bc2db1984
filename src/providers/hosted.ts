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
} from "./limits";

/** What hosted tools did and the sources they found, held within limits: both are stored and shown, neither is sent back. */

type HostedFields = { hosted?: readonly HostedUse[]; citations?: readonly Citation[] };

/** The fields of a `stop` for these uses and citations, shortened; those that would be empty are absent. */
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

/** The use with its input and output cut to what is kept. */
export function shortUse({ name, input, outcome, output }: HostedUse): HostedUse {
  return {
    name,
    input: shortText(input, MAX_HOSTED_INPUT_CHARS),
    outcome,
    output: shortText(output, MAX_HOSTED_OUTPUT_CHARS),
  };
}

/** The citation cut to what is kept; null if its URL is none that a client can follow: not http(s), or too long to be cut. */
export function shortCitation({ url, title, text }: Citation): Citation | null {
  if (url.length > MAX_CITATION_URL_CHARS || !/^https?:\/\//i.test(url)) return null;
  const passage = shortText(text ?? "", MAX_CITATION_TEXT_CHARS);
  return {
    url,
    title: shortText(title, MAX_CITATION_TITLE_CHARS),
    ...(passage !== "" && { text: passage }),
  };
}

/** The first citation of each URL, in order, shortened, as many as are kept. A title or text that only a later one has is added. */
export function distinctCitations(citations: readonly Citation[]): Citation[] {
  const byUrl = new Map<string, Citation>();
  for (const citation of citations) {
    const short = shortCitation(citation);
    const known = short && byUrl.get(short.url);
    if (!short || (!known && byUrl.size >= MAX_CITATIONS)) continue;
    byUrl.set(short.url, known ? { ...short, ...known, title: known.title || short.title } : short);
  }
  return [...byUrl.values()];
}

/** The usage with its charged uses; tools without any are left out, and the field with them. */
export function withHostedUses(
  usage: Usage,
  counts: Readonly<Partial<Record<HostedToolName, number>>>,
): Usage {
  const used = Object.entries(counts).filter(([, count]) => count > 0);
  return used.length === 0 ? usage : { ...usage, hosted_uses: Object.fromEntries(used) };
}

/** Cuts between characters, never through one that takes two code units. */
function shortText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const cut = text.slice(0, limit - 1);
  return `${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}
