import { build } from "esbuild";

export const CLI_FILE = "dist/massgen-edge.js";

/**
 * The first statements of the file. Their syntax is old, so that an old Node can print the message.
 */
const NODE_CHECK = `var node = process.versions.node.split(".").map(Number);
if (node[0] < 20 || (node[0] === 20 && node[1] < 12)) {
  console.error("massgen-edge needs Node 20.12 or newer; this is " + process.versions.node + ".");
  process.exit(1);
}`;

/** Builds the command line, with all packages that it uses, as one CommonJS file. */
export async function buildCli(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: ["cli/main.ts"],
    bundle: true,
    write: false,
    platform: "node",
    target: "node20.12",
    format: "cjs",
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: "eof",
    banner: { js: `#!/usr/bin/env node\n${NODE_CHECK}` },
    logLevel: "error",
  });
  const [file] = outputFiles;
  if (!file) throw new Error("esbuild produced no file.");
  return file.text;
}
