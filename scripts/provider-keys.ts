import { readFile } from "node:fs/promises";
import { parseEnv } from "node:util";
import { hostById } from "../src/providers/hosts";
import { BACKEND_TYPES, KEY_NAMES, type KeyReport, keyReport } from "../src/providers/registry";

/** Which providers these files of variables hold keys for, and how to set the others; in sentences for the terminal. */
export async function reportKeys(files: readonly string[]): Promise<string[]> {
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8").catch(() => "")));
  return describeKeys(keyReport(keysIn(texts.join("\n"))), files.join(", "));
}

/** Names of the provider keys that a file of variables sets. */
export function keysIn(text: string): string[] {
  const variables = parseEnv(text);
  return KEY_NAMES.filter((name) => variables[name]?.trim());
}

/** What the keys open, what the missing ones are called, and where they go. */
export function describeKeys(report: readonly KeyReport[], place = ".dev.vars"): string[] {
  const wanted = report.filter((entry) => entry.set || wantsKey(entry));
  const set = wanted.filter((entry) => entry.set).map(({ name, type }) => `${name} (type: ${type})`);
  const missing = wanted.filter((entry) => !entry.set).map(({ type, keyNames }) => `${type} ${keyNames[0]}`);
  const [first = ""] = wanted.filter((entry) => !entry.set).flatMap(({ keyNames }) => keyNames);
  return [
    set.length > 0
      ? `Provider keys are set for: ${set.join(", ")}.`
      : `No provider key is set in ${place}: only endpoints of your own can be asked.`,
    ...(missing.length === 0
      ? []
      : [
          `Not set, by type: ${missing.join(", ")}. A run that needs one of them is refused before it starts.`,
          `To set one: a line such as ${first}="…" in ${place}; for a deployment, npx wrangler secret put ${first}.`,
        ]),
  ];
}

function wantsKey({ type, keyNames }: KeyReport): boolean {
  const facts = BACKEND_TYPES[type];
  const host = facts?.served ? facts.host : null;
  return keyNames.length > 0 && !(host !== null && hostById(host).keyOptional);
}
