import type { HostedToolName, HostedUse } from "../../protocol/hosted-tools";
import { type Fields, fieldsOf, listOf, partsOf, textOf } from "./schema";

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
export function hostedInput(item: Fields): string {
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
