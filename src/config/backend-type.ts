import { typeOfModel } from "../providers/models";
import { BACKEND_TYPES, SERVED_TYPES, type ServedType } from "../providers/registry";
import type { Section } from "./fields";
import { nearest } from "./nearest";

/**
 * The backend type of a section. If the section has no type, the model's name determines the type.
 * Reports an unsupported type and returns `null`.
 */
export function readType({
  path,
  values,
  findings,
}: Section): { name: string; facts: ServedType } | null {
  const typePath = [...path, "type"];
  const type = values.get("type");
  const isMissing = type === undefined || type === null;
  const name = isMissing ? typeNameOf(values.get("model")) : type;
  if (typeof name !== "string") {
    const problem = isMissing
      ? "type is missing, and the model's name does not identify a backend type"
      : "type must be the name of a backend type";
    const detail = `${problem}. ${SUPPORTED}`;
    findings.error(isMissing ? "missing" : "wrong_type", isMissing ? [...path] : typePath, detail);
    return null;
  }
  const facts = Object.hasOwn(BACKEND_TYPES, name) ? BACKEND_TYPES[name] : undefined;
  if (facts?.served) return { name, facts };
  if (facts) {
    const say = () =>
      `Backend type \`${name}\` (${facts.name}) is not supported: ${facts.instead}.`;
    findings.refuse({
      need: needOf(facts.name),
      path: typePath,
      target: "value",
      subject: name,
      say,
    });
    return null;
  }
  const meant = typeOfProvider(name.toLowerCase()) ?? nearest(name, Object.keys(BACKEND_TYPES));
  const help = meant ? `Did you mean \`${meant}\`?` : SUPPORTED;
  findings.error("out_of_range", typePath, `Unknown backend type. ${help}`);
  return null;
}

const SUPPORTED = `Supported types: ${SERVED_TYPES.join(", ")}.`;

const typeNameOf = (model: unknown): string | null =>
  typeof model === "string" ? typeOfModel(model.trim()) : null;

/** The backend type for a provider's name, which users write by mistake. */
const typeOfProvider = (provider: string): string | null =>
  Object.entries(BACKEND_TYPES).find(([, type]) => type.served && type.host === provider)?.[0] ??
  null;

/** The id of the missing feature. It is normalized, so that spellings of a type are one refusal. */
const needOf = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_");
