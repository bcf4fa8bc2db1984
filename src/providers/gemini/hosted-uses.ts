import type { Citation, HostedToolName, HostedUse } from "../../protocol/hosted-tools";
import { distinctCitations, shortUse } from "../hosted";
import { MAX_HOSTED_USES } from "../call-limits";
import type { ModelEvent } from "../provider";
import { type Fields, fieldsOf, listOf, textOf } from "./schema";

type HostedUses = {
  /** Processes a part with a call or a result of a hosted tool; returns events with its input. */
  takePart(part: Fields): ModelEvent[];
  /** Processes grounding metadata; returns events for queries not seen before. */
  takeGrounding(grounding: Fields): ModelEvent[];
  /** Number of distinct queries so far. */
  queries(): number;
  uses(): readonly HostedUse[];
  citations(): readonly Citation[];
};

/** The hosted tool of a part; `null` for other parts. */
export function hostedToolOf(part: Fields): HostedToolName | null {
  if (part["executableCode"] || part["codeExecutionResult"] || part["inlineData"])
    return "code_execution";
  if (part["toolCall"] || part["toolResponse"]) return "web_search";
  return null;
}

/**
 * Collects the uses of hosted tools in one reply, and its sources. `grow` receives the number of
 * characters kept.
 */
export function createHostedUses(grow: (chars: number) => void): HostedUses {
  const uses: HostedUse[] = [];
  const queries = new Set<string>();
  let citations: readonly Citation[] = [];
  /** Index of the code that waits for its result; `null` if there is none. */
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

/**
 * Each source with the first passage that cites it. Supports refer to sources by index in the same
 * metadata.
 */
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
