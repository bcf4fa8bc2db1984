import { readFileSync } from "node:fs";
import * as config from "../../src/config/config-limits";
import { LIMITS } from "../../src/coordination/limits";
import * as evaluations from "../../src/evals/suite-limits";
import { ATTACHMENT_LIMITS } from "../../src/protocol/attachments";
import { SECRET_LIMITS } from "../../src/protocol/api/secrets";
import { CONTEXT_LIMITS } from "../../src/protocol/context-limits";
import * as providers from "../../src/providers/call-limits";
import { MOST_LIVE_KEYS } from "../../src/tenancy/keys";
import { FILE_TOOL_LIMITS } from "../../src/tools/files/file-limits";
import { JAVASCRIPT_LIMITS } from "../../src/tools/javascript/script-limits";
import * as mcp from "../../src/tools/mcp/server-limits";
import { SHELL_LIMITS } from "../../src/tools/shell/shell-limits";
import { PATH_LIMITS } from "../../src/workspace/paths";
import { FILES, KEY_CHECK_MS, STREAM } from "../../durable-objects/shared/object-limits";
import { commentsOf } from "./comments";
import { code, grouped, page, sentence, table } from "./markdown";

const INTRO = `Every limit, with the value in the code. Names are those of the source file. Limits that a team or an operator can
change are in [config](config.md) and [settings](settings.md).`;

type Group = { title: string; file: string; values: Readonly<Record<string, unknown>> };

const GROUPS: readonly Group[] = [
  { title: "Coordination", file: "src/coordination/limits.ts", values: LIMITS },
  { title: "Configs", file: "src/config/config-limits.ts", values: config },
  {
    title: "Files with a question",
    file: "src/protocol/attachments.ts",
    values: ATTACHMENT_LIMITS,
  },
  { title: "Contexts", file: "src/protocol/api/contexts.ts", values: CONTEXT_LIMITS },
  { title: "Workspaces", file: "durable-objects/shared/object-limits.ts", values: FILES },
  { title: "Paths", file: "src/workspace/paths.ts", values: PATH_LIMITS },
  { title: "File tools", file: "src/tools/files/file-limits.ts", values: FILE_TOOL_LIMITS },
  { title: "Shell", file: "src/tools/shell/shell-limits.ts", values: SHELL_LIMITS },
  { title: "JavaScript", file: "src/tools/javascript/script-limits.ts", values: JAVASCRIPT_LIMITS },
  { title: "Tool servers", file: "src/tools/mcp/server-limits.ts", values: mcp },
  { title: "Model calls", file: "src/providers/call-limits.ts", values: providers },
  {
    title: "Event streams",
    file: "durable-objects/shared/object-limits.ts",
    values: { ...STREAM, KEY_CHECK_MS },
  },
  { title: "Secrets", file: "src/protocol/api/secrets.ts", values: SECRET_LIMITS },
  { title: "Keys", file: "src/tenancy/keys.ts", values: { MOST_LIVE_KEYS } },
  { title: "Evaluations", file: "src/evals/suite-limits.ts", values: evaluations },
];

export function limitsPage(): string {
  return page("# Limits", INTRO, ...GROUPS.flatMap(groupBlocks));
}

function groupBlocks({ title, file, values }: Group): string[] {
  const source = readFileSync(file, "utf8");
  const comments = commentsOf(source);
  const placeOf = (name: string) => source.search(new RegExp(`\\b${name}\\b\\s*[=:,]`));
  // module loaders differ in the order of a module's exports
  const inOrder = Object.entries(values).sort(([a], [b]) => placeOf(a) - placeOf(b));
  const rows = inOrder.flatMap(([name, value]) =>
    limitRows(name, value, comments.get(name) ?? inWords(name)),
  );
  return [
    `## ${title}`,
    `From [${file}](../../${file}).`,
    table(["Limit", "Value", "Meaning"], rows),
  ];
}

/** A group of limits under one name has a row for each. */
function limitRows(name: string, value: unknown, meaning: string): string[][] {
  if (typeof value === "number") return [[code(name), valueText(name, value), sentence(meaning)]];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([inner, number]) =>
    typeof number === "number"
      ? [
          [
            code(`${name}.${inner}`),
            valueText(inner, number),
            sentence(`${meaning.replace(/\.$/, "")}: ${inWords(inner)}`),
          ],
        ]
      : [],
  );
}

/** `roundsPerAgent`, `MAX_NAME_CHARS` as words, for a limit without a comment. */
const inWords = (name: string): string =>
  name
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .replaceAll("_", " ")
    .toLowerCase()
    .replace(/ (ms|chars)$/, "");

const UNITS: readonly { name: RegExp; text: (value: number) => string }[] = [
  { name: /(ms|_MS)$|Ms$/, text: milliseconds },
  { name: /share/i, text: (value) => `${grouped(value * 100)} %` },
  { name: /bytes/i, text: bytes },
  { name: /seconds/i, text: (value) => `${grouped(value)} s` },
  { name: /usd/i, text: (value) => `$${grouped(value)}` },
  { name: /chars/i, text: (value) => `${grouped(value)} characters` },
];

const valueText = (name: string, value: number): string =>
  (UNITS.find((unit) => unit.name.test(name))?.text ?? grouped)(value);

function milliseconds(value: number): string {
  if (value >= 120_000 && value % 60_000 === 0) return `${grouped(value / 60_000)} min`;
  return value >= 1_000 ? `${grouped(value / 1_000)} s` : `${value} ms`;
}

function bytes(value: number): string {
  const units: readonly [number, string][] = [
    [1024 ** 2, "MiB"],
    [1_000_000, "MB"],
    [1024, "KiB"],
    [1_000, "kB"],
  ];
  const [size, unit] = units.find(([of]) => value >= of && value % of === 0) ?? [1, "bytes"];
  return `${grouped(value / size)} ${unit}`;
}
