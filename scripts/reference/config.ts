import { teamSchema } from "../../src/config/json-schema";
import { code, page, sentence, table } from "./markdown";
import { type Shape, ShapeSchema } from "./schema";
import { typeText } from "./shape-text";

const INTRO = `Every key of a team file, from the tables that the service uses to check configs. Editors can use the same data as
[configs/team.schema.json](../../configs/team.schema.json). How to write a team: [the guide](../guides/team.md).
Parameters of models (\`temperature\`, \`max_tokens\` …) differ by wire format: [providers](providers.md#parameters).

A key in none of these tables is an error, with line and column. Keys under "Ignored" are accepted and have no effect.
Keys under "Not supported" are refused unless their value switches the feature off ([values](#off)).`;

/** The sections of the page. `path` is the place of a section in the JSON schema. */
const SECTIONS: readonly { title: string; path: string }[] = [
  { title: "Top level", path: "" },
  { title: "agents", path: "$defs.agent" },
  { title: "agents.backend", path: "$defs.backend" },
  { title: "orchestrator", path: "properties.orchestrator" },
  {
    title: "orchestrator.coordination",
    path: "properties.orchestrator.properties.coordination",
  },
  {
    title: "orchestrator.coordination.persona_generator",
    path: "properties.orchestrator.properties.coordination.properties.persona_generator",
  },
  { title: "timeout_settings", path: "properties.timeout_settings" },
  { title: "ui", path: "properties.ui" },
  { title: "rate_limits", path: "$defs.rate-limits" },
  { title: "context_paths", path: "$defs.contexts.items.anyOf.1" },
  { title: "custom_tools", path: "$defs.custom-tools.anyOf.0.items.anyOf.2" },
  { title: "mcp_servers", path: "$defs.mcp-servers.anyOf.0.items" },
  { title: "mcp_servers.auth", path: "$defs.mcp-servers.anyOf.0.items.properties.auth" },
];

/** The anchor of the section that explains a type, by the name of the type in the JSON schema. */
const TYPE_SECTIONS: Readonly<Record<string, string>> = {
  agent: "agents",
  backend: "agentsbackend",
  "rate-limits": "rate_limits",
  contexts: "context_paths",
  "custom-tools": "custom_tools",
  "mcp-servers": "mcp_servers",
  off: "off",
};

const OFF = `The value of a key of type \`off\` switches a feature off: \`false\`, \`null\`, an empty list, an empty mapping, or a
mapping with \`enabled: false\`.`;

const IGNORED = /^Ignored: /;
const REFUSED = /^Not supported: /;

export function configPage(): string {
  const root: unknown = JSON.parse(JSON.stringify(teamSchema()));
  return page(
    "# Config",
    INTRO,
    ...SECTIONS.flatMap(({ title, path }) => [
      `## ${path === "" ? title : code(title)}`,
      ...sectionBlocks(ShapeSchema.parse(valueAt(root, path)), ShapeSchema.parse(root)),
    ]),
    "## `off`",
    OFF,
  );
}

const valueAt = (value: unknown, path: string): unknown =>
  path === ""
    ? value
    : path
        .split(".")
        .reduce<unknown>(
          (node, key) =>
            typeof node === "object" && node !== null ? Reflect.get(node, key) : undefined,
          value,
        );

function sectionBlocks({ properties = {} }: Shape, { $defs = {} }: Shape): string[] {
  const entries = Object.entries(properties).map(([key, shape]): [string, Shape] => {
    const target = $defs[(shape.$ref ?? "").split("/").at(-1) ?? ""];
    return [key, { ...shape, description: shape.description ?? target?.description }];
  });
  const entriesWith = (pattern: RegExp) =>
    entries.filter(([, { description }]) => pattern.test(description ?? ""));
  const [ignored, refused] = [entriesWith(IGNORED), entriesWith(REFUSED)];
  const supported = entries.filter((entry) => !ignored.includes(entry) && !refused.includes(entry));
  return [
    table(["Key", "Type", "Default", "Meaning"], supported.map(keyRow)),
    ...(ignored.length === 0
      ? []
      : ["Ignored:", table(["Key", "Reason"], ignored.map(rowWithoutPrefix(IGNORED)))]),
    ...(refused.length === 0
      ? []
      : [
          "Not supported:",
          table(["Key", "Feature and remedy"], refused.map(rowWithoutPrefix(REFUSED))),
        ]),
  ];
}

function linkToSection(name: string): string {
  const section = TYPE_SECTIONS[name];
  if (section === undefined) throw new Error(`The page about configs does not explain ${name}.`);
  return `[${code(name)}](#${section})`;
}

const keyRow = ([key, shape]: [string, Shape]): string[] => [
  code(key),
  typeText(shape, linkToSection),
  shape.default === undefined ? "" : code(JSON.stringify(shape.default)),
  sentence(shape.description ?? ""),
];

const rowWithoutPrefix =
  (prefix: RegExp) =>
  ([key, { description = "" }]: [string, Shape]): string[] => [
    code(key),
    sentence(description.replace(prefix, "")),
  ];
