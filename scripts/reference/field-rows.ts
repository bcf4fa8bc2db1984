import { code, sentence } from "./markdown";
import type { Shape } from "./schema";
import { type Link, typeText } from "./shape-text";

/** The prefix of the names of fields, and the condition under which an object has these fields. */
type Place = { prefix: string; condition: string };

/**
 * The rows of a table with the fields of an object: name, type, meaning. If the type of a field is
 * an unnamed object, the fields of this object follow, with names such as `links.turn` or
 * `requests[].kind`.
 */
export function fieldRows(
  { properties = {}, required = [] }: Shape,
  link: Link,
  { prefix, condition }: Place = { prefix: "", condition: "" },
): string[][] {
  return Object.entries(properties).flatMap(([name, field]) => [
    [
      `${code(`${prefix}${name}`)}${required.includes(name) ? "" : ", optional"}${condition}`,
      typeText(field, link),
      sentence(field.description ?? ""),
    ],
    ...innerRows(field, link, { prefix: `${prefix}${name}`, condition }),
  ]);
}

/** Rows of an unnamed object, of the items of a list, of the values of a map, or of variants. */
function innerRows(field: Shape, link: Link, { prefix, condition }: Place): string[][] {
  const { oneOf, anyOf = [], items, additionalProperties } = field;
  if (field.properties) return fieldRows(field, link, { prefix: `${prefix}.`, condition });
  if (items) return innerRows(items, link, { prefix: `${prefix}[]`, condition });
  if (typeof additionalProperties === "object")
    return innerRows(additionalProperties, link, { prefix: `${prefix}.*`, condition });
  return (oneOf ?? anyOf).flatMap((variant) =>
    innerRows(variant, link, { prefix, condition: conditionOf(variant, link) || condition }),
  );
}

/**
 * The condition of a variant, such as `, if type is "image"`. It names the constant field that
 * selects the variant. Returns "" if the variant has no constant field.
 */
function conditionOf({ properties = {} }: Shape, link: Link): string {
  const [name, field] =
    Object.entries(properties).find(
      ([, value]) => value.const !== undefined || value.enum?.length === 1,
    ) ?? [];
  return name && field ? `, if ${code(name)} is ${typeText(field, link)}` : "";
}
