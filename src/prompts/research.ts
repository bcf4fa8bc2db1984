import type { Citation, HostedUse } from "../protocol/hosted-tools";
import { paragraphs, quotedBlock } from "./quote";

/** What an agent is told around its research call: in it, and afterwards with what it found. */

/** Ends the conversation that a research call is made with; it is not kept. */
export const RESEARCH_REQUEST =
  "First research: in this reply you have tools that will not be there afterwards, and nothing to decide with yet. Look up or compute whatever your decision should rest on, then write down what you found, with figures, dates and names, for yourself: nobody else sees it. If nothing needs looking up, say so in a word.";

type Found = { text: string; uses: readonly HostedUse[]; citations: readonly Citation[] };

/**
 * What came of the research, as quoted data: its text, results of code, sources. What web pages say may pose as anything, and a
 * provider need not know a reply again that it gave with other tools.
 */
export function researchNote(nonce: string, { text, uses, citations }: Found): string {
  const ran = uses.filter(({ name, output }) => name === "code_execution" && output.trim() !== "");
  const computed = ran.map(({ input, output }) => `${input}\n→ ${output}`).join("\n\n");
  const sources = citations.map(({ title, url }) => `- ${title} ${url}`).join("\n");
  const block = (title: string, found: string) =>
    found.trim() === "" ? null : quotedBlock(nonce, title, found);
  const blocks = [
    block("YOUR RESEARCH", text),
    block("COMPUTED", computed),
    block("SOURCES", sources),
  ];
  const isEmpty = blocks.every((found) => found === null);
  return paragraphs(isEmpty ? NOTHING : FOUND, ...blocks, NEXT);
}

const FOUND = "You have looked things up for this round already; this is what you found and noted.";
const NOTHING = "You could have looked things up for this round already, and noted nothing.";
const NEXT =
  "The tools of your research are gone until your next round. Decide now as you were told above; what others should know of your research must stand in what you submit.";
