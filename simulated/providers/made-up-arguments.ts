import { ArgumentSchema } from "./schema";

/**
 * Generates arguments that match a tool's JSON Schema. Their content has no meaning. If the objects
 * of a list have a property with an enum, the list gets one object for each value of the enum.
 */
export function madeUpArguments(parameters: unknown): Record<string, unknown> {
  const schema = ArgumentSchema.safeParse(parameters);
  return schema.success ? objectFor(schema.data, {}) : {};
}

function objectFor(
  schema: ArgumentSchema,
  fixedValues: Record<string, unknown>,
): Record<string, unknown> {
  const properties = Object.entries(schema.properties ?? {});
  return Object.fromEntries(
    properties.map(([name, property]) => [name, fixedValues[name] ?? valueFor(property)]),
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
  const enumProperty = Object.entries(items.properties ?? {}).find(([, property]) => property.enum);
  if (!enumProperty) return [valueFor(items)];
  const [name, { enum: values = [] }] = enumProperty;
  return values.map((value) => objectFor(items, { [name]: value }));
}
