import { code } from "./markdown";
import type { Shape } from "./schema";

/** Turns the end of a `$ref` into the text of a link to that schema. */
export type Link = (name: string) => string;

/** Describes the type of a value in a few words. */
export function typeText(shape: Shape, link: Link): string {
  if (shape.$ref !== undefined) return link(shape.$ref.split("/").at(-1) ?? "");
  if (shape.const !== undefined) return code(JSON.stringify(shape.const));
  if (shape.enum) return shape.enum.map((value) => code(JSON.stringify(value))).join(" or ");
  // If the shape also has a type, its alternatives only restrict the value.
  const parts = shape.type === undefined ? (shape.oneOf ?? shape.anyOf) : undefined;
  if (parts) return [...new Set(parts.map((part) => typeText(part, link)))].join(" or ");
  if (shape.allOf) return shape.allOf.map((part) => typeText(part, link)).join(" and ");
  const types = [shape.type ?? "any"].flat();
  if (types.includes("array")) return listText(types, shape, link);
  const { additionalProperties } = shape;
  if (types.includes("object") && typeof additionalProperties === "object")
    return `map of ${typeText(additionalProperties, link)}`;
  return `${types.join(" or ")}${boundsText(shape)}`;
}

function listText(types: readonly string[], { items }: Shape, link: Link): string {
  const list = `list of ${items ? typeText(items, link) : "any"}`;
  return types.includes("null") ? `${list} or null` : list;
}

function boundsText({ minimum, maximum, maxLength }: Shape): string {
  const isRestriction = (bound: number | undefined) =>
    bound !== undefined && Math.abs(bound) !== Number.MAX_SAFE_INTEGER;
  const bounds = [
    isRestriction(minimum) ? `from ${minimum}` : "",
    isRestriction(maximum) ? `to ${maximum}` : "",
    maxLength === undefined ? "" : `at most ${maxLength} characters`,
  ].filter((bound) => bound !== "");
  return bounds.length === 0 ? "" : ` (${bounds.join(" ")})`;
}
