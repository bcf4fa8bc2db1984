import { ArgumentSchema } from "./schema";

/**
 * Arguments that match a tool's JSON Schema, for tools whose content does not matter. A list of
 * objects with an enum of names gets one entry per name.
 */
export function madeUpArguments(parameters: unknown): Record<string, unknown> {
  const schema = ArgumentSchema.safeParse(parameters);
  return schema.success ? objectFor(schema.data, {}) : {};
}

function objectFor(
  schema: ArgumentSchema,
  fixed: Record<string, unknown>,
): Record<string, unknown> {
  const properties = Object.entries(schema.properties ?? {});
  return Object.fromEntries(
    properties.map(([name, property]) => [name, fixed[name] ?? valueFor(property)]),
  );
}

function valueFor(schema: ArgumentSchema): unknown {
  if (schema.enum) return schema.enum[0];
  switch (schema.type) {
    case "object":
      return objectFor(schema, {});
    case "array":
      return schema.items ? entriesFor(schema.items) : [];
    case "boolean":
      return true;
    case "integer":
    case "number":
      return 1;
    default:
      return "A careful engineer who checks every number twice.";
  }
}

function entriesFor(items: ArgumentSchema): unknown[] {
  const named = Object.entries(items.properties ?? {}).find(([, property]) => property.enum);
  if (!named) return [valueFor(items)];
  const [name, { enum: everyone = [] }] = named;
  return everyone.map((one) => objectFor(items, { [name]: one }));
}
