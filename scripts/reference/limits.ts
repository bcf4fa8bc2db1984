import { readFileSync } from "node:fs";
import * as config from "../../src/config/config-limits";
import { LIMITS } from "../../src/coordination/limits";
import { MOST_QUEUED } from "../../src/coordination/queue/queue";
import { DIFF_LIMITS } from "../../src/diff/diff-limits";
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
import { commentsOf, declarationOf } from "./comments";
import { code, grouped, page, sentence, table } from "./markdown";

const INTRO = `Every limit, with its value and its name in the code. Limits that a team or an
operator can change are in [config](config.md) and [settings](settings.md).`;

/**
 * A section of the page. `commented` names the declaration that contains the comments of the
 * values; if it is omitted, the whole file is searched.
 */
type Group = {
  title: string;
  file: string;
  values: Readonly<Record<string, unknown>>;
  commented?: string;
};

const GROUPS: readonly Group[] = [
  {
    title: "Coordination",
    file: "src/coordination/limits.ts",
    values: LIMITS,
    commented: "LIMITS",
  },
  {
    title: "Queue of a session",
    file: "src/coordination/queue/queue.ts",
    values: { MOST_QUEUED },
  },
  { title: "Configs", file: "src/config/config-limits.ts", values: config },
  {
    title: "Files with a question",
    file: "src/protocol/attachments.ts",
    values: ATTACHMENT_LIMITS,
    commented: "ATTACHMENT_LIMITS",
  },
  {
    title: "Contexts",
    file: "src/protocol/context-limits.ts",
    values: CONTEXT_LIMITS,
    commented: "CONTEXT_LIMITS",
  },
  {
    title: "Workspaces",
    file: "durable-objects/shared/object-limits.ts",
    values: FILES,
    commented: "FILES",
  },
  { title: "Diff", file: "src/diff/diff-limits.ts", values: DIFF_LIMITS, commented: "DIFF_LIMITS" },
  { title: "Paths", file: "src/workspace/paths.ts", values: PATH_LIMITS, commented: "PATH_LIMITS" },
  {
    title: "File tools",
    file: "src/tools/files/file-limits.ts",
    values: FILE_TOOL_LIMITS,
    commented: "FileToolLimits",
  },
  {
    title: "Shell",
    file: "src/tools/shell/shell-limits.ts",
    values: SHELL_LIMITS,
    commented: "ShellLimits",
  },
  {
    title: "JavaScript",
    file: "src/tools/javascript/script-limits.ts",
    values: JAVASCRIPT_LIMITS,
    commented: "JavascriptLimits",
  },
  { title: "Tool servers", file: "src/tools/mcp/server-limits.ts", values: mcp },
  { title: "Model calls", file: "src/providers/call-limits.ts", values: providers },
  {
    title: "Event streams",
    file: "durable-objects/shared/object-limits.ts",
    values: STREAM,
    commented: "STREAM",
  },
  {
    title: "Keys of open streams",
    file: "durable-objects/shared/object-limits.ts",
    values: { KEY_CHECK_MS },
  },
  {
    title: "Secrets",
    file: "src/protocol/api/secrets.ts",
    values: SECRET_LIMITS,
    commented: "SECRET_LIMITS",
  },
  { title: "Keys", file: "src/tenancy/keys.ts", values: { MOST_LIVE_KEYS } },
  { title: "Evaluations", file: "src/evals/suite-limits.ts", values: evaluations },
];

export function limitsPage(): string {
  return page("# Limits", INTRO, ...GROUPS.flatMap(groupBlocks));
}

function groupBlocks({ title, file, values, commented }: Group): string[] {
  const source = readFileSync(file, "utf8");
  const positionOf = (name: string) => source.search(new RegExp(`\\b${name}\\b\\s*[=:,]`));
  // The order of the source: module loaders differ in the order of a module's exports.
  const sorted = Object.entries(values).sort(([a], [b]) => positionOf(a) - positionOf(b));
  const rows = sorted.flatMap(([name, value]) =>
    typeof value === "number"
      ? [limitRow({ source, declaration: commented ?? null, name, value })]
      : innerLimits(value).map(([inner, number]) =>
          limitRow({
            source,
            declaration: name,
            name: inner,
            value: number,
            label: `${name}.${inner}`,
          }),
        ),
  );
  return [
    `## ${title}`,
    `From [${file}](../../${file}).`,
    table(["Limit", "Value", "Meaning"], rows),
  ];
}

/** The limits in an exported object. Other exports contain no limits. */
const innerLimits = (value: unknown): [string, number][] =>
  typeof value === "object" && value !== null
    ? Object.entries(value).filter(([, inner]) => typeof inner === "number")
    : [];

/** `declaration` contains the name; `null` means that the name is a constant of the module. */
type Limit = {
  source: string;
  declaration: string | null;
  name: string;
  value: number;
  label?: string;
};

/** The table row of a limit. Throws if the limit has no doc comment. */
export function limitRow({ source, declaration, name, value, label = name }: Limit): string[] {
  const meaning = commentsOf(declarationOf(source, declaration)).get(name);
  if (meaning === undefined)
    throw new Error(`The limit ${name} needs a doc comment of its own, for the page of limits.`);
  return [code(label), valueText(name, value), sentence(meaning)];
}

const UNITS: readonly { name: RegExp; text: (value: number) => string }[] = [
  { name: /Per[A-Z]/, text: grouped },
  { name: /(ms|_MS)$|Ms$/, text: milliseconds },
  { name: /share/i, text: (value) => `${grouped(value * 100)} %` },
  { name: /bytes/i, text: bytes },
  { name: /seconds/i, text: (value) => `${grouped(value)} s` },
  { name: /usd/i, text: (value) => `$${grouped(value)}` },
  { name: /chars/i, text: (value) => `${grouped(value)} characters` },
];

const valueText = (name: string, value: number): string =>
  (UNITS.find((unit) => unit.name.test(name))?.text ?? grouped)(value);

const DAY_MS = 86_400_000;

function milliseconds(value: number): string {
  if (value >= DAY_MS) return `${(value / DAY_MS).toFixed(1)} days`;
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
  const [size, unit] = units.find(([unitSize]) => value >= unitSize && value % unitSize === 0) ?? [
    1,
    "bytes",
  ];
  return `${grouped(value / size)} ${unit}`;
}
