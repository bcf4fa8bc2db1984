import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import * as client from "../../client/index";
import { blocksOf } from "./documents";

/**
 * The client's README. The compiler checks its code blocks as files that import the client. The
 * tables have every method and function.
 */

const OPTIONS = {
  allowJs: true,
  checkJs: true,
  noEmit: true,
  strict: true,
  noImplicitAny: false, // parameters in a code block have no types
  exactOptionalPropertyTypes: true,
  skipLibCheck: true,
  target: "es2025",
  module: "esnext",
  moduleResolution: "bundler",
  moduleDetection: "force",
  lib: ["esnext", "dom", "dom.iterable"],
  types: ["node"],
  typeRoots: [path.resolve("node_modules/@types")],
  paths: { "massgen-edge-client": [path.resolve("client/index.ts")] },
};

/** The compiler's errors in these blocks. In an error, `block-2` is the second block. */
async function errorsIn(blocks: readonly string[]): Promise<string[]> {
  const folder = await mkdtemp(path.join(tmpdir(), "client-blocks-"));
  try {
    const files = blocks.map((_, index) => `block-${index + 1}.js`);
    await Promise.all(
      blocks.map((block, index) => writeFile(path.join(folder, `block-${index + 1}.js`), block)),
    );
    const config = JSON.stringify({ compilerOptions: OPTIONS, files });
    await writeFile(path.join(folder, "tsconfig.json"), config);
    const compilerOutput = await runCompiler(folder);
    // Other lines are about the client's sources, which need the types of Workers.
    return compilerOutput.split("\n").filter((line) => line.startsWith("block-"));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The compiler's output. The exit code is ignored, as it is not 0 if there are errors. */
const runCompiler = (folder: string): Promise<string> =>
  new Promise((resolve) => {
    const compiler = path.resolve("node_modules/typescript/bin/tsc");
    const args = [compiler, "--project", folder, "--pretty", "false"];
    execFile(process.execPath, args, { cwd: folder }, (_, stdout, stderr) =>
      resolve(stdout + stderr),
    );
  });

it("the code blocks of the client's README compile without errors", async () => {
  const blocks = blocksOf(await readFile("client/README.md", "utf8"), "js");
  expect(blocks.length).toBeGreaterThan(3);
  expect(await errorsIn(blocks)).toEqual([]);
});

it("the check finds a method and a field that do not exist", async () => {
  const found = await errorsIn([
    'import { Client } from "massgen-edge-client";\nawait new Client({ server: "" }).runs.begin();\n',
    'import { Client } from "massgen-edge-client";\nnew Client({ sever: "" });\n',
  ]);
  expect(found).toEqual([
    expect.stringMatching(/block-1\.js.*begin/),
    expect.stringMatching(/block-2\.js.*sever/),
  ]);
});

/** Names of the methods of an object's class. */
const methodsOf = (object: object): string[] =>
  Object.getOwnPropertyNames(Object.getPrototypeOf(object)).filter(
    (name) => name !== "constructor",
  );

it("the tables of the client's README have exactly the client's methods and functions", async () => {
  const instance = new client.Client({ server: "https://massgen.example.com" });
  const { runs, turns, queue, sessions, files, contexts } = instance;
  const methods = [
    ...methodsOf(instance),
    ...Object.entries({ runs, turns, queue, sessions, files, contexts }).flatMap(([name, part]) =>
      methodsOf(part).map((method) => `${name}.${method}`),
    ),
  ];
  const functions = Object.keys(client).filter((name) => /^[a-z]/.test(name));
  const rows = (await readFile("client/README.md", "utf8")).match(/^\| `\w.*$/gm) ?? [];
  const listed = rows.flatMap((row) =>
    [...(row.split("|")[1] ?? "").matchAll(/`([\w.]+)\(/g)].map(([, name = ""]) => name),
  );
  expect(listed.toSorted()).toEqual([...methods, ...functions].toSorted());
});
