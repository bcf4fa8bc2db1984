import { sha256 } from "../../local/sha256";

/** JSON with sorted keys, so that equal data has equal text independent of insertion order. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

/** SHA-256 of the canonical JSON, in hex. Equal states have equal hashes. */
export const stateHash = (state: unknown): string => sha256(canonicalJson(state));
