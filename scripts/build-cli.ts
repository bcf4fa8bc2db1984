import { chmod, mkdir, writeFile } from "node:fs/promises";
import { buildCli, CLI_FILE } from "../local/bundle/cli-bundle";
import { runPlain } from "../local/command-line";

const USAGE = `npm run build:cli

Builds the command line as one JavaScript file, which needs no packages:
${CLI_FILE}`;

await runPlain(USAGE, async () => {
  const text = await buildCli();
  await mkdir("dist", { recursive: true });
  // Marks the folder as CommonJS. Otherwise the package.json of the repository would apply to the
  // file.
  await writeFile("dist/package.json", `${JSON.stringify({ type: "commonjs" })}\n`);
  await writeFile(CLI_FILE, text);
  await chmod(CLI_FILE, 0o755);
  console.log(`${CLI_FILE}: ${Math.round(text.length / 1024)} KiB`);
  return 0;
});
