import { typeOfModel } from "../providers/models";
import { BACKEND_TYPES, SERVED_TYPES, type ServedType } from "../providers/registry";
import type { Section } from "./fields";
import { nearest } from "./nearest";

/**
 * The backend type of a section, or of its model's name if no type is given. `null`, with an error,
 * if it is not supported.
 */
export function readType({
  path,
  values,
  findings,
}: Section): { name: string; facts: ServedType } | null {
  const at = [...path, "type"];
  const type = values.get("type");
  const isMissing = type === undefined || type === null;
  const written = isMissing ? ofModel(values.get("model")) : type;
  if (typeof written !== "string") {
    const problem = isMissing
      ? "type is missing, and the model's name does not identify a backend type"
      : "type must be the name of a backend type";
    const detail = `${problem}. ${SUPPORTED}`;
    findings.error(isMissing ? "missing" : "wrong_type", isMissing ? [...path] : at, detail);
    return null;
  }
  const facts = Object.hasOwn(BACKEND_TYPES, written) ? BACKEND_TYPES[written] : undefined;
  if (facts?.served) return { name: written, facts };
  if (facts) {
    const say = () =>
      `Backend type \`${written}\` (${facts.name}) is not supported: ${facts.instead}.`;
    findings.refuse({ need: needOf(facts.name), path: at, target: "value", subject: written, say });
    return null;
  }
  const meant = typeAt(written.toLowerCase()) ?? nearest(written, Object.keys(BACKEND_TYPES));
  const help = meant ? `Did you mean \`${meant}\`?` : SUPPORTED;
  findings.error("out_of_range", at, `Unknown backend type. ${help}`);
  return null;
}

const SUPPORTED = `Supported types: ${SERVED_TYPES.join(", ")}.`;

const ofModel = (model: unknown): string | null =>
  typeof model === "string" ? typeOfModel(model.trim()) : null;

/** Accepts a provider's name for its type. */
const typeAt = (provider: string): string | null =>
  Object.entries(BACKEND_TYPES).find(([, type]) => type.served && type.host === provider)?.[0] ??
  null;

/** Normalized, so that spellings of a type count as one need. */
const needOf = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_");
