import { z } from "zod";
import { type EventType, SessionEventSchema } from "../../src/protocol/events";
import { EVENT_MEANINGS } from "./event-meanings";
import { code, page, sentence, table } from "./markdown";
import { type Shape, ShapeSchema } from "./schema";
import { typeText } from "./shape-text";

const INTRO = `Every event of a session's log. The event stream (\`GET /api/sessions/{id}/events\`) and the pages of the
same route carry exactly these. On the wire each event also has \`sequence_number\` (from 1, without gaps; it is the SSE id)
and \`session_id\`. Clients must ignore fields and types that they do not know: both are added over time, and neither is
renamed or removed.`;

export function eventsPage(): string {
  const root = shapeOf(SessionEventSchema);
  const shapes = new Map(
    SessionEventSchema.options.map((of) => [of.shape.type.value, shapeOf(of)]),
  );
  const types = Object.keys(EVENT_MEANINGS).filter(isType);
  return page(
    "# Events",
    INTRO,
    table(
      ["Type", "Meaning"],
      types.map((type) => [`[${code(type)}](#${anchor(type)})`, EVENT_MEANINGS[type]]),
    ),
    ...types.flatMap((type) => [
      `<a id="${anchor(type)}"></a>\n\n### ${code(type)}`,
      EVENT_MEANINGS[type],
      fieldTable(shapes.get(type) ?? {}),
    ]),
    "## Shared types",
    ...Object.entries(root.$defs ?? {}).flatMap(([name, shape]) => [
      `<a id="type-${name.toLowerCase()}"></a>\n\n### ${name}`,
      shape.properties ? fieldTable(shape) : `Type: ${typeText(shape, link)}.`,
    ]),
  );
}

const isType = (text: string): text is EventType => text in EVENT_MEANINGS;
const anchor = (type: string): string => type.replace(/[._]/g, "-");
const link = (name: string): string =>
  name.startsWith("__") ? "DeltaItem" : `[${name}](#type-${name.toLowerCase()})`;
const shapeOf = (schema: z.ZodType): Shape =>
  ShapeSchema.parse(z.toJSONSchema(schema, { io: "output", unrepresentable: "any" }));

function fieldTable(shape: Shape): string {
  const required = shape.required ?? [];
  const rows = Object.entries(shape.properties ?? {})
    .filter(([name]) => name !== "type")
    .map(([name, field]) => [
      `${code(name)}${required.includes(name) ? "" : ", optional"}`,
      typeText(inlined(field, shape), link),
      sentence(field.description ?? ""),
    ]);
  return table(["Field", "Type", "Meaning"], rows);
}

/** A definition without a name of its own is shown in place of its reference. */
function inlined(field: Shape, { $defs = {} }: Shape): Shape {
  const target = (field.$ref ?? "").split("/").at(-1) ?? "";
  return target.startsWith("__") ? { ...$defs[target], description: field.description } : field;
}
