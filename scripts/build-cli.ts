import { chmod, mkdir, writeFile } from "node:fs/promises";
import { buildCli, CLI_FILE } from "./cli-bundle";

/**
 * `npm run build:cli`: the command line as one JavaScript file, without any package beside it. The folder says that its JavaScript
 * is CommonJS, so that the file runs here as it does alone.
 */
const text = await buildCli();
await mkdir("dist", { recursive: true });
await writeFile("dist/package.json", `${JSON.stringify({ type: "commonjs" })}\n`);
await writeFile(CLI_FILE, text);
await chmod(CLI_FILE, 0o755);
console.log(`${CLI_FILE}: ${Math.round(text.length / 1024)} KiB`);
