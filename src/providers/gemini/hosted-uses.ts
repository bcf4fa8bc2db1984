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
 * Collects the uses and the sources of hosted tools in one reply. `grow` receives the number of
 * characters that are stored.
 */
export function createHostedUses(grow: (chars: number) => void): HostedUses {
  const uses: HostedUse[] = [];
  const queries = new Set<string>();
  let citations: readonly Citation[] = [];
  /** Index of the code execution in `uses` that has no result yet; `null` if there is none. */
  let runningIndex: number | null = null;

  const addUse = (name: HostedToolName, input: string): ModelEvent => {
    if (uses.length < MAX_HOSTED_USES)
      uses.push(shortUse({ name, input, outcome: "ok", output: "" }));
    return { type: "hosted_tool", name, text: input };
  };
  const addSearches = (found: readonly unknown[]): ModelEvent[] => {
    const newQueries = [...new Set(found.map(textOf))].filter(
      (query) => query !== "" && !queries.has(query),
    );
    for (const query of newQueries) {
      grow(query.length);
      queries.add(query);
    }
    return newQueries.map((query) => addUse("web_search", query));
  };
  const storeResult = (result: Fields): void => {
    const use = runningIndex === null ? undefined : uses[runningIndex];
    if (runningIndex === null || !use) return;
    const outcome = result["outcome"] === "OUTCOME_OK" ? "ok" : "error";
    uses[runningIndex] = shortUse({ ...use, outcome, output: textOf(result["output"]) });
    runningIndex = null;
  };

  return {
    takePart(part) {
      const code = fieldsOf(part["executableCode"]);
      if (code) {
        runningIndex = uses.length;
        return [addUse("code_execution", textOf(code["code"]))];
      }
      const result = fieldsOf(part["codeExecutionResult"]);
      if (result) storeResult(result);
      const searchArguments = fieldsOf(fieldsOf(part["toolCall"])?.["args"]);
      return searchArguments
        ? addSearches([...listOf(searchArguments["queries"]), searchArguments["query"]])
        : [];
    },
    takeGrounding(grounding) {
      const found = citationsIn(grounding);
      if (found.length > 0) citations = distinctCitations([...citations, ...found]);
      return addSearches(listOf(grounding["webSearchQueries"]));
    },
    queries: () => queries.size,
    uses: () => uses,
    citations: () => citations,
  };
}

/**
 * Each source with the first passage that cites it. Each entry of `groundingSupports` refers to
 * sources by their index in `groundingChunks`.
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
