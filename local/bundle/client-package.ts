import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";

export const CLIENT_FOLDER = "dist/client";

const run = promisify(execFile);

/**
 * Builds the client as a package in `folder`: one ES module, its types, README and licences. The
 * current directory must be the repository root.
 */
export async function buildClient(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(path.join(folder, "types"), { recursive: true });
  await bundle(path.join(folder, "index.js"));
  await writeTypes(path.join(folder, "types"));
  await writeFile(path.join(folder, "package.json"), await metadata());
  await copyFile("client/README.md", path.join(folder, "README.md"));
  await copyFile("LICENSE", path.join(folder, "LICENSE"));
  await copyFile(
    "node_modules/eventsource-parser/LICENSE",
    path.join(folder, "eventsource-parser.LICENSE"),
  );
}

/** The contents of package.json. The package has the version of the service. */
async function metadata(): Promise<string> {
  const { version } = JSON.parse(await readFile("package.json", "utf8"));
  const { name, ...rest } = JSON.parse(await readFile("client/package.json", "utf8"));
  return `${JSON.stringify({ name, version, ...rest }, null, 2)}\n`;
}

async function bundle(file: string): Promise<void> {
  await build({
    entryPoints: ["client/index.ts"],
    outfile: file,
    bundle: true,
    platform: "neutral",
    mainFields: ["module", "main"],
    target: "es2022",
    format: "esm",
    logLevel: "error",
  });
}

/**
 * Writes the type declarations of the client. The types of the service are written out in full,
 * because types that are inferred from schemas would need the schema library.
 */
async function writeTypes(folder: string): Promise<void> {
  await mkdir("dist", { recursive: true });
  const temporaryFolder = await mkdtemp(path.resolve("dist", "types-"));
  try {
    const names = exportedTypes(await readFile("client/types.ts", "utf8"));
    await writeFile(path.join(temporaryFolder, "expanded.ts"), expandedSource(names));
    await writeFile(
      path.join(temporaryFolder, "tsconfig.json"),
      JSON.stringify(declarationsConfig()),
    );
    const tsc = path.resolve("node_modules/typescript/bin/tsc");
    await run(process.execPath, [tsc, "--project", temporaryFolder]);
    const emitted = path.join(temporaryFolder, "out", "client");
    for (const name of await readdir(emitted))
      await writeFile(
        path.join(folder, name),
        withExtensions(await readFile(path.join(emitted, name), "utf8")),
      );
    const expanded = path.join(
      temporaryFolder,
      "out",
      path.relative(".", temporaryFolder),
      "expanded.d.ts",
    );
    await writeFile(
      path.join(folder, "types.d.ts"),
      toTypeAliases(await readFile(expanded, "utf8")),
    );
  } finally {
    await rm(temporaryFolder, { recursive: true });
  }
}

/** The names in `export type { … } from`. In `A as B`, the name is `B`. */
const exportedTypes = (source: string): string[] =>
  [...source.matchAll(/export type \{([^}]*)\}/g)].flatMap(([, list = ""]) =>
    list
      .split(",")
      .map((name) => name.split(" as ").at(-1)?.trim() ?? "")
      .filter((name) => name !== ""),
  );

/**
 * Declares a constant of each type without an annotation. The compiler then writes out its type.
 */
const expandedSource = (names: readonly string[]): string => `
import type * as service from "../../client/types";
type ExpandedType<T> = T extends object
  ? T extends infer O ? { [K in keyof O]: ExpandedType<O[K]> } : never
  : T;
declare function typeOf<T>(): ExpandedType<T>;
${names.map((name) => `export const ${name} = typeOf<service.${name}>();`).join("\n")}
`;

const toTypeAliases = (declarations: string): string =>
  declarations
    .replace(/^import .*\n/gm, "")
    .replace(/^export declare const (\w+): /gm, "export type $1 = ");

/** Adds extensions to the names of modules, because imports inside a package need them. */
const withExtensions = (declarations: string): string =>
  declarations.replace(/(from |import\()"(\.[^"]+)"/g, '$1"$2.js"');

const declarationsConfig = () => ({
  extends: "../../tsconfig.json",
  compilerOptions: {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    rootDir: "../..",
    outDir: "out",
  },
  include: [],
  files: ["../../client/index.ts", "expanded.ts"],
});
