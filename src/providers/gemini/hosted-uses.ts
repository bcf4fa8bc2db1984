import type { Citation, HostedToolName, HostedUse } from "../../protocol/hosted-tools";
import { distinctCitations, shortUse } from "../hosted";
import { MAX_HOSTED_USES } from "../limits";
import type { ModelEvent } from "../provider";
import { type Fields, fieldsOf, listOf, textOf } from "./schema";

type HostedUses = {
  /** Takes a part in which a hosted tool is called or answers; gives what it is asked. */
  takePart(part: Fields): ModelEvent[];
  /** Takes what a reply rests on; gives the queries not seen before. */
  takeGrounding(grounding: Fields): ModelEvent[];
  /** Distinct queries so far. */
  queries(): number;
  uses(): readonly HostedUse[];
  citations(): readonly Citation[];
};

/** Which hosted tool a part belongs to; null: none. */
export function hostedToolOf(part: Fields): HostedToolName | null {
  if (part["executableCode"] || part["codeExecutionResult"] || part["inlineData"])
    return "code_execution";
  if (part["toolCall"] || part["toolResponse"]) return "web_search";
  return null;
}

/** Gathers what hosted tools did in one reply, and its sources. `grow` is told how much is kept. */
export function createHostedUses(grow: (chars: number) => void): HostedUses {
  const uses: HostedUse[] = [];
  const queries = new Set<string>();
  let citations: readonly Citation[] = [];
  /** Place of the piece of code that waits for its result. */
  let running: number | null = null;

  const begin = (name: HostedToolName, input: string): ModelEvent => {
    if (uses.length < MAX_HOSTED_USES)
      uses.push(shortUse({ name, input, outcome: "ok", output: "" }));
    return { type: "hosted_tool", name, text: input };
  };
  const search = (found: readonly unknown[]): ModelEvent[] => {
    const fresh = [...new Set(found.map(textOf))].filter(
      (query) => query !== "" && !queries.has(query),
    );
    for (const query of fresh) {
      grow(query.length);
      queries.add(query);
    }
    return fresh.map((query) => begin("web_search", query));
  };
  const settle = (result: Fields): void => {
    const use = running === null ? undefined : uses[running];
    if (running === null || !use) return;
    const outcome = result["outcome"] === "OUTCOME_OK" ? "ok" : "error";
    uses[running] = shortUse({ ...use, outcome, output: textOf(result["output"]) });
    running = null;
  };

  return {
    takePart(part) {
      const code = fieldsOf(part["executableCode"]);
      if (code) {
        running = uses.length;
        return [begin("code_execution", textOf(code["code"]))];
      }
      const result = fieldsOf(part["codeExecutionResult"]);
      if (result) settle(result);
      const asked = fieldsOf(fieldsOf(part["toolCall"])?.["args"]);
      return asked ? search([...listOf(asked["queries"]), asked["query"]]) : [];
    },
    takeGrounding(grounding) {
      const found = citationsIn(grounding);
      if (found.length > 0) citations = distinctCitations([...citations, ...found]);
      return search(listOf(grounding["webSearchQueries"]));
    },
    queries: () => queries.size,
    uses: () => uses,
    citations: () => citations,
  };
}

/** Each source with the first passage that rests on it. Supports name sources by their place in the same metadata. */
function citationsIn(grounding: Fields): Citation[] {
  const passages = new Map<unknown, string>();
  for (const support of listOf(grounding["groundingSupports"])) {
    const passage = textOf(fieldsOf(fieldsOf(support)?.["segment"])?.["text"]);
    for (const index of listOf(fieldsOf(support)?.["groundingChunkIndices"])) {
      if (!passages.has(index)) passages.set(index, passage);
    }
  }
  return listOf(grounding["groundingChunks"]).flatMap((chunk, index) => {
    const web = fieldsOf(fieldsOf(chunk)?.["web"]);
    const text = passages.get(index);
    return web
      ? [{ url: textOf(web["uri"]), title: textOf(web["title"]), ...(text && { text }) }]
      : [];
  });
}
