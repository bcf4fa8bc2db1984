/**
 * What is used of a sandbox as `@cloudflare/sandbox` publishes it (`ISandbox` and its class's `destroy`, version 0.12): what `getSandbox(env.Sandbox, id)` gives
 * fits as it is. The package itself stays out: an operator who binds a sandbox brings it along with its container image.
 */
export type SandboxClient = {
  /** Runs a command line in the container's shell. `timeout` in milliseconds. */
  exec(
    command: string,
    options?: { timeout?: number; cwd?: string },
  ): Promise<{ exitCode: number; stdout: string; stderr: string }>;
  writeFile(
    path: string,
    content: string,
    options?: { encoding?: string },
  ): Promise<{ success: boolean }>;
  /** Kills what runs there and drops the container with all it holds; the next command gets a fresh one. */
  destroy(): Promise<void>;
  readFile(
    path: string,
    options?: { encoding?: "base64" },
  ): Promise<{ success: boolean; content: string; encoding?: "utf-8" | "base64" }>;
};

/** Text as one word of a shell's command line. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** What every process of an agent's commands has in its environment, unless it took that off. */
const MARK = "AGENT_FILES";

/**
 * Ends, in bash and without starting anything, all processes that have the mark, and all of this shell's own session but itself. What is
 * left of a process that has ended already (`Z`) is nobody's business. Again until there is none: one may have been started meanwhile.
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

/** Ends what earlier commands with this mark have left running. */
export const endProcesses = (mark: string): string => `bash -c ${quoted(ending(mark))}`;

/** `timedOut`: what the errors end with where the time was over; a script may end with the same exit code by itself. */
type Within = { seconds: number; mark: string; timedOut: string };

/**
 * Runs a bash script and ends with its exit code, once nothing that it started runs any more; 124 or 137 where its time was over. A
 * process that leaves both its session and its environment behind (`env -i setsid …`) stays.
 */
export function withinTime(script: string, { seconds, mark, timedOut }: Within): string {
  // The shell around it would tell of what was killed: its own errors go nowhere, the script's go where they were. What `timeout` says
  // is heard by nobody else: it speaks only when it sends a signal.
  const inner = `exec >&4 2>&3 3>&- 4>&-\n${script}`;
  const outer = `exec 3>&2 4>&1 2> /dev/null
said=$(${MARK}=${quoted(mark)} timeout -v -k 1 ${seconds} bash -c ${quoted(inner)} < /dev/null 2>&1)
code=$?
${ending(mark)}
if [ -n "$said" ] && { [ $code = 124 ] || [ $code = 137 ]; }; then printf %s ${quoted(timedOut)} >&3; fi
exit $code`;
  return `setsid -w bash -c ${quoted(outer)}`;
}
