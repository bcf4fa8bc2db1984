/**
 * The part of `@cloudflare/sandbox` (version 0.12) that is used here. The result of its
 * `getSandbox(env.Sandbox, id)` has this type. The package is not a dependency of this service. An
 * operator who binds a sandbox adds the package and its container image.
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
  /** Kills all processes and deletes the container. The next command gets a new container. */
  destroy(): Promise<void>;
  readFile(
    path: string,
    options?: { encoding?: "base64" },
  ): Promise<{ success: boolean; content: string; encoding?: "utf-8" | "base64" }>;
};

/** The text quoted as one word of a command line. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * Environment variable by which the processes of an agent's commands are found. A process has this
 * variable unless it removes the variable.
 */
const MARK_VARIABLE = "AGENT_FILES";

/**
 * A bash script that kills all processes with the mark, and all processes in the session of its own
 * shell except this shell. It uses only bash built-ins and ignores zombies (`Z`). It repeats until
 * it finds no such process, because a process can start another process before it is killed.
 */
const killScript = (mark: string): string => `
for round in {1..50}; do
  killed=
  for process in /proc/[0-9]*; do
    if [ "$process" = /proc/$$ ]; then continue; fi
    stat=; environment=()
    { read -r -d '' stat < $process/stat; mapfile -d '' -t environment < $process/environ; } 2> /dev/null
    fields=(\${stat##*) })
    if [ "\${fields[0]}" = Z ]; then continue; fi
    IFS='|'; variables="|\${environment[*]}|"; unset IFS
    if [ "\${fields[3]}" = $$ ] || [[ $variables = *${quoted(`|${MARK_VARIABLE}=${mark}|`)}* ]]; then
      kill -9 \${process#/proc/} 2> /dev/null && killed=1
    fi
  done
  if [ -z "$killed" ]; then break; fi
done`;

/** A command that kills the processes of earlier commands with this mark. */
export const endProcesses = (mark: string): string => `bash -c ${quoted(killScript(mark))}`;

/**
 * A time limit, and the mark of the processes. `timedOut` is a text that is printed at the end of
 * stderr after a timeout. The exit code is not enough, because a script can exit with the same
 * code.
 */
type TimeLimit = { seconds: number; mark: string; timedOut: string };

/**
 * A command that runs a bash script, kills the script's remaining processes, and exits with the
 * script's code. After a timeout, it exits with 124 or 137. A process that leaves its session and
 * clears its environment (`env -i setsid …`) is not killed.
 */
export function withinTime(script: string, { seconds, mark, timedOut }: TimeLimit): string {
  // The outer shell would print killed processes to its stderr, so that output is discarded. The
  // script's stderr is not. `timeout` prints a message only when it sends a signal, so its output
  // shows whether there was a timeout.
  const innerScript = `exec >&4 2>&3 3>&- 4>&-\n${script}`;
  const outerScript = `exec 3>&2 4>&1 2> /dev/null
timeout_message=$(${MARK_VARIABLE}=${quoted(mark)} timeout -v -k 1 ${seconds} bash -c ${quoted(innerScript)} < /dev/null 2>&1)
code=$?
${killScript(mark)}
if [ -n "$timeout_message" ] && { [ $code = 124 ] || [ $code = 137 ]; }; then printf %s ${quoted(timedOut)} >&3; fi
exit $code`;
  return `setsid -w bash -c ${quoted(outerScript)}`;
}
