import type { Metafile } from "esbuild";

/**
 * The modules that the Worker loads on first use, each with the reason. The runtime reads and
 * evaluates neither such a module nor its imports before its first use.
 */
export const PARTS: Readonly<Record<string, string>> = {
  "src/worker/api.ts": "an isolate that only has objects serves no routes",
  "src/worker/schedule.ts": "triggers are rare",
  "src/api/docs/documentation.ts": "a group of routes",
  "src/api/sessions/session-routes.ts": "a group of routes",
  "src/api/tree-archive.ts": "archives are rare",
  "src/api/sessions/diff/show-diff.ts": "diffs are rare, and the comparison of files is large",
  "src/api/keys/keys.ts": "a group of routes",
  "src/api/keys/secrets.ts": "a group of routes",
  "src/api/configs/configs.ts": "a group of routes",
  "src/api/evals/evals.ts": "a group of routes",
  "src/api/contexts/contexts.ts": "a group of routes",
  "src/api/app.ts": "all routes, which only the OpenAPI document needs at once",
  "src/api/docs/openapi.ts": "programs and people seldom read the document",
  "src/api/configs/config-handlers.ts": "the parser of configs is large",
  "src/api/configs/read-team.ts":
    "the parser of configs is large; only a request with a team needs it",
  "src/config/turn-overrides.ts":
    "overrides are rare, and the tables of models and prices are large",
  "src/api/contexts/receive-uploads.ts": "uploads are rare, and the readers of archives are large",
  "src/api/evals/eval-handlers.ts": "evaluations are rare",
  "durable-objects/session/session-object.ts": "requests without a session are served without it",
  "durable-objects/eval-run/eval-run.ts": "evaluations are rare",
  "src/providers/openai-chat/index.ts": "contains an SDK; a team has one or two formats",
  "src/providers/openai-responses/index.ts": "contains an SDK",
  "src/providers/anthropic/index.ts": "contains an SDK",
  "src/providers/gemini/index.ts": "contains an SDK",
  "src/tools/mcp/client-part.ts": "contains the SDK of tool servers; most teams have none",
  "src/tools/shell/run-just-bash.ts": "contains the shell; most teams run no commands",
  "src/tools/javascript/guarded-code.ts": "contains a parser of JavaScript",
};

/**
 * The largest permitted size of code, in bytes, that the runtime reads until then, with the start.
 * A start takes about 25 ms more for each 100 KB (docs/decisions/0095-cold-starts.md). If a module
 * takes all names of the schema library (`import { z }`), these sizes grow by 100 KB.
 */
export const LARGEST_BYTES = {
  /** At each start. */
  start: 21_000,
  /** Until the first answer to a health check. */
  health: 310_000,
  /** Until the first request about sessions reaches its handler. */
  sessions: 450_000,
} as const;

/** The modules that start a part, as paths in the repository. Packages also have parts. */
export const partsIn = ({ outputs }: Metafile): string[] =>
  Object.values(outputs)
    .flatMap(({ entryPoint = "" }) => (/^(node_modules\/|$)/.test(entryPoint) ? [] : [entryPoint]))
    .sort();

/** Bytes of the modules that the runtime reads to evaluate these source files. */
export function bytesOf({ outputs }: Metafile, entryPoints: readonly string[]): number {
  const files = Object.keys(outputs).filter((file) =>
    entryPoints.includes(outputs[file]?.entryPoint ?? ""),
  );
  const needed = new Set(files);
  for (const file of needed) {
    for (const { path, kind, external } of outputs[file]?.imports ?? [])
      if (kind === "import-statement" && !external) needed.add(path); // the loop includes it
  }
  return [...needed].reduce((sum, file) => sum + (outputs[file]?.bytes ?? 0), 0);
}
