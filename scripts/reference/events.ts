import * as z from "zod";
import { type EventType, SessionEventSchema } from "../../src/protocol/events";
import { EVENT_MEANINGS } from "./event-meanings";
import { fieldRows } from "./field-rows";
import { code, page, table } from "./markdown";
import { type Shape, ShapeSchema } from "./schema";
import { typeText } from "./shape-text";

const INTRO = `Every event of a session's log. The event stream (\`GET /api/sessions/{id}/events\`) and the pages of the
same route return exactly these events. On the wire each event also has \`sequence_number\` (from 1, without gaps; it is the SSE id)
and \`session_id\`. Clients must ignore fields and types that they do not know: later versions add fields and types,
and rename or remove none.`;

export function eventsPage(): string {
  const root = shapeOf(SessionEventSchema);
  const shapes = new Map(
    SessionEventSchema.options.map((option) => [option.shape.type.value, shapeOf(option)]),
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
const link = (name: string): string => `[${name}](#type-${name.toLowerCase()})`;
const shapeOf = (schema: z.ZodType): Shape =>
  ShapeSchema.parse(z.toJSONSchema(schema, { io: "output", unrepresentable: "any" }));

function fieldTable({ properties = {}, ...shape }: Shape): string {
  const { type: _, ...fields } = properties;
  return table(["Field", "Type", "Meaning"], fieldRows({ ...shape, properties: fields }, link));
}
