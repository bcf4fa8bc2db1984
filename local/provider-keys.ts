import { parseEnv } from "node:util";
import { hostById } from "../src/providers/hosts";
import { BACKEND_TYPES, KEY_NAMES, type KeyReport } from "../src/providers/registry";

/** Names of the provider keys that are set in a file of variables. */
export function keysIn(text: string): string[] {
  const variables = parseEnv(text);
  return KEY_NAMES.filter((name) => variables[name]?.trim());
}

/** Sentences for the terminal: which keys are set, and how to add a key. */
export function describeKeys(report: readonly KeyReport[], place = ".dev.vars"): string[] {
  const listed = report.filter((entry) => entry.set || wantsKey(entry));
  const set = listed
    .filter((entry) => entry.set)
    .map(({ name, type }) => `${name} (type: ${type})`);
  const [missing] = listed.filter((entry) => !entry.set);
  const missingName = missing?.keyNames[0];
  return [
    set.length > 0
      ? `Provider keys are set for: ${set.join(", ")}.`
      : `No provider key is set in ${place}: only local models are available.`,
    ...(missingName === undefined
      ? []
      : [
          `To add a key, write a line such as ${missingName}="…" into ${place} and restart the service. All names: docs/reference/providers.md`,
        ]),
  ];
}

function wantsKey({ type, keyNames }: KeyReport): boolean {
  const facts = BACKEND_TYPES[type];
  const host = facts?.served ? facts.host : null;
  return keyNames.length > 0 && !(host !== null && hostById(host).keyOptional);
}
