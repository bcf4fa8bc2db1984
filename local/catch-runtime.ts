import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";

type Options = Parameters<typeof convertV4MiniflareOptions>[0];

type CatchOptions = {
  /** An empty folder for the caught files. */
  dir: string;
  /** The port that is reported to miniflare as the port of workerd. */
  port: number;
  /** Sockets that the configuration has besides `entry`. */
  moreSockets?: readonly string[];
  options: Options;
};

/**
 * The arguments of workerd (`args`) and its standard input (`config`). `miniflare` owns a folder
 * that the configuration names, so dispose of it only after workerd has ended.
 */
type CaughtRuntime = { args: string[]; config: Buffer; miniflare: Miniflare };

/**
 * Lets miniflare plan a runtime and captures the plan. Miniflare starts a script instead of
 * workerd. The script stores its arguments and its configuration, and reports that it listens.
 * workerd itself is never started.
 */
export async function catchRuntime({
  dir,
  port,
  moreSockets = [],
  options,
}: CatchOptions): Promise<CaughtRuntime> {
  await mkdir(dir, { recursive: true });
  const script = path.join(dir, "workerd");
  await writeFile(script, captureScript(dir, port, ["entry", ...moreSockets]));
  await chmod(script, 0o755);
  const previousPath = process.env["MINIFLARE_WORKERD_PATH"];
  process.env["MINIFLARE_WORKERD_PATH"] = script;
  try {
    const miniflare = new Miniflare(convertV4MiniflareOptions(options));
    await miniflare.ready;
    const args = (await readFile(path.join(dir, "args"), "utf8"))
      .split("\n")
      .filter((arg) => arg !== "");
    return { args, config: await readFile(path.join(dir, "config")), miniflare };
  } finally {
    if (previousPath === undefined) delete process.env["MINIFLARE_WORKERD_PATH"];
    else process.env["MINIFLARE_WORKERD_PATH"] = previousPath;
  }
}

/** The script that replaces workerd. It ends when the process that started it has ended. */
const captureScript = (dir: string, port: number, sockets: readonly string[]): string => `#!/bin/sh
printf '%s\\n' "$@" > '${dir}/args'
cat > '${dir}/config'
${sockets.map((socket) => `echo '{"event":"listen","socket":"${socket}","port":${port}}' >&3`).join("\n")}
while kill -0 $PPID; do sleep 1; done
`;

/** The path of the workerd that miniflare would start. Throws if the package names no program. */
export function workerdPath(): string {
  const file: unknown = createRequire(createRequire(import.meta.url).resolve("miniflare"))(
    "workerd",
  ).default;
  if (typeof file !== "string") throw new Error("The package workerd does not name its program.");
  return file;
}
