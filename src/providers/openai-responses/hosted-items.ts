import type { HostedToolName, HostedUse } from "../../protocol/hosted-tools";
import { type Fields, fieldsOf, listOf, partsOf, textOf } from "./schema";
import type { ModelEvent } from "../provider";

/** Output items about tools that the provider ran itself. */

const NAMES: Readonly<Record<string, HostedToolName>> = {
  web_search_call: "web_search",
  x_search_call: "x_search",
  code_interpreter_call: "code_execution",
  code_execution_call: "code_execution",
};

/**
 * The hosted tool of an item; `null` if it is not one of ours. We offer no custom tools, so a
 * custom call is the provider's.
 */
export function hostedNameOf(item: Fields): HostedToolName | null {
  const type = textOf(item["type"]);
  if (type !== "custom_tool_call") return Object.hasOwn(NAMES, type) ? (NAMES[type] ?? null) : null;
  const tool = textOf(item["name"]);
  if (/^(view_)?x_/.test(tool)) return "x_search";
  return /code/.test(tool) ? "code_execution" : "web_search";
}

/** The input of the tool: a query, an address or code. */
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
  const asked = textOf(action["query"]) || queries.join("\n") || textOf(action["pattern"]);
  return [asked, textOf(action["url"])].filter(Boolean).join(" in ");
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
 * Number of charged uses. Of a search's actions only the search itself is charged. Code is charged
 * once per container, if the provider identifies it.
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
 * The item as it is stored and sent back. Pictures drawn by code are removed: they are large, and
 * the model does not see them.
 */
export function returnedHostedItem(item: Fields): Fields {
  return Array.isArray(item["outputs"])
    ? { ...item, outputs: partsOf(item["outputs"], "logs") }
    : item;
}

/**
 * `id` is "" if there is none or an earlier call has it. `sent`: whether part of the input was
 * shown already, so that it is not shown twice.
 */
type Live = (
  | { type: "call"; index: number; name: string; id: string }
  | { type: "hosted"; name: HostedToolName }
) & {
  sent: boolean;
};

export type LiveItems = {
  begin(position: number, item: Fields): ModelEvent[];
  delta(position: number, text: string): ModelEvent[];
  done(position: number, item: Fields): ModelEvent[];
};

/**
 * Shows the inputs of calls and hosted tools while they are streamed. `resumed`: the start of an
 * item may have been shown before, so only items whose start was seen are shown.
 */
export function createLiveItems(resumed: boolean): LiveItems {
  const items = new Map<number, Live>();
  const ids = new Set<string>();
  let calls = 0;

  const begin = (position: number, item: Fields): void => {
    const hosted = hostedNameOf(item);
    if (hosted) items.set(position, { type: "hosted", name: hosted, sent: false });
    if (item["type"] !== "function_call") return;
    const id = textOf(item["call_id"]);
    items.set(position, {
      type: "call",
      index: calls,
      name: textOf(item["name"]),
      id: ids.has(id) ? "" : id,
      sent: false,
    });
    ids.add(id);
    calls += 1;
  };
  const show = (live: Live, text: string): ModelEvent[] => {
    if (text === "") return [];
    live.sent = true;
    if (live.type === "call") {
      const { index, name, id } = live;
      return [{ type: "tool_arguments", index, name, ...(id !== "" && { id }), text }];
    }
    return [{ type: "hosted_tool", name: live.name, text }];
  };
  /**
   * Queries arrive whole, with the item or at its end. Arguments and code arrive in pieces, or only
   * at the end.
   */
  const showWhole = (position: number, item: Fields): ModelEvent[] => {
    const live = items.get(position);
    if (!live || live.sent) return [];
    return show(live, live.type === "call" ? textOf(item["arguments"]) : hostedInput(item));
  };

  return {
    begin(position, item) {
      begin(position, item);
      return item["type"] === "web_search_call" ? showWhole(position, item) : [];
    },
    delta(position, text) {
      const live = items.get(position);
      return live ? show(live, text) : [];
    },
    done(position, item) {
      if (!items.has(position) && !resumed) begin(position, item);
      const events = showWhole(position, item);
      items.delete(position);
      return events;
    },
  };
}
