/**
 * The used part of `@cloudflare/sandbox` (`ISandbox` and `destroy`, version 0.12). The result of
 * `getSandbox(env.Sandbox, id)` is compatible. The package is not a dependency: an operator who
 * binds a sandbox adds it with its container image.
 */
export type SandboxClient = {
  /** Runs a command line in the container's shell. `timeout` is in ms. */
  exec(
    command: string,
    options?: { timeout?: number; cwd?: string },
  ): Promise<{ exitCode: number; stdout: string; stderr: string }>;
  writeFile(
    path: string,
    content: string,
    options?: { encoding?: string },
  ): Promise<{ success: boolean }>;
  /** Kills all processes and drops the container; the next command gets a new one. */
  destroy(): Promise<void>;
  readFile(
    path: string,
    options?: { encoding?: "base64" },
  ): Promise<{ success: boolean; content: string; encoding?: "utf-8" | "base64" }>;
};

/** The text quoted as one word of a command line. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Environment variable of every process of an agent's commands, unless the process removed it. */
const MARK = "AGENT_FILES";

/**
 * Ends all processes with the mark and all of this shell's session except itself, using only bash
 * built-ins. Ignores zombies (`Z`). Repeats until none is left, because a process may start another
 * meanwhile.
 */
const ending = (mark: string): string => `
for again in {1..50}; do
  found=
  for at in /proc/[0-9]*; do
    if [ "$at" = /proc/$$ ]; then continue; fi
    stat=; environment=()
    { read -r -d '' stat < $at/stat; mapfile -d '' -t environment < $at/environ; } 2> /dev/null
    fields=(\${stat##*) })
    if [ "\${fields[0]}" = Z ]; then continue; fi
    IFS='|'; marks="|\${environment[*]}|"; unset IFS
    if [ "\${fields[3]}" = $$ ] || [[ $marks = *${quoted(`|${MARK}=${mark}|`)}* ]]; then
      kill -9 \${at#/proc/} 2> /dev/null && found=1
    fi
  done
  if [ -z "$found" ]; then break; fi
done`;

/** Ends the processes that earlier commands with this mark left running. */
export const endProcesses = (mark: string): string => `bash -c ${quoted(ending(mark))}`;

/**
 * `timedOut` is printed last to stderr after a timeout, because a script may exit with the same
 * code.
 */
type TimeLimit = { seconds: number; mark: string; timedOut: string };

/**
 * Runs a bash script and exits with its code, once all its processes have ended; 124 or 137 after a
 * timeout. A process that leaves both its session and its environment (`env -i setsid …`) survives.
 */
export function withinTime(script: string, { seconds, mark, timedOut }: TimeLimit): string {
  // The outer shell would report killed processes, so its stderr is discarded; the script's is
  // kept. The output of `timeout` is captured: it prints only when it sends a signal.
  const inner = `exec >&4 2>&3 3>&- 4>&-\n${script}`;
  const outer = `exec 3>&2 4>&1 2> /dev/null
said=$(${MARK}=${quoted(mark)} timeout -v -k 1 ${seconds} bash -c ${quoted(inner)} < /dev/null 2>&1)
code=$?
${ending(mark)}
if [ -n "$said" ] && { [ $code = 124 ] || [ $code = 137 ]; }; then printf %s ${quoted(timedOut)} >&3; fi
exit $code`;
  return `setsid -w bash -c ${quoted(outer)}`;
}
