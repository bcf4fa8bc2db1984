import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import packageJson from "../../package.json";
import { buildClient } from "../../local/bundle/client-package";
import { answersThenVotes } from "../../simulated/providers/scripts";
import { runningService } from "./support/running-service";

/**
 * Uses the client package as a user does: it is packed, installed offline into an empty folder, and
 * imported by a program there.
 */

const running = runningService({ solo: answersThenVotes({ answer: "Quicksort." }) });
const exec = promisify(execFile);
const TSC = path.resolve("node_modules/typescript/bin/tsc");

let root = "";
const inFolder = (command: string, ...args: string[]) => exec(command, args, { cwd: root });

beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), "client-"));
  const built = path.join(root, "built");
  await buildClient(built);
  await inFolder("npm", "pack", built, "--silent");
  const tarball = (await readdir(root)).find((name) => name.endsWith(".tgz")) ?? "";
  await rm(built, { recursive: true });
  await writeFile(path.join(root, "package.json"), '{"private":true,"type":"module"}\n');
  await inFolder("npm", "install", "--offline", "--no-audit", "--no-fund", `./${tarball}`);
});
afterAll(() => rm(root, { recursive: true }));

const installed = (name: string) =>
  readFile(path.join(root, "node_modules/massgen-edge-client", name), "utf8");

const PROGRAM = `
import { Client, ClientError, contextFile } from "massgen-edge-client";

const [server, config] = process.argv.slice(2);
const client = new Client({ server });
const types: string[] = [];
let session = "";
for await (const { id, event } of client.runs.stream({ question: "Which?", config: JSON.parse(config ?? "") })) {
  if (event) {
    session = event.session_id;
    types.push(event.type);
  }
  if (id === 3) break;
}
const place = { session, turn: 1 };
for await (const { event } of client.turns.follow(place, { after: 3 })) if (event) types.push(event.type);
const turn = await client.turns.get(place);
const { turn: next } = await client.turns.start(session, { question: "And then?" });
const last = await Array.fromAsync(client.turns.follow({ session, turn: next }));
const { files } = await client.files.list(place);
const upload = await client.contexts.upload("site", [await contextFile("index.html", "<h1>Hello</h1>")]);
const context = await client.contexts.get("site");
const text = new TextDecoder().decode(await client.contexts.file("site", "index.html"));
const { data } = await client.sessions.list({ limit: 1 });
const refused = await client.sessions.get("session_00000000000000000000000000").catch((error: unknown) =>
  error instanceof ClientError ? error.code : null,
);
console.log(JSON.stringify({
  answer: turn.answer, types, next, last: last.at(-1)?.event?.type, files, status: upload.status,
  paths: context.tree.map(({ path }) => path), text, isListed: data[0]?.id === session, refused,
}));
`;

it("with this package alone, a program starts a run, resumes its stream, starts a second turn and uploads a context", async () => {
  const agents = [
    {
      id: "solo",
      backend: {
        type: "chatcompletion",
        base_url: running.providers.baseUrl,
        api_key: "simulated",
        model: "solo",
      },
    },
  ];
  const script = PROGRAM.replaceAll(": string[]", "").replaceAll(": unknown", "");
  await writeFile(path.join(root, "program.js"), script);
  const config = JSON.stringify({ agents });
  const { stdout } = await inFolder(process.execPath, "program.js", running.service.url, config);
  const seen = JSON.parse(stdout);
  expect(seen).toMatchObject({
    next: 2,
    last: "turn.completed",
    files: 0,
    status: "committed",
    paths: ["index.html"],
    text: "<h1>Hello</h1>",
    isListed: true,
    refused: "session_not_found",
  });
  expect(seen.answer).toEqual(expect.any(String));
  expect(seen.types.slice(0, 2)).toEqual(["turn.started", "attempt.started"]);
  expect(seen.types.filter((type: string) => type === "turn.completed")).toHaveLength(1);
});

it("the types of the package need no other package", async () => {
  await mkdir(path.join(root, "typed"), { recursive: true });
  await writeFile(path.join(root, "typed/program.ts"), PROGRAM);
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: "esnext",
    module: "nodenext",
    lib: ["esnext", "dom", "dom.iterable"],
    types: [],
  };
  const globals = "declare const process: { argv: string[] };\n";
  await writeFile(path.join(root, "typed/globals.d.ts"), globals);
  await writeFile(path.join(root, "typed/tsconfig.json"), JSON.stringify({ compilerOptions }));
  const check = inFolder(process.execPath, TSC, "--project", "typed");
  await expect(check.catch(({ stdout }: { stdout: string }) => stdout)).resolves.toMatchObject({
    stdout: "",
  });
});

it("the package has the version of the service, no dependencies, and no schema library inside", async () => {
  const { version, dependencies } = JSON.parse(await installed("package.json"));
  expect({ version, dependencies }).toEqual({ version: packageJson.version });
  const code = await installed("index.js");
  expect(code).not.toContain("ZodType");
  expect(code.length).toBeLessThan(60_000);
  expect(await installed("types/types.d.ts")).not.toMatch(/import|zod/i);
});
