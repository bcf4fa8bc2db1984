import type { Citation, HostedUse } from "../protocol/hosted-tools";
import { quotedBlock } from "./quote";

/** What an agent is told around its research call: before it, and with what it found. */

/** Ends the conversation that a research call is made with. */
export const RESEARCH_REQUEST =
  "Before you decide: this reply is for research, with the tools you have now; they will not be there afterwards. Look up or compute whatever your decision should rest on, then write down what you found, with figures, dates and names, for yourself: nobody else sees it. Do not answer or vote in it. If nothing needs looking up, say so in a word.";

type Found = { uses: readonly HostedUse[]; citations: readonly Citation[] };

/** Follows the research reply: results and sources that the reply's own text may not hold, as quoted data, and what comes next. */
export function researchNote(nonce: string, { uses, citations }: Found): string {
  const outputs = uses.filter(({ name, output }) => name === "code_execution" && output.trim() !== "");
  const computed = outputs.map(({ input, output }) => `${input}\n→ ${output}`).join("\n\n");
  const sources = citations.map(({ title, url }) => `- ${title} ${url}`).join("\n");
  return [
    ...(computed === "" ? [] : [quotedBlock(nonce, "COMPUTED", computed)]),
    ...(sources === "" ? [] : [quotedBlock(nonce, "SOURCES", sources)]),
    NEXT,
  ].join("\n\n");
}

const NEXT =
  "Your research for this round is over. Go on as you were told at first, with the functions you are offered now; what others should know of your research must stand in what you submit.";
