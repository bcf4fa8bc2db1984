import type { HostedToolName, HostedUse } from "../../protocol/hosted-tools";
import { type Fields, fieldsOf, listOf, partsOf, textOf } from "./schema";
import type { ModelEvent } from "../provider";

/** Output items of tools that the provider ran itself. */

const HOSTED_NAMES: Readonly<Record<string, HostedToolName>> = {
  web_search_call: "web_search",
  x_search_call: "x_search",
  code_interpreter_call: "code_execution",
  code_execution_call: "code_execution",
};

/**
 * The hosted tool of an item; `null` if the item is not one of a hosted tool. We offer no custom
 * tools, so a custom call is a call of a hosted tool.
 */
export function hostedNameOf(item: Fields): HostedToolName | null {
  const type = textOf(item["type"]);
  if (type !== "custom_tool_call")
    return Object.hasOwn(HOSTED_NAMES, type) ? (HOSTED_NAMES[type] ?? null) : null;
  const tool = textOf(item["name"]);
  if (/^(view_)?x_/.test(tool)) return "x_search";
  return /code/.test(tool) ? "code_execution" : "web_search";
}

/** The input of the tool: a query, a URL or code. */
function hostedInput(item: Fields): string {
  return (
    textOf(item["code"]) ||
    textOf(item["input"]) ||
    actionText(fieldsOf(item["action"])) ||
    textOf(item["arguments"])
  );
}

function actionText(action: Fields): string {
  const queries = listOf(action["queries"]).map(textOf).filter(Boolean);
  const subject = textOf(action["query"]) || queries.join("\n") || textOf(action["pattern"]);
  return [subject, textOf(action["url"])].filter(Boolean).join(" in ");
}

export function hostedUse(name: HostedToolName, item: Fields): HostedUse {
  const sources = listOf(fieldsOf(item["action"])["sources"]).map((source) =>
    textOf(fieldsOf(source)["url"]),
  );
  const logs = partsOf(item["outputs"], "logs").map((part) => textOf(part["logs"]));
  return {
    name,
    input: hostedInput(item),
    outcome: item["status"] === "failed" ? "error" : "ok",
    output: [...sources, ...logs].filter(Boolean).join("\n"),
  };
}

/**
 * Number of charged uses. A web search tool has several actions; only the action `search` is
 * charged. Code is charged once per container if the provider names the container.
 */
export function countUses(items: readonly Fields[]): Partial<Record<HostedToolName, number>> {
  const charged = new Map<HostedToolName, Set<unknown>>();
  for (const item of items) {
    const name = hostedNameOf(item);
    if (!name || item["status"] === "failed" || !isCharged(item)) continue;
    charged.set(name, (charged.get(name) ?? new Set()).add(item["container_id"] ?? item));
  }
  return Object.fromEntries([...charged].map(([name, uses]) => [name, uses.size]));
}

const isCharged = (item: Fields): boolean =>
  ["search", ""].includes(textOf(fieldsOf(item["action"])["type"]));

/**
 * The item in the form in which it is stored and sent back. Pictures that code has drawn are
 * removed: they are large, and the model does not see them.
 */
export function returnedHostedItem(item: Fields): Fields {
  return Array.isArray(item["outputs"])
    ? { ...item, outputs: partsOf(item["outputs"], "logs") }
    : item;
}

/**
 * An item whose input is shown while it is streamed. `id` is "" if there is none or an earlier call
 * has the same id. `isShown`: whether a part of the input was shown already, so that it is not
 * shown twice.
 */
type LiveItem = (
  | { type: "call"; index: number; name: string; id: string }
  | { type: "hosted"; name: HostedToolName }
) & {
  isShown: boolean;
};

export type LiveItems = {
  begin(position: number, item: Fields): ModelEvent[];
  delta(position: number, text: string): ModelEvent[];
  done(position: number, item: Fields): ModelEvent[];
};

/**
 * Shows the inputs of calls and hosted tools while they are streamed. With `isResumed`, the
 * beginning of an item may have been shown before the interruption. So only items whose beginning
 * arrives in this stream are shown.
 */
export function createLiveItems(isResumed: boolean): LiveItems {
  const items = new Map<number, LiveItem>();
  const ids = new Set<string>();
  let calls = 0;

  const begin = (position: number, item: Fields): void => {
    const hosted = hostedNameOf(item);
    if (hosted) items.set(position, { type: "hosted", name: hosted, isShown: false });
    if (item["type"] !== "function_call") return;
    const id = textOf(item["call_id"]);
    items.set(position, {
      type: "call",
      index: calls,
      name: textOf(item["name"]),
      id: ids.has(id) ? "" : id,
      isShown: false,
    });
    ids.add(id);
    calls += 1;
  };
  const show = (live: LiveItem, text: string): ModelEvent[] => {
    if (text === "") return [];
    live.isShown = true;
    if (live.type === "call") {
      const { index, name, id } = live;
      return [{ type: "tool_arguments", index, name, ...(id !== "" && { id }), text }];
    }
    return [{ type: "hosted_tool", name: live.name, text }];
  };
  /**
   * Shows the complete input, if no part of it was shown. Queries arrive complete, at the beginning
   * or the end of the item. Arguments and code arrive in pieces, or only at the end.
   */
  const showCompleteInput = (position: number, item: Fields): ModelEvent[] => {
    const live = items.get(position);
    if (!live || live.isShown) return [];
    return show(live, live.type === "call" ? textOf(item["arguments"]) : hostedInput(item));
  };

  return {
    begin(position, item) {
      begin(position, item);
      return item["type"] === "web_search_call" ? showCompleteInput(position, item) : [];
    },
    delta(position, text) {
      const live = items.get(position);
      return live ? show(live, text) : [];
    },
    done(position, item) {
      if (!items.has(position) && !isResumed) begin(position, item);
      const events = showCompleteInput(position, item);
      items.delete(position);
      return events;
    },
  };
}
