import type { HostedToolName, HostedUse } from "../../protocol/hosted-tools";
import { type Fields, fieldsOf, listOf, partsOf, textOf } from "./schema";
import type { ModelEvent } from "../provider";

/** Items of a reply's output that tell of tools the provider ran itself. */

const NAMES: Readonly<Record<string, HostedToolName>> = {
  web_search_call: "web_search",
  x_search_call: "x_search",
  code_interpreter_call: "code_execution",
  code_execution_call: "code_execution",
};

/** Which of our hosted tools the item is a use of; null: of none. We offer no custom tools, so a call of one is the provider's. */
export function hostedNameOf(item: Fields): HostedToolName | null {
  const type = textOf(item["type"]);
  if (type !== "custom_tool_call") return Object.hasOwn(NAMES, type) ? (NAMES[type] ?? null) : null;
  const tool = textOf(item["name"]);
  if (/^(view_)?x_/.test(tool)) return "x_search";
  return /code/.test(tool) ? "code_execution" : "web_search";
}

/** What the tool was asked: a query, an address, code. */
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
 * How many uses are charged. Of what a search does, only searching is; code is charged once for the container it runs in,
 * where the provider tells them apart.
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

/** The item as it is kept and goes back. Pictures that code drew stay out: they are large, and the model does not see them. */
export function returnedHostedItem(item: Fields): Fields {
  return Array.isArray(item["outputs"])
    ? { ...item, outputs: partsOf(item["outputs"], "logs") }
    : item;
}

/** `id`: "" if there is none, or an earlier call has it. `sent`: whether anything of what it asks was shown already, so that it is not shown twice. */
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
 * What a reply's calls and hosted tools ask, shown as it is written. `resumed`: the beginning of what is under way may have
 * been shown before, so an item is followed only from a beginning that was seen.
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
  /** Queries come whole, with the item or only at its end; arguments and code come in pieces, or only at the end. */
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
